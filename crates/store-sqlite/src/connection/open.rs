//! Where a database is, and how it is opened.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use diesel::connection::Connection;
use diesel::sqlite::SqliteConnection;

use candor_fair_share::SlowReads;
use candor_port_storage::StorageError;

use crate::connection::files;
use crate::connection::planner_settings;
use crate::sql::{Db, failed};

/// How long a connection waits for another process that holds the database.
const BUSY_MILLIS: u32 = 5_000;
/// How long the connection that begins the write-ahead log anew waits for readers: the writer waits with it.
const CHECKPOINT_BUSY_MILLIS: u32 = 50;
/// What a connection keeps of the database in memory, in KiB. What is not there is read from the system's own cache: the
/// file is not mapped, since a failing disk or a file that is overwritten would end the process.
const CACHE_KIB: u32 = 16 * 1024;

/// A write-ahead log of more bytes is begun anew, for which writers wait a moment; without that it would grow for as
/// long as there is always somebody reading. Large enough that fewer than one change in a hundred meets such a moment.
pub(crate) const LARGE_LOG_BYTES: i64 = 256 * 1024 * 1024;
/// A log that was longer than this is cut when it is begun anew. The next change waits some 100 ms for that, so it does
/// not happen to a log that has only grown on while it was moved.
const CUT_LOG_BYTES: i64 = 4 * LARGE_LOG_BYTES;

/// Where the database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseLocation {
    /// In a file, which is made if it is not there.
    File(PathBuf),
    /// In memory, for as long as the store lives and for it alone.
    Memory,
}

/// Half of the places for slow reads is one of them.
const LEAST_SLOW_PLACES: usize = 2;

/// How a store is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqliteOptions {
    /// Where the database is.
    pub place: DatabaseLocation,
    /// How many threads read lists and whatever else may take a while; at least one.
    pub readers: usize,
    /// How many look-ups of single rows are carried out at once where they are asked for; those threads do what is more.
    /// Nothing is carried out so in a database in memory, where it may have to wait for a change.
    pub look_ups: usize,
    /// Threads that read rows which are large together; at least one. They are fewer than the processors, so that small
    /// reads always find one.
    pub large_readers: usize,
    /// What reads get that no index answers, and for how long; their threads do nothing else.
    pub slow_reads: SlowReads,
}

impl SqliteOptions {
    /// A database in a file, with a reader for every processor but one, and two at least: one long read does not
    /// keep all others waiting. As many look-ups as there are processors are carried out at once.
    #[must_use]
    pub fn file(path: impl Into<PathBuf>) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            place: DatabaseLocation::File(path.into()),
            readers: processors.saturating_sub(1).max(2),
            look_ups: processors,
            large_readers: processors / 2,
            slow_reads: SlowReads::with_places((processors / 2).max(LEAST_SLOW_PLACES)),
        }
    }

    /// A database in memory.
    #[must_use]
    pub const fn memory() -> Self {
        let slow_reads = SlowReads::with_places(LEAST_SLOW_PLACES);
        Self { place: DatabaseLocation::Memory, readers: 1, look_ups: 0, large_readers: 1, slow_reads }
    }
}

/// An opened place: every connection of a store comes from here.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    address: String,
    in_memory: bool,
}

impl Source {
    /// Makes the place ready to be connected to.
    pub(crate) fn of(place: &DatabaseLocation) -> Result<Self, StorageError> {
        match place {
            DatabaseLocation::File(path) => Ok(Self { address: file_address(path)?, in_memory: false }),
            DatabaseLocation::Memory => {
                static COUNT: AtomicU64 = AtomicU64::new(0);
                let number = COUNT.fetch_add(1, Ordering::Relaxed);
                // A memdb with an absolute name is shared by all connections of the process that use the name.
                Ok(Self { address: format!("file:/candor-{number}?vfs=memdb"), in_memory: true })
            }
        }
    }

    /// Whether all of it is in memory, where readers and the writer exclude each other.
    pub(crate) const fn in_memory(&self) -> bool {
        self.in_memory
    }

    /// By what SQLite knows the place.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The connection that writes. It comes first: it may have to recover what a crash left.
    pub(crate) fn writer(&self) -> Result<Db, StorageError> {
        // Durable means on the disk. Checkpoints have a thread of their own.
        let own = if self.in_memory {
            "PRAGMA journal_mode = memory; PRAGMA synchronous = off;"
        } else {
            "PRAGMA journal_mode = wal; PRAGMA synchronous = full; PRAGMA wal_autocheckpoint = 0;"
        };
        self.connect(&format!("{own} PRAGMA journal_size_limit = {CUT_LOG_BYTES};"))
    }

    /// A connection that only reads.
    pub(crate) fn reader(&self) -> Result<Db, StorageError> {
        self.connect("PRAGMA query_only = on;")
    }

    /// The connection that moves the write-ahead log into the database.
    pub(crate) fn checkpointer(&self) -> Result<Db, StorageError> {
        self.connect(&format!("PRAGMA synchronous = full; PRAGMA busy_timeout = {CHECKPOINT_BUSY_MILLIS};"))
    }

    fn connect(&self, own: &str) -> Result<Db, StorageError> {
        planner_settings::keep();
        let connection = SqliteConnection::establish(&self.address)
            .map_err(|it| StorageError::Unavailable(format!("cannot open {}: {it}", self.address)))?;
        let mut db = Db::new(connection);
        // The time-out comes first: switching to the write-ahead log may have to wait already.
        let pragmas = format!(
            "PRAGMA busy_timeout = {BUSY_MILLIS}; PRAGMA cache_size = -{CACHE_KIB}; {own} PRAGMA foreign_keys = on; \
             PRAGMA mmap_size = 0; PRAGMA temp_store = memory;"
        );
        db.batch(&pragmas).map_err(|it| failed(&it))?;
        Ok(db)
    }
}

/// A connection to a file that changes nothing in it, not even its permissions.
pub(crate) fn read_only(path: &str) -> Result<Db, StorageError> {
    read_in_mode(path, "mode=ro")
}

/// A connection to a file that no process changes: it takes no locks and makes no files beside it, so that it also reads
/// from a folder that cannot be written to.
pub(crate) fn read_unchanging(path: &str) -> Result<Db, StorageError> {
    read_in_mode(path, "immutable=1")
}

fn read_in_mode(path: &str, mode: &str) -> Result<Db, StorageError> {
    planner_settings::keep();
    let special = [('%', "%25"), ('?', "%3f"), ('#', "%23")];
    let path = special.iter().fold(path.to_owned(), |path, (sign, code)| path.replace(*sign, code));
    let opened = SqliteConnection::establish(&format!("file:{path}?{mode}"));
    let mut db = Db::new(opened.map_err(|it| StorageError::Unavailable(format!("cannot open {path}: {it}")))?);
    let pragmas = format!("PRAGMA busy_timeout = {BUSY_MILLIS}; PRAGMA cache_size = -{CACHE_KIB};");
    db.batch(&pragmas).map_err(|it| failed(&it))?;
    Ok(db)
}

fn file_address(path: &Path) -> Result<String, StorageError> {
    let text = path.to_str().ok_or_else(|| StorageError::Failed(format!("{} is not Unicode", path.display())))?;
    files::make_private(path)?;
    // A relative path gets a dot in front, so that no name is taken for one of SQLite's special ones.
    Ok(if path.is_absolute() { text.to_owned() } else { format!("./{text}") })
}
