//! The storage port on embedded SQLite.
//!
//! One thread writes and commits all waiting tasks as a group. Some threads read lists, others run slow or
//! large reads, and one moves the write-ahead log into the database. A few rows are looked up on the calling
//! thread if a connection is idle. A change set is executed even if its caller no longer waits.

mod backup;
mod commit;
mod connection;
mod copy;
mod keyed_texts;
mod listing;
mod migrate;
mod queue;
mod reads;
mod removal;
mod search;
mod sql;
mod statements;
mod table;
mod text;
mod valid_keys;

#[cfg(test)]
mod tests;

use std::sync::mpsc::sync_channel;
use std::sync::{Arc, RwLock};
use std::thread::{Builder, JoinHandle};

use candor_domain::access::Tenant;
use candor_fair_share::RowSizes;
use candor_port_storage::StorageError;
use candor_port_storage::error::Read;

pub use backup::{BackupContents, check_backup, check_database, rewrite, write_backup};
pub use connection::open::{DatabaseLocation, SqliteOptions};
pub use copy::{SqliteCopy, is_copy_unfinished};
pub use migrate::{is_empty, master_keys, migrate, newest_migration, pending_migrations, unknown_migrations};

use connection::checkpoint::Gate;
use connection::lookups::LookUps;
use connection::open::Source;
use connection::readers::Reads;
use connection::tasks::TaskQueue;
use connection::writer::{Tasks, Writer};
use listing::slow::SlowReadThreads;
use sql::Db;

/// Maximum number of committed groups that are reported to the checkpoint thread before it receives them. While so
/// many are pending, the writer reports no further groups.
const TOLD_AHEAD: usize = 64;

/// Maximum number of rows that are looked up on the calling thread.
const FEW: usize = 64;

/// A store on SQLite. Dropping it executes the waiting tasks and leaves the whole database in one file.
pub struct SqliteStore {
    source: Source,
    look_ups: LookUps,
    reads: Arc<Reads>,
    /// Reads whose rows are large in total, on their own threads.
    large_reads: Arc<Reads>,
    row_sizes: RowSizes,
    slow: SlowReadThreads,
    tasks: Arc<Tasks>,
    threads: Vec<JoinHandle<()>>,
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").field("threads", &self.threads.len()).finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// Opens a database and applies pending migrations.
    ///
    /// # Errors
    /// The database cannot be opened or migrated.
    pub fn open(options: &SqliteOptions) -> Read<Self> {
        let source = Source::new(&options.place)?;
        let mut db = source.writer()?;
        let migration_report = migrate::apply(&mut db)?;
        if let Some(last) = migration_report.last() {
            tracing::info!(count = migration_report.len(), last = last.as_str(), "the database was migrated");
        }
        db.lines_at_once = options.lines_at_once;
        commit::rebuild::complete_all(&mut db)?;
        let (reads, tasks) = (Arc::new(Reads::new()), Arc::new(TaskQueue::new()));
        let count = if source.in_memory() { 0 } else { options.look_ups };
        let idle: Result<_, _> = (0..count).map(|_| source.reader()).collect();
        let mut store = Self {
            source: source.clone(),
            look_ups: LookUps::new(idle?),
            reads,
            large_reads: Arc::new(Reads::new()),
            row_sizes: RowSizes::default(),
            slow: SlowReadThreads::new(options.slow_reads),
            tasks,
            threads: vec![],
        };
        let gate = source.in_memory().then(|| Arc::new(RwLock::new(())));
        for _ in 0..options.readers.max(1) {
            let (db, reads, gate) = (source.reader()?, Arc::clone(&store.reads), gate.clone());
            store.start("candor-read", move || connection::readers::work(db, &reads, gate))?;
        }
        for _ in 0..options.large_readers.max(1) {
            let (db, reads, gate) = (source.reader()?, Arc::clone(&store.large_reads), gate.clone());
            store.start("candor-large", move || connection::readers::work(db, &reads, gate))?;
        }
        for _ in 0..options.slow_reads.places {
            let (db, reads, gate) = (source.reader()?, Arc::clone(&store.slow.reads), gate.clone());
            store.start("candor-slow", move || connection::readers::work(db, &reads, gate))?;
        }
        let log = Arc::new(Gate::default());
        let checkpoint_sender = if source.in_memory() {
            None
        } else {
            let (told, checkpoint_sender) = sync_channel(TOLD_AHEAD);
            let db = source.checkpointer()?;
            let log_of_checkpoints = Arc::clone(&log);
            store.start("candor-checkpoint", move || {
                connection::checkpoint::work(db, &checkpoint_sender, &log_of_checkpoints)
            })?;
            Some(told)
        };
        let writer = Writer { db, tasks: Arc::clone(&store.tasks), gate, written: checkpoint_sender, log };
        store.start("candor-write", move || writer.work())?;
        Ok(store)
    }

    /// Creates a database in memory, private to this store.
    ///
    /// # Errors
    /// See [`SqliteStore::open`].
    pub fn in_memory() -> Read<Self> {
        Self::open(&SqliteOptions::memory())
    }

    /// Returns the address under which SQLite knows the database in this process.
    #[must_use]
    pub fn address(&self) -> &str {
        self.source.address()
    }

    /// Moves the whole write-ahead log into the database and truncates it.
    async fn truncate_log(&self) -> Read<()> {
        if self.source.in_memory() {
            return Ok(());
        }
        let source = self.source.clone();
        let (result_sender, result_receiver) = tokio::sync::oneshot::channel();
        let work = move || drop(result_sender.send(connection::checkpoint::truncate(&source)));
        let thread = Builder::new().name("candor-truncate".to_owned()).spawn(work);
        thread.map_err(|error| StorageError::Unavailable(format!("cannot start a thread: {error}")))?;
        result_receiver
            .await
            .map_err(|_| StorageError::Failed("a defect ended the truncation of the write-ahead log".to_owned()))?
    }

    fn start(&mut self, name: &str, work: impl FnOnce() + Send + 'static) -> Read<()> {
        let thread = Builder::new().name(name.to_owned()).spawn(work);
        self.threads
            .push(thread.map_err(|error| StorageError::Unavailable(format!("cannot start a thread: {error}")))?);
        Ok(())
    }

    /// Looks up a few rows by key, on the calling thread if a connection is idle: that costs less than
    /// handing the read to another thread.
    async fn look_up<T: Send + 'static>(
        &self,
        tenant: impl Into<Option<Tenant>>,
        read: impl FnOnce(&mut Db) -> Read<T> + Send + 'static,
    ) -> Read<T> {
        match self.look_ups.now(read) {
            Ok(found) => found,
            Err(read) => self.read(tenant, read).await,
        }
    }

    /// Looks up `count` rows: few on the calling thread, many on a reader thread.
    async fn look_up_all<T: Send + 'static>(
        &self,
        tenant: impl Into<Option<Tenant>>,
        count: usize,
        read: impl FnOnce(&mut Db) -> Read<T> + Send + 'static,
    ) -> Read<T> {
        if count > FEW { self.read(tenant, read).await } else { self.look_up(tenant, read).await }
    }

    /// Runs a read on a reader thread. Reads of the service itself have no tenant.
    async fn read<T: Send + 'static>(
        &self,
        tenant: impl Into<Option<Tenant>>,
        read: impl FnOnce(&mut Db) -> Read<T> + Send + 'static,
    ) -> Read<T> {
        connection::readers::ask(&self.reads, tenant.into(), read).await
    }

    /// Runs a read of large rows on the threads for them.
    async fn read_large<T: Send + 'static>(
        &self,
        tenant: Tenant,
        read: impl FnOnce(&mut Db) -> Read<T> + Send + 'static,
    ) -> Read<T> {
        connection::readers::ask(&self.large_reads, Some(tenant), read).await
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.look_ups.close();
        self.reads.close();
        self.large_reads.close();
        self.slow.reads.close();
        self.tasks.close();
        for thread in self.threads.drain(..) {
            // A panic of the thread has already been reported.
            drop(thread.join());
        }
    }
}
