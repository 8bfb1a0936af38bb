//! A PostgreSQL for the tests: from the environment, installed, or installed now.

use crate::process::{Outcome, output, program, succeeds};
use candor_test_postgres::{Cluster, URL_VARIABLE};
use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

/// A server. A temporary one is removed on drop.
pub(crate) enum Postgres {
    /// A running server that `CANDOR_TEST_DATABASE_URL` names.
    Given,
    Temporary(Cluster),
}

impl Postgres {
    /// Returns the server of the environment, or starts a temporary one. Installs its programs if that is allowed.
    pub(crate) fn provide() -> Outcome<Self> {
        if env::var_os(URL_VARIABLE).is_some_and(|url| !url.is_empty()) {
            return Ok(Self::Given);
        }
        if let Some(cluster) = Cluster::start()? {
            return Ok(Self::Temporary(cluster));
        }
        if may_install() {
            install()?;
        }
        let nothing = format!("no PostgreSQL found: install one, or set PG_BIN_DIR or {URL_VARIABLE}");
        Ok(Self::Temporary(Cluster::start()?.ok_or(nothing)?))
    }

    /// Adds the address of a temporary server to the environment of a program, which inherits that of a given one.
    pub(crate) fn add_address_to<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        match self {
            Self::Given => command,
            Self::Temporary(cluster) => command.env(URL_VARIABLE, cluster.url()),
        }
    }
}

fn may_install() -> bool {
    let root = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    root && succeeds(&mut program("apt-get", &["--version"]))
}

/// Installs Debian's server without its default cluster, which would take a port and memory. The setting against this
/// cluster belongs to `postgresql-common`, so that package is installed first.
fn install() -> Outcome {
    println!("no PostgreSQL found; installing Debian's");
    apt_get(&["update"])?;
    apt_get(&["install", "--yes", "--no-install-recommends", "postgresql-common"])?;
    let settings = Path::new("/etc/postgresql-common/createcluster.conf");
    let text = fs::read_to_string(settings).unwrap_or_default();
    fs::write(settings, without_main_cluster(&text))?;
    apt_get(&["install", "--yes", "--no-install-recommends", "postgresql"])
}

fn without_main_cluster(settings: &str) -> String {
    const NAME: &str = "create_main_cluster";
    let is_setting = |line: &str| line.trim_start_matches(['#', ' ']).starts_with(NAME);
    let remaining_lines = settings.lines().filter(|line| !is_setting(line)).map(|line| format!("{line}\n"));
    remaining_lines.chain([format!("{NAME} = false\n")]).collect()
}

/// Runs apt-get. Shows its errors and not its progress.
fn apt_get(arguments: &[&str]) -> Outcome {
    let mut command = program("apt-get", &["-qq"]);
    output(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive")).map(drop)
}

#[cfg(test)]
mod tests {
    use super::without_main_cluster;

    #[test]
    fn only_the_setting_of_the_main_cluster_is_replaced() {
        let text_before = "# Create a \"main\" cluster\n#create_main_cluster = true\nssl = on\n";
        let text_after = "# Create a \"main\" cluster\nssl = on\ncreate_main_cluster = false\n";
        assert_eq!(without_main_cluster(text_before), text_after);
        assert_eq!(without_main_cluster(text_after), text_after);
    }
}
