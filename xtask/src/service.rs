//! The built binary on a database of its own, for checks from outside.

use crate::process::{Outcome, output, program, run};
use std::env;
use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};
use ureq::Agent;

/// Requests per minute of a key. The checks do not reach this quota.
const UNLIMITED: &str = "1000000";
const START_LIMIT: Duration = Duration::from_secs(20);
const STOP_LIMIT: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(20);

/// A running service. It is stopped on drop.
pub(crate) struct Service {
    binary: PathBuf,
    folder: PathBuf,
    settings: Vec<(String, String)>,
    address: SocketAddr,
    process: Child,
}

impl Service {
    /// Starts `candor dev` or, on a migrated database, `candor serve` with these settings and waits until it is ready.
    pub(crate) fn start(binary: &Path, subcommand: &str, settings: &[(&str, &str)]) -> Outcome<Self> {
        let folder = env::temp_dir().join(format!("candor-xtask-{}", std::process::id()));
        fs::create_dir(&folder)?;
        let address = free_address()?;
        let log = File::create(folder.join("log"))?;
        let mut command = command_in(binary, &folder);
        command.arg(subcommand).env("CANDOR_LISTEN", address.to_string()).envs(settings.iter().copied());
        let process = command.stdout(log.try_clone()?).stderr(log).spawn()?;
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let service = Self { binary: binary.to_path_buf(), folder, settings, address, process };
        service.wait_until_ready()?;
        Ok(service)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the id of the process.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Creates an organization and an admin key of it.
    pub(crate) fn key(&self) -> Outcome<Key> {
        let organization = self.execute(&["org", "create", "--name", "Checks"])?;
        let organization = member(&organization, "organization_id")?;
        let create = ["key", "create", "--org", &organization, "--name", "checks", "--scopes", "*", "--admin"];
        let limits = ["--reads-per-minute", UNLIMITED, "--writes-per-minute", UNLIMITED];
        let key = self.execute(&[&create[..], &limits].concat())?;
        Ok(Key { id: member(&key, "id")?, secret: member(&key, "key")? })
    }

    /// Executes a command and returns the JSON object that it prints.
    fn execute(&self, arguments: &[&str]) -> Outcome<serde_json::Value> {
        let mut command = command_in(&self.binary, &self.folder);
        command.envs(self.settings.iter().map(|(name, value)| (name, value)));
        let response = output(command.args(arguments).arg("--json"))?;
        Ok(serde_json::from_str(&response)?)
    }

    /// Returns the response to a GET, which must have status 200.
    pub(crate) fn get(&self, path: &str, key: Option<&Key>) -> Outcome<String> {
        // A proxy of this machine does not know its loopback addresses.
        let agent = Agent::config_builder().http_status_as_error(false).proxy(None).build().new_agent();
        let request = agent.get(self.url(path));
        let request = match key {
            Some(key) => request.header("authorization", format!("Bearer {}", key.secret)),
            None => request,
        };
        let mut response = request.call()?;
        let text = response.body_mut().read_to_string()?;
        if response.status() == 200 {
            Ok(text)
        } else {
            Err(format!("{path} answered {}: {text}", response.status()).into())
        }
    }

    fn wait_until_ready(&self) -> Outcome {
        let start = Instant::now();
        while self.get("/readyz", None).is_err() {
            if start.elapsed() > START_LIMIT {
                return Err(format!("the service is not ready; the end of its log:\n{}", self.end_of_log()).into());
            }
            pause();
        }
        Ok(())
    }

    /// Stops the service with a signal. Fails unless it ends with status 0 and its port is free.
    pub(crate) fn stop(mut self) -> Outcome {
        run(&mut program("kill", &["-TERM", &self.process.id().to_string()]))?;
        let start = Instant::now();
        let status = loop {
            match self.process.try_wait()? {
                Some(status) => break status,
                None if start.elapsed() > STOP_LIMIT => return Err("SIGTERM does not stop the service".into()),
                None => pause(),
            }
        };
        if !status.success() || TcpStream::connect(self.address).is_ok() {
            return Err(format!("SIGTERM did not stop the service in order: {status}").into());
        }
        Ok(())
    }

    pub(crate) fn end_of_log(&self) -> String {
        const LINES: usize = 20;
        let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(LINES)..].join("\n")
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// An API key with its secret.
pub(crate) struct Key {
    pub(crate) id: String,
    pub(crate) secret: String,
}

/// Returns a text member of an answer.
fn member(response: &serde_json::Value, name: &str) -> Outcome<String> {
    Ok(response[name].as_str().ok_or_else(|| format!("no {name} in {response}"))?.to_owned())
}

/// Returns a command that runs the binary in this folder, without inherited `CANDOR_` variables.
fn command_in(binary: &Path, folder: &Path) -> Command {
    let mut command = Command::new(binary);
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CANDOR_")) {
        command.env_remove(name);
    }
    command.current_dir(folder);
    command
}

/// Returns an unused address of this machine.
pub(crate) fn free_address() -> Outcome<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

#[expect(clippy::disallowed_methods, reason = "this waits for a condition, with a deadline")]
fn pause() {
    thread::sleep(POLL);
}
