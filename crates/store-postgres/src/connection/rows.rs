//! Receivers of the rows of a statement. Code that sends statements is not generic over the row type, and is
//! compiled once instead of once for each read.

use candor_tables::flat::CellReader;
use diesel::row::{Field, Row};
use diesel_async::{AsyncConnectionCore, AsyncPgConnection};

use crate::failure::Failure;
use crate::sql::wire::Columns;

/// A row as the server sent it.
pub(crate) type RawRow = <AsyncPgConnection as AsyncConnectionCore>::Row<'static, 'static>;

/// Receives rows as they arrive.
pub(crate) trait RowSink: Send {
    /// Discards the rows received so far, before the statement is sent again.
    fn clear(&mut self);

    /// Receives one row and returns its size in bytes; an error ends the read.
    fn take(&mut self, row: RawRow) -> Result<usize, Failure>;
}

/// Collects rows as they arrive, for a sink that takes them later.
#[derive(Default)]
pub(crate) struct RawRows(Vec<RawRow>);

impl RawRows {
    /// Passes the rows to a sink.
    pub(crate) fn pass_to(self, rows: &mut dyn RowSink) -> Result<(), Failure> {
        rows.clear();
        self.0.into_iter().try_for_each(|row| rows.take(row).map(drop))
    }
}

impl RowSink for RawRows {
    fn clear(&mut self) {
        self.0.clear();
    }

    fn take(&mut self, row: RawRow) -> Result<usize, Failure> {
        let values =
            (0..row.field_count()).filter_map(|place| row.get(place)?.value().map(|value| value.as_bytes().len()));
        let size = values.sum();
        self.0.push(row);
        Ok(size)
    }
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

    fn take(&mut self, row: RawRow) -> Result<usize, Failure> {
        let mut columns = Columns::new(&row);
        self.values.push((self.read)(&mut columns)?);
        Ok(columns.size())
    }
}

/// Reads values from rows that have all arrived.
pub(crate) fn values<T>(
    rows: Vec<RawRow>,
    read: impl Fn(&mut dyn CellReader) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    rows.into_iter().map(|row| read(&mut Columns::new(&row))).collect()
}
