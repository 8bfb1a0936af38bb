//! The unit of systemd and the package for Debian.

use super::rules::{self, UNIT};
use super::{CheckResult, Machine, Outcome, judge, path_of, tools};
use crate::package;
use crate::process::{output, program, succeeds};
use serde_json::Value;
use std::fs;

const FILE: &str = "systemd/candor.service";
/// Maximum exposure level in tenths: 2.0. The scale of systemd ends at 10.0, which is no protection.
const MAX_EXPOSURE: &str = "20";
/// First version of systemd whose `systemd-analyze security` checks a unit file that is not installed.
const OFFLINE_VERSION: u32 = 250;

pub(super) fn unit(machine: &Machine) -> Outcome<CheckResult> {
    let text = machine.documents.text(FILE)?;
    let mut findings = rules::broken_rules(&UNIT, &unit_entries(text));
    if text.contains("CANDOR_MASTER_KEY=") {
        findings.push("has a secret, although all users may read this file".to_owned());
    }
    let findings: Vec<String> = findings.into_iter().map(|finding| format!("{FILE}: {finding}")).collect();
    judge(&findings, "it does not run as root, writes only its folder, and has time to end")
}

/// Returns the entries of a unit as an object. The last entry of a name counts.
pub(super) fn unit_entries(text: &str) -> Value {
    let entries = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('='));
    entries.map(|(name, value)| (name.to_owned(), Value::from(value))).collect::<serde_json::Map<_, _>>().into()
}

pub(super) fn security(machine: &Machine) -> Outcome<CheckResult> {
    let Some(analyze) = tools::find_installed("systemd-analyze") else {
        return CheckResult::skip("there is no systemd-analyze");
    };
    let version = tools::read_output(&mut program(&analyze, &["--version"]))?;
    let version = version.split_whitespace().nth(1).and_then(|word| word.parse::<u32>().ok());
    if version.is_none_or(|version| version < OFFLINE_VERSION) {
        return CheckResult::skip(format!("systemd-analyze is older than {OFFLINE_VERSION}"));
    }
    let threshold = format!("--threshold={MAX_EXPOSURE}");
    let arguments = ["security", "--no-pager", "--offline=true", &threshold, &path_of(FILE)];
    let output_text = tools::read_output(&mut program(&analyze, &arguments))?;
    // The program is not installed here: the copy of the unit names the program of the tests, and no manual page.
    let text = machine.documents.text(FILE)?.replace("/usr/bin/candor", &machine.binary.to_string_lossy());
    let lines = text.lines().filter(|line| !line.starts_with("Documentation="));
    let copy = machine.scratch.join("candor.service");
    fs::write(&copy, lines.map(|line| format!("{line}\n")).collect::<String>())?;
    tools::read_output(&mut program(&analyze, &["verify", "--man=no", &copy.to_string_lossy()]))?;
    let level = output_text.lines().rfind(|line| line.contains("exposure level")).unwrap_or_default();
    let level = level.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
    CheckResult::pass(format!("{level}; the unit is valid"))
}

pub(super) fn builds(machine: &Machine) -> Outcome<CheckResult> {
    if tools::find_installed("dpkg").is_none() {
        return CheckResult::skip("this is no Debian");
    }
    let build = package::Build::with_profile(&machine.target, "dev")?;
    let mut files = package::for_machines(&build, &machine.scratch)?;
    files.push(package::sums(&machine.scratch, &files)?);
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    CheckResult::pass(format!("packed the binary of the tests: {}", names.join(", ")))
}

/// Installs, removes and purges the package in a mount namespace of its own: a layer above the root of this
/// machine takes all writes.
pub(super) fn installs(machine: &Machine) -> Outcome<CheckResult> {
    let Some(unshare) = tools::find_installed("unshare") else { return CheckResult::skip("there is no unshare") };
    let Some(package) = tools::debian_package_in(&machine.scratch)? else {
        return CheckResult::skip("no package was built");
    };
    let in_layer = |what| {
        let mut command = program(&unshare, &["--mount", "--fork", "sh", "xtask/deploy/layer.sh", what]);
        command.arg(&machine.scratch);
        command
    };
    if !succeeds(&mut in_layer("true")) {
        return CheckResult::skip("this user may not mount a layer above the root");
    }
    CheckResult::pass(output(in_layer("debian").arg(package))?.trim().replace('\n', ", "))
}
