//! `cargo xtask deploy`: what docs/deploy offers to deploy with, held against the program and tried as far as this machine
//! can. What it cannot is said as `skipped: …`.

mod commands;
mod container;
mod debian;
mod documents;
mod kubernetes;
mod metrics;
mod observe;
mod settings;
mod systemd;
pub(crate) mod tools;

use crate::process::{Outcome, root};
use crate::test;
use crate::workspace::Workspace;
use documents::Documents;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the files are.
pub(crate) const FOLDER: &str = "docs/deploy";

/// What a check came to.
enum Tried {
    /// It was done, and this was seen.
    Passed(String),
    /// It could not be done here, for this reason.
    Skipped(String),
}

impl Tried {
    fn passed(what: impl Into<String>) -> Outcome<Self> {
        Ok(Self::Passed(what.into()))
    }

    fn skipped(why: impl Into<String>) -> Outcome<Self> {
        Ok(Self::Skipped(why.into()))
    }
}

/// What checks work with.
struct Machine {
    /// The folder of the build.
    target: PathBuf,
    /// The program as the tests have it.
    binary: PathBuf,
    /// An empty folder, for as long as the checks take.
    scratch: PathBuf,
    documents: Documents,
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

type Check = (&'static str, fn(&Machine) -> Outcome<Tried>);

/// The quick ones first, which need nothing but the files and the program.
const CHECKS: [Check; 18] = [
    ("settings", settings::check),
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
    ("systemd unit", systemd::check),
    ("systemd-analyze security", systemd::security),
    ("alerts by promtool", observe::alerts),
    ("dashboard by promtool", observe::dashboard),
    ("metrics by promtool", observe::exposition),
    ("files of a release", debian::builds),
    ("package for Debian, installed and removed", debian::installs),
];

pub(crate) fn run() -> Outcome {
    test::build_binary()?;
    let target = Workspace::load()?.target_directory;
    let scratch = target.join(format!("deploy-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    let documents = Documents::read(&root().join(FOLDER))?;
    let machine = Machine { binary: target.join("debug/candor"), target, scratch, documents };
    let mut failed = 0;
    for (name, check) in CHECKS {
        match check(&machine) {
            Ok(Tried::Passed(what)) => println!("{name}: {what}"),
            Ok(Tried::Skipped(why)) => println!("{name}: skipped: {why}"),
            Err(problem) => {
                failed += 1;
                println!("{name}: FAILED: {problem}");
            }
        }
    }
    if failed == 0 { Ok(()) } else { Err(format!("{failed} to mend").into()) }
}

/// The program of that name, if it is installed.
fn installed(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let usual = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&folders).chain(usual).map(|it| it.join(name)).find(|it| it.is_file())
}

/// All findings as one problem, or none.
fn judged(findings: Vec<String>, seen: String) -> Outcome<Tried> {
    if findings.is_empty() { Tried::passed(seen) } else { Err(findings.join("\n  ").into()) }
}

/// A file of the folder as an argument for other programs.
fn path_of(name: &str) -> PathBuf {
    root().join(Path::new(FOLDER)).join(name)
}
