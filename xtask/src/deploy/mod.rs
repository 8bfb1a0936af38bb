//! `cargo xtask deploy`: compares docs/deploy with the program, and tries these files as far as this machine can. A
//! check that this machine cannot do prints `skipped: …`.

mod commands;
mod container;
mod documents;
mod host;
mod kubernetes;
pub(crate) mod metrics;
mod observe;
mod rules;
pub(crate) mod tools;

use crate::process::{Outcome, root};
use crate::test;
use crate::workspace::Workspace;
use documents::Documents;
use std::fs;
use std::path::PathBuf;

pub(crate) const FOLDER: &str = "docs/deploy";

/// Result of a check without problems.
enum CheckResult {
    /// The check passed, with these observations.
    Passed(String),
    /// The check is impossible here, for this reason.
    Skipped(String),
}

impl CheckResult {
    fn pass(observation: impl Into<String>) -> Outcome<Self> {
        Ok(Self::Passed(observation.into()))
    }

    fn skip(reason: impl Into<String>) -> Outcome<Self> {
        Ok(Self::Skipped(reason.into()))
    }
}

struct Machine {
    /// The target folder of the build.
    target: PathBuf,
    /// The program as the tests build it.
    binary: PathBuf,
    /// A folder for files of the checks.
    scratch: PathBuf,
    documents: Documents,
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

type Check = (&'static str, fn(&Machine) -> Outcome<CheckResult>);

/// All checks in the order in which they run.
const CHECKS: [Check; 18] = [
    ("settings", commands::settings),
    ("commands", commands::check),
    ("metrics", metrics::check),
    ("Dockerfile", container::agrees_with_the_workspace),
    ("Dockerfile by hadolint", container::hadolint),
    ("compose file", container::compose_rules),
    ("compose file by Docker Compose", container::compose),
    ("the program on a read-only root", container::runs_on_a_read_only_root),
    ("Kubernetes", kubernetes::check),
    ("Kubernetes by its schemas", kubernetes::schemas),
    ("Kubernetes by kustomize", kubernetes::kustomize),
    ("systemd unit", host::unit),
    ("systemd-analyze security", host::security),
    ("alerts by promtool", observe::alerts),
    ("dashboard by promtool", observe::dashboard),
    ("metrics by promtool", observe::exposition),
    ("files of a release", host::builds),
    ("package for Debian, installed and removed", host::installs),
];

pub(crate) fn run() -> Outcome {
    test::build_binary()?;
    let target = Workspace::load()?.target_directory;
    let scratch = target.join(format!("deploy-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    let documents = Documents::read(&root().join(FOLDER))?;
    let machine = Machine { binary: target.join("debug/candor"), target, scratch, documents };
    let mut failure_count = 0;
    for (name, check) in CHECKS {
        match check(&machine) {
            Ok(CheckResult::Passed(observation)) => println!("{name}: {observation}"),
            Ok(CheckResult::Skipped(reason)) => println!("{name}: skipped: {reason}"),
            Err(problem) => {
                failure_count += 1;
                println!("{name}: FAILED: {problem}");
            }
        }
    }
    if failure_count == 0 { Ok(()) } else { Err(format!("{failure_count} checks failed").into()) }
}

/// Joins all findings to one problem. Passes without findings.
fn judge(findings: &[String], observation: impl Into<String>) -> Outcome<CheckResult> {
    if findings.is_empty() { CheckResult::pass(observation) } else { Err(findings.join("\n  ").into()) }
}

/// Returns the absolute path of a file in docs/deploy, as other programs need it.
fn path_of(name: &str) -> String {
    root().join(FOLDER).join(name).to_string_lossy().into_owned()
}
