//! Running other programs from the root of the workspace.

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a command of this program comes to; the error is one line for a person.
pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// The folder that holds the workspace's manifest.
pub(crate) fn root() -> PathBuf {
    // `cargo run` sets the variable; the value at compile time would be wrong for a target folder that two checkouts share.
    let manifest = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    manifest.parent().map_or_else(|| manifest.clone(), Path::to_path_buf)
}

/// The cargo that runs this program.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // What `cargo run` tells of this package is part of what ring was built from: it, and all that uses it, would be built
    // again whenever cargo is called by this program and then by a person.
    for (name, _) in env::vars_os().filter(|(name, _)| tells_of_a_package(&name.to_string_lossy())) {
        command.env_remove(name);
    }
    command.args(arguments).current_dir(root());
    command
}

fn tells_of_a_package(variable: &str) -> bool {
    ["CARGO_MANIFEST_", "CARGO_PKG_"].iter().any(|it| variable.starts_with(it))
}

/// Another program, in the root of the workspace.
pub(crate) fn program(name: impl AsRef<Path>, arguments: &[&str]) -> Command {
    let mut command = Command::new(name.as_ref());
    command.args(arguments).current_dir(root());
    command
}

/// Runs to the end with this program's own output.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let status = command.status().map_err(|error| format!("cannot run {}: {error}", words(command)))?;
    if status.success() { Ok(()) } else { Err(format!("`{}` failed ({status})", words(command)).into()) }
}

/// Runs to the end and returns what it wrote to standard output; its errors go where this program's go.
pub(crate) fn output(command: &mut Command) -> Outcome<String> {
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|error| format!("cannot run {}: {error}", words(command)))?;
    if !output.status.success() {
        return Err(format!("`{}` failed ({})", words(command), output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Whether the program is there and does what is asked; nothing is printed.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|it| it.success())
}

/// The command as one would type it, without the folder of the program.
fn words(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let all = std::iter::once(name).chain(command.get_args());
    all.map(|it| it.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}
