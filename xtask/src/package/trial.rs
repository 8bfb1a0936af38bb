//! Installs the wheel and the npm packages into empty environments and starts the service from each, until it
//! answers a request of the API.

use super::platform::Platform;
use super::{Build, for_registries, remove, wheel};
use crate::process::{Outcome, output, program, run as run_program};
use crate::service::Service;
use crate::test::build_binary;
use crate::workspace::Workspace;
use std::fs;
use std::path::{Path, PathBuf};

/// `cargo xtask package --test`: tries packages of the binary of the tests.
pub(crate) fn run() -> Outcome {
    build_binary()?;
    let target = Workspace::load()?.target_directory;
    let build = Build::with_profile(&target, "dev")?;
    let folder = target.join("package-test");
    remove(&folder)?;
    fs::create_dir_all(&folder)?;
    let files = for_registries(&build, &folder)?;
    install_and_start(&build, &folder, &files)
}

/// Tries the wheel and the npm packages among the files of a build. Packages for another C library cannot be
/// installed.
pub(super) fn install_and_start(build: &Build, folder: &Path, files: &[PathBuf]) -> Outcome {
    if build.platform != Platform::host()? {
        println!("skipped: installation of the packages: they are for {}", build.platform.triple());
        return Ok(());
    }
    let scratch = build.target.join("package-environments");
    remove(&scratch)?;
    fs::create_dir_all(&scratch)?;
    let with_extension = |extension: &str| {
        let fitting = files.iter().filter(|file| file.extension().is_some_and(|found| found == extension));
        fitting.map(|file| folder.join(file)).collect::<Vec<_>>()
    };
    for file in with_extension("whl") {
        start("the wheel", &install_wheel(&wheel::python(&build.target)?, &file, &scratch.join("python"))?)?;
    }
    let archives = with_extension("tgz");
    if !archives.is_empty() {
        start("the npm packages", &install_npm(&archives, &scratch.join("node"))?)?;
    }
    remove(&scratch)
}

/// Installs a wheel into a new virtual environment; returns the path of the program.
fn install_wheel(python: &Path, file: &Path, environment: &Path) -> Outcome<PathBuf> {
    run_program(program(python, &["-m", "venv"]).arg(environment))?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"];
    run_program(program(environment.join("bin/python"), &install).arg(file))?;
    Ok(environment.join("bin/candor"))
}

/// Installs npm packages into a new project; returns the path of the program.
fn install_npm(files: &[PathBuf], project: &Path) -> Outcome<PathBuf> {
    fs::create_dir(project)?;
    fs::write(project.join("package.json"), "{\"private\": true}\n")?;
    // Offline: packages of other platforms are in no registry, and npm skips optional packages that it cannot get.
    let install = ["install", "--silent", "--offline", "--no-audit", "--no-fund"];
    run_program(program("npm", &install).args(files).current_dir(project))?;
    let version =
        output(program("npx", &["--offline", "--no", "candor", "--", "--version"]).current_dir(project))?;
    if !version.starts_with("candor ") {
        return Err(format!("npx runs another program: {version}").into());
    }
    Ok(project.join("node_modules/.bin/candor"))
}

/// Starts `candor dev` with this program, sends `GET /v1/me` with a new key, and stops the service with a signal.
fn start(package: &str, program: &Path) -> Outcome {
    let service = Service::start(program, "dev", &[]).map_err(|problem| format!("{package}: {problem}"))?;
    let result = service.key().and_then(|key| service.get("/v1/me", Some(&key)));
    let log = service.end_of_log();
    service.stop().and(result).map_err(|problem| format!("{package}: {problem}; the end of the log:\n{log}"))?;
    println!("{package}: installed into an empty environment; `candor dev` answered");
    Ok(())
}
