//! `cargo xtask schemathesis`: generated requests against the built binary, held against its OpenAPI document.

use crate::process::{Outcome, output, program, root, run as run_program};
use crate::test;
use crate::workspace::Workspace;
use std::env;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

const VERSION: &str = "4.32.5";
/// The versions of what it depends on, so that a run a year from now is this run.
const CONSTRAINTS: &str = "xtask/schemathesis.txt";
/// What counts as an acceptance.
const CONFIGURATION: &str = "xtask/schemathesis.toml";
/// The folder of the module of hooks, and its name.
const HOOKS: (&str, &str) = ("xtask", "schemathesis_hooks");

/// Per operation and phase: enough for every field to get its edges, few enough for a run of some minutes.
const EXAMPLES: &str = "25";
/// A key's share of requests is not what is tried here.
const UNLIMITED: &str = "1000000";
const START_LIMIT: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(20);

pub(crate) fn run() -> Outcome {
    test::build_everything()?;
    let target = Workspace::load()?.target_directory;
    let schemathesis = installed(&target)?;
    let service = Service::start(&target.join("debug/candor"))?;
    let key = service.key()?;
    let result = run_program(command(&schemathesis, &service, &key).current_dir(&service.folder));
    result.map_err(|problem| format!("{problem}; the end of the service's log:\n{}", service.end_of_log()).into())
}

fn command(schemathesis: &Path, service: &Service, key: &Key) -> Command {
    let configuration = root().join(CONFIGURATION);
    let mut command = program(schemathesis, &["--config-file", &configuration.to_string_lossy()]);
    command.env("PYTHONPATH", root().join(HOOKS.0)).env("PYTHONDONTWRITEBYTECODE", "1");
    command.env("SCHEMATHESIS_HOOKS", HOOKS.1).env("SCHEMATHESIS_KEY_ID", &key.id);
    command.args(["run", &service.url("/v1/openapi.json")]);
    command.args(["--header", &format!("Authorization: Bearer {}", key.secret)]);
    command.args(["--phases", "examples,coverage,fuzzing,stateful", "--checks", "all"]);
    command.args(["--max-examples", EXAMPLES, "--workers", "2", "--request-timeout", "10"]);
    // The same requests each time: a change that breaks nothing cannot fail by chance.
    command.args(["--generation-deterministic", "--continue-on-failure"]);
    command.args(["--suppress-health-check", "all", "--no-color"]);
    command
}

/// The program in a virtual environment under the target folder, made when it is not there yet.
fn installed(target: &Path) -> Outcome<PathBuf> {
    let environment = target.join(format!("schemathesis-{VERSION}"));
    let complete = environment.join("complete");
    if !complete.exists() {
        let package = format!("schemathesis=={VERSION}");
        println!("installing {package}");
        let folder = environment.to_string_lossy();
        run_program(&mut program("python3", &["-m", "venv", "--clear", &folder]))
            .map_err(|problem| format!("{problem}: Python 3 with its venv module is needed"))?;
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", CONSTRAINTS, &package];
        run_program(&mut program(environment.join("bin/python"), &install))?;
        File::create(complete)?;
    }
    Ok(environment.join("bin/schemathesis"))
}

/// The binary on a database of its own, for as long as this value lives.
struct Service {
    binary: PathBuf,
    folder: PathBuf,
    address: SocketAddr,
    process: Child,
}

impl Service {
    fn start(binary: &Path) -> Outcome<Self> {
        let folder = env::temp_dir().join(format!("candor-schemathesis-{}", std::process::id()));
        fs::create_dir(&folder)?;
        let address = free_address()?;
        let log = File::create(folder.join("log"))?;
        let mut command = alone(binary, &folder);
        // The hooks give every request an address of its own.
        command.arg("dev").env("CANDOR_LISTEN", address.to_string()).env("CANDOR_TRUSTED_PROXIES", "127.0.0.1");
        let process = command.stdout(log.try_clone()?).stderr(log).spawn()?;
        let service = Self { binary: binary.to_path_buf(), folder, address, process };
        service.wait_until_ready()?;
        Ok(service)
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// An admin key of an organization of its own.
    fn key(&self) -> Outcome<Key> {
        let organization = self.ask(&["org", "create", "--name", "Schemathesis"])?;
        let organization = member(&organization, "organization_id")?;
        let create = ["key", "create", "--org", &organization, "--name", "schemathesis", "--scopes", "*", "--admin"];
        let limits = ["--reads-per-minute", UNLIMITED, "--writes-per-minute", UNLIMITED];
        let key = self.ask(&[&create[..], &limits].concat())?;
        Ok(Key { id: member(&key, "id")?, secret: member(&key, "key")? })
    }

    /// The JSON object that a command answers with.
    fn ask(&self, arguments: &[&str]) -> Outcome<serde_json::Value> {
        let answer = output(alone(&self.binary, &self.folder).args(arguments).arg("--json"))?;
        Ok(serde_json::from_str(&answer)?)
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

    fn end_of_log(&self) -> String {
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
struct Key {
    id: String,
    secret: String,
}

fn member(answer: &serde_json::Value, name: &str) -> Outcome<String> {
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

fn free_address() -> Outcome<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

#[expect(clippy::disallowed_methods, reason = "this waits for a condition, with a deadline")]
fn pause() {
    thread::sleep(POLL);
}
