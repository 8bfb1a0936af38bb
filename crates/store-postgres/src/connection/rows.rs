//! Receivers of the rows of a statement. Code that sends statements is not generic over the row type, and is
//! compiled once instead of once for each read.

use candor_tables::flat::CellReader;
use diesel_async::{AsyncConnectionCore, AsyncPgConnection};

use crate::failure::Failure;
use crate::sql::wire::Columns;

/// A row as the server sent it.
pub(crate) type RawRow = <AsyncPgConnection as AsyncConnectionCore>::Row<'static, 'static>;

/// Receives rows as they arrive.
pub(crate) trait RowSink: Send {
    /// Discards the rows received so far, before the statement is sent again.
    fn clear(&mut self);

    /// Receives one row; an error ends the read.
    fn take(&mut self, row: &mut dyn CellReader) -> Result<(), Failure>;
}

/// Collects the values that a function reads from rows.
pub(crate) struct Values<T, F> {
    read: F,
    values: Vec<T>,
}

impl<T, F> Values<T, F>
where
    T: Send,
    F: Fn(&mut dyn CellReader) -> Result<T, Failure> + Send,
{
    pub(crate) const fn read_by(read: F) -> Self {
        Self { read, values: vec![] }
    }

    pub(crate) fn into_vec(self) -> Vec<T> {
        self.values
    }
}

impl<T, F> RowSink for Values<T, F>
where
    T: Send,
    F: Fn(&mut dyn CellReader) -> Result<T, Failure> + Send,
{
    fn clear(&mut self) {
        self.values.clear();
    }

    fn take(&mut self, row: &mut dyn CellReader) -> Result<(), Failure> {
        self.values.push((self.read)(row)?);
        Ok(())
    }
}

/// Reads values from rows that have all arrived.
pub(crate) fn values<T>(
    rows: Vec<RawRow>,
    read: impl Fn(&mut dyn CellReader) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    rows.into_iter().map(|row| read(&mut Columns::new(&row))).collect()
}
