//! Everything of one store put into another: what each store does for it.

use std::collections::BTreeMap;

use async_trait::async_trait;
use candor_tables::copy::{CopyRow, CopyTable, bytes};
use candor_tables::flat::Cell;
use tokio::sync::mpsc;

use crate::error::Read;

/// What is written down in the target about a copy that is not complete: names and what belongs to them.
pub type CopyProgress = BTreeMap<String, String>;

/// Rows of one piece at the most, …
const PIECE_ROWS: usize = 10_000;
/// … and the bytes from which on it is sent, which bounds the memory whatever the rows hold.
const PIECE_BYTES: usize = 4 * 1024 * 1024;

/// The rows of a table in its order, piece by piece. A piece is read while the one before it is dealt with.
#[derive(Debug)]
pub struct RowStream(mpsc::Receiver<Read<Vec<CopyRow>>>);

impl RowStream {
    /// A stream, and what fills it.
    #[must_use]
    pub fn new() -> (RowSender, Self) {
        let (sender, receiver) = mpsc::channel(1);
        (RowSender { sender, rows: vec![], bytes: 0 }, Self(receiver))
    }

    /// The next piece, which has at least one row; `None` behind the last one.
    pub async fn next(&mut self) -> Option<Read<Vec<CopyRow>>> {
        self.0.recv().await
    }
}

/// Fills a [`RowStream`].
#[derive(Debug)]
pub struct RowSender {
    sender: mpsc::Sender<Read<Vec<CopyRow>>>,
    rows: Vec<CopyRow>,
    bytes: usize,
}

/// Nobody takes the rows any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NobodyReads;

impl RowSender {
    /// Adds a row, from a thread that may wait.
    ///
    /// # Errors
    /// [`NobodyReads`].
    pub fn send_blocking(&mut self, row: CopyRow) -> Result<(), NobodyReads> {
        match self.piece(row) {
            Some(piece) => self.sender.blocking_send(Ok(piece)).map_err(|_| NobodyReads),
            None => Ok(()),
        }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// [`NobodyReads`].
    pub async fn send(&mut self, row: CopyRow) -> Result<(), NobodyReads> {
        match self.piece(row) {
            Some(piece) => self.sender.send(Ok(piece)).await.map_err(|_| NobodyReads),
            None => Ok(()),
        }
    }

    /// Sends what is left, and how it ended, from a thread that may wait.
    pub fn end_blocking(mut self, ended: Read<()>) {
        let rest = std::mem::take(&mut self.rows);
        // Nobody may take it any more, who then needs no rest either.
        let _ = match ended {
            Err(error) => self.sender.blocking_send(Err(error)),
            Ok(()) if rest.is_empty() => Ok(()),
            Ok(()) => self.sender.blocking_send(Ok(rest)),
        };
    }

    /// Sends what is left, and how it ended.
    pub async fn end(mut self, ended: Read<()>) {
        let rest = std::mem::take(&mut self.rows);
        let _ = match ended {
            Err(error) => self.sender.send(Err(error)).await,
            Ok(()) if rest.is_empty() => Ok(()),
            Ok(()) => self.sender.send(Ok(rest)).await,
        };
    }

    /// The piece that is full with this row.
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

/// A store that is read.
#[async_trait]
pub trait CopySource: Send + Sync {
    /// How many rows a table has.
    async fn count(&self, table: &CopyTable) -> Read<u64>;
    /// The rows of a table in the order of its key: all of them, or those behind a key.
    async fn rows(&self, table: &CopyTable, after: Option<Vec<Cell>>) -> Read<RowStream>;
    /// The last position in the feed that anybody can have been told.
    async fn feed_end(&self) -> Read<i64>;
}

/// A store that is filled. Until [`CopyTarget::accept`] nobody but a copy may open it.
#[async_trait]
pub trait CopyTarget: CopySource {
    /// What is written down about a copy that was begun; `None` if there was none, or it is complete.
    async fn progress(&self) -> Read<Option<CopyProgress>>;
    /// Begins: from now on it is no database to be served. Nothing is checked row by row while it is filled. What was
    /// recorded of master keys goes, since nothing else is there that they could have sealed.
    async fn begin(&self, first: (String, String)) -> Read<()>;
    /// Adds rows, and writes down how far this is, both or neither.
    async fn write(&self, table: &CopyTable, rows: Vec<CopyRow>, step: (String, String)) -> Read<()>;
    /// Makes it whole once all rows are there: what refers to something is checked, and new events come behind
    /// `feed_end`.
    async fn finish(&self, feed_end: i64) -> Read<()>;
    /// Makes it a database to be served.
    async fn accept(&self) -> Read<()>;
}
