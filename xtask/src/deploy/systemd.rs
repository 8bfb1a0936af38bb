//! The unit of systemd: what it leaves open, and whether systemd understands it.

use super::{Machine, Outcome, Tried, installed, judged, path_of, tools};
use crate::process::program;
use std::fs;

const UNIT: &str = "systemd/candor.service";
/// The most that may be left open, in tenths: systemd's own scale goes up to 10, which is no protection at all.
const MOST_EXPOSED: &str = "20";
/// The first version that judges a file.
const OFFLINE: u32 = 250;
/// The drain delay by default and what a process may take to end after it.
const END_SECONDS: u64 = 30;

pub(super) fn check(machine: &Machine) -> Outcome<Tried> {
    judged(
        flaws(machine.documents.text(UNIT)?),
        "it is no root, writes nothing but its folder, and has time to end".into(),
    )
}

fn flaws(text: &str) -> Vec<String> {
    let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    let stop = value("TimeoutStopSec").and_then(|it| it.strip_suffix('s')?.parse::<u64>().ok());
    let mut findings = Vec::new();
    for (holds, what) in [
        (value("User").is_some_and(|it| it != "root"), "runs as root"),
        (value("ProtectSystem") == Some("strict"), "may write elsewhere"),
        (value("StateDirectory") == Some("candor"), "has no folder for its data"),
        (value("StateDirectoryMode") == Some("0700"), "lets others look into its data"),
        (stop.is_some_and(|it| it >= END_SECONDS), "is killed before it has ended"),
        (value("Restart") == Some("on-failure"), "is not started again after a crash"),
        (!text.contains("CANDOR_MASTER_KEY="), "has a secret, which everybody may read there"),
    ] {
        if !holds {
            findings.push(format!("{UNIT}: {what}"));
        }
    }
    findings
}

pub(super) fn security(machine: &Machine) -> Outcome<Tried> {
    let Some(analyze) = installed("systemd-analyze") else { return Tried::skipped("there is no systemd-analyze") };
    let version = tools::said(&mut program(&analyze, &["--version"]))?;
    if version.split_whitespace().nth(1).and_then(|it| it.parse::<u32>().ok()).is_none_or(|it| it < OFFLINE) {
        return Tried::skipped(format!("systemd-analyze is older than {OFFLINE}"));
    }
    let unit = path_of(UNIT);
    let threshold = format!("--threshold={MOST_EXPOSED}");
    let arguments = ["security", "--no-pager", "--offline=true", &threshold, &unit.to_string_lossy()];
    let said = tools::said(&mut program(&analyze, &arguments))?;
    // What it starts and its page of the manual are not on this machine: the program as it was built stands in.
    let text = machine.documents.text(UNIT)?;
    let here = text.replace("/usr/bin/candor", &machine.binary.to_string_lossy());
    let here: String =
        here.lines().filter(|it| !it.starts_with("Documentation=")).map(|it| format!("{it}\n")).collect();
    let copy = machine.scratch.join("candor.service");
    fs::write(&copy, here)?;
    tools::said(&mut program(&analyze, &["verify", "--man=no", &copy.to_string_lossy()]))?;
    let level = said.lines().rfind(|it| it.contains("exposure level")).unwrap_or_default();
    let level = level.trim_matches(|it: char| !it.is_ascii_alphanumeric());
    Tried::passed(format!("{level}, and it is understood"))
}

#[cfg(test)]
mod tests {
    use super::flaws;

    const UNIT: &str = include_str!("../../../docs/deploy/systemd/candor.service");

    #[test]
    fn a_unit_that_leaves_something_open_is_found() {
        assert_eq!(flaws(UNIT), [""; 0]);
        for (from, to) in [
            ("User=candor", "User=root"),
            ("ProtectSystem=strict", "ProtectSystem=full"),
            ("StateDirectory=candor", ""),
            ("StateDirectoryMode=0700", "StateDirectoryMode=0755"),
            ("TimeoutStopSec=30s", "TimeoutStopSec=20s"),
            ("Restart=on-failure", "Restart=no"),
            ("UMask=0077", "Environment=CANDOR_MASTER_KEY=k1:x"),
        ] {
            assert!(UNIT.contains(from), "{from}");
            assert_eq!(flaws(&UNIT.replace(from, to)).len(), 1, "{to}");
        }
    }
}
