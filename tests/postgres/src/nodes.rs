//! A temporary cluster of three nodes (Citus), for tests of distributed tables.
//!
//! The engine comes from an archive of the extension built for Debian's PostgreSQL 15, with paths relative to
//! the root. Nothing is installed: the archive is unpacked over links to the machine's PostgreSQL, in a
//! temporary folder.

use crate::cluster::{FORGETFUL, everyone_may_use, unique_name};
use crate::database::on_a_plain_thread;
use crate::server::with_database;
use crate::{Cluster, Error, TestSession, programs};
use std::env;
use std::fs;
use std::iter::{repeat, repeat_n};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Environment variable with the path of the archive.
pub const ARCHIVE_VARIABLE: &str = "CANDOR_TEST_CITUS";
/// File name of the archive beside the checkout.
const ARCHIVE: &str = "citus-pg15.tar.zst";
/// Folders of PostgreSQL 15 on Debian, each with `true` if it contains programs.
const FOLDERS: [(&str, bool); 3] = [
    ("usr/lib/postgresql/15/bin", true),
    ("usr/lib/postgresql/15/lib", false),
    ("usr/share/postgresql/15", false),
];
/// The first minor version with the functions that the engine needs.
const LEAST_MINOR: u32 = 20;
const NODES: usize = 3;
const SETTINGS: [&str; 9] = [
    // Acknowledged writes survive the death of a server process, but not of the machine.
    "synchronous_commit=on",
    "shared_preload_libraries=citus",
    "citus.node_conninfo=sslmode=disable",
    "max_prepared_transactions=200",
    // Citus runs a maintenance process for each database, and each test has a database.
    "max_worker_processes=128",
    "wal_level=logical",
    "max_wal_senders=10",
    "max_replication_slots=10",
    "shared_buffers=64MB",
];

/// Three servers of a cluster, the coordinator first. They and their programs are removed on drop.
#[derive(Debug)]
pub struct Nodes {
    /// The servers, the coordinator first.
    pub all: Vec<Cluster>,
    _programs: UnpackedFolder,
}

impl Nodes {
    /// Starts the nodes; the inner error is the reason why this machine cannot run them.
    ///
    /// # Errors
    /// All requirements are met, but a server does not start.
    pub fn start() -> Result<Result<Self, String>, Error> {
        Self::start_with(&[])
    }

    /// Starts the nodes with additional settings, each as `name=value`.
    ///
    /// # Errors
    /// Those of [`Nodes::start`].
    pub fn start_with(more: &[&str]) -> Result<Result<Self, String>, Error> {
        let (archive, root) = match found() {
            Ok(it) => it,
            Err(reason) => return Ok(Err(reason)),
        };
        let programs = UnpackedFolder::over(&root, &archive)?;
        let settings: Vec<&str> = FORGETFUL.into_iter().chain(SETTINGS).chain(more.iter().copied()).collect();
        let start = |_| Cluster::start_from(programs.0.join(FOLDERS[0].0), &settings);
        let all = (0..NODES).map(start).collect::<Result<_, _>>()?;
        let nodes = Self { all, _programs: programs };
        on_a_plain_thread(|| nodes.all.iter().try_for_each(finds_itself))?;
        Ok(Ok(nodes))
    }

    /// Creates a database joined across the nodes. Returns its URL on each node.
    ///
    /// # Errors
    /// The refusal of a server.
    pub fn create_database(&self, name: &str) -> Result<Vec<String>, Error> {
        let urls: Vec<_> = self.all.iter().map(|node| with_database(&node.url(), name)).collect();
        for (node, url) in self.all.iter().zip(&urls) {
            TestSession::connect(&node.url())?.execute(&format!("CREATE DATABASE {name}"))?;
            TestSession::connect(url)?.execute("CREATE EXTENSION citus")?;
        }
        let mut functions = repeat_n("citus_set_coordinator_host", 1).chain(repeat("citus_add_node"));
        if let Some(coordinator) = urls.first() {
            let coordinator = TestSession::connect(coordinator)?;
            for (node, function) in self.all.iter().zip(&mut functions) {
                coordinator.execute(&format!("SELECT {function}('{}', 5432)", node.folder().display()))?;
            }
        }
        Ok(urls)
    }

    /// Returns the nodes' URLs in the format of [`NODES_VARIABLE`](crate::NODES_VARIABLE).
    #[must_use]
    pub fn urls(&self) -> String {
        self.all.iter().map(Cluster::url).collect::<Vec<_>>().join(" ")
    }
}

/// Configures the address by which a node connects to itself: its socket. Moving a shard needs such a
/// connection.
fn finds_itself(node: &Cluster) -> Result<(), Error> {
    let session = TestSession::connect(&node.url())?;
    session.execute(&format!("ALTER SYSTEM SET citus.local_hostname = '{}'", node.folder().display()))?;
    session.execute("SELECT pg_reload_conf()")
}

/// Returns the archive and the root folder of Debian's PostgreSQL 15, or the missing requirement.
fn found() -> Result<(PathBuf, PathBuf), String> {
    let named_archive = env::var_os(ARCHIVE_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    let neighbour_archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").join(ARCHIVE);
    let archive = named_archive.unwrap_or(neighbour_archive);
    if !archive.is_file() {
        return Err(format!("there is no {ARCHIVE} beside the checkout, and {ARCHIVE_VARIABLE} names none"));
    }
    let missing = "PostgreSQL 15 of Debian, for which the engine is built, is not installed".to_owned();
    let usual = || Some(Path::new("/").join(FOLDERS[0].0)).filter(|folder| folder.join("postgres").is_file());
    let programs =
        programs::find().filter(|folder| folder.ends_with(FOLDERS[0].0)).or_else(usual).ok_or(missing)?;
    let version =
        Command::new(programs.join("postgres")).arg("--version").output().map_err(|error| error.to_string())?;
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let minor = version
        .split_once(" 15.")
        .and_then(|(_, rest)| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
    if minor.is_none_or(|number: u32| number < LEAST_MINOR) {
        return Err(format!(
            "the engine needs PostgreSQL 15.{LEAST_MINOR} or newer of that series, and this is {}",
            version.trim()
        ));
    }
    let root = programs.ancestors().nth(Path::new(FOLDERS[0].0).components().count());
    Ok((archive, root.unwrap_or(Path::new("/")).to_path_buf()))
}

/// A temporary folder with the machine's PostgreSQL and the unpacked Citus. Removed on drop.
#[derive(Debug)]
struct UnpackedFolder(PathBuf);

impl UnpackedFolder {
    fn over(root: &Path, archive: &Path) -> Result<Self, Error> {
        let temporary = env::temp_dir();
        let temporary = if everyone_may_use(&temporary) { temporary } else { PathBuf::from("/tmp") };
        let own = Self(temporary.join(unique_name()));
        for (folder, is_program) in FOLDERS {
            let to = own.0.join(folder);
            let parent = to.parent().unwrap_or(&own.0);
            fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
            // Programs are copied, not linked, because they locate other files relative to their own path.
            let how = if is_program { "-rL" } else { "-rs" };
            run(Command::new("cp").arg(how).arg(root.join(folder)).arg(&to))?;
        }
        run(Command::new("tar").args(["--zstd", "-C"]).arg(&own.0).arg("-xf").arg(archive))?;
        fs::set_permissions(&own.0, fs::Permissions::from_mode(0o755)).map_err(Error::io("open", &own.0))?;
        Ok(own)
    }
}

impl Drop for UnpackedFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn run(command: &mut Command) -> Result<(), Error> {
    let output = command.output().map_err(Error::io("run", command.get_program()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(Error::Start { log: String::from_utf8_lossy(&output.stderr).into_owned() })
}
