//! Checks of the built binary from outside. Each is a folder of `tests/outside` with a script `check.sh`. The script
//! gets the address and a key of a service, and runs tools and programs in other languages.

use crate::deploy::tools::find_installed;
use crate::packages;
use crate::process::{Outcome, program, root, run as run_program};
use crate::service::Service;
use crate::test;
use crate::workspace::Workspace;
use std::path::Path;
use std::process::Command;

pub(crate) struct Check {
    /// Name of the folder below `tests/outside`.
    name: &'static str,
    /// Settings of the service.
    settings: &'static [(&'static str, &'static str)],
    /// Programs without which the check is skipped, each under all names that it may have.
    needs: &'static [&'static [&'static str]],
}

pub(crate) const GENERATORS: Check = Check { name: "generators", settings: &[], needs: &[] };
pub(crate) const RECIPE: Check = Check { name: "recipe", settings: &[], needs: &[] };
pub(crate) const REFERENCE: Check = Check {
    name: "reference",
    settings: &[],
    needs: &[&["chromium", "chromium-browser", "google-chrome"], &["node"]],
};
pub(crate) const CONSOLE: Check = Check {
    name: "console",
    // Each sweep stores the last use of keys, and the check waits until it sees that use.
    settings: &[("CANDOR_SWEEP_INTERVAL", "2s")],
    needs: &[&["chromium", "chromium-browser", "google-chrome"], &["node"]],
};
/// Generated requests. The service trusts the local proxy, so that the hooks can vary the client address.
pub(crate) const SCHEMATHESIS: Check =
    Check { name: "schemathesis", settings: &[("CANDOR_TRUSTED_PROXIES", "127.0.0.1")], needs: &[] };
/// Published suites of SCIM servers.
pub(crate) const SCIM: Check = Check { name: "scim", settings: &[], needs: &[&["python3"]] };
/// Sign-ins through two published providers, which listen on this machine without TLS.
pub(crate) const IDENTITY: Check = Check {
    name: "identity",
    settings: &[("CANDOR_CONSOLE", "on"), ("CANDOR_IDENTITY_TRUSTED_NETWORKS", "127.0.0.0/8")],
    needs: &[&["python3"], &["node"]],
};
/// Exported files, read by programs of a data team.
pub(crate) const WAREHOUSE: Check = Check { name: "warehouse", settings: &[], needs: &[&["python3"]] };
pub(crate) const SIGNATURES: Check =
    Check { name: "signatures", settings: &[("CANDOR_WEBHOOKS_TRUSTED_TARGETS", "127.0.0.0/8")], needs: &[] };

impl Check {
    /// Installs the packages that the lock files of the folder name, starts a service, and runs the script.
    pub(crate) fn run(&self) -> Outcome {
        if self.is_skipped() {
            return Ok(());
        }
        let target = Workspace::load()?.target_directory;
        self.run_script(self.script(&target)?, &target)
    }

    /// Runs the check as [`Self::run`] does, but skips it if the packages cannot be installed.
    pub(crate) fn run_if_installable(&self) -> Outcome {
        if self.is_skipped() {
            return Ok(());
        }
        let target = Workspace::load()?.target_directory;
        match self.script(&target) {
            Ok(script) => self.run_script(script, &target),
            Err(problem) => {
                println!("skipped: cannot install the packages of tests/outside/{}: {problem}", self.name);
                Ok(())
            }
        }
    }

    /// Returns `true` and prints a notice if a program is missing.
    fn is_skipped(&self) -> bool {
        let missing = self.needs.iter().find(|names| names.iter().all(|name| find_installed(name).is_none()));
        if let Some(names) = missing {
            println!("skipped: {} is not installed", names[0]);
        }
        missing.is_some()
    }

    /// Returns the command of the script, with the folders of its packages.
    fn script(&self, target: &Path) -> Outcome<Command> {
        let folder = format!("tests/outside/{}", self.name);
        let mut script = program("sh", &["-eu", &format!("{folder}/check.sh")]);
        if root().join(&folder).join("requirements.txt").exists() {
            script.env("PYTHON", packages::python(target, &folder)?.join("bin"));
        }
        if root().join(&folder).join("package-lock.json").exists() {
            script.env("NODE", packages::node(target, &folder)?);
        }
        Ok(script)
    }

    fn run_script(&self, mut script: Command, target: &Path) -> Outcome {
        test::build_everything()?;
        let service = Service::start(&target.join("debug/candor"), "dev", self.settings)?;
        let result = service.key().and_then(|key| {
            script.env("CANDOR_URL", service.url("")).env("CANDOR_API_KEY", key.secret).env("KEY_ID", key.id);
            script.env("TARGET", target).env("SCRATCH", service.folder());
            script.env("PYTHONPATH", root().join("tests/outside")).env("PYTHONDONTWRITEBYTECODE", "1");
            run_program(&mut script)
        });
        result.map_err(|problem| {
            format!("{problem}; the end of the service's log:\n{}", service.end_of_log()).into()
        })
    }
}
