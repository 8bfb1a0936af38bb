//! Record of passed checks and their inputs. The gate skips a check whose inputs are unchanged since it passed on
//! this machine. If the cache is empty, the gate also skips slow checks and records their inputs, as if they had
//! passed: `cargo xtask explore` runs these checks.

use crate::ci::BESIDE;
use crate::packages::fingerprint;
use crate::process::{Outcome, cargo_without_lints, output, program};
use crate::steps::{FinishedStep, Step, run_command};
use crate::workspace::Workspace;
use std::fs;
use std::path::PathBuf;

/// Paths whose change can break every check of the built program.
const COMMON: [&str; 3] = ["Cargo.toml", ".cargo", "tests/outside/api.py"];
const DOCS: &str = "documentation of the code";

/// Record of the checks that passed on this machine, each with the fingerprint of its inputs.
pub(crate) struct PassedChecks {
    workspace: Workspace,
    /// Folder with a file for each check that passed, or that was skipped in an empty cache. The file contains the
    /// fingerprint of its inputs.
    passed: PathBuf,
    /// `true` if no check has a file in this folder yet.
    is_new: bool,
}

/// Reason to skip a check in an empty cache.
const NEW: &str = "the cache has no run to compare with; `cargo xtask explore` runs this step";

impl PassedChecks {
    pub(crate) fn load() -> Outcome<Self> {
        let workspace = Workspace::load()?;
        let record_folder = workspace.target_directory.join("gate");
        fs::create_dir_all(&record_folder)?;
        let is_new = !BESIDE.iter().any(|step| record_folder.join(step.name).exists());
        Ok(Self { workspace, passed: record_folder, is_new })
    }

    /// Runs the step, unless it passed with the same inputs, or the cache is empty and the step waits for a cache.
    pub(crate) fn run_unless_passed(&self, step: &Step) -> FinishedStep {
        if step.inputs.is_empty() {
            return step.run();
        }
        let paths: Vec<&str> = step.inputs.split_whitespace().chain(COMMON).collect();
        if self.is_unchanged(step.name, &paths) {
            let reason = format!("unchanged since an earlier run: {}", step.inputs.replace(' ', ", "));
            return FinishedStep::skip(step.name, &format!("{reason}; `{}` runs it", step.words()));
        }
        let waits = self.is_new && step.waits_for_a_cache;
        let result = if waits { FinishedStep::skip(step.name, NEW) } else { step.run() };
        self.keep(&result, step.name, &paths);
        result
    }

    /// Checks the links of the documentation of each crate that has changed. A broken link, or a link to a private
    /// item, is an error. Skipped while the cache is empty, because nothing shows what has changed; `cargo xtask explore`
    /// checks all crates.
    pub(crate) fn document_changed_crates(&self) -> FinishedStep {
        let folders: Vec<(String, String)> = self
            .workspace
            .packages
            .iter()
            .filter_map(|package| {
                let folder = package.manifest.parent()?.strip_prefix(crate::process::root()).ok()?;
                package.has_library.then(|| (package.name.clone(), folder.to_string_lossy().into_owned()))
            })
            .collect();
        let record = |name: &str| format!("doc-{name}");
        let changed_crates: Vec<_> =
            folders.iter().filter(|(name, folder)| !self.is_unchanged(&record(name), &[folder])).collect();
        let result = if changed_crates.is_empty() {
            FinishedStep::skip(DOCS, "no crate has changed since it passed")
        } else if !self.is_new {
            let mut command = cargo_without_lints(&["doc", "--locked", "--no-deps"]);
            command.args(changed_crates.iter().flat_map(|(name, _)| ["--package", name]));
            command.env("RUSTDOCFLAGS", "-D warnings");
            run_command(DOCS, command)
        } else {
            FinishedStep::skip(DOCS, NEW)
        };
        changed_crates.iter().for_each(|(name, folder)| self.keep(&result, &record(name), &[folder]));
        result
    }

    fn is_unchanged(&self, name: &str, paths: &[&str]) -> bool {
        let record = fs::read_to_string(self.passed.join(name)).ok();
        record.is_some() && record == state(paths).ok()
    }

    fn keep(&self, done: &FinishedStep, name: &str, paths: &[&str]) {
        let path = self.passed.join(name);
        // Without the file, the check runs again.
        let _ = match state(paths) {
            Ok(state) if done.problem.is_none() => fs::write(path, state),
            _ => fs::remove_file(path),
        };
    }
}

/// Returns a text that changes with the content of the files below these paths, committed or not.
fn state(paths: &[&str]) -> Outcome<String> {
    let git = |arguments: &[&str]| output(program("git", arguments).arg("--").args(paths));
    // A path that names no file is an error: the check then runs each time.
    let committed_files = git(&["ls-files", "--stage", "--error-unmatch"])?;
    let changes = git(&["diff", "HEAD"])?;
    let new_files = git(&["ls-files", "--others", "--exclude-standard"])?;
    Ok(format!("{:016x}", fingerprint([committed_files, changes, new_files].join("\0").as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::{COMMON, state};
    use crate::ci::BESIDE;

    #[test]
    fn every_path_of_a_check_names_files() {
        for path in BESIDE.iter().flat_map(|step| step.inputs.split_whitespace()).chain(COMMON) {
            assert!(state(&[path]).is_ok(), "{path} names no file: its check would run each time");
        }
        assert!(state(&["Cargo.toml", "crates/*/absent"]).is_err());
    }
}
