//! Other programs for the checks. Programs that the machine lacks are installed under the target folder.

use super::{CheckResult, Machine};
use crate::packages;
use crate::process::{Outcome, cargo_without_lints, program, run as run_program, succeeds};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folder with the versions of hadolint, Docker Compose and the schemas of Kubernetes.
const PYTHON: &str = "xtask/deploy";
/// Debian's package with promtool.
const PROMETHEUS: &str = "prometheus";

/// Returns the path of an installed program. `None` if the program is not installed.
pub(crate) fn find_installed(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let usual = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&folders).chain(usual).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Returns the virtual environment with the tools in Python, or prints the problem.
pub(super) fn python(machine: &Machine) -> Option<PathBuf> {
    packages::python(&machine.target, PYTHON).map_err(|problem| println!("{problem}")).ok()
}

pub(super) fn no_python() -> Outcome<CheckResult> {
    CheckResult::skip("Python 3 with its venv module, or a package from PyPI, is not available: see above")
}

/// Returns `promtool` of the machine, or that of Debian's package, which is unpacked and not installed. `None` if
/// neither is available.
pub(super) fn promtool(machine: &Machine) -> Option<PathBuf> {
    if let Some(path) = find_installed("promtool") {
        return Some(path);
    }
    let folder = machine.target.join("promtool");
    let path = folder.join("usr/bin/promtool");
    if !path.exists() {
        unpack_prometheus(&folder).map_err(|problem| println!("{problem}")).ok()?;
    }
    path.exists().then_some(path)
}

fn unpack_prometheus(folder: &Path) -> Outcome {
    if find_installed("apt-get").is_none() {
        return Err("there is no promtool, and no apt-get to download it".into());
    }
    fs::create_dir_all(folder)?;
    let download = || succeeds(program("apt-get", &["-qq", "download", PROMETHEUS]).current_dir(folder));
    if !download() {
        run_program(&mut program("apt-get", &["-qq", "update"]))?;
        run_program(program("apt-get", &["-qq", "download", PROMETHEUS]).current_dir(folder))?;
    }
    let package = debian_package_in(folder)?.ok_or("apt-get downloaded no package")?;
    run_program(&mut program("dpkg-deb", &["--extract", &package.to_string_lossy(), &folder.to_string_lossy()]))?;
    Ok(fs::remove_file(package)?)
}

pub(super) fn debian_package_in(folder: &Path) -> Outcome<Option<PathBuf>> {
    let mut files = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    Ok(files.find(|path| path.extension() == Some("deb".as_ref())))
}

/// Returns the program of a subcommand of cargo: `cargo-deb` for `deb`. If the machine lacks the program, builds it
/// in this version under the target folder, without optimisation because it has little to do.
pub(crate) fn subcommand(target: &Path, name: &str, version: &str) -> Outcome<PathBuf> {
    let program_name = format!("cargo-{name}");
    if let Some(path) = find_installed(&program_name) {
        return Ok(path);
    }
    let folder = target.join(format!("{program_name}-{version}"));
    let path = folder.join("bin").join(&program_name);
    if !path.exists() {
        println!("installing {program_name} {version}");
        let mut command = cargo_without_lints(&["install", "--quiet", "--locked", "--version", version, "--root"]);
        command.arg(&folder).arg(&program_name).env("CARGO_TARGET_DIR", folder.join("target"));
        command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0").env("CARGO_PROFILE_RELEASE_LTO", "off");
        run_program(&mut command)?;
        fs::remove_dir_all(folder.join("target"))?;
    }
    Ok(path)
}

/// Runs a program and returns its output. If the program fails, the error contains its output.
pub(super) fn read_output(command: &mut Command) -> Outcome<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("cannot run {name}: {error}"))?;
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    if output.status.success() { Ok(text) } else { Err(format!("{name} failed:\n{}", text.trim()).into()) }
}
