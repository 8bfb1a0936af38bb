//! The built binary on a database of its own, for checks from outside.

use crate::process::{Outcome, output, program, run};
use std::env;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

/// A key's share of requests is not what is tried here.
const UNLIMITED: &str = "1000000";
const START_LIMIT: Duration = Duration::from_secs(20);
const STOP_LIMIT: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(20);

/// A service for as long as this value lives.
pub(crate) struct Service {
    binary: PathBuf,
    folder: PathBuf,
    address: SocketAddr,
    process: Child,
}

impl Service {
    /// Starts it with these settings, and waits until it is ready.
    pub(crate) fn start(binary: &Path, settings: &[(&str, &str)]) -> Outcome<Self> {
        let folder = env::temp_dir().join(format!("candor-xtask-{}", std::process::id()));
        fs::create_dir(&folder)?;
        let address = free_address()?;
        let log = File::create(folder.join("log"))?;
        let mut command = alone(binary, &folder);
        command.arg("dev").env("CANDOR_LISTEN", address.to_string()).envs(settings.iter().copied());
        let process = command.stdout(log.try_clone()?).stderr(log).spawn()?;
        let service = Self { binary: binary.to_path_buf(), folder, address, process };
        service.wait_until_ready()?;
        Ok(service)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// An admin key of an organization of its own.
    pub(crate) fn key(&self) -> Outcome<Key> {
        let organization = self.ask(&["org", "create", "--name", "Checks"])?;
        let organization = member(&organization, "organization_id")?;
        let create = ["key", "create", "--org", &organization, "--name", "checks", "--scopes", "*", "--admin"];
        let limits = ["--reads-per-minute", UNLIMITED, "--writes-per-minute", UNLIMITED];
        let key = self.ask(&[&create[..], &limits].concat())?;
        Ok(Key { id: member(&key, "id")?, secret: member(&key, "key")? })
    }

    /// The JSON object that a command answers with.
    fn ask(&self, arguments: &[&str]) -> Outcome<serde_json::Value> {
        let answer = output(alone(&self.binary, &self.folder).args(arguments).arg("--json"))?;
        Ok(serde_json::from_str(&answer)?)
    }

    /// What a path answers whoever asks, as text.
    pub(crate) fn text(&self, path: &str) -> Outcome<String> {
        let mut stream = TcpStream::connect(self.address)?;
        // HTTP/1.0, so that the body comes in one piece.
        write!(stream, "GET {path} HTTP/1.0\r\nHost: {}\r\n\r\n", self.address)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
        if head.contains(" 200 ") { Ok(body.to_owned()) } else { Err(answer.into()) }
    }

    /// Sends a request with a JSON object, and expects one that says that it was done.
    pub(crate) fn request(
        &self,
        key: &Key,
        method: &str,
        path: &str,
        body: &serde_json::Value,
    ) -> Outcome<serde_json::Value> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(self.address)?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            key.secret,
            body.len()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
        if head.starts_with("HTTP/1.1 2") { Ok(serde_json::from_str(body)?) } else { Err(answer.into()) }
    }

    fn wait_until_ready(&self) -> Outcome {
        let begun = Instant::now();
        while !self.is_ready() {
            if begun.elapsed() > START_LIMIT {
                return Err(format!("the service is not ready; the end of its log:\n{}", self.end_of_log()).into());
            }
            pause();
        }
        Ok(())
    }

    fn is_ready(&self) -> bool {
        let ask = || {
            let mut stream = TcpStream::connect(self.address)?;
            write!(stream, "GET /readyz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address)?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).map(|_| answer)
        };
        ask().is_ok_and(|answer: String| answer.starts_with("HTTP/1.1 200 "))
    }

    /// Stops the service with a signal. Fails unless it ends with status 0 and its port is free.
    pub(crate) fn stop(mut self) -> Outcome {
        run(&mut program("kill", &["-TERM", &self.process.id().to_string()]))?;
        let begun = Instant::now();
        let status = loop {
            match self.process.try_wait()? {
                Some(status) => break status,
                None if begun.elapsed() > STOP_LIMIT => return Err("SIGTERM does not stop the service".into()),
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

/// The key that all requests come with.
pub(crate) struct Key {
    pub(crate) id: String,
    pub(crate) secret: String,
}

/// A text in an answer.
pub(crate) fn member(answer: &serde_json::Value, name: &str) -> Outcome<String> {
    Ok(answer[name].as_str().ok_or_else(|| format!("no {name} in {answer}"))?.to_owned())
}

/// The binary in its own folder, with none of the settings of whoever runs this.
fn alone(binary: &Path, folder: &Path) -> Command {
    let mut command = Command::new(binary);
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CANDOR_")) {
        command.env_remove(name);
    }
    command.current_dir(folder);
    command
}

/// An address of this machine that nobody listens on.
pub(crate) fn free_address() -> Outcome<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

#[expect(clippy::disallowed_methods, reason = "this waits for a condition, with a deadline")]
fn pause() {
    thread::sleep(POLL);
}
