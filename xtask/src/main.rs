//! The project's own commands, as `cargo xtask <command>`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "people and CI read what these commands print")]

mod bench;
mod ci;
mod clients;
mod cluster;
mod deny;
mod deploy;
mod generators;
mod openapi;
mod package;
mod packages;
mod postgres;
mod process;
mod public_api;
mod recipe;
mod reference;
mod schemathesis;
mod service;
mod signatures;
mod simulate;
mod standalone;
mod test;
mod text;
mod tidy;
mod workspace;

use process::Outcome;
use std::process::ExitCode;

struct Command {
    name: &'static str,
    arguments: &'static str,
    does: &'static str,
    run: fn(&[String]) -> Outcome,
}

const COMMANDS: [Command; 17] = [
    Command {
        name: "test",
        arguments: "[ARGUMENTS]",
        does: "run every test on SQLite and on a temporary PostgreSQL; arguments go to nextest, or to cargo test",
        run: test::run,
    },
    Command {
        name: "cluster",
        arguments: "[ARGUMENTS]",
        does: "run the tests of a database that is spread over three nodes (Citus), where its engine can be had",
        run: cluster::run,
    },
    Command {
        name: "standalone",
        arguments: "",
        does: "compile the tests of packages with their own features, as `cargo test -p PACKAGE` does",
        run: |_| standalone::run(),
    },
    Command {
        name: "tidy",
        arguments: "[--shrink]",
        does: "check what compilers do not: dependencies between crates, sizes, migrations, text, wording",
        run: tidy::run,
    },
    Command {
        name: "openapi",
        arguments: "[--check]",
        does: "write docs/openapi.json from the code, or check that it is current",
        run: openapi::run,
    },
    Command {
        name: "public-api",
        arguments: "[--check]",
        does: "write what the domain offers to crates/domain/public-api.txt, or check that it is current",
        run: public_api::run,
    },
    Command {
        name: "schemathesis",
        arguments: "",
        does: "send generated requests to the built binary and hold its answers against the OpenAPI document",
        run: |_| schemathesis::run(),
    },
    Command {
        name: "clients",
        arguments: "[--check|--test]",
        does: "generate the client libraries, check that they are current, or test them against the built binary",
        run: clients::run,
    },
    Command {
        name: "generators",
        arguments: "",
        does: "make clients from the OpenAPI document with three generators of others, compile them, and run them",
        run: |_| generators::run(),
    },
    Command {
        name: "signatures",
        arguments: "",
        does: "check deliveries of the built binary with the examples of docs/webhooks.md and with Standard Webhooks",
        run: |_| signatures::run(),
    },
    Command {
        name: "recipe",
        arguments: "",
        does: "keep a copy of the built binary's data in step with docs/examples/keep_a_copy.py, and compare the two",
        run: |_| recipe::run(),
    },
    Command {
        name: "reference",
        arguments: "",
        does: "read /docs of the built binary with a headless Chromium; pictures stay under the target folder",
        run: |_| reference::run(),
    },
    Command {
        name: "simulate",
        arguments: "[--seed N] [--rounds N]",
        does: "live through months of deliveries in simulated time; one seed alone with its story, else 2,000 of them",
        run: simulate::run,
    },
    Command {
        name: "bench",
        arguments: "[--quick] [--check] [--hold] [--only NAME]... [--store postgres|sqlite]",
        does: "measure the release build against pgbench, and write docs/performance.md",
        run: bench::run,
    },
    Command {
        name: "deploy",
        arguments: "",
        does: "hold docs/deploy against the program, and try as much of it as this machine can",
        run: |_| deploy::run(),
    },
    Command {
        name: "package",
        arguments: "[--profile NAME] [--target TRIPLE] [--test]",
        does: "build a release: Debian package, archive, bill of materials, wheel, npm packages, checksums; or test these",
        run: package::run,
    },
    Command { name: "ci", arguments: "", does: "everything that a change must pass", run: |_| ci::run() },
];

const USAGE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let chosen = arguments.split_first().and_then(|(name, rest)| {
        let command = COMMANDS.iter().find(|it| it.name == name)?;
        Some((command, rest))
    });
    let Some((command, rest)) = chosen else {
        eprintln!("{}", usage());
        return ExitCode::from(USAGE);
    };
    match (command.run)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("cargo xtask {}: {problem}", command.name);
            ExitCode::FAILURE
        }
    }
}

fn usage() -> String {
    let lines = COMMANDS.iter().map(|it| {
        let call = format!("{} {}", it.name, it.arguments);
        format!("  cargo xtask {call:<20} {}", it.does)
    });
    std::iter::once("usage:".to_owned()).chain(lines).collect::<Vec<_>>().join("\n")
}
