//! What a release consists of; the package for Debian is installed, removed and purged on a copy of this machine.

use super::{Machine, Outcome, Tried, installed};
use crate::package;
use crate::process::{output, program, succeeds};

pub(super) fn builds(machine: &Machine) -> Outcome<Tried> {
    if installed("dpkg").is_none() {
        return Tried::skipped("this is no Debian");
    }
    let build = package::Build::with_profile(&machine.target, "dev")?;
    let mut files = package::for_machines(&build, &machine.scratch)?;
    files.push(package::sums(&machine.scratch, &files)?);
    let names: Vec<String> = files.iter().map(|it| it.display().to_string()).collect();
    Tried::passed(format!("{} of the binary of the tests", names.join(", ")))
}

/// In a mount namespace of its own, on this machine's root with a layer above it that takes what is written.
pub(super) fn installs(machine: &Machine) -> Outcome<Tried> {
    let Some(unshare) = installed("unshare") else { return Tried::skipped("there is no unshare") };
    let package = std::fs::read_dir(&machine.scratch)?.flatten().map(|it| it.path());
    let Some(package) = package.into_iter().find(|it| it.extension() == Some("deb".as_ref())) else {
        return Tried::skipped("no package was made");
    };
    let mut command = program(&unshare, &["--mount", "--fork", "sh", "xtask/deploy/layer.sh", "true"]);
    if !succeeds(command.arg(&machine.scratch)) {
        return Tried::skipped("this user may not mount a layer above the root");
    }
    let mut command = program(&unshare, &["--mount", "--fork", "sh", "xtask/deploy/layer.sh", "debian"]);
    let said = output(command.arg(&machine.scratch).arg(package))?;
    Tried::passed(said.trim().replace('\n', ", "))
}
