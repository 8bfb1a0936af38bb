//! Moves the write-ahead log into the database on a thread of its own, so that no change waits for it.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use candor_port_storage::StorageError;

use crate::open::LARGE_LOG_BYTES;
use crate::sql::{Db, Sql};

/// So many change sets make a checkpoint worth its flush,
const ENOUGH: usize = 256;
/// and so much time does when there are fewer.
const LONG: Duration = Duration::from_secs(1);
/// Looks after the log until nobody writes any more.
pub(crate) fn work(mut db: Db, written: &Receiver<usize>) {
    while let Ok(first) = written.recv() {
        let open = gather(first, written);
        if let Err(error) = checkpoint(&mut db, LARGE_LOG_BYTES) {
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

/// Moves what can be moved, and begins the log anew if it is larger than `large` bytes.
pub(crate) fn checkpoint(db: &mut Db, large: i64) -> Result<(), StorageError> {
    let page = db.number(Sql::new("PRAGMA page_size"))?;
    let log = frames(db, "PRAGMA wal_checkpoint(PASSIVE)")?;
    if log * page > large {
        frames(db, "PRAGMA wal_checkpoint(RESTART)")?;
    }
    Ok(())
}

fn frames(db: &mut Db, pragma: &'static str) -> Result<i64, StorageError> {
    let rows = db.rows(Sql::new(pragma), |row| row.int().and_then(|_busy| row.int()).map_err(StorageError::Failed))?;
    Ok(rows.into_iter().next().flatten().unwrap_or(0))
}
