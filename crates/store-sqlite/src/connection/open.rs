//! Location of a database, and the settings of its connections.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use diesel::connection::Connection;
use diesel::sqlite::SqliteConnection;

use candor_fair_share::SlowReads;
use candor_port_storage::StorageError;

use crate::connection::files;
use crate::connection::planner_settings;
use crate::sql::{Db, LINES_AT_ONCE, Sql};

/// Time that a connection waits for another process that holds the database.
const BUSY_MILLIS: u32 = 5_000;
/// Time that the checkpoint connection waits for readers before it restarts the write-ahead log. Short,
/// because the writer waits with it.
const CHECKPOINT_BUSY_MILLIS: u32 = 50;
/// Page cache of a connection in KiB; other pages come from the system's cache. The file is not
/// memory-mapped: a failing disk or an overwritten file would end the process.
const CACHE_KIB: u32 = 16 * 1024;

/// Size from which the write-ahead log is restarted, which makes writers wait briefly. Without a restart the
/// log would grow as long as there is always a reader. Large enough that fewer than one change in a hundred
/// waits.
pub(crate) const LARGE_LOG_BYTES: i64 = 256 * 1024 * 1024;
/// Size above which the log file is truncated on a restart. The next change then waits about 100 ms, so a log that
/// only grew during a checkpoint is not truncated.
const CUT_LOG_BYTES: i64 = 4 * LARGE_LOG_BYTES;

/// Location of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseLocation {
    /// A file, which is created if it does not exist.
    File(PathBuf),
    /// Memory, private to the store and dropped with it.
    Memory,
    /// Memory that starts with the content of a file, for tests that share a migrated file.
    CopyInMemory(PathBuf),
}

/// Minimum number of slow-read slots. An organization may use half of them, which is one here.
const LEAST_SLOW_PLACES: usize = 2;

/// Settings of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqliteOptions {
    /// Location of the database.
    pub place: DatabaseLocation,
    /// Threads that read lists and other long reads; at least one.
    pub readers: usize,
    /// Maximum number of concurrent lookups of single rows on the calling threads; further ones go to the readers.
    /// Unused for a database in memory, where a lookup may have to wait for a change.
    pub look_ups: usize,
    /// Threads for reads whose rows are large in total; at least one. By default half as many as the processors, so
    /// that small reads find a free processor.
    pub large_readers: usize,
    /// Concurrency and deadline of unindexed reads, which have threads of their own.
    pub slow_reads: SlowReads,
    /// Reporting lines that one commit writes at most. A move that needs more lines is completed in pieces
    /// afterwards.
    pub lines_at_once: usize,
}

impl SqliteOptions {
    /// Settings for a database in a file: one lookup for each processor, and one reader for each processor but
    /// one. There are at least two readers, so that one long read does not block all other reads.
    #[must_use]
    pub fn file(path: impl Into<PathBuf>) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            place: DatabaseLocation::File(path.into()),
            readers: processors.saturating_sub(1).max(2),
            look_ups: processors,
            large_readers: processors / 2,
            slow_reads: SlowReads::with_places((processors / 2).max(LEAST_SLOW_PLACES)),
            lines_at_once: LINES_AT_ONCE,
        }
    }

    /// Settings for a database in memory.
    #[must_use]
    pub const fn memory() -> Self {
        let slow_reads = SlowReads::with_places(LEAST_SLOW_PLACES);
        let place = DatabaseLocation::Memory;
        Self { place, readers: 1, look_ups: 0, large_readers: 1, slow_reads, lines_at_once: LINES_AT_ONCE }
    }

    /// Settings for a database in memory that starts with the content of a file.
    #[must_use]
    pub fn copy_in_memory(file: impl Into<PathBuf>) -> Self {
        Self { place: DatabaseLocation::CopyInMemory(file.into()), ..Self::memory() }
    }
}

/// An opened location; creates every connection of a store.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    address: String,
    in_memory: bool,
    /// File whose content the writing connection copies into memory.
    content: Option<PathBuf>,
}

impl Source {
    /// Prepares the location for connections.
    pub(crate) fn new(place: &DatabaseLocation) -> Result<Self, StorageError> {
        Ok(match place {
            DatabaseLocation::File(path) => Self { address: file_address(path)?, in_memory: false, content: None },
            DatabaseLocation::Memory => Self { address: memory_address(), in_memory: true, content: None },
            DatabaseLocation::CopyInMemory(file) => {
                Self { address: memory_address(), in_memory: true, content: Some(file.clone()) }
            }
        })
    }

    /// Returns `true` for a database in memory, where readers and the writer exclude each other.
    pub(crate) const fn in_memory(&self) -> bool {
        self.in_memory
    }

    /// Returns the address under which SQLite knows the location.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Opens the writing connection. Open it first: it may have to recover from a crash.
    pub(crate) fn writer(&self) -> Result<Db, StorageError> {
        // `synchronous = full`: a commit must be on the disk. Checkpoints have their own thread.
        let own = if self.in_memory {
            "PRAGMA journal_mode = memory; PRAGMA synchronous = off;"
        } else {
            "PRAGMA journal_mode = wal; PRAGMA synchronous = full; PRAGMA wal_autocheckpoint = 0;"
        };
        let db = self.connect(&format!("{own} PRAGMA journal_size_limit = {CUT_LOG_BYTES};"))?;
        if let Some(file) = &self.content {
            let copy = Sql::new("VACUUM INTO ?").bind(self.address.as_str());
            read_unchanging(&file.to_string_lossy())?.run(&copy)?;
        }
        Ok(db)
    }

    /// Opens a connection that only reads.
    pub(crate) fn reader(&self) -> Result<Db, StorageError> {
        self.connect("PRAGMA query_only = on;")
    }

    /// Opens the connection that moves the write-ahead log into the database.
    pub(crate) fn checkpointer(&self) -> Result<Db, StorageError> {
        self.connect(&format!("PRAGMA synchronous = full; PRAGMA busy_timeout = {CHECKPOINT_BUSY_MILLIS};"))
    }

    fn connect(&self, own: &str) -> Result<Db, StorageError> {
        planner_settings::keep();
        let connection = SqliteConnection::establish(&self.address)
            .map_err(|error| StorageError::Unavailable(format!("cannot open {}: {error}", self.address)))?;
        let mut db = Db::new(connection);
        // `busy_timeout` comes first: switching to the write-ahead log may already have to wait.
        let pragmas = format!(
            "PRAGMA busy_timeout = {BUSY_MILLIS}; PRAGMA cache_size = -{CACHE_KIB}; {own} \
             PRAGMA secure_delete = on; PRAGMA foreign_keys = on; PRAGMA mmap_size = 0; PRAGMA temp_store = memory;"
        );
        db.batch(&pragmas)?;
        Ok(db)
    }
}

/// Opens a file without changing it or its permissions.
pub(crate) fn read_only(path: &str) -> Result<Db, StorageError> {
    read_in_mode(path, "mode=ro")
}

/// Opens a file that no process changes. Takes no locks and creates no files beside it, so that it also works
/// in a read-only folder.
pub(crate) fn read_unchanging(path: &str) -> Result<Db, StorageError> {
    read_in_mode(path, "immutable=1")
}

fn read_in_mode(path: &str, mode: &str) -> Result<Db, StorageError> {
    planner_settings::keep();
    let special = [('%', "%25"), ('?', "%3f"), ('#', "%23")];
    let path = special.iter().fold(path.to_owned(), |path, (sign, code)| path.replace(*sign, code));
    let connection_result = SqliteConnection::establish(&format!("file:{path}?{mode}"));
    let mut db = Db::new(
        connection_result.map_err(|error| StorageError::Unavailable(format!("cannot open {path}: {error}")))?,
    );
    let pragmas = format!("PRAGMA busy_timeout = {BUSY_MILLIS}; PRAGMA cache_size = -{CACHE_KIB};");
    db.batch(&pragmas)?;
    Ok(db)
}

/// Returns a new address. All connections of the process that use the same absolute name share a memdb.
fn memory_address() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("file:/candor-{}?vfs=memdb", COUNT.fetch_add(1, Ordering::Relaxed))
}

fn file_address(path: &Path) -> Result<String, StorageError> {
    let text = path.to_str().ok_or_else(|| StorageError::Failed(format!("{} is not Unicode", path.display())))?;
    files::make_private(path)?;
    // The leading dot keeps SQLite from reading a relative path as one of its special names.
    Ok(if path.is_absolute() { text.to_owned() } else { format!("./{text}") })
}
