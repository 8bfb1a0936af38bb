//! A database as the source or the target of `candor copy`. One thread reads rows and another one writes them
//! unchanged.

mod read;
mod write;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use candor_port_storage::StorageError;
use candor_port_storage::copy::{CopyProgress, CopySource, CopyTarget, RowStream};
use candor_port_storage::error::Read;
use candor_tables::copy::{CopyRow, CopyTable, PROGRESS_TABLE};
use candor_tables::flat::SqlValue;

use crate::commit::rebuild;
use crate::connection::open::{DatabaseLocation, Source, read_only};
use crate::migrate;
use crate::sql::{Db, Sql};

/// Settings of the target. Power loss may undo the latest transactions, but only as a whole. Foreign keys are
/// checked at the end. The writer runs the checkpoints itself.
const FILLING: &str = "PRAGMA synchronous = normal; PRAGMA foreign_keys = off; PRAGMA wal_autocheckpoint = 4000; \
    PRAGMA cache_size = -65536;";

/// A database file that is copied from or into.
pub struct SqliteCopy {
    address: String,
    db: Arc<Mutex<Db>>,
}

impl std::fmt::Debug for SqliteCopy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteCopy").field("address", &self.address).finish_non_exhaustive()
    }
}

impl SqliteCopy {
    /// Opens a database for reading only.
    ///
    /// # Errors
    /// The file does not exist or cannot be read.
    pub fn source(path: &Path) -> Read<Self> {
        let path =
            path.to_str().ok_or_else(|| StorageError::Failed(format!("{} is not Unicode", path.display())))?;
        let mut db = read_only(path)?;
        // This fails if the database lacks migrations, which the caller finds with `pending`.
        if rebuild::incomplete_tenants(&mut db).is_ok_and(|tenants| !tenants.is_empty()) {
            let advice = "start the service and copy again after a minute";
            let problem = format!("the reporting lines of a large move are incomplete; {advice}");
            return Err(StorageError::Unavailable(problem));
        }
        Ok(Self { address: path.to_owned(), db: Arc::new(Mutex::new(db)) })
    }

    /// Opens a database as the target of a copy. It is created if it does not exist, and migrated while it is
    /// empty.
    ///
    /// # Errors
    /// The database cannot be opened or migrated, or it is not empty and lacks migrations.
    pub fn target(path: &Path) -> Read<Self> {
        let place = DatabaseLocation::File(path.to_owned());
        let is_used = !migrate::is_empty(&place)? || is_copy_unfinished(&place)?;
        let source = Source::new(&place)?;
        let mut db = source.writer()?;
        let pending = migrate::pending(&mut db)?;
        if is_used && !pending.is_empty() {
            let lacks = pending.join(", ");
            return Err(StorageError::Failed(format!("the database is not empty, and its schema lacks {lacks}")));
        }
        migrate::apply(&mut db)?;
        db.batch(FILLING)?;
        Ok(Self { address: source.address().to_owned(), db: Arc::new(Mutex::new(db)) })
    }

    /// Returns the migrations that the database lacks.
    ///
    /// # Errors
    /// The file is not a database of Candor, or cannot be read.
    pub async fn pending(&self) -> Read<Vec<String>> {
        self.run(|db| {
            let ours = "SELECT 1 FROM sqlite_schema WHERE name = '__diesel_schema_migrations'";
            let is_ours = db.exists(Sql::new(ours))?;
            if is_ours {
                migrate::pending(db)
            } else {
                Err(StorageError::Failed("the file has no schema of Candor".to_owned()))
            }
        })
        .await
    }

    async fn run<T: Send + 'static>(&self, work: impl FnOnce(&mut Db) -> Read<T> + Send + 'static) -> Read<T> {
        let db = Arc::clone(&self.db);
        let task_result =
            tokio::task::spawn_blocking(move || work(&mut db.lock().unwrap_or_else(PoisonError::into_inner)));
        task_result.await.map_err(|error| StorageError::Failed(error.to_string()))?
    }
}

/// Returns `true` if the database is the target of an incomplete copy. Such a database must not be served.
///
/// # Errors
/// The database cannot be opened.
pub fn is_copy_unfinished(place: &DatabaseLocation) -> Result<bool, StorageError> {
    Ok(!migrate::read_existing(place, PROGRESS_TABLE, |_| Ok(vec![()]))?.is_empty())
}

#[async_trait]
impl CopySource for SqliteCopy {
    async fn count(&self, table: &CopyTable) -> Read<u64> {
        let sql = Sql::new(format!("SELECT count(*) FROM {}", table.name));
        Ok(self.run(move |db| db.number(sql)).await?.unsigned_abs())
    }

    async fn rows(&self, table: &CopyTable, after: Option<Vec<SqlValue>>) -> Read<RowStream> {
        read::rows(&self.address, table.clone(), after)
    }

    async fn feed_end(&self) -> Read<i64> {
        // Positions are never reused, so `sqlite_sequence` also covers removed events.
        let sql = Sql::new("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'");
        self.run(move |db| db.number(sql)).await
    }
}

#[async_trait]
impl CopyTarget for SqliteCopy {
    async fn progress(&self) -> Read<Option<CopyProgress>> {
        self.run(write::progress).await
    }

    async fn begin(&self, first: (String, String)) -> Read<()> {
        self.run(move |db| write::begin(db, first)).await
    }

    async fn write(&self, table: &CopyTable, rows: Vec<CopyRow>, step: (String, String)) -> Read<()> {
        let table = table.clone();
        self.run(move |db| write::write(db, &table, rows, step)).await
    }

    async fn finish(&self, feed_end: i64) -> Read<()> {
        self.run(move |db| write::finish(db, feed_end)).await
    }

    async fn accept(&self) -> Read<()> {
        self.run(write::accept).await
    }
}
