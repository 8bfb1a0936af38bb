//! `cargo xtask peers`: measures the service beside other servers with the same rows and requests.

use crate::bench::build_service;
use crate::packages;
use crate::process::{Outcome, cargo, program, run as run_program};

const FOLDER: &str = "xtask/peers";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let target = build_service()?;
    run_program(&mut cargo(&["build", "--quiet", "--release", "--package", "candor-test-load"]))?;
    let python = packages::python(&target, FOLDER)?.join("bin/python");
    let mut peers = program(python, &[&format!("{FOLDER}/peers.py"), "--release"]);
    peers.env("PYTHONDONTWRITEBYTECODE", "1");
    run_program(peers.arg(target.join("release")).args(arguments))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deploy::tools::find_installed;

    #[test]
    fn documents_state_the_stored_figures() {
        if find_installed("python3").is_some() {
            run_program(&mut program("python3", &[&format!("{FOLDER}/report.py"), "--check"])).unwrap();
        }
    }
}
