//! `cargo xtask schemathesis`: generated requests against the built binary, held against its OpenAPI document.

use crate::process::{Outcome, program, root, run as run_program};
use crate::service::{Key, Service};
use crate::test;
use crate::workspace::Workspace;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

const VERSION: &str = "4.32.5";
/// The versions of what it depends on, so that a run a year from now is this run.
const CONSTRAINTS: &str = "xtask/schemathesis.txt";
/// What counts as an acceptance.
const CONFIGURATION: &str = "xtask/schemathesis.toml";
/// The folder of the module of hooks, and its name.
const HOOKS: (&str, &str) = ("xtask", "schemathesis_hooks");

/// Per operation and phase: enough for every field to get its edges, few enough for a run of some minutes.
const EXAMPLES: &str = "25";

pub(crate) fn run() -> Outcome {
    test::build_everything()?;
    let target = Workspace::load()?.target_directory;
    let schemathesis = installed(&target)?;
    // The hooks give every request an address of its own.
    let service = Service::start(&target.join("debug/candor"), &[("CANDOR_TRUSTED_PROXIES", "127.0.0.1")])?;
    let key = service.key()?;
    let result = run_program(command(&schemathesis, &service, &key).current_dir(service.folder()));
    result.map_err(|problem| format!("{problem}; the end of the service's log:\n{}", service.end_of_log()).into())
}

fn command(schemathesis: &Path, service: &Service, key: &Key) -> Command {
    let configuration = root().join(CONFIGURATION);
    let mut command = program(schemathesis, &["--config-file", &configuration.to_string_lossy()]);
    command.env("PYTHONPATH", root().join(HOOKS.0)).env("PYTHONDONTWRITEBYTECODE", "1");
    command.env("SCHEMATHESIS_HOOKS", HOOKS.1).env("SCHEMATHESIS_KEY_ID", &key.id);
    command.args(["run", &service.url("/v1/openapi.json")]);
    command.args(["--header", &format!("Authorization: Bearer {}", key.secret)]);
    // Every check is on unless the configuration says otherwise; named here, they would be on in spite of it.
    command.args(["--phases", "examples,coverage,fuzzing,stateful"]);
    // Its threads get into each other's way: Python's parser keeps its depth for all of them.
    command.args(["--max-examples", EXAMPLES, "--workers", "1", "--request-timeout", "10"]);
    // The same requests each time: a change that breaks nothing cannot fail by chance.
    command.args(["--generation-deterministic", "--continue-on-failure"]);
    command.args(["--suppress-health-check", "all", "--no-color"]);
    command
}

/// The program in a virtual environment under the target folder, made when it is not there yet.
fn installed(target: &Path) -> Outcome<PathBuf> {
    let environment = target.join(format!("schemathesis-{VERSION}"));
    let complete = environment.join("complete");
    if !complete.exists() {
        let package = format!("schemathesis=={VERSION}");
        println!("installing {package}");
        let folder = environment.to_string_lossy();
        run_program(&mut program("python3", &["-m", "venv", "--clear", &folder]))
            .map_err(|problem| format!("{problem}: Python 3 with its venv module is needed"))?;
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", CONSTRAINTS, &package];
        run_program(&mut program(environment.join("bin/python"), &install))?;
        File::create(complete)?;
    }
    Ok(environment.join("bin/schemathesis"))
}
