//! Reader of rows that names the column of a corrupt value.

use candor_domain::id::{Id, Kind};
use candor_domain::time::{Date, Timestamp};

use super::{CellReader, Table};
use crate::error::CorruptRowError;

/// Reads the columns of a row in order, and names the column of a corrupt value.
pub struct Reader<'a> {
    row: &'a mut dyn CellReader,
    table: &'static Table,
    at: usize,
}

impl<'a> Reader<'a> {
    /// Creates a reader at the first column.
    pub fn new(row: &'a mut dyn CellReader, table: &'static Table) -> Self {
        Self { row, table, at: 0 }
    }

    fn next<T>(
        &mut self,
        fetch: impl FnOnce(&mut dyn CellReader) -> Result<T, String>,
    ) -> Result<T, CorruptRowError> {
        self.at += 1;
        fetch(self.row).map_err(|reason| self.corrupt(reason))
    }

    fn present<T>(
        &mut self,
        fetch: impl FnOnce(&mut dyn CellReader) -> Result<Option<T>, String>,
    ) -> Result<T, CorruptRowError> {
        self.next(|row| fetch(row)?.ok_or_else(|| "null".to_owned()))
    }

    /// Returns the error for the column that was read last.
    #[must_use]
    pub fn corrupt(&self, reason: impl Into<String>) -> CorruptRowError {
        let mut names =
            self.table.read().map(|column| column.name).chain(self.table.related.iter().map(|column| column.name));
        let column = names.nth(self.at.wrapping_sub(1)).unwrap_or("version");
        CorruptRowError { table: self.table.name, column, reason: reason.into() }
    }

    /// Reads the next value, an id.
    ///
    /// # Errors
    /// [`CorruptRowError`] naming the column.
    pub fn id<K: Kind>(&mut self) -> Result<Id<K>, CorruptRowError> {
        self.present(|row| row.id()).map(Id::from_bytes)
    }
    /// Reads the next value, an id or null.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn opt_id<K: Kind>(&mut self) -> Result<Option<Id<K>>, CorruptRowError> {
        Ok(self.next(|row| row.id())?.map(Id::from_bytes))
    }
    /// Reads the next value, a text or null.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn opt_text(&mut self) -> Result<Option<String>, CorruptRowError> {
        self.next(|row| row.text())
    }
    /// Reads the next value, a text or null, and parses it with `rule`.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn opt_parse<T>(&mut self, rule: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, CorruptRowError> {
        let Some(text) = self.opt_text()? else { return Ok(None) };
        rule(&text).map(Some).ok_or_else(|| self.corrupt(format!("unexpected value {text:?}")))
    }
    /// Reads the next value, an integer.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn int(&mut self) -> Result<i64, CorruptRowError> {
        self.present(|row| row.int())
    }
    /// Reads the next value, 16 bytes.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn bytes16(&mut self) -> Result<[u8; 16], CorruptRowError> {
        self.present(|row| row.id())
    }
    /// Reads the next value, an instant or null.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn opt_time(&mut self) -> Result<Option<Timestamp>, CorruptRowError> {
        self.next(|row| row.time())
    }
    /// Reads the next value, a day or null.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn opt_date(&mut self) -> Result<Option<Date>, CorruptRowError> {
        self.next(|row| row.date())
    }
    /// Reads the next value, a list of ids.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn ids<K: Kind>(&mut self) -> Result<Vec<Id<K>>, CorruptRowError> {
        Ok(self.present(|row| row.ids())?.into_iter().map(Id::from_bytes).collect())
    }
    /// Reads the next value, a list of ids from another table, and returns them in ascending order.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn related_ids<K: Kind>(&mut self) -> Result<Vec<Id<K>>, CorruptRowError> {
        let mut ids = self.ids()?;
        ids.sort_unstable();
        Ok(ids)
    }
    /// Reads the next value, a list of ids or null.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn opt_ids<K: Kind>(&mut self) -> Result<Option<Vec<Id<K>>>, CorruptRowError> {
        Ok(self.next(|row| row.ids())?.map(|ids| ids.into_iter().map(Id::from_bytes).collect()))
    }
    /// Reads the next value, an integer or null.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn opt_int(&mut self) -> Result<Option<i64>, CorruptRowError> {
        self.next(|row| row.int())
    }
    /// Reads the next value, 16 bytes or null.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn opt_bytes16(&mut self) -> Result<Option<[u8; 16]>, CorruptRowError> {
        self.next(|row| row.id())
    }
    /// Reads the next value, a boolean or null.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn opt_flag(&mut self) -> Result<Option<bool>, CorruptRowError> {
        self.next(|row| row.flag())
    }
    /// Reads the next value, a byte string or null.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn opt_bytes(&mut self) -> Result<Option<Vec<u8>>, CorruptRowError> {
        self.next(|row| row.bytes())
    }
    /// Reads the next value, 32 bytes or null.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn opt_bytes32(&mut self) -> Result<Option<[u8; 32]>, CorruptRowError> {
        let Some(bytes) = self.opt_bytes()? else { return Ok(None) };
        <[u8; 32]>::try_from(bytes).map(Some).map_err(|_| self.corrupt("not 32 bytes"))
    }
}
