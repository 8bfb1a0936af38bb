//! PgBouncer in front of a server that the test started.

use std::env;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use candor_test_postgres::Cluster;

use super::place::Folder;
use super::{PATIENCE, wait_until};

/// Environment variable with the path of another PgBouncer.
const VARIABLE: &str = "CANDOR_TEST_PGBOUNCER";
/// Path of PgBouncer on Debian.
const USUAL: &str = "/usr/sbin/pgbouncer";
/// The first version that supports prepared statements in transaction mode.
const PREPARING: (u32, u32) = (1, 21);

/// Pooling mode: the unit for which a client keeps a server session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Session,
    Transaction,
}

/// A pooler that is killed on drop.
pub(crate) struct Pooler {
    process: Child,
    port: u16,
    /// `true` if this version supports prepared statements in transaction mode.
    pub(crate) keeps_statements: bool,
    _folder: Folder,
}

impl Pooler {
    /// Starts a pooler. Prints a notice and returns `None` if PgBouncer is not installed.
    pub(crate) fn start(mode: Mode, server: &Cluster) -> Option<Self> {
        let program = env::var_os(VARIABLE).map_or_else(|| PathBuf::from(USUAL), PathBuf::from);
        let Some(keeps_statements) = version(&program).map(|version| version >= PREPARING) else {
            println!("skipped: there is no PgBouncer; install it, or name one in {VARIABLE}");
            return None;
        };
        let folder = Folder::new();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let settings = folder.path().join("pgbouncer.ini");
        fs::write(&settings, ini(mode, server, port, keeps_statements)).unwrap();
        let mut command = Command::new(program);
        if fs::metadata("/proc/self").unwrap().uid() == 0 {
            // PgBouncer refuses to run as root, and only the server's account can enter the socket's folder.
            let owner = fs::metadata(server.folder()).unwrap().uid();
            command.args(["-u", &name(owner)]);
        }
        let process = command.arg(settings).stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let pooler = Self { process, port, keeps_statements, _folder: folder };
        let responses = || TcpStream::connect(("127.0.0.1", port)).is_ok();
        assert!(wait_until(PATIENCE, responses).is_some(), "PgBouncer does not answer");
        Some(pooler)
    }

    /// Returns the URL of the maintenance database through the pooler.
    pub(crate) fn url(&self) -> String {
        format!("postgres://candor@127.0.0.1:{}/postgres", self.port)
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn ini(mode: Mode, server: &Cluster, port: u16, keeps_statements: bool) -> String {
    let mode = match mode {
        Mode::Session => "session",
        Mode::Transaction if keeps_statements => "transaction\nmax_prepared_statements = 500",
        Mode::Transaction => "transaction",
    };
    format!(
        "[databases]\n* = host={} port=5432 user=candor\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
         listen_port = {port}\n\
         auth_type = any\nunix_socket_dir =\nmax_client_conn = 200\ndefault_pool_size = 40\npool_mode = {mode}\n",
        server.folder().display()
    )
}

/// Returns the version of PgBouncer, or `None` if it cannot be run.
fn version(program: &PathBuf) -> Option<(u32, u32)> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut numbers = text.lines().next()?.rsplit(' ').next()?.split('.').map_while(|part| part.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

/// Returns the name of the account with this user id.
fn name(user: u32) -> String {
    let accounts = fs::read_to_string("/etc/passwd").unwrap();
    let user_of = |line: &&str| line.split(':').nth(2).is_some_and(|field| field == user.to_string());
    accounts.lines().find(user_of).and_then(|field| field.split(':').next()).unwrap().to_owned()
}
