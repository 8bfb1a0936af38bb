//! Running other programs from the root of the workspace.

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Result of a command of this program. The error is one line for the person at the terminal.
pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Returns the folder of the workspace's manifest. Without cargo, which sets the variable, or if the folder of the variable
/// is gone, it is the workspace that contains the current folder. The folder of the compilation may be that of another checkout.
pub(crate) fn root() -> PathBuf {
    find_root(env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from), &env::current_dir().unwrap_or_default())
}

fn find_root(manifest: Option<PathBuf>, current: &Path) -> PathBuf {
    if let Some(workspace) = manifest.filter(|folder| folder.is_dir()).as_deref().and_then(Path::parent) {
        return workspace.to_path_buf();
    }
    let workspace = current.ancestors().find(|folder| folder.join("xtask/Cargo.toml").is_file());
    workspace.unwrap_or(current).to_path_buf()
}

/// Variable with the program that compiles the crates of the workspace in place of rustc.
pub(crate) const WRAPPER: &str = "RUSTC_WORKSPACE_WRAPPER";

/// Returns a command of cargo that compiles with rustc and without the lints, also in the gate. This is for projects
/// outside the workspace, and for builds whose lints another step reports.
pub(crate) fn cargo_without_lints(arguments: &[&str]) -> Command {
    let mut command = cargo(arguments);
    command.env_remove(WRAPPER);
    command
}

/// Returns a command of the cargo that runs this program.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // ring's build depends on variables that `cargo run` sets for this package. With them, a build by this program
    // and a build by a person would each rebuild ring and its dependents.
    for (name, _) in env::vars_os().filter(|(name, _)| describes_a_package(&name.to_string_lossy())) {
        command.env_remove(name);
    }
    command.args(arguments).current_dir(root());
    command
}

fn describes_a_package(variable: &str) -> bool {
    ["CARGO_MANIFEST_", "CARGO_PKG_"].iter().any(|prefix| variable.starts_with(prefix))
}

/// Returns a command that runs in the root of the workspace.
pub(crate) fn program(name: impl AsRef<Path>, arguments: &[&str]) -> Command {
    let mut command = Command::new(name.as_ref());
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command to its end. The output goes to this program's output.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let status = command.status().map_err(|error| format!("cannot run {}: {error}", words(command)))?;
    if status.success() { Ok(()) } else { Err(format!("`{}` failed ({status})", words(command)).into()) }
}

/// Runs a command to its end and returns its standard output. Its standard error goes to that of this program.
pub(crate) fn output(command: &mut Command) -> Outcome<String> {
    let result = command.stderr(Stdio::inherit()).output();
    let output = result.map_err(|error| format!("cannot run {}: {error}", words(command)))?;
    if !output.status.success() {
        return Err(format!("`{}` failed ({})", words(command), output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns `true` if a program exists and succeeds. Prints nothing.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Returns the command line, without the folder of the program.
fn words(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let all = std::iter::once(name).chain(command.get_args());
    all.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_ignores_a_manifest_folder_that_is_gone() {
        let folder = env::current_dir().unwrap();
        let workspace = folder.parent().unwrap().to_path_buf();
        for (manifest, current) in [(Some(folder.clone()), env::temp_dir()), (Some("/gone/xtask".into()), folder)]
        {
            assert_eq!(find_root(manifest, &current), workspace);
        }
    }
}
