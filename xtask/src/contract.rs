//! `cargo xtask contract`: compares the OpenAPI document with that of the last release, and fails for each change
//! that breaks a client. A test runs first: it plants each kind of break and expects that the comparison finds the
//! break.

use crate::packages;
use crate::process::{Outcome, program, run as run_program};
use crate::workspace::Workspace;

const FOLDER: &str = "tests/outside/contract";

pub(crate) fn run() -> Outcome {
    let packages = packages::node(&Workspace::load()?.target_directory, FOLDER)?;
    let node = |arguments: &[&str]| run_program(program("node", arguments).env("NODE", &packages));
    node(&["--test", "--test-reporter=dot", &format!("{FOLDER}/plants.test.mjs")])?;
    node(&[&format!("{FOLDER}/check.mjs")])
}
