//! Port of `candor copy`: the operations that each store provides to copy all data to another store.

use std::collections::BTreeMap;

use async_trait::async_trait;
use candor_tables::copy::{CopyRow, CopyTable, bytes};
use candor_tables::flat::SqlValue;
use tokio::sync::mpsc;

use crate::error::Read;

/// Progress that the target stores until the copy is complete, as names and values.
pub type CopyProgress = BTreeMap<String, String>;

/// Maximum number of rows per piece.
const PIECE_ROWS: usize = 10_000;
/// Size in bytes at which a piece is sent. It bounds memory for rows of any size.
const PIECE_BYTES: usize = 4 * 1024 * 1024;

/// Rows of a table in key order, in pieces. One piece is read ahead.
#[derive(Debug)]
pub struct RowStream(mpsc::Receiver<Read<Vec<CopyRow>>>);

impl RowStream {
    /// Creates a stream and its sender.
    #[must_use]
    pub fn new() -> (RowSender, Self) {
        let (sender, receiver) = mpsc::channel(1);
        (RowSender { sender, rows: vec![], bytes: 0 }, Self(receiver))
    }

    /// Returns the next piece, which has at least one row, or `None` after the last one.
    pub async fn next(&mut self) -> Option<Read<Vec<CopyRow>>> {
        self.0.recv().await
    }
}

/// Sender of a [`RowStream`].
#[derive(Debug)]
pub struct RowSender {
    sender: mpsc::Sender<Read<Vec<CopyRow>>>,
    rows: Vec<CopyRow>,
    bytes: usize,
}

/// Error of sending to a dropped [`RowStream`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowReceiverClosed;

impl RowSender {
    /// Adds a row from a blocking thread.
    ///
    /// # Errors
    /// Returns [`RowReceiverClosed`] if the stream was dropped.
    pub fn send_blocking(&mut self, row: CopyRow) -> Result<(), RowReceiverClosed> {
        match self.piece(row) {
            Some(piece) => self.sender.blocking_send(Ok(piece)).map_err(|_| RowReceiverClosed),
            None => Ok(()),
        }
    }

    /// Adds a row from an async task.
    ///
    /// # Errors
    /// Returns [`RowReceiverClosed`] if the stream was dropped.
    pub async fn send(&mut self, row: CopyRow) -> Result<(), RowReceiverClosed> {
        match self.piece(row) {
            Some(piece) => self.sender.send(Ok(piece)).await.map_err(|_| RowReceiverClosed),
            None => Ok(()),
        }
    }

    /// Ends the stream from a blocking thread: sends the remaining rows, or the error if reading failed.
    pub fn end_blocking(mut self, ended: Read<()>) {
        let rest = std::mem::take(&mut self.rows);
        // If the receiver is gone, the remaining rows are discarded.
        let _ = match ended {
            Err(error) => self.sender.blocking_send(Err(error)),
            Ok(()) if rest.is_empty() => Ok(()),
            Ok(()) => self.sender.blocking_send(Ok(rest)),
        };
    }

    /// Ends the stream: sends the remaining rows, or the error if reading failed.
    pub async fn end(mut self, ended: Read<()>) {
        let rest = std::mem::take(&mut self.rows);
        let _ = match ended {
            Err(error) => self.sender.send(Err(error)).await,
            Ok(()) if rest.is_empty() => Ok(()),
            Ok(()) => self.sender.send(Ok(rest)).await,
        };
    }

    /// Adds a row and returns the piece if it is full.
    fn piece(&mut self, row: CopyRow) -> Option<Vec<CopyRow>> {
        self.bytes += row.iter().map(bytes).sum::<usize>();
        self.rows.push(row);
        if self.rows.len() < PIECE_ROWS && self.bytes < PIECE_BYTES {
            return None;
        }
        self.bytes = 0;
        Some(std::mem::take(&mut self.rows))
    }
}

/// A store to copy from.
#[async_trait]
pub trait CopySource: Send + Sync {
    /// Returns the number of rows of a table.
    async fn count(&self, table: &CopyTable) -> Read<u64>;
    /// Returns the rows of a table in key order: all of them, or those after a key.
    async fn rows(&self, table: &CopyTable, after: Option<Vec<SqlValue>>) -> Read<RowStream>;
    /// Returns the highest feed position that a client can have received.
    async fn feed_end(&self) -> Read<i64>;
}

/// A store to copy into. Until [`CopyTarget::accept`], only a copy may open it.
#[async_trait]
pub trait CopyTarget: CopySource {
    /// Returns the progress of an incomplete copy, or `None` if there is none.
    async fn progress(&self) -> Read<Option<CopyProgress>>;
    /// Begins a copy and stores the first entry of its progress, `first`. From now on the database must not be
    /// served, and references are not checked row by row. Removes the recorded master keys, which have sealed
    /// nothing in an empty database.
    async fn begin(&self, first: (String, String)) -> Read<()>;
    /// Writes rows and one entry of the progress, `step`, in one transaction.
    async fn write(&self, table: &CopyTable, rows: Vec<CopyRow>, step: (String, String)) -> Read<()>;
    /// Completes the copy after the last row: checks all references, and makes new events start after
    /// `feed_end`.
    async fn finish(&self, feed_end: i64) -> Read<()>;
    /// Marks the database as ready to be served.
    async fn accept(&self) -> Read<()>;
}
