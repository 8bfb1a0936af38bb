//! A temporary PostgreSQL server that ends with its owner.

use crate::{Error, programs};
use std::env;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Time limit for a start on a loaded machine. A start usually takes half a second.
const START_LIMIT: Duration = Duration::from_secs(100);
const POLL: Duration = Duration::from_millis(5);
const SUPERUSER: &str = "candor";
/// Maximum length of the folder's path. A socket path has at most 107 bytes (`sun_path`; 103 on macOS), and the
/// server adds `/.s.PGSQL.5432`.
const LONGEST_FOLDER: usize = 88;
/// Accounts under which the server runs if the owner is root: PostgreSQL refuses to run as root.
const UNPRIVILEGED: [&str; 2] = ["postgres", "nobody"];
/// Settings without durability, because test data need not survive a crash.
pub(crate) const FORGETFUL: [&str; 5] =
    [NOT_FOR_GOOD, "synchronous_commit=off", "full_page_writes=off", "autovacuum=off", "max_wal_size=256MB"];
/// Setting by which a power cut may corrupt the server's files.
const NOT_FOR_GOOD: &str = "fsync=off";
/// The in-memory file system of Linux, used unless `TMPDIR` is set. On a disk, creating a database walks
/// through the hundreds of files of the previous one, which dominated the time of many tests.
const MEMORY: &str = "/dev/shm";
/// Number of free bytes required to use [`MEMORY`]. A server needs a few hundred million.
const ROOM: u64 = 2 << 30;

/// A running server in a temporary folder, reachable through a Unix socket there. On drop or at the end of the
/// process, the server stops and the folder is removed.
#[derive(Debug)]
pub struct Cluster {
    folder: PathBuf,
    programs: PathBuf,
    guard: Child,
}

impl Cluster {
    /// Starts a server without durability from the programs of this machine; `None` if there are no programs.
    ///
    /// # Errors
    /// The programs exist, but the server does not start; the message contains the end of its log.
    pub fn start() -> Result<Option<Self>, Error> {
        Self::start_with(&FORGETFUL)
    }

    /// Starts a server with these settings, each as `name=value`. All other settings have PostgreSQL's durable
    /// defaults. `None` if there are no programs.
    ///
    /// # Errors
    /// Those of [`Cluster::start`].
    pub fn start_with(settings: &[&str]) -> Result<Option<Self>, Error> {
        let Some(programs) = programs::find() else { return Ok(None) };
        Self::start_from(programs, settings).map(Some)
    }

    /// Starts a standby that streams from this server and answers reads.
    ///
    /// # Errors
    /// Those of [`Cluster::start`].
    pub fn start_standby(&self, settings: &[&str]) -> Result<Self, Error> {
        // This folder must contain all programs; other folders may only have links to a few programs.
        let folder = self.program("pg_basebackup").and_then(|program| Some(program.parent()?.to_path_buf()));
        Self::start_as(folder.unwrap_or_else(|| self.programs.clone()), Some(&self.folder), settings)
    }

    /// Promotes a standby to a primary.
    ///
    /// # Errors
    /// The guard process refuses the command.
    pub fn promote(&mut self) -> Result<(), Error> {
        self.tell("promote")
    }

    /// Starts a server from the programs in a folder.
    pub(crate) fn start_from(programs: PathBuf, settings: &[&str]) -> Result<Self, Error> {
        Self::start_as(programs, None, settings)
    }

    fn start_as(programs: PathBuf, primary: Option<&Path>, settings: &[&str]) -> Result<Self, Error> {
        let owner = Owner::of_new_servers()?;
        let folder = folder_for(owner, settings);
        let guard = guard((&folder, primary), &programs, owner, settings)?;
        let mut cluster = Self { folder, programs, guard };
        cluster.wait_until_ready()?;
        Ok(cluster)
    }

    /// Kills all server processes, like a power cut.
    ///
    /// # Errors
    /// The guard process refuses the command, or the server does not end.
    pub fn kill(&mut self) -> Result<(), Error> {
        self.tell("kill")?;
        let start = Instant::now();
        while !self.folder.join("stopped").exists() {
            if start.elapsed() > START_LIMIT {
                return Err(Error::Start { log: self.end_of_log() });
            }
            pause();
        }
        Ok(())
    }

    /// Stops the server's processes with `SIGSTOP`, like a hanging disk: connections stay open but get no
    /// answers.
    ///
    /// # Errors
    /// The guard process refuses the command.
    pub fn freeze(&mut self) -> Result<(), Error> {
        self.tell("freeze")
    }

    /// Resumes a frozen server.
    ///
    /// # Errors
    /// The guard process refuses the command.
    pub fn thaw(&mut self) -> Result<(), Error> {
        self.tell("thaw")
    }

    /// Restarts a killed server.
    ///
    /// # Errors
    /// Those of [`Cluster::start`].
    pub fn start_again(&mut self) -> Result<(), Error> {
        for left in ["stopped", "data/postmaster.pid"] {
            let _ = fs::remove_file(self.folder.join(left));
        }
        self.tell("start")?;
        self.wait_until_ready()
    }

    fn tell(&mut self, word: &str) -> Result<(), Error> {
        let Some(guard) = &mut self.guard.stdin else { return Ok(()) };
        writeln!(guard, "{word}").map_err(Error::io("tell", "/bin/sh"))
    }

    /// Returns the URL of the maintenance database, for a superuser.
    #[must_use]
    pub fn url(&self) -> String {
        let folder = self.folder.to_string_lossy().replace('%', "%25").replace('/', "%2F");
        format!("postgres://{SUPERUSER}@{folder}/postgres")
    }

    /// Returns the folder of the server's files, socket and log.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the path of a program of the same installation, such as `pgbench`, if it exists.
    #[must_use]
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        // Distributions link only some programs into the folders of `PATH`.
        let program_path = fs::canonicalize(self.programs.join("initdb")).ok();
        let folders = [Some(self.programs.as_path()), program_path.as_deref().and_then(Path::parent)];
        folders.into_iter().flatten().map(|folder| folder.join(name)).find(|folder| folder.is_file())
    }

    /// Waits until the server's pid file says `ready`, as `pg_ctl` does.
    fn wait_until_ready(&mut self) -> Result<(), Error> {
        let start = Instant::now();
        loop {
            let state = fs::read_to_string(self.folder.join("data/postmaster.pid")).unwrap_or_default();
            if state.lines().nth(7).is_some_and(|line| line.trim() == "ready") {
                return Ok(());
            }
            let has_ended = self.folder.join("stopped").exists() || !matches!(self.guard.try_wait(), Ok(None));
            if has_ended || start.elapsed() > START_LIMIT {
                return Err(Error::Start { log: self.end_of_log() });
            }
            pause();
        }
    }

    fn end_of_log(&self) -> String {
        const LINES: usize = 12;
        let path = self.folder.join("log");
        let log = fs::read_to_string(&path).unwrap_or_else(|error| format!("{}: {error}", path.display()));
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(LINES)..].join("\n")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "this waits for a condition, with a deadline")]
fn pause() {
    thread::sleep(POLL);
}

/// Account that a server runs as.
#[derive(Clone, Copy)]
struct Owner {
    /// User id and group id; `None` for the account of the caller.
    switch_to: Option<(u32, u32)>,
}

impl Owner {
    fn of_new_servers() -> Result<Self, Error> {
        if !we_are_root()? {
            return Ok(Self { switch_to: None });
        }
        let accounts = fs::read_to_string("/etc/passwd").map_err(Error::io("read", "/etc/passwd"))?;
        UNPRIVILEGED
            .iter()
            .find_map(|name| account(&accounts, name))
            .map(|ids| Self { switch_to: Some(ids) })
            .ok_or(Error::NoAccount)
    }
}

/// Returns `true` for root. Systems without `/proc` create a file and check its owner.
fn we_are_root() -> Result<bool, Error> {
    if let Ok(entry) = fs::metadata("/proc/self") {
        return Ok(entry.uid() == 0);
    }
    let probe = env::temp_dir().join(unique_name());
    fs::write(&probe, "").map_err(Error::io("write", &probe))?;
    let owner = fs::metadata(&probe).map_err(Error::io("read", &probe));
    let _ = fs::remove_file(&probe);
    Ok(owner?.uid() == 0)
}

/// Returns user id and group id of an account in the format of `/etc/passwd`. `None` if the account does not
/// exist.
fn account(accounts: &str, name: &str) -> Option<(u32, u32)> {
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next()? == name).then_some(())?;
        Some((fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?))
    })
}

/// Returns the path of the server's folder. The guard creates it, so that no folder exists without a guard that
/// removes it.
fn folder_for(owner: Owner, settings: &[&str]) -> PathBuf {
    let memory = Path::new(MEMORY);
    let may_forget = settings.contains(&NOT_FOR_GOOD) && env::var_os("TMPDIR").is_none();
    let in_memory = may_forget && everyone_may_use(memory) && has_room(memory);
    let (temporary, name) = (if in_memory { memory.to_path_buf() } else { env::temp_dir() }, unique_name());
    let fits = temporary.as_os_str().len() + "/".len() + name.len() <= LONGEST_FOLDER;
    let suits = fits && (owner.switch_to.is_none() || everyone_may_use(&temporary));
    if suits { temporary.join(name) } else { Path::new("/tmp").join(name) }
}

fn has_room(folder: &Path) -> bool {
    rustix::fs::statvfs(folder).is_ok_and(|stats| stats.f_bavail.saturating_mul(stats.f_frsize) >= ROOM)
}

/// Returns `true` if other accounts can write into the folder and pass all its ancestors.
pub(crate) fn everyone_may_use(folder: &Path) -> bool {
    const PASS: u32 = 0o001;
    const WRITE: u32 = 0o002;
    let others_may =
        |folder: &Path, bit| fs::metadata(folder).is_ok_and(|metadata| metadata.permissions().mode() & bit != 0);
    others_may(folder, WRITE) && folder.ancestors().all(|ancestor| others_may(ancestor, PASS))
}

/// Returns a unique name. `RandomState` is seeded by the system, which is random enough.
pub(crate) fn unique_name() -> String {
    format!("candor_test_{:016x}", RandomState::new().hash_one(std::process::id()))
}

fn guard(
    (folder, primary): (&Path, Option<&Path>),
    programs: &Path,
    owner: Owner,
    settings: &[&str],
) -> Result<Child, Error> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", include_str!("guard.sh"), "candor-test-postgres"]);
    command.arg(folder).arg(programs).arg(SUPERUSER).arg(primary.unwrap_or(Path::new(""))).args(settings);
    command.env("LC_ALL", "C").process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some((user, group)) = owner.switch_to {
        command.uid(user).gid(group);
    }
    command.spawn().map_err(Error::io("run", "/bin/sh"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn account_is_found_by_its_whole_name() {
        let accounts =
            "root:x:0:0:root:/root:/bin/sh\npostgresql:x:7:8::/:/bin/sh\npostgres:x:101:104:,,:/:/bin/sh\n";
        assert_eq!(account(accounts, "postgres"), Some((101, 104)));
        assert_eq!(account(accounts, "nobody"), None);
    }

    #[test]
    fn longest_folder_leaves_room_for_the_socket() {
        assert!(LONGEST_FOLDER + "/.s.PGSQL.5432".len() < 103);
    }
}
