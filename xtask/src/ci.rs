//! `cargo xtask ci`: everything that a change must pass, the quick checks first.

use crate::process::{Outcome, cargo, run as run_program};
use crate::{
    clients, cluster, deny, deploy, generators, openapi, package, public_api, recipe, reference, schemathesis,
    signatures, simulate, standalone, test, tidy,
};
use std::time::Instant;

type Step = (&'static str, fn() -> Outcome);

const STEPS: [Step; 20] = [
    ("formatting", || run_program(&mut cargo(&["fmt", "--all", "--check"]))),
    ("tidy", || tidy::run(&[])),
    ("lints", lints),
    ("OpenAPI document", openapi::check),
    ("generated files of the client libraries", clients::check),
    ("public API of the domain", public_api::check),
    ("documentation of the code", docs),
    ("tests of packages alone", standalone::run),
    ("tests", tests),
    ("tests on a cluster", || cluster::run(&[])),
    ("simulated months", || simulate::run(&[])),
    ("licences and bans", deny::run),
    ("files to deploy with", deploy::run),
    ("wheel and npm packages", package::test),
    ("signatures of webhooks", signatures::run),
    ("copy in step", recipe::run),
    ("reference in a browser", reference::run),
    ("client libraries", clients::test),
    ("clients of other generators", generators::run),
    ("generated requests", schemathesis::run),
];

pub(crate) fn run() -> Outcome {
    let begun = Instant::now();
    for (name, step) in STEPS {
        println!("── {name}");
        let step_begun = Instant::now();
        step().map_err(|problem| format!("{name}: {problem}"))?;
        println!("── {name}: passed in {:.1} s\n", step_begun.elapsed().as_secs_f64());
    }
    println!("── everything passed in {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}

/// To the end, so that one run tells of every test that fails.
fn tests() -> Outcome {
    test::run(&["--no-fail-fast".to_owned()])
}

fn lints() -> Outcome {
    run_program(&mut cargo(&["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

/// A link that leads nowhere, or a private item that a public one refers to, is an error.
fn docs() -> Outcome {
    let mut command = cargo(&["doc", "--quiet", "--locked", "--workspace", "--no-deps"]);
    run_program(command.env("RUSTDOCFLAGS", "-D warnings"))
}
