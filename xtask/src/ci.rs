//! `cargo xtask ci`: everything that a change must pass, the quick checks first.

use crate::process::{Outcome, cargo, run as run_program};
use crate::{
    clients, cluster, deny, deploy, openapi, outside, package, public_api, simulate, standalone, test, tidy,
};
use std::time::Instant;

type Step = (&'static str, fn() -> Outcome);

const STEPS: [Step; 23] = [
    ("formatting", || run_program(&mut cargo(&["fmt", "--all", "--check"]))),
    ("tidy", tidy::run),
    ("lints", lints),
    ("OpenAPI document", || openapi::run(&["--check".to_owned()])),
    ("generated files of the client libraries", clients::check),
    ("public API of the domain", || public_api::run(&["--check".to_owned()])),
    ("documentation of the code", docs),
    ("tests of packages alone", standalone::run),
    ("tests", tests),
    ("tests on a cluster", || cluster::run(&[])),
    ("simulated months", || simulate::run(&[])),
    ("licences and bans", deny::run),
    ("files to deploy with", deploy::run),
    ("wheel and npm packages", package::test),
    ("signatures of webhooks", || outside::SIGNATURES.run()),
    ("copy in step", || outside::RECIPE.run()),
    ("reference in a browser", || outside::REFERENCE.run()),
    ("console in a browser", || outside::CONSOLE.run()),
    ("client libraries", clients::test),
    ("clients of other generators", || outside::GENERATORS.run()),
    ("generated requests", || outside::SCHEMATHESIS.run()),
    ("files of a data team", || outside::WAREHOUSE.run_if_installable()),
    ("suites of SCIM servers", || outside::SCIM.run_if_installable()),
];

pub(crate) fn run() -> Outcome {
    let started = Instant::now();
    for (name, step) in STEPS {
        println!("── {name}");
        let step_started = Instant::now();
        step().map_err(|problem| format!("{name}: {problem}"))?;
        println!("── {name}: passed in {:.1} s\n", step_started.elapsed().as_secs_f64());
    }
    println!("── everything passed in {:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}

/// Runs all tests, so that one run reports every failure.
fn tests() -> Outcome {
    test::run(&["--no-fail-fast".to_owned()])
}

fn lints() -> Outcome {
    run_program(&mut cargo(&["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

/// Builds the documentation. A broken link, or a link to a private item, is an error.
fn docs() -> Outcome {
    let mut command = cargo(&["doc", "--quiet", "--locked", "--workspace", "--no-deps"]);
    run_program(command.env("RUSTDOCFLAGS", "-D warnings"))
}
