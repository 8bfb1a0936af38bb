//! `cargo xtask standalone`: compiles the tests of each package with the features that its own manifest asks for.
//!
//! A build of the workspace unites the features that all of its packages ask of a dependency. A package whose manifest
//! lacks a feature compiles there, and fails in `cargo test -p PACKAGE`.

use crate::process::{Outcome, cargo, run as run_program};
use crate::workspace::Workspace;

pub(crate) fn run() -> Outcome {
    for package in &Workspace::load()?.packages {
        println!("compiling the tests of {}", package.name);
        run_program(&mut cargo(&["check", "--quiet", "--locked", "--tests", "--package", &package.name]))?;
    }
    Ok(())
}
