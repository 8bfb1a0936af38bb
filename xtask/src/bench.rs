//! `cargo xtask bench`: builds the service as for a release, and measures it.

use crate::process::{Outcome, cargo, root, run as run_program};
use crate::workspace::Workspace;

pub(crate) fn run(arguments: &[String]) -> Outcome {
    // Built alone and with the features of the packages, so that the measured binary is that of a release.
    let build_arguments = ["--package", "candor-app", "--bin", "candor", "--features", "otlp"];
    run_program(cargo(&["build", "--quiet", "--release"]).args(build_arguments))?;
    let target = Workspace::load()?.target_directory;
    let mut bench = cargo(&["run", "--quiet", "--release", "--package", "candor-bench", "--"]);
    bench
        .arg("--binary")
        .arg(target.join("release/candor"))
        .arg("--document")
        .arg(root().join("docs/performance.md"));
    run_program(bench.args(arguments)).map_err(|_| "a limit is missed, or the benchmark failed: see above".into())
}
