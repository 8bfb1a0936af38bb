//! Moves the write-ahead log into the database on a thread of its own, so that no change waits for it.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use candor_port_storage::StorageError;

use crate::connection::open::LARGE_LOG_BYTES;
use crate::sql::{Db, Sql};

/// So many change sets make a checkpoint worth its flush,
const ENOUGH: usize = 256;
/// and so much time does when there are fewer.
const LONG: Duration = Duration::from_secs(1);
/// Pages that are moved while the writer stands still; what is more is moved beside it, which never takes more than so
/// many turns.
const FEW_PAGES: i64 = 500;
const TURNS: usize = 4;

/// Where the writer stops between two groups while the log is begun anew. Left to themselves both would sleep for longer
/// and longer whenever the other has the log.
#[derive(Default)]
pub(crate) struct Gate {
    closed: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    /// Waits until it is open.
    pub(crate) fn pass(&self) {
        let closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.opened.wait_while(closed, |it| *it));
    }

    fn close(&self) -> Closed<'_> {
        *self.closed.lock().unwrap_or_else(PoisonError::into_inner) = true;
        Closed(self)
    }
}

/// A gate that opens with the end of this value.
struct Closed<'g>(&'g Gate);

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        *self.0.closed.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.0.opened.notify_all();
    }
}

/// Looks after the log until nobody writes any more.
pub(crate) fn work(mut db: Db, written: &Receiver<usize>, gate: &Gate) {
    while let Ok(first) = written.recv() {
        let open = gather(first, written);
        if let Err(error) = checkpoint(&mut db, LARGE_LOG_BYTES, gate) {
            tracing::warn!(%error, "the write-ahead log was not moved");
        }
        if !open {
            return;
        }
    }
}

/// Waits until enough was written or long enough; says whether more can come.
fn gather(first: usize, written: &Receiver<usize>) -> bool {
    let since = Instant::now();
    let mut count = first;
    while count < ENOUGH {
        match written.recv_timeout(LONG.saturating_sub(since.elapsed())) {
            Ok(more) => count += more,
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
    true
}

/// Moves what can be moved, and begins the log anew if it is larger than `large` bytes. If readers keep it from that for
/// long, it is tried again another time.
pub(crate) fn checkpoint(db: &mut Db, large: i64, gate: &Gate) -> Result<(), StorageError> {
    let page = db.number(Sql::new("PRAGMA page_size"))?;
    let mut log = pages(db, "PRAGMA wal_checkpoint(PASSIVE)")?;
    if log * page <= large {
        return Ok(());
    }
    for _ in 1..TURNS {
        let before = log;
        log = pages(db, "PRAGMA wal_checkpoint(PASSIVE)")?;
        if log - before <= FEW_PAGES {
            break;
        }
    }
    let _closed = gate.close();
    pages(db, "PRAGMA wal_checkpoint(RESTART)").map(drop)
}

/// Moves pages of the log, and answers how many it has.
fn pages(db: &mut Db, pragma: &'static str) -> Result<i64, StorageError> {
    let rows = db.rows(Sql::new(pragma), |row| row.int().and_then(|_busy| row.int()).map_err(StorageError::Failed))?;
    Ok(rows.into_iter().next().flatten().unwrap_or(0))
}
