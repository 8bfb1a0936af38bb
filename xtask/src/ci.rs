//! `cargo xtask ci`: the gate, which decides whether a change may land. Quick checks come first. As soon as the
//! binary exists, the tests run beside the checks that use it from outside.
//!
//! The result depends on the commit alone. `cargo xtask explore` draws new seeds and runs the long checks.

use crate::inputs::PassedChecks;
use crate::process::{Outcome, WRAPPER, run as run_program};
use crate::steps::{FinishedStep, Step, xtask};
use std::collections::VecDeque;
use std::env;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

/// Checks before the binary exists. The first failure ends the run.
const FIRST: [Step; 6] = [
    Step::cargo("formatting", &["fmt", "--all", "--check"]),
    Step::xtask("tidy", &["tidy"]),
    Step::xtask("licences and bans", &["deny"]),
    Step::cargo("build and lints", &["build", "--workspace", "--all-targets"]),
    Step::xtask("OpenAPI document", &["openapi", "--check"]),
    Step::xtask("generated files of the client libraries", &["clients", "--check"]),
];

/// All Rust tests. Their output is shown at once, because they take longest.
const TESTS: Step = Step::xtask("tests", &["test", "--no-fail-fast"]);

/// Checks of the binary from outside, the longest ones first. A check is skipped while the paths that decide its
/// result are unchanged. Some checks are also skipped in an empty cache. `cargo xtask explore` runs all checks.
pub(crate) const BESIDE: [Step; 15] = [
    Step::xtask("client libraries", &["clients", "--test"]).unless_unchanged(
        "clients crates/client crates/http/src docs/openapi.json xtask/clients xtask/src/clients",
    ),
    Step::xtask("console in a browser", &["console"])
        .unless_unchanged("crates/console/web crates/http/src docs/openapi.json tests/outside/console"),
    Step::xtask("generated requests", &["schemathesis"])
        .unless_unchanged("Cargo.lock crates/*/src/* docs/openapi.json migrations tests/outside/schemathesis"),
    Step::xtask("files to deploy with", &["deploy"])
        .unless_unchanged("Cargo.lock crates/app/src docs/deploy xtask/deploy xtask/src/deploy")
        .after_the_first_run(),
    Step::xtask("clients of other generators", &["generators"])
        .unless_unchanged("docs/openapi.json tests/outside/generators")
        .after_the_first_run(),
    Step::xtask("simulated months", &["simulate"])
        .unless_unchanged("Cargo.lock crates/dispatch crates/subscriptions crates/port-* tests/simulate")
        .after_the_first_run(),
    Step::xtask("reference in a browser", &["reference"])
        .unless_unchanged(
            "crates/http/assets crates/http/src docs/api docs/csv.md docs/guides docs/openapi.json docs/search.md \
         docs/webhooks.md tests/outside/reference",
        )
        .after_the_first_run(),
    Step::xtask("wheel and npm packages", &["package", "--test"])
        .unless_unchanged("Cargo.lock crates/app/src xtask/package xtask/src/package")
        .after_the_first_run(),
    Step::xtask("contract with clients", &["contract"]).unless_unchanged(
        "CHANGELOG.md docs/openapi.json docs/openapi.released.json tests/outside/contract \
         xtask/src/contract.rs",
    ),
    Step::xtask("footprint", &["footprint"]),
    Step::xtask("signatures of webhooks", &["signatures"]),
    Step::xtask("copy in step", &["recipe"]),
    Step::xtask("files of a data team", &["warehouse"]).unless_unchanged(
        "tests/outside/warehouse docs/guides crates/domain/src/export crates/service/src/usecases/exports \
         crates/http/src/routes/exports* crates/cli/src/export crates/tables/src/rows",
    ),
    Step::xtask("published identity providers", &["identity"]).unless_unchanged(
        "Cargo.lock crates/tokens crates/sign-in crates/identity/src \
         crates/service/src/usecases/identity* crates/service/src/usecases/sign_in* crates/http/src/pipeline/sign_in* \
         crates/http/src/routes/identity* tests/outside/identity",
    ),
    Step::xtask("suites of SCIM servers", &["scim"]).unless_unchanged(
        "tests/outside/scim crates/scim crates/provisioning crates/service/src/usecases/scim* \
         crates/http/src/routes/scim*",
    ),
];

/// Number of lines of a failed check that the end of the run repeats.
const LINES_OF_FAILURES: usize = 25;

/// Number of checks that run at the same time, beside the tests.
const LANES: usize = 2;

/// Variables with which Clippy compiles the crates of the workspace in place of rustc. One build then finds lints and
/// makes the tested programs (docs/adr/0029-gate-builds-and-lints-at-once.md).
const CLIPPY: [(&str, &str); 2] =
    [(WRAPPER, "clippy-driver"), ("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__")];

pub(crate) fn run() -> Outcome {
    if env::var_os(WRAPPER).is_none() {
        return run_program(xtask(&["ci"]).envs(CLIPPY));
    }
    let start = Instant::now();
    let passed_checks = PassedChecks::load()?;
    let mut finished_steps = vec![];
    for step in &FIRST {
        let result = step.run_and_show();
        let has_failed = result.problem.is_some();
        finished_steps.push(result);
        if has_failed {
            return conclude(&finished_steps, start);
        }
    }
    let queue = Mutex::new(BESIDE.iter().enumerate().collect::<VecDeque<_>>());
    let lane_results = Mutex::new(vec![]);
    let work = || {
        while let Some((place, step)) = lock(&queue).pop_front() {
            let result = passed_checks.run_unless_passed(step);
            lock(&lane_results).push((place, result));
        }
    };
    thread::scope(|scope| {
        let lanes = [(); LANES].map(|()| scope.spawn(work));
        scope.spawn(|| {
            lanes.into_iter().for_each(|lane| drop(lane.join()));
            // After the other checks: rustdoc holds the lock of the build folder, for which each of them would wait.
            lock(&lane_results).push((BESIDE.len(), passed_checks.document_changed_crates()));
        });
        finished_steps.push(TESTS.run_and_show());
    });
    let mut results_of_lanes = lane_results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results_of_lanes.sort_by_key(|(place, _)| *place);
    for (_, done) in results_of_lanes {
        done.show();
        finished_steps.push(done);
    }
    conclude(&finished_steps, start)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints the seconds of all steps and the skipped checks. Repeats the last lines of the failed checks, which
/// otherwise stand far above. Fails with the names of the steps that failed.
fn conclude(finished: &[FinishedStep], started: Instant) -> Outcome {
    println!("── seconds");
    finished.iter().for_each(|done| println!("{:>8.1}  {}", done.seconds, done.name));
    let skipped_steps: Vec<_> = finished.iter().flat_map(FinishedStep::skipped_lines).collect();
    if !skipped_steps.is_empty() {
        println!("── skipped");
        skipped_steps.iter().for_each(|line| println!("  {line}"));
    }
    for done in finished.iter().filter(|done| done.problem.is_some() && !done.output.is_empty()) {
        println!("── last lines of {}\n{}", done.name, done.last_lines(LINES_OF_FAILURES));
    }
    let problems: Vec<_> =
        finished.iter().filter_map(|done| Some(format!("{}: {}", done.name, done.problem.as_ref()?))).collect();
    let seconds = started.elapsed().as_secs_f64();
    if problems.is_empty() {
        println!("── everything passed in {seconds:.0} s");
        return Ok(());
    }
    Err(format!("{} after {seconds:.0} s", problems.join("; ")).into())
}

#[cfg(test)]
mod tests {
    use super::CLIPPY;
    use crate::process::{program, succeeds};
    use std::{env, fs};

    fn compiles(source: &str) -> bool {
        let folder = env::temp_dir().join(format!("candor-lints-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("lib.rs"), source).unwrap();
        let mut clippy = program(CLIPPY[0].1, &["rustc", "--crate-type=lib", "--emit=metadata", "lib.rs"]);
        let is_compiled = succeeds(clippy.envs(CLIPPY).current_dir(&folder));
        fs::remove_dir_all(&folder).unwrap();
        is_compiled
    }

    #[test]
    fn warning_fails_the_build_of_the_gate() {
        assert!(compiles("pub fn lacks_all(all: &[u8]) -> bool { all.is_empty() }"));
        assert!(!compiles("pub fn lacks_all(all: &[u8]) -> bool { all.len() == 0 }"), "a lint of Clippy");
        assert!(!compiles("pub fn number() { let number = 1; }"), "a warning of the compiler");
    }
}
