//! `cargo xtask bench`: builds the service as for a release, and measures it.

use crate::footprint::build_release;
use crate::process::{Outcome, cargo, root, run as run_program};
use crate::workspace::Workspace;
use std::path::PathBuf;

/// Builds the binary of a release: alone and with the features of the packages. Returns the target folder.
pub(crate) fn build_service() -> Outcome<PathBuf> {
    let target = Workspace::load()?.target_directory;
    build_release(&target)?;
    Ok(target)
}

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let target = build_service()?;
    let mut bench = cargo(&["run", "--quiet", "--release", "--package", "candor-bench", "--"]);
    bench
        .arg("--binary")
        .arg(target.join("release/candor"))
        .arg("--document")
        .arg(root().join("docs/performance.md"));
    run_program(bench.args(arguments)).map_err(|_| "a limit is missed, or the benchmark failed: see above".into())
}
