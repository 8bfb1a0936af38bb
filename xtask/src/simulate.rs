//! `cargo xtask simulate`: thousands of months of deliveries, in simulated time.

use crate::process::{Outcome, cargo, program, run as run_program};
use crate::workspace::Workspace;

const BINARY: &str = "candor-simulate";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    // With the examples cargo unites the same features as for tests, and builds no dependency twice.
    run_program(&mut cargo(&["build", "--quiet", "--workspace", "--bin", BINARY, "--examples"]))?;
    let binary = Workspace::load()?.target_directory.join("debug").join(BINARY);
    run_program(program(binary, &[]).args(arguments))
}
