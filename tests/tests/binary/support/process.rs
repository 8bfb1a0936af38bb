//! The process under test: commands that end, and services that run.

use std::fs::{self, DirEntry, File};
use std::io::{self, BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};

use serde_json::Value;

use super::{Client, Installation, Key, PATIENCE, wait_until};

const BINARY: &str = env!("CARGO_BIN_EXE_candor-under-test");

/// Exit code and output of a command.
pub(crate) struct CommandResult {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl CommandResult {
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{}{}", self.stdout, self.stderr);
        self
    }

    /// Returns the JSON object on standard output of a successful command.
    pub(crate) fn json(self) -> Value {
        self.succeeded().object()
    }

    /// Returns the JSON object on standard output, whatever the exit code.
    pub(crate) fn object(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "{}{}", self.stdout, self.stderr);
        serde_json::from_str(&self.stdout).unwrap()
    }
}

/// Runs a command to its end with the settings of the installation only; the test runner's own environment is
/// removed.
pub(crate) fn candor(place: &Installation, arguments: &[&str]) -> CommandResult {
    let mut command = command(place);
    finished(command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

/// Runs a command with this key.
pub(crate) fn candor_as(place: &Installation, key: &Key, arguments: &[&str]) -> CommandResult {
    let mut command = command(place);
    command.env("CANDOR_API_KEY", &key.secret).args(arguments);
    finished(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

/// Starts a command with piped streams, for tests that watch, feed or stop it.
pub(crate) fn spawn(place: &Installation, arguments: &[&str]) -> Child {
    let mut command = command(place);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Runs a command with the given standard input.
pub(crate) fn fed(place: &Installation, arguments: &[&str], input: &[u8]) -> CommandResult {
    let mut process = spawn(place, arguments);
    process.stdin.take().unwrap().write_all(input).unwrap();
    finished(process)
}

/// Waits for the end of a command and collects its output.
pub(crate) fn finished(process: Child) -> CommandResult {
    let output = process.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    CommandResult { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn command(place: &Installation) -> Command {
    let mut command = Command::new(BINARY);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CANDOR_")) {
        command.env_remove(name);
    }
    command.env("CANDOR_LISTEN", "127.0.0.1:0").env("CANDOR_DRAIN_DELAY", "0s");
    command.current_dir(place.folder.path()).stdin(Stdio::null());
    command.envs(place.settings.iter().map(|(name, value)| (name, value)));
    command
}

/// A running process with piped standard output and standard error.
pub(crate) struct WatchedProcess {
    process: Child,
    log: BufReader<ChildStderr>,
}

/// Starts a command without waiting for readiness.
pub(crate) fn watched(place: &Installation, arguments: &[&str]) -> WatchedProcess {
    watched_with(place, arguments, Stdio::piped())
}

/// Starts a command whose standard output goes to `stdout`, without waiting for readiness.
pub(crate) fn watched_with(place: &Installation, arguments: &[&str], stdout: Stdio) -> WatchedProcess {
    let mut command = command(place);
    command.args(arguments).stdout(stdout).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let log = BufReader::new(process.stderr.take().unwrap());
    WatchedProcess { process, log }
}

impl WatchedProcess {
    /// Reads the log up to the first line that contains the words.
    pub(crate) fn lines_until(&mut self, words: &str) -> Vec<String> {
        let mut lines: Vec<String> = vec![];
        while !lines.last().is_some_and(|line| line.contains(words)) {
            let mut line = String::new();
            assert_ne!(self.log.read_line(&mut line).unwrap(), 0, "the log ended without {words}: {lines:?}");
            lines.push(line);
        }
        lines
    }

    /// Reads the log up to the readiness of the service and returns its address.
    pub(crate) fn address(&mut self) -> SocketAddr {
        let lines = self.lines_until("\"url\":").concat();
        let url = lines.split("\"url\":\"http://").nth(1).and_then(|rest| rest.split('"').next());
        url.unwrap().parse().unwrap()
    }

    /// Sends `SIGTERM`, waits for the end, and returns the standard output, if it is piped.
    pub(crate) fn stop(mut self) -> String {
        signal(self.process.id(), "TERM");
        let output =
            self.process.stdout.take().map(|stdout| io::read_to_string(stdout).unwrap()).unwrap_or_default();
        assert!(self.process.wait().unwrap().success());
        output
    }
}

impl Drop for WatchedProcess {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Sends a signal, given by name, to a process.
pub(crate) fn signal(process: u32, name: &str) {
    let status = Command::new("sh").args(["-c", &format!("kill -{name} {process}")]).status().unwrap();
    assert!(status.success());
}

/// Sends `SIGSTOP` and waits until every thread of the process has stopped. `CONT` resumes it.
pub(crate) fn freeze(process: u32) {
    signal(process, "STOP");
    let is_stopped = |task: io::Result<DirEntry>| {
        // The state follows the name in brackets. A thread that has ended counts as stopped.
        let stat = fs::read_to_string(task.unwrap().path().join("stat")).unwrap_or_default();
        stat.rsplit(')').next().is_none_or(|rest| rest.is_empty() || rest.starts_with(" T"))
    };
    let tasks = || fs::read_dir(format!("/proc/{process}/task")).unwrap();
    assert!(wait_until(PATIENCE, || tasks().all(is_stopped)).is_some(), "a thread still runs after SIGSTOP");
}

/// A running service, killed on drop.
pub(crate) struct Service {
    process: Child,
    /// JSON object that the service printed when it was ready.
    pub(crate) said: Value,
    pub(crate) address: SocketAddr,
    log: PathBuf,
}

impl Service {
    pub(crate) fn serve(place: &Installation) -> Self {
        Self::start(place, &["serve"])
    }

    /// Starts a serving command and waits until it reports readiness.
    pub(crate) fn start(place: &Installation, arguments: &[&str]) -> Self {
        let log = place.folder.path().join(format!("log-{}", fs::read_dir(place.folder.path()).unwrap().count()));
        let mut command = command(place);
        command.args(arguments).arg("--json").stdout(Stdio::piped()).stderr(File::create(&log).unwrap());
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(process.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let Ok(first_line) = serde_json::from_str::<Value>(&line) else {
            let status = process.wait();
            panic!("not started, {status:?}, {line:?}: {}", fs::read_to_string(&log).unwrap_or_default());
        };
        let url = first_line["url"].as_str().or(first_line["base_url"].as_str()).unwrap_or("http://127.0.0.1:1");
        let address = url.trim_start_matches("http://").trim_end_matches("/v1").parse().unwrap();
        let service = Self { process, said: first_line, address, log };
        let ready = || {
            service
                .anonymous()
                .and_then(|mut client| client.get("/readyz"))
                .is_ok_and(|response| response.status == 200)
        };
        assert!(address.port() == 1 || wait_until(PATIENCE, ready).is_some(), "not ready: {}", service.log());
        service
    }

    /// Connects to the listener for metrics and health. Fails if the service has none.
    pub(crate) fn admin(&self) -> std::io::Result<Client> {
        let url = self.said["metrics_url"].as_str().unwrap();
        let address = url.trim_start_matches("http://").trim_end_matches("/metrics").parse().unwrap();
        Client::connect(address, "")
    }

    pub(crate) fn anonymous(&self) -> std::io::Result<Client> {
        Client::connect(self.address, "")
    }

    pub(crate) fn client(&self, key: &str) -> Client {
        Client::connect(self.address, key).unwrap()
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Waits for the first whole line of the log with these words, and returns it. The service writes its log
    /// concurrently with its responses, so the line of a request may follow the response, and more lines may follow
    /// that one. A test that asserts about the whole log reads it with [`Self::stop_and_read_log`].
    pub(crate) fn wait_for_line(&self, words: &str) -> String {
        let mut matching_line = None;
        wait_until(PATIENCE, || {
            let log = self.log();
            matching_line = log
                .split_inclusive('\n')
                .find(|line| line.contains(words) && line.ends_with('\n'))
                .map(str::to_owned);
            matching_line.is_some()
        });
        matching_line.unwrap_or_else(|| panic!("no {words:?} in {}", self.log()))
    }

    /// Stops the service, and returns its whole log: the last lines are written before the process ends.
    pub(crate) fn stop_and_read_log(self) -> String {
        let log = self.log.clone();
        self.stop();
        fs::read_to_string(log).unwrap()
    }

    /// Kills the service without a graceful stop, like a power cut.
    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Waits for the end of a service that was asked to stop.
    pub(crate) fn wait_for_exit(&mut self) -> ExitStatus {
        let mut status = None;
        let has_exited = wait_until(PATIENCE, || {
            status = self.process.try_wait().unwrap();
            status.is_some()
        });
        assert!(has_exited.is_some(), "the service still runs after {PATIENCE:?}: {}", self.log());
        status.unwrap()
    }

    /// Sends `SIGTERM` and asserts that the service ends successfully.
    pub(crate) fn stop(mut self) {
        signal(self.process.id(), "TERM");
        let status = self.wait_for_exit();
        assert!(status.success(), "{status}: {}", self.log());
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
