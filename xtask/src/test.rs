//! `cargo xtask test`: every test of the workspace, on every store.

use crate::postgres::Postgres;
use crate::process::{self, Outcome, cargo, succeeds};
use crate::workspace::Workspace;
use std::num::NonZero;
use std::process::Command;
use std::thread;

/// Package of the tests that start the binary. Cargo does not build the binary for them.
const TESTS_OF_THE_BINARY: &str = "candor-e2e";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let selection = TestArguments::new(arguments);
    let postgres = Postgres::provide()?;
    build(&selection)?;
    let nextest = succeeds(&mut cargo(&["nextest", "--version"]));
    let mut tests = if nextest { nextest_command(selection.has_profile) } else { cargo(&["test"]) };
    if selection.packages.is_empty() {
        tests.arg("--workspace");
    }
    process::run(postgres.add_address_to(tests.args(arguments)))?;
    // `cargo test` has run the doc tests already.
    if nextest { doc_tests(&selection, &postgres) } else { Ok(()) }
}

/// Returns the command of nextest. It names the profile `gate`, unless the arguments name the profile `explore`.
fn nextest_command(has_profile: bool) -> Command {
    let mut command = cargo(&["nextest", "run"]);
    if !has_profile {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        command.arg("--profile=gate").arg(format!("--test-threads={}", 4 * processors));
    }
    command
}

/// Builds everything at once, so that cargo unites features once for tests, binary and examples.
pub(crate) fn build_everything() -> Outcome {
    process::run(&mut cargo(&["build", "--workspace", "--all-targets"]))
}

/// Builds the program and the proxy of the tests as [`build_everything`] does, without the tests.
pub(crate) fn build_binary() -> Outcome {
    // With the examples cargo unites the same features as for tests, and builds no dependency twice.
    let arguments = "build --workspace --bin candor --bin candor-fault-proxy --examples";
    process::run(&mut cargo(&arguments.split(' ').collect::<Vec<_>>()))
}

/// Arguments that select tests.
#[derive(Debug, PartialEq, Eq)]
struct TestArguments<'a> {
    packages: Vec<&'a str>,
    /// `true` if there are names of tests, or options. Doc tests support neither.
    others: bool,
    has_profile: bool,
}

impl<'a> TestArguments<'a> {
    fn new(arguments: &'a [String]) -> Self {
        let mut selection = Self { packages: Vec::new(), others: false, has_profile: false };
        let mut rest = arguments.iter().map(String::as_str);
        while let Some(argument) = rest.next() {
            match argument {
                "-p" | "--package" => selection.packages.extend(rest.next()),
                // This option selects no tests.
                "--no-fail-fast" => {}
                "--profile=explore" => selection.has_profile = true,
                _ => match argument.strip_prefix("--package=").or_else(|| argument.strip_prefix("-p")) {
                    Some(package) => selection.packages.push(package),
                    None => selection.others = true,
                },
            }
        }
        selection
    }

    fn covers_everything(&self) -> bool {
        self.packages.is_empty() && !self.others
    }
}

fn build(asked: &TestArguments) -> Outcome {
    if asked.covers_everything() {
        build_everything()
    } else if asked.packages.is_empty() || asked.packages.contains(&TESTS_OF_THE_BINARY) {
        build_binary()
    } else {
        Ok(())
    }
}

fn doc_tests(asked: &TestArguments, postgres: &Postgres) -> Outcome {
    if asked.others {
        return Ok(());
    }
    let mut command = cargo(&["test", "--doc", "--quiet"]);
    if asked.covers_everything() {
        command.arg("--workspace");
    } else {
        let workspace = Workspace::load()?;
        let libraries =
            workspace.packages.iter().filter(|package| package.has_library).map(|package| package.name.as_str());
        let chosen_libraries: Vec<&str> = libraries.filter(|name| asked.packages.contains(name)).collect();
        if chosen_libraries.is_empty() {
            return Ok(());
        }
        chosen_libraries.iter().for_each(|package| {
            command.args(["--package", package]);
        });
    }
    process::run(postgres.add_address_to(&mut command))
}

#[cfg(test)]
mod tests {
    use super::TestArguments;

    #[test]
    fn packages_are_distinguished_from_other_arguments() {
        let table: [(&[&str], &[&str], bool); 6] = [
            (&[], &[], false),
            (&["-p", "candor-http"], &["candor-http"], false),
            (&["--package=a", "-pb", "--package", "c"], &["a", "b", "c"], false),
            (&["-p", "candor-http", "approve"], &["candor-http"], true),
            (&["--no-fail-fast"], &[], false),
            (&["--run-ignored=all"], &[], true),
        ];
        for (arguments, packages, others) in table {
            let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
            assert_eq!(
                TestArguments::new(&arguments),
                TestArguments { packages: packages.to_vec(), others, has_profile: false }
            );
        }
    }
}
