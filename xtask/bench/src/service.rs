//! The built binary: its commands, and the service as a process.

use crate::Result;
use crate::api::Api;
use crate::scratch::Guard;
use candor_domain::access::Tenant;
use candor_domain::id::OrganizationId;
use procfs::process::Process;
use std::env;
use std::fs::{self, OpenOptions};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) const MEGABYTE: f64 = 1_000_000.0;
/// Settings of every service: receivers of webhooks and identity providers on this machine, the console, frequent
/// sweeps, and no delay before the shutdown. Any master key will do; it seals the replays of requests with an
/// idempotency key. The quota factor is high, because more than ten keys of one organization use their whole quotas at
/// once.
const SETTINGS: [(&str, &str); 8] = [
    ("CANDOR_MASTER_KEY", "bench:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
    ("CANDOR_LOG", "info"),
    ("CANDOR_WEBHOOKS_TRUSTED_TARGETS", "127.0.0.0/8"),
    ("CANDOR_IDENTITY_TRUSTED_NETWORKS", "127.0.0.0/8"),
    ("CANDOR_CONSOLE", "on"),
    ("CANDOR_SWEEP_INTERVAL", "5s"),
    ("CANDOR_DRAIN_DELAY", "0s"),
    ("CANDOR_ORGANIZATION_QUOTA_FACTOR", "1000"),
];
/// Requests per minute of a key. The service counts the requests and, with this quota, never refuses one.
const UNLIMITED: &str = "100000000";
const START_TIMEOUT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(1);

/// Script that stops the service when its input ends. After a TERM the service ends within 20 seconds.
const KEEP_PROCESS: &str = r#"
log=$1
shift
"$@" >>"$log" 2>&1 </dev/null &
pid=$!
echo "$pid"
while read -r _; do :; done
kill -TERM "$pid" 2>/dev/null
(sleep 25; kill -KILL "$pid") >/dev/null 2>&1 &
wait "$pid"
kill -KILL 0
"#;

/// The binary with the settings for one database.
#[derive(Debug, Clone)]
pub(crate) struct Candor {
    binary: PathBuf,
    folder: PathBuf,
    /// URL of the database.
    pub(crate) database: String,
    role: &'static str,
}

/// An organization, and a key with all scopes.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    pub(crate) organization: OrganizationId,
    pub(crate) key: String,
}

impl Account {
    pub(crate) fn tenant(&self) -> [u8; 16] {
        Tenant::live(self.organization).to_bytes()
    }
}

impl Candor {
    /// Returns the binary with this database. Creates the folder for the files and the log of the service.
    pub(crate) fn new(binary: &Path, folder: &Path, database: String) -> Result<Self> {
        fs::create_dir_all(folder)?;
        let (binary, folder) = (binary.to_path_buf(), folder.to_path_buf());
        Ok(Self { binary, folder, database, role: "all" })
    }

    /// Returns the same binary with another database and a folder of its own, which also holds SQLite's database.
    pub(crate) fn with_database(&self, name: &str, database: impl FnOnce(&Path) -> String) -> Result<Self> {
        let folder = self.folder.with_extension(name);
        Self::new(&self.binary, &folder, database(&folder))
    }

    /// Sets the role `api`, which runs no background work.
    pub(crate) fn only_api(self) -> Self {
        Self { role: "api", ..self }
    }

    /// Executes a command and returns its output.
    pub(crate) fn execute(&self, arguments: &[&str]) -> Result<String> {
        let mut command = Command::new(&self.binary);
        self.configure(command.args(arguments).arg("--json"));
        let output = command.stdin(Stdio::null()).output()?;
        if !output.status.success() {
            let problem = String::from_utf8_lossy(&output.stderr);
            return Err(format!("`candor {}` failed: {}", arguments.join(" "), problem.trim()).into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Creates an organization in a migrated database.
    pub(crate) fn create_account(&self) -> Result<Account> {
        let organization = self.member(&["org", "create", "--name", "Bench"], "organization_id")?.parse()?;
        Ok(Account { organization, key: self.create_admin_key(organization)? })
    }

    /// Creates a key with all scopes.
    pub(crate) fn create_admin_key(&self, organization: OrganizationId) -> Result<String> {
        let organization = organization.to_string();
        let create = ["key", "create", "--org", &organization, "--name", "bench", "--scopes", "*", "--admin"];
        let limits = ["--reads-per-minute", UNLIMITED, "--writes-per-minute", UNLIMITED];
        self.member(&[&create[..], &limits].concat(), "key")
    }

    /// Creates a key of the connector of an identity provider.
    pub(crate) fn create_scim_key(&self, organization: OrganizationId, connector: &str) -> Result<String> {
        let organization = organization.to_string();
        let create = ["key", "create", "--org", &organization, "--name", "provider", "--scopes", "scim"];
        let connector = ["--connector", connector, "--scim-per-minute", UNLIMITED];
        self.member(&[&create[..], &connector].concat(), "key")
    }

    /// Starts the service and waits until it is ready.
    pub(crate) fn serve(&self) -> Result<Service> {
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let log = self.folder.join("log");
        let start = Instant::now();
        let guard = Guard::start(KEEP_PROCESS, |shell| {
            shell.arg(&log).arg(&self.binary).args(["serve", "--role", self.role]);
            self.configure(shell);
            shell.env("CANDOR_LISTEN", address.to_string());
        })?;
        let process =
            guard.said.parse().map_err(|_| "cannot start the service: its shell printed no process id")?;
        let service = Service { _guard: guard, address, process, log };
        service.wait_until_ready(start)?;
        Ok(service)
    }

    /// Executes a command and returns one member of the JSON object that it prints.
    fn member(&self, arguments: &[&str], name: &str) -> Result<String> {
        let response: serde_json::Value = serde_json::from_str(&self.execute(arguments)?)?;
        Ok(response[name].as_str().ok_or_else(|| format!("no {name} in {response}"))?.to_owned())
    }

    /// Sets the environment of the binary. Removes the `CANDOR_` variables that this program inherited.
    fn configure(&self, command: &mut Command) {
        for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CANDOR_")) {
            command.env_remove(name);
        }
        command.current_dir(&self.folder).envs(SETTINGS);
        command.env("CANDOR_DATABASE_URL", &self.database).env("CANDOR_DATA_DIR", &self.folder);
    }
}

/// A running service. It is stopped on drop.
#[derive(Debug)]
pub(crate) struct Service {
    _guard: Guard,
    pub(crate) address: SocketAddr,
    pub(crate) process: i32,
    log: PathBuf,
}

impl Service {
    pub(crate) fn api(&self, key: &str) -> Api {
        Api { address: self.address, key: key.to_owned() }
    }

    /// Returns the anonymous memory of the process in bytes. Pages of a mapped database do not count: the system
    /// reclaims them when it needs memory.
    pub(crate) fn own_bytes(&self) -> Result<u64> {
        let kilobytes = Process::new(self.process)?.status()?.rssanon;
        Ok(kilobytes.ok_or("the system does not report the memory of processes")? * 1024)
    }

    /// Does some work. Returns its result and the peak of [`Self::own_bytes`] meanwhile.
    pub(crate) fn peak_bytes_during<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<(T, u64)> {
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let watcher = scope.spawn(|| {
                let mut peak = self.own_bytes()?;
                while !is_over.load(Ordering::Relaxed) {
                    pause();
                    peak = self.own_bytes()?.max(peak);
                }
                Result::Ok(peak)
            });
            let result = work();
            is_over.store(true, Ordering::Relaxed);
            let peak = watcher.join().map_err(|_| "the thread that reads the memory panicked")??;
            Ok((result?, peak))
        })
    }

    /// Truncates the log, which would grow to gigabytes.
    pub(crate) fn truncate_log(&self) -> Result {
        Ok(OpenOptions::new().write(true).open(&self.log)?.set_len(0)?)
    }

    fn wait_until_ready(&self, started: Instant) -> Result {
        while self.api("").get("/readyz").is_err() {
            if self.has_ended() || started.elapsed() > START_TIMEOUT {
                return Err(format!("the service is not ready; the end of its log:\n{}", self.log_tail()).into());
            }
            pause();
        }
        Ok(())
    }

    /// Returns `true` if the process has ended. It may be a zombie until the guard waits for it.
    fn has_ended(&self) -> bool {
        Process::new(self.process).and_then(|process| process.stat()).map_or(true, |stat| stat.state == 'Z')
    }

    /// Returns the last lines of the log.
    pub(crate) fn log_tail(&self) -> String {
        const LINES: usize = 15;
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(LINES)..].join("\n")
    }
}

/// Waits until a condition holds.
pub(crate) fn wait_until(what: &str, patience: Duration, holds: impl Fn() -> Result<bool>) -> Result {
    let start = Instant::now();
    while !holds()? {
        if start.elapsed() > patience {
            return Err(format!("after {patience:?} it is not yet true that {what}").into());
        }
        pause();
    }
    Ok(())
}

/// Blocks the thread for this time.
pub(crate) fn wait(time: Duration) -> Result {
    let start = Instant::now();
    while start.elapsed() < time {
        pause();
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "its callers wait for a condition, with a deadline")]
fn pause() {
    thread::sleep(POLL);
}
