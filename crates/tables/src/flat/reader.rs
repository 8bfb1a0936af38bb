//! Decoding of rows with errors that name the column.

use candor_domain::fields::Word;
use candor_domain::id::{Id, Kind};
use candor_domain::time::{Date, Timestamp};

use super::{Fetch, Table};
use crate::error::Corrupt;

/// Decodes the values of a row in column order. Errors name the column.
pub struct Reader<'a> {
    row: &'a mut dyn Fetch,
    table: &'static Table,
    at: usize,
}

impl<'a> Reader<'a> {
    /// Creates a reader at the first column.
    pub fn new(row: &'a mut dyn Fetch, table: &'static Table) -> Self {
        Self { row, table, at: 0 }
    }

    fn next<T>(&mut self, fetch: impl FnOnce(&mut dyn Fetch) -> Result<T, String>) -> Result<T, Corrupt> {
        self.at += 1;
        fetch(self.row).map_err(|reason| self.corrupt(reason))
    }

    fn present<T>(&mut self, fetch: impl FnOnce(&mut dyn Fetch) -> Result<Option<T>, String>) -> Result<T, Corrupt> {
        self.next(|row| fetch(row)?.ok_or_else(|| "null".to_owned()))
    }

    /// Creates an error that names the column read last.
    #[must_use]
    pub fn corrupt(&self, reason: impl Into<String>) -> Corrupt {
        let mut names = self.table.read().map(|it| it.name).chain(self.table.related.iter().map(|it| it.name));
        let column = names.nth(self.at.wrapping_sub(1)).unwrap_or("version");
        Corrupt { table: self.table.name, column, reason: reason.into() }
    }

    /// Reads an id.
    ///
    /// # Errors
    /// [`Corrupt`] naming the column.
    pub fn id<K: Kind>(&mut self) -> Result<Id<K>, Corrupt> {
        self.present(|row| row.id()).map(Id::from_bytes)
    }
    /// Reads an id or null.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn opt_id<K: Kind>(&mut self) -> Result<Option<Id<K>>, Corrupt> {
        Ok(self.next(|row| row.id())?.map(Id::from_bytes))
    }
    /// Reads a text.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn text(&mut self) -> Result<String, Corrupt> {
        self.present(|row| row.text())
    }
    /// Reads a text or null.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn opt_text(&mut self) -> Result<Option<String>, Corrupt> {
        self.next(|row| row.text())
    }
    /// Reads the word of an enumeration.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn word<T: Word>(&mut self) -> Result<T, Corrupt> {
        self.parse(|text| T::from_word(text).ok())
    }
    /// Reads a text and parses it.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn parse<T>(&mut self, rule: impl FnOnce(&str) -> Option<T>) -> Result<T, Corrupt> {
        let text = self.text()?;
        rule(&text).ok_or_else(|| self.corrupt(format!("unexpected value {text:?}")))
    }
    /// Reads a text or null and parses the text.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn opt_parse<T>(&mut self, rule: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, Corrupt> {
        let Some(text) = self.opt_text()? else { return Ok(None) };
        rule(&text).map(Some).ok_or_else(|| self.corrupt(format!("unexpected value {text:?}")))
    }
    /// Reads a number.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn int(&mut self) -> Result<i64, Corrupt> {
        self.present(|row| row.int())
    }
    /// Reads a number and converts it to a smaller type.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn number<T: TryFrom<i64>>(&mut self) -> Result<T, Corrupt> {
        let number = self.int()?;
        T::try_from(number).map_err(|_| self.corrupt(format!("unexpected value {number}")))
    }
    /// Reads 16 bytes.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn bytes16(&mut self) -> Result<[u8; 16], Corrupt> {
        self.present(|row| row.id())
    }
    /// Reads a `u32` or null.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn opt_small(&mut self) -> Result<Option<u32>, Corrupt> {
        let Some(number) = self.next(|row| row.int())? else { return Ok(None) };
        u32::try_from(number).map(Some).map_err(|_| self.corrupt(format!("unexpected value {number}")))
    }
    /// Reads a boolean.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn flag(&mut self) -> Result<bool, Corrupt> {
        self.present(|row| row.flag())
    }
    /// Reads a timestamp.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn time(&mut self) -> Result<Timestamp, Corrupt> {
        self.present(|row| row.time())
    }
    /// Reads a timestamp or null.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn opt_time(&mut self) -> Result<Option<Timestamp>, Corrupt> {
        self.next(|row| row.time())
    }
    /// Reads a date.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn date(&mut self) -> Result<Date, Corrupt> {
        self.present(|row| row.date())
    }
    /// Reads a date or null.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn opt_date(&mut self) -> Result<Option<Date>, Corrupt> {
        self.next(|row| row.date())
    }
    /// Reads a list of ids.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn ids<K: Kind>(&mut self) -> Result<Vec<Id<K>>, Corrupt> {
        Ok(self.present(|row| row.ids())?.into_iter().map(Id::from_bytes).collect())
    }
    /// Reads the ids that a side table relates to the row, and sorts them.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn related_ids<K: Kind>(&mut self) -> Result<Vec<Id<K>>, Corrupt> {
        let mut ids = self.ids()?;
        ids.sort_unstable();
        Ok(ids)
    }
    /// Reads bytes or null.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn opt_bytes(&mut self) -> Result<Option<Vec<u8>>, Corrupt> {
        self.next(|row| row.bytes())
    }
    /// Reads 32 bytes or null.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn opt_bytes32(&mut self) -> Result<Option<[u8; 32]>, Corrupt> {
        let Some(bytes) = self.opt_bytes()? else { return Ok(None) };
        <[u8; 32]>::try_from(bytes).map(Some).map_err(|_| self.corrupt("not 32 bytes"))
    }
    /// Reads 32 bytes.
    ///
    /// # Errors
    /// See [`Reader::id`].
    pub fn bytes32(&mut self) -> Result<[u8; 32], Corrupt> {
        self.opt_bytes32()?.ok_or_else(|| self.corrupt("null"))
    }
}
