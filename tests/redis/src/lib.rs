//! A real `redis-server` or `valkey-server` for tests of shared limits. It listens on the loopback address,
//! stores nothing on disk, and ends with the process that started it.

mod tls;

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Environment variable with the path of a server program.
const PROGRAM: &str = "CANDOR_TEST_REDIS_SERVER";
/// Programs to look for in the search path.
const PROGRAMS: [&str; 2] = ["redis-server", "valkey-server"];
const GUARD: &str = include_str!("guard.sh");
/// Time limit for a start, for a busy machine.
const START: Duration = Duration::from_secs(100);
const POLL: Duration = Duration::from_millis(5);

/// A server on one port, removed on drop. Tests can stop and restart it.
#[derive(Debug)]
pub struct TestRedis {
    port: u16,
    arguments: Vec<String>,
    program: PathBuf,
    running: Option<RunningServer>,
    tls: Option<tls::Files>,
}

impl TestRedis {
    /// Starts a server without a password. Prints a notice and returns `None` without a server program.
    ///
    /// # Errors
    /// A program exists, but does not start.
    pub fn start() -> io::Result<Option<Self>> {
        Self::start_with(&[])
    }

    /// Starts a server with additional arguments. `None` without a server program.
    ///
    /// # Errors
    /// Those of [`TestRedis::start`].
    pub fn start_with(arguments: &[&str]) -> io::Result<Option<Self>> {
        Self::prepare(arguments, None)
    }

    /// Starts a server that accepts TLS only, as `localhost`. `None` without a server program.
    ///
    /// # Errors
    /// Those of [`TestRedis::start`].
    pub fn start_with_tls(arguments: &[&str]) -> io::Result<Option<Self>> {
        Self::prepare(arguments, Some(tls::Files::make(folder("tls"))?))
    }

    fn prepare(arguments: &[&str], tls: Option<tls::Files>) -> io::Result<Option<Self>> {
        let Some(program) = program() else {
            // Written to standard error directly, because the test harness shows captured output only of failed
            // tests.
            writeln!(
                io::stderr(),
                "skipped: the tests of shared limits: no {} found; install one or set {PROGRAM}",
                PROGRAMS.join(" or ")
            )?;
            return Ok(None);
        };
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let secure = tls.as_ref().map_or(vec![], |tls| tls.arguments(port));
        let arguments =
            secure.into_iter().chain(arguments.iter().map(|argument| (*argument).to_owned())).collect();
        let mut server = Self { port, arguments, program, running: None, tls };
        server.resume()?;
        Ok(Some(server))
    }

    /// Returns the URL without password and TLS.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Returns the port on the loopback address.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Returns the path of the certificate, if the server uses TLS.
    #[must_use]
    pub fn certificate(&self) -> Option<PathBuf> {
        self.tls.as_ref().map(tls::Files::certificate)
    }

    /// Returns the process id while the server runs.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.running.as_ref().map(|server| server.process)
    }

    /// Kills the server, which loses its data.
    pub fn kill(&mut self) {
        self.running = None;
    }

    /// Starts the server again, empty, and waits until it listens.
    ///
    /// # Errors
    /// The server does not start.
    pub fn resume(&mut self) -> io::Result<()> {
        self.running = Some(RunningServer::start(&self.program, self.port, &self.arguments)?);
        if listens(self.port) { Ok(()) } else { Err(io::Error::other("the server does not listen after 100 s")) }
    }
}

/// A server process and the shell that ends it.
#[derive(Debug)]
struct RunningServer {
    guard: Child,
    process: u32,
    /// Standard input of the guard. The guard ends the server process once this input is closed.
    open: Option<ChildStdin>,
}

impl RunningServer {
    fn start(program: &Path, port: u16, arguments: &[String]) -> io::Result<Self> {
        let mut command = Command::new("sh");
        command.args(["-c", GUARD, "guard"]).arg(folder("server")).arg(program);
        command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
        let mut guard = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (open, mut line) = (guard.stdin.take(), String::new());
        if let Some(server_output) = guard.stdout.take() {
            BufReader::new(server_output).read_line(&mut line)?;
        }
        let process = line
            .trim()
            .parse()
            .map_err(|_| io::Error::other("the guard of the server has printed no process id"))?;
        Ok(Self { guard, process, open })
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        self.open = None;
        let _ = self.guard.wait();
    }
}

/// Returns the path of a folder that does not exist yet.
fn folder(what: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    env::temp_dir().join(format!("candor-redis-{what}-{}-{number}", std::process::id()))
}

fn program() -> Option<PathBuf> {
    if let Some(named_program) = env::var_os(PROGRAM) {
        return Some(named_program.into());
    }
    let path = env::var_os("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    PROGRAMS
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|folder| folder.is_file())
}

#[expect(clippy::disallowed_methods, reason = "this waits for a condition, with a deadline")]
fn listens(port: u16) -> bool {
    let start = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if start.elapsed() > START {
            return false;
        }
        thread::sleep(POLL);
    }
    true
}
