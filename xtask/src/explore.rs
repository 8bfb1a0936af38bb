//! `cargo xtask explore`: all checks that are random or take long. The gate leaves them out, because the gate must
//! give the same result for the same commit within minutes.
//!
//! Each finding is one line with the command that repeats it. A finding becomes a fixed case of the gate.

use crate::ci::BESIDE;
use crate::process::{Outcome, cargo, cargo_without_lints, succeeds};
use crate::steps::{FinishedStep, Step, run_command, xtask};
use candor_test_explore::SEED_VARIABLE;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::process::Command;
use std::time::{Duration, Instant};

/// Variable with the seed of property tests.
const PROPERTY_VARIABLE: &str = "PROPTEST_RNG_SEED";
/// Default duration of a call, in minutes.
const MINUTES: u64 = 60;
/// Number of simulated months in one round.
const MONTHS: &str = "20000";
/// Filter of nextest for the tests that draw their choices from a seed.
const RANDOM_TESTS: &str =
    "test(/random|generated|mutat|never_panic|kill|copy_from|sync|propert|any_|model|fuzz/)";

/// Steps that do not depend on a seed and take longer than the gate may. [`steps`] adds the checks of the binary.
const ONCE: [Step; 4] = [
    Step::cargo("documentation", &["doc", "--locked", "--workspace", "--no-deps"]),
    Step::xtask("standalone", &["standalone"]),
    Step::xtask("cluster", &["cluster"]),
    Step::xtask("release", &["footprint", "--release"]),
];

/// Returns all steps that do not depend on a seed.
fn steps() -> impl Iterator<Item = Step> {
    let is_seeded = |step: &Step| step.has_argument("simulate") || step.has_argument("schemathesis");
    ONCE.into_iter().chain(BESIDE.into_iter().filter(move |step| !is_seeded(step)))
}

/// A step whose choices depend on the seed.
#[derive(Clone, Copy)]
struct Exploration {
    name: &'static str,
    command: fn(u64, &[String]) -> Command,
}

const SEEDED: [Exploration; 5] = [
    Exploration { name: "months", command: months },
    Exploration { name: "random-tests", command: random_tests },
    Exploration { name: "requests", command: requests },
    Exploration { name: "tests", command: tests },
    Exploration { name: MUTANTS, command: mutants },
];

/// Name of the step that changes the domain and expects its tests to fail.
const MUTANTS: &str = "mutants";
/// Result of cargo-mutants if tests noticed all mutants, and some by running out of time: a mutant may loop forever.
const ONLY_TIMEOUTS: &str = "exit status: 3";
/// Number of parts of the mutants. A seed selects one part, so consecutive seeds test all of them.
const PARTS_OF_MUTANTS: u64 = 8;

impl Exploration {
    fn run(&self, seed: u64, names: &[String]) -> FinishedStep {
        if self.name == MUTANTS && !succeeds(&mut cargo(&["mutants", "--version"])) {
            return FinishedStep::skip(MUTANTS, "cargo-mutants is not installed");
        }
        let mut command = (self.command)(seed, names);
        command.env(SEED_VARIABLE, seed.to_string()).env(PROPERTY_VARIABLE, seed.to_string());
        let result = run_command(self.name, command);
        let problem = result.problem.filter(|problem| self.name != MUTANTS || problem != ONLY_TIMEOUTS);
        FinishedStep { problem, ..result }
    }
}

/// Command-line options of one call.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    minutes: Option<u64>,
    seed: Option<u64>,
    only: Option<String>,
    /// Names of tests, for the steps that run tests.
    tests: Vec<String>,
}

impl Options {
    fn parse(arguments: &[String]) -> Outcome<Self> {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().cloned().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--minutes" => options.minutes = Some(number(argument, &value()?)?),
                "--seed" => options.seed = Some(number(argument, &value()?)?),
                "--only" => options.only = Some(known_name(value()?)?),
                option if option.starts_with('-') => {
                    return Err(
                        format!("{option} is unknown; the options are --minutes, --seed and --only").into()
                    );
                }
                _ => options.tests.push(argument.clone()),
            }
        }
        Ok(options)
    }

    fn selects(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only == name)
    }
}

fn number(option: &str, text: &str) -> Outcome<u64> {
    text.parse().map_err(|_| format!("{option} is {text:?}; write a number from 0 to {}", u64::MAX).into())
}

fn known_name(name: String) -> Outcome<String> {
    let names: Vec<_> = steps().map(|step| step.name).chain(SEEDED.iter().map(|step| step.name)).collect();
    if names.contains(&name.as_str()) {
        return Ok(name);
    }
    Err(format!("--only has the unknown name {name:?}; the known names are {}", names.join(", ")).into())
}

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let options = Options::parse(arguments)?;
    let end = Instant::now() + Duration::from_secs(60 * options.minutes.unwrap_or(MINUTES));
    let mut findings = BTreeSet::new();
    let mut skipped_steps = vec![];
    let mut note = |done: &FinishedStep, found: Vec<String>| {
        done.show();
        skipped_steps.extend(done.skipped_lines());
        findings.extend(found);
    };
    let mut runs = 0_usize;
    // With `--seed`, only the steps that depend on the seed run, and a step that `--only` names.
    if options.seed.is_none() || options.only.is_some() {
        for step in steps().filter(|step| options.selects(step.name)) {
            let result = step.run();
            let finding =
                result.problem.iter().map(|problem| format!("{} ({problem}): {}", step.name, step.words()));
            note(&result, finding.collect());
            runs += 1;
        }
    }
    // With `--seed` there is one round. Otherwise each round draws a seed, until the time is over.
    let mut has_time = true;
    while has_time {
        let seed = options.seed.map_or_else(draw_seed, Ok)?;
        println!("── seed {seed}");
        for exploration in SEEDED.iter().filter(|step| options.selects(step.name)) {
            if runs > 0 && Instant::now() > end {
                break;
            }
            let result = exploration.run(seed, &options.tests);
            let new_findings = findings_of(exploration.name, seed, &result);
            note(&result, new_findings);
            runs += 1;
        }
        let is_seeded = SEEDED.iter().any(|step| options.selects(step.name));
        has_time = options.seed.is_none() && is_seeded && Instant::now() < end;
    }
    conclude(runs, &findings, &skipped_steps)
}

fn conclude(runs: usize, findings: &BTreeSet<String>, skipped: &[String]) -> Outcome {
    skipped.iter().for_each(|line| println!("skipped: {line}"));
    findings.iter().for_each(|line| println!("finding: {line}"));
    println!("{runs} runs, {} findings", findings.len());
    if findings.is_empty() { Ok(()) } else { Err(format!("{} findings", findings.len()).into()) }
}

fn draw_seed() -> Outcome<u64> {
    let mut bytes = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    // Short enough to be typed.
    Ok(u64::from_le_bytes(bytes) % 1_000_000_000)
}

fn months(seed: u64, _: &[String]) -> Command {
    xtask(&["simulate", "--seed", &seed.to_string(), "--rounds", MONTHS])
}

fn requests(_: u64, _: &[String]) -> Command {
    xtask(&["schemathesis"])
}

fn random_tests(_: u64, names: &[String]) -> Command {
    let mut command = xtask(&["test", "--no-fail-fast", "--profile=explore", "-E", RANDOM_TESTS]);
    command.args(names);
    command
}

/// Returns the command of all tests with their large sizes, also of the tests that the gate leaves out.
fn tests(_: u64, names: &[String]) -> Command {
    let mut command = xtask(&["test", "--no-fail-fast", "--profile=explore"]);
    command.args(names);
    command
}

/// Returns the command of one part of the mutants, or of those at the given places. `.cargo/mutants.toml` has the
/// options. The builds are incremental and stay in a temporary folder.
fn mutants(seed: u64, places: &[String]) -> Command {
    let mut command = cargo_without_lints(&["mutants", "--package=candor-domain", "--colors=never"]);
    command.env("CARGO_INCREMENTAL", "1").env_remove("CARGO_TARGET_DIR");
    if places.is_empty() {
        let part = format!("{}/{PARTS_OF_MUTANTS}", seed % PARTS_OF_MUTANTS);
        command.args(["--sharding=round-robin", "--shard", &part]);
    }
    for place in places {
        // cargo-mutants 27 does not apply `--re` to members of structs, so the file limits them.
        let file = place.split(':').next().unwrap_or_default();
        command.args([format!("--re={place}:"), format!("--file={file}")]);
    }
    command
}

/// Returns a line for each failed test or surviving mutant, or one for the step.
fn findings_of(name: &str, seed: u64, done: &FinishedStep) -> Vec<String> {
    let Some(problem) = &done.problem else { return vec![] };
    let repeat = format!("cargo xtask explore --seed {seed} --only {name}");
    let tests: BTreeSet<_> = done.output.lines().filter_map(failed_test).collect();
    let survivors: BTreeSet<_> = done.output.lines().filter_map(survivor).collect();
    if !survivors.is_empty() {
        return survivors.into_iter().map(|(place, change)| format!("{change}: {repeat} {place}")).collect();
    }
    if tests.is_empty() {
        return vec![format!("{name} ({problem}): {repeat}")];
    }
    tests.into_iter().map(|test| format!("{test}: {repeat} {test}")).collect()
}

/// Returns the name of the failed test in a line of nextest such as `FAIL [ 0.01s] (1/9) candor-domain::rules
/// ids::id_is_kept`. `None` for other lines.
fn failed_test(line: &str) -> Option<&str> {
    const RESULTS: [&str; 5] = ["FAIL [", "TIMEOUT [", "SIGABRT [", "SIGSEGV [", "SIGKILL ["];
    let line = line.trim_start();
    if !RESULTS.iter().any(|result| line.starts_with(result)) {
        return None;
    }
    line.rsplit(' ').next().filter(|name| name.chars().any(char::is_alphabetic))
}

/// Returns the place and the change in a line of cargo-mutants such as `MISSED   crates/domain/src/keyed.rs:94:5: replace
/// digest -> u64 with 0 in 2s build + 1s test`. `None` for other lines.
fn survivor(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("MISSED ")?.trim_start().split_once(": ")
}

#[cfg(test)]
mod tests_of_options {
    use super::*;

    fn parse(text: &str) -> Result<Options, String> {
        let arguments: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        Options::parse(&arguments).map_err(|problem| problem.to_string())
    }

    #[test]
    fn options_are_read_or_refused_with_the_remedy() {
        let all = parse("--minutes 5 --seed 7 --only tests csv").unwrap();
        let expected_options = Options {
            minutes: Some(5),
            seed: Some(7),
            only: Some("tests".to_owned()),
            tests: vec!["csv".to_owned()],
        };
        assert_eq!(all, expected_options);
        let seed = parse("--seed 0x1").unwrap_err();
        assert_eq!(seed, "--seed is \"0x1\"; write a number from 0 to 18446744073709551615");
        assert!(parse("--only x").unwrap_err().contains("the known names are documentation, "));
        assert_eq!(parse("--seed").unwrap_err(), "--seed needs a value");
        assert!(parse("--fast").unwrap_err().contains("the options are"));
    }

    #[test]
    fn each_failure_is_one_finding_with_its_command() {
        let output = "  FAIL [   0.1s] (1/2) candor-domain::rules ids::kept\n  PASS [ 0.1s] a b\n  FAIL [   0.1s] (1/2) candor-domain::rules ids::kept\n";
        let failed_step = FinishedStep {
            name: "tests",
            seconds: 1.0,
            output: output.to_owned(),
            problem: Some("exit status: 100".to_owned()),
        };
        let finding_text = "ids::kept: cargo xtask explore --seed 7 --only tests ids::kept";
        assert_eq!(findings_of("tests", 7, &failed_step), [finding_text]);
        let output = "MISSED   src/a.rs:9:5: replace f -> u64 with 0\nTIMEOUT  src/a.rs:8:1: delete !\n";
        let failed_step = FinishedStep { name: "mutants", output: output.to_owned(), ..failed_step };
        let survivor_text = "replace f -> u64 with 0: cargo xtask explore --seed 7 --only mutants src/a.rs:9:5";
        assert_eq!(findings_of("mutants", 7, &failed_step), [survivor_text]);
        let result = FinishedStep { output: String::new(), ..failed_step };
        let expected_finding = "requests (exit status: 100): cargo xtask explore --seed 7 --only requests";
        assert_eq!(findings_of("requests", 7, &result), [expected_finding]);
    }
}
