//! Checkpoints of the write-ahead log on a separate thread, so that no change waits for them.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use candor_port_storage::StorageError;

use crate::connection::open::{LARGE_LOG_BYTES, Source};
use crate::sql::{Db, Sql};

/// Number of change sets after which a checkpoint is worth its flush.
const ENOUGH: usize = 256;
/// Time after which a checkpoint runs with fewer than [`ENOUGH`] change sets.
const LONG: Duration = Duration::from_secs(1);
/// Number of pages that a checkpoint may move while the writer waits. More pages are moved beside the writer
/// first, in at most [`TURNS`] turns.
const FEW_PAGES: i64 = 500;
/// Maximum number of turns of a checkpoint beside the writer.
const TURNS: usize = 4;

/// Stops the writer between two groups while the log restarts. Without the gate, the writer and the checkpoint
/// would each back off for longer and longer while the other holds the log.
#[derive(Default)]
pub(crate) struct Gate {
    closed: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    /// Waits until the gate is open.
    pub(crate) fn pass(&self) {
        let closed_flag = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.opened.wait_while(closed_flag, |is_closed| *is_closed));
    }

    fn close(&self) -> ClosedGate<'_> {
        *self.closed.lock().unwrap_or_else(PoisonError::into_inner) = true;
        ClosedGate(self)
    }
}

/// Guard that opens the gate when it is dropped.
struct ClosedGate<'g>(&'g Gate);

impl Drop for ClosedGate<'_> {
    fn drop(&mut self) {
        *self.0.closed.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.0.opened.notify_all();
    }
}

/// Runs checkpoints until the writer has ended.
pub(crate) fn work(mut db: Db, written: &Receiver<usize>, gate: &Gate) {
    while let Ok(first) = written.recv() {
        let open = gather(first, written);
        if let Err(error) = checkpoint(&mut db, LARGE_LOG_BYTES, gate) {
            tracing::warn!(%error, "cannot checkpoint the write-ahead log; the next write retries");
        }
        if !open {
            return;
        }
    }
}

/// Waits until [`ENOUGH`] change sets or [`LONG`] have passed. Returns `false` once the writer has ended.
fn gather(first: usize, written: &Receiver<usize>) -> bool {
    let start = Instant::now();
    let mut count = first;
    while count < ENOUGH {
        match written.recv_timeout(LONG.saturating_sub(start.elapsed())) {
            Ok(more) => count += more,
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
    true
}

/// Moves pages of the log into the database, and restarts the log if it is larger than `large` bytes. If
/// readers prevent the restart, the next checkpoint tries again.
pub(crate) fn checkpoint(db: &mut Db, large: i64, gate: &Gate) -> Result<(), StorageError> {
    let page = db.number(Sql::new("PRAGMA page_size"))?;
    let mut log = pages(db, "PRAGMA wal_checkpoint(PASSIVE)")?;
    if log * page <= large {
        return Ok(());
    }
    for _ in 1..TURNS {
        let log_before = log;
        log = pages(db, "PRAGMA wal_checkpoint(PASSIVE)")?;
        if log - log_before <= FEW_PAGES {
            break;
        }
    }
    let _closed_gate = gate.close();
    pages(db, "PRAGMA wal_checkpoint(RESTART)").map(drop)
}

/// Maximum number of attempts to truncate the log.
const TRUNCATIONS: usize = 250;
/// Pause before another attempt. A running checkpoint and readers end within milliseconds.
const TRUNCATION_PAUSE: Duration = Duration::from_millis(20);

/// Moves the whole log into the database and truncates its file, so that it holds no older versions of pages.
pub(crate) fn truncate(source: &Source) -> Result<(), StorageError> {
    let mut db = source.checkpointer()?;
    for _ in 0..TRUNCATIONS {
        let is_busy =
            db.rows(Sql::new("PRAGMA wal_checkpoint(TRUNCATE)"), |row| row.int().map_err(StorageError::Failed));
        // The pragma fails while another checkpoint is running, and reports 1 while readers hold the log.
        if is_busy.is_ok_and(|rows| rows.first().copied().flatten() == Some(0)) {
            return Ok(());
        }
        std::thread::park_timeout(TRUNCATION_PAUSE);
    }
    Err(StorageError::Unavailable("readers keep the write-ahead log from being truncated".to_owned()))
}

/// Runs a checkpoint and returns the number of pages in the log.
fn pages(db: &mut Db, pragma: &'static str) -> Result<i64, StorageError> {
    let rows =
        db.rows(Sql::new(pragma), |row| row.int().and_then(|_busy| row.int()).map_err(StorageError::Failed))?;
    Ok(rows.into_iter().next().flatten().unwrap_or(0))
}
