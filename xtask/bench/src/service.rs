//! The built binary: its commands, and the service itself as a process.

use crate::Outcome;
use crate::cost::Processes;
use crate::scratch::Guard;
use candor_domain::id::EmployeeId;
use std::env;
use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Any key does; it seals the kept answers of requests with an idempotency key.
const MASTER_KEY: &str = "bench:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
/// A key's share of requests is counted, and never refused.
const UNLIMITED: &str = "100000000";
/// Where the receivers of webhooks are.
const RECEIVERS: &str = "127.0.0.0/8";
/// How often the service looks for what is due.
const SWEEP_INTERVAL: &str = "5s";
const START_LIMIT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(1);

/// The service ends on its own within 20 seconds of a TERM.
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

/// The binary with the settings that lead it to one database.
#[derive(Debug, Clone)]
pub(crate) struct Candor {
    binary: PathBuf,
    folder: PathBuf,
    database: String,
    /// Where the mail server is, if there is one.
    mail_port: Option<u16>,
    /// Where quotas are counted, if not in the process.
    rate_limiter: Option<String>,
    /// Whether it only answers, and others do what is due.
    only_answers: bool,
}

/// An organization, and a key that may do everything in it.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    pub(crate) organization: String,
    pub(crate) key: String,
}

impl Candor {
    /// The folder is for its files, the log among them.
    pub(crate) fn new(binary: &Path, folder: &Path, database: String) -> Outcome<Self> {
        fs::create_dir_all(folder)?;
        let (binary, folder) = (binary.to_path_buf(), folder.to_path_buf());
        Ok(Self { binary, folder, database, mail_port: None, rate_limiter: None, only_answers: false })
    }

    /// The same binary on another database, with files of its own.
    pub(crate) fn beside(&self, name: &str, database: impl FnOnce(&Path) -> String) -> Outcome<Self> {
        let folder = self.folder.with_extension(name);
        Self::new(&self.binary, &folder, database(&folder))
    }

    /// The same with a mail server on this machine.
    pub(crate) fn mailing(self, port: u16) -> Self {
        Self { mail_port: Some(port), ..self }
    }

    /// The same with quotas that are counted on this server.
    pub(crate) fn counting_on(self, url: &str) -> Self {
        Self { rate_limiter: Some(url.to_owned()), ..self }
    }

    /// The same without what is done beside requests.
    pub(crate) fn only_answering(self) -> Self {
        Self { only_answers: true, ..self }
    }

    /// The URL of the database.
    pub(crate) fn database(&self) -> &str {
        &self.database
    }

    /// The same with another binary.
    pub(crate) fn built_as(&self, binary: &Path) -> Self {
        Self { binary: binary.to_path_buf(), ..self.clone() }
    }

    /// Migrates the database.
    pub(crate) fn migrated(&self) -> Outcome {
        self.ask(&["migrate"]).map(drop)
    }

    /// Migrates a database of a cluster, and spreads its tables in so many parts.
    pub(crate) fn distributed(&self, shards: u8) -> Outcome {
        self.ask(&["migrate", "--distribute", "--shards", &shards.to_string()]).map(drop)
    }

    /// Copies everything from one database to another.
    pub(crate) fn copied(&self, from: &str, to: &str) -> Outcome {
        self.ask(&["copy", "--from", from, "--to", to]).map(drop)
    }

    /// Migrates the database and makes an organization in it.
    pub(crate) fn account(&self) -> Outcome<Account> {
        self.migrated()?;
        self.another_account()
    }

    /// Makes an organization in a database that has been migrated.
    pub(crate) fn another_account(&self) -> Outcome<Account> {
        let organization = self.member(&["org", "create", "--name", "Bench"], "organization_id")?;
        let create = ["key", "create", "--org", &organization, "--name", "bench", "--scopes", "*", "--admin"];
        let limits = ["--reads-per-minute", UNLIMITED, "--writes-per-minute", UNLIMITED];
        let key = self.member(&[&create[..], &limits].concat(), "key")?;
        Ok(Account { organization, key })
    }

    /// A key that does what a person may.
    pub(crate) fn key_of(&self, organization: &str, person: EmployeeId) -> Outcome<String> {
        let create = ["key", "create", "--org", organization, "--name", "person", "--scopes", "*"];
        let rest = ["--employee", &person.to_string(), "--reads-per-minute", UNLIMITED];
        self.member(&[&create[..], &rest].concat(), "key")
    }

    /// Starts the service and waits until it is ready.
    pub(crate) fn serve(&self) -> Outcome<Service> {
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let log = self.folder.join("log");
        let begun = Instant::now();
        let guard = Guard::start(KEEP_PROCESS, |shell| {
            shell.arg(&log).arg(&self.binary).args(["serve", "--role", if self.only_answers { "api" } else { "all" }]);
            self.settle(shell);
            shell.env("CANDOR_LISTEN", address.to_string());
        })?;
        let process = guard.said.parse().map_err(|_| "the service did not start")?;
        let mut service = Service { _guard: guard, address, process, log, ready_after: Duration::ZERO };
        service.wait_until_ready(begun)?;
        Ok(service)
    }

    /// One member of the JSON object that a command answers with.
    fn member(&self, arguments: &[&str], member: &str) -> Outcome<String> {
        let answer: serde_json::Value = serde_json::from_str(&self.ask(arguments)?)?;
        Ok(answer[member].as_str().ok_or_else(|| format!("no {member} in {answer}"))?.to_owned())
    }

    fn ask(&self, arguments: &[&str]) -> Outcome<String> {
        let mut command = Command::new(&self.binary);
        self.settle(command.args(arguments).arg("--json"));
        let output = command.stdin(Stdio::null()).output()?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            return Err(format!("`candor {}` failed: {}", arguments.join(" "), why.trim()).into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// None of the settings of whoever runs this.
    fn settle(&self, command: &mut Command) {
        for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CANDOR_")) {
            command.env_remove(name);
        }
        command.env("CANDOR_DATABASE_URL", &self.database).env("CANDOR_DATA_DIR", &self.folder);
        command.env("CANDOR_MASTER_KEY", MASTER_KEY).env("CANDOR_LOG", "info").current_dir(&self.folder);
        command.env("CANDOR_WEBHOOKS_TRUSTED_TARGETS", RECEIVERS).env("CANDOR_SWEEP_INTERVAL", SWEEP_INTERVAL);
        command.env("CANDOR_DRAIN_DELAY", "0s");
        if let Some(url) = &self.rate_limiter {
            command.env("CANDOR_RATE_LIMITER", url);
        }
        if let Some(port) = self.mail_port {
            command.env("CANDOR_SMTP_URL", format!("smtp://127.0.0.1:{port}?tls=none"));
            command.env("CANDOR_SMTP_FROM", "no-reply@example.com").env("CANDOR_PUBLIC_URL", "https://candor.example");
        }
    }
}

/// The service, for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Service {
    _guard: Guard,
    pub(crate) address: SocketAddr,
    pub(crate) process: u32,
    log: PathBuf,
    /// From the start of the process until `/readyz` answered 200.
    pub(crate) ready_after: Duration,
}

impl Service {
    /// What the process has in memory, in bytes.
    pub(crate) fn resident_bytes(&self) -> Outcome<u64> {
        self.state("VmRSS:")
    }

    /// The most memory of its own that the process has while something else is done, in bytes: without the files that
    /// it maps, whose pages anybody may have back.
    pub(crate) fn peak_bytes<T>(&self, work: impl FnOnce() -> Outcome<T>) -> Outcome<u64> {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let watcher = scope.spawn(|| {
                let mut most = self.state("RssAnon:")?;
                while !over.load(Ordering::Relaxed) {
                    pause();
                    most = most.max(self.state("RssAnon:")?);
                }
                Outcome::Ok(most)
            });
            let done = work();
            over.store(true, Ordering::Relaxed);
            let most = watcher.join().map_err(|_| "the memory could not be watched")?;
            done.and(most)
        })
    }

    /// The time that the process has spent on the processors so far.
    pub(crate) fn processor_time(&self) -> Outcome<Duration> {
        Ok(Processes { service: Some(self.process), server: None }.spent()?.processor)
    }

    /// The most that the process has in memory of its own while something is done, in bytes. Pages of a mapped database
    /// are not its own: they are those that the system keeps of the file anyway, and takes back when it needs them.
    pub(crate) fn peak_bytes_during<T>(&self, work: impl FnOnce() -> Outcome<T>) -> Outcome<(T, u64)> {
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let watcher = scope.spawn(|| {
                let mut most = 0;
                while !is_over.load(Ordering::Relaxed) {
                    most = self.own_bytes()?.max(most);
                    pause();
                }
                Ok::<u64, Box<dyn Error + Send + Sync>>(most)
            });
            let done = work();
            is_over.store(true, Ordering::Relaxed);
            let most = watcher.join().map_err(|_| "the memory was not watched")??;
            Ok((done?, most))
        })
    }

    /// What the process has in memory of its own, in bytes.
    pub(crate) fn own_bytes(&self) -> Outcome<u64> {
        self.state("RssAnon:")
    }

    fn state(&self, name: &str) -> Outcome<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process))?;
        Ok(bytes(&status, name).ok_or_else(|| format!("no {name} in the state of the process"))?)
    }

    /// Forgets what was logged, which would grow to gigabytes.
    pub(crate) fn empty_log(&self) -> Outcome {
        Ok(OpenOptions::new().write(true).open(&self.log)?.set_len(0)?)
    }

    fn wait_until_ready(&mut self, begun: Instant) -> Outcome {
        while !is_ready(self.address) {
            if self.has_ended() || begun.elapsed() > START_LIMIT {
                return Err(format!("the service is not ready; the end of its log:\n{}", self.end_of_log()).into());
            }
            pause();
        }
        self.ready_after = begun.elapsed();
        Ok(())
    }

    /// The guard has not asked yet how the process ended, so that it is still there, as a zombie.
    fn has_ended(&self) -> bool {
        let state = fs::read_to_string(format!("/proc/{}/stat", self.process));
        state.map_or(true, |it| it.contains(") Z "))
    }

    /// The last lines of the log.
    pub(crate) fn end_of_log(&self) -> String {
        const LINES: usize = 15;
        let mut text = String::new();
        let _ = File::open(&self.log).and_then(|mut it| it.read_to_string(&mut text));
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(LINES)..].join("\n")
    }
}

fn bytes(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|it| it.strip_prefix(name))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}

fn is_ready(address: SocketAddr) -> bool {
    let ask = || {
        let mut stream = TcpStream::connect(address)?;
        write!(stream, "GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map(|_| answer)
    };
    ask().is_ok_and(|answer: String| answer.starts_with("HTTP/1.1 200 "))
}

#[expect(clippy::disallowed_methods, reason = "this waits for a condition, with a deadline")]
pub(crate) fn pause() {
    thread::sleep(POLL);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_read_in_bytes() {
        assert_eq!(bytes("VmPeak:\t 9 kB\nVmRSS:\t    1234 kB\nThreads:\t3\n", "VmRSS:"), Some(1234 * 1024));
        assert_eq!(bytes("VmPeak:\t 9 kB\n", "VmRSS:"), None);
    }
}
