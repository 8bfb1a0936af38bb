//! The project's own commands, as `cargo xtask <command>`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "people and CI read what these commands print")]

mod bench;
mod ci;
mod clients;
mod cluster;
mod contract;
mod deny;
mod deploy;
mod explore;
mod footprint;
mod inputs;
mod openapi;
mod outside;
mod package;
mod packages;
mod peers;
mod postgres;
mod process;
mod service;
mod simulate;
mod standalone;
mod steps;
mod test;
mod text;
mod tidy;
mod workspace;

use process::Outcome;
use std::process::ExitCode;

/// Name and function. `usage.txt` describes the commands.
type Command = (&'static str, fn(&[String]) -> Outcome);

const COMMANDS: [Command; 25] = [
    ("test", test::run),
    ("cluster", cluster::run),
    ("standalone", |_| standalone::run()),
    ("tidy", |_| tidy::run()),
    ("openapi", openapi::run),
    ("schemathesis", |_| outside::SCHEMATHESIS.run()),
    ("identity", |_| outside::IDENTITY.run_if_installable()),
    ("scim", |_| outside::SCIM.run_if_installable()),
    ("warehouse", |_| outside::WAREHOUSE.run_if_installable()),
    ("contract", |_| contract::run()),
    ("clients", clients::run),
    ("generators", |_| outside::GENERATORS.run()),
    ("signatures", |_| outside::SIGNATURES.run()),
    ("recipe", |_| outside::RECIPE.run()),
    ("reference", |_| outside::REFERENCE.run()),
    ("console", |_| outside::CONSOLE.run()),
    ("simulate", simulate::run),
    ("bench", bench::run),
    ("peers", peers::run),
    ("footprint", footprint::run),
    ("deploy", |_| deploy::run()),
    ("package", package::run),
    ("deny", |_| deny::run()),
    ("ci", |_| ci::run()),
    ("explore", explore::run),
];

const USAGE: &str = include_str!("../usage.txt");
const USAGE_ERROR: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let chosen_command = arguments.split_first().and_then(|(name, rest)| {
        let command = COMMANDS.iter().find(|(known, _)| known == name)?;
        Some((command, rest))
    });
    let Some(((name, run), rest)) = chosen_command else {
        eprint!("{USAGE}");
        return ExitCode::from(USAGE_ERROR);
    };
    match run(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("cargo xtask {name}: {problem}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{COMMANDS, USAGE};

    #[test]
    fn usage_describes_every_command() {
        let described_commands: Vec<_> =
            USAGE.lines().filter_map(|line| line.trim().strip_prefix("cargo xtask ")).collect();
        let commands: Vec<_> = described_commands.iter().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(commands, COMMANDS.map(|(name, _)| name));
    }
}
