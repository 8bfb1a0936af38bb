//! Encoding of resources as flat columns, shared by all stores.
//!
//! A store implements only the binding of a [`SqlValue`] and the fetching of a value ([`CellReader`]). The columns
//! of a resource, their order, and the validation of stored values are defined here and in [`crate::rows`].

use candor_domain::id::{Id, Kind};
use candor_domain::time::{Date, Timestamp};
use serde::Serialize;

use crate::error::{CorruptRowError, RowWriteError};

mod reader;
mod table;

pub use reader::Reader;
pub use table::{BackgroundWorker, Index, MemberTable, Related, Table};

/// Type of a column's values, with its SQL types in PostgreSQL and SQLite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// Id of 16 bytes: `uuid`, `BLOB`.
    Id,
    /// Text of any length: `text`, `TEXT`.
    Text,
    /// Integer of 64 bits: `bigint`, `INTEGER`.
    Int,
    /// Boolean: `boolean`, `INTEGER` with 0 or 1.
    Flag,
    /// Instant in milliseconds: `timestamptz`, `INTEGER`.
    Time,
    /// Calendar day: `date`, `INTEGER` with days since 1970-01-01.
    Date,
    /// Ordered list of ids: `uuid[]`, `BLOB` of 16 bytes each.
    Ids,
    /// Byte string: `bytea`, `BLOB`.
    Bytes,
}

/// A column. Columns are equal if their names and types are.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Name of the column, equal in every store.
    pub name: &'static str,
    /// Type of the column's values.
    pub kind: Type,
    /// `true` if the column is nullable. Known only for columns that [`crate::codec::column`] declares; `false`
    /// for other ones.
    pub is_nullable: bool,
}

impl PartialEq for Column {
    fn eq(&self, other: &Self) -> bool {
        (self.name, self.kind) == (other.name, other.kind)
    }
}

impl Eq for Column {}

impl Column {
    /// Creates a column that is not nullable.
    #[must_use]
    pub const fn new(name: &'static str, kind: Type) -> Self {
        Self { name, kind, is_nullable: false }
    }
}

/// One value to write to a store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SqlValue {
    /// Null, in a column of this type.
    Null(Type),
    /// An id, see [`Type::Id`].
    Id([u8; 16]),
    /// A text, see [`Type::Text`].
    Text(String),
    /// An integer, see [`Type::Int`].
    Int(i64),
    /// A boolean, see [`Type::Flag`].
    Flag(bool),
    /// An instant, see [`Type::Time`].
    Time(Timestamp),
    /// A calendar day, see [`Type::Date`].
    Date(Date),
    /// A list of ids, see [`Type::Ids`].
    Ids(Vec<[u8; 16]>),
    /// A byte string, see [`Type::Bytes`].
    Bytes(Vec<u8>),
}

impl SqlValue {
    /// Returns the type of the value's column.
    #[must_use]
    pub const fn kind(&self) -> Type {
        match self {
            Self::Null(kind) => *kind,
            Self::Id(_) => Type::Id,
            Self::Text(_) => Type::Text,
            Self::Int(_) => Type::Int,
            Self::Flag(_) => Type::Flag,
            Self::Time(_) => Type::Time,
            Self::Date(_) => Type::Date,
            Self::Ids(_) => Type::Ids,
            Self::Bytes(_) => Type::Bytes,
        }
    }
}

impl<K: Kind> From<Id<K>> for SqlValue {
    fn from(id: Id<K>) -> Self {
        Self::Id(id.to_bytes())
    }
}

impl From<String> for SqlValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<[u8; 32]> for SqlValue {
    fn from(it: [u8; 32]) -> Self {
        Self::Bytes(it.to_vec())
    }
}

impl From<Timestamp> for SqlValue {
    fn from(timestamp: Timestamp) -> Self {
        Self::Time(timestamp)
    }
}

impl From<Date> for SqlValue {
    fn from(date: Date) -> Self {
        Self::Date(date)
    }
}

/// Cells of a row, in the order of its columns.
#[derive(Debug, Default)]
pub struct Cells {
    cells: Vec<SqlValue>,
    /// Index of the first cell that could not be encoded, with the reason.
    unwritable: Option<(usize, String)>,
}

impl Cells {
    /// Appends the cell of the next column.
    pub fn put(&mut self, cell: SqlValue) {
        self.cells.push(cell);
    }
    /// Appends a value as JSON text. If the value cannot be serialized, [`Stored::cells`] returns
    /// [`RowWriteError`].
    pub fn json<T: Serialize>(&mut self, value: &T) {
        match serde_json::to_string(value) {
            Ok(text) => self.put(SqlValue::Text(text)),
            Err(error) => {
                let index = self.cells.len();
                self.unwritable.get_or_insert_with(|| (index, error.to_string()));
                self.put(SqlValue::Null(Type::Text));
            }
        }
    }
}

/// Fetches the values of one row in column order. Each call returns the next column; `None` is null.
pub trait CellReader {
    /// Fetches the next value, an id.
    ///
    /// # Errors
    /// The reason why the stored value is invalid.
    fn id(&mut self) -> Result<Option<[u8; 16]>, String>;
    /// Fetches the next value, a text.
    ///
    /// # Errors
    /// See [`CellReader::id`].
    fn text(&mut self) -> Result<Option<String>, String>;
    /// Fetches the next value, an integer.
    ///
    /// # Errors
    /// See [`CellReader::id`].
    fn int(&mut self) -> Result<Option<i64>, String>;
    /// Fetches the next value, a boolean.
    ///
    /// # Errors
    /// See [`CellReader::id`].
    fn flag(&mut self) -> Result<Option<bool>, String>;
    /// Fetches the next value, an instant.
    ///
    /// # Errors
    /// See [`CellReader::id`].
    fn time(&mut self) -> Result<Option<Timestamp>, String>;
    /// Fetches the next value, a day.
    ///
    /// # Errors
    /// See [`CellReader::id`].
    fn date(&mut self) -> Result<Option<Date>, String>;
    /// Fetches the next value, a list of ids.
    ///
    /// # Errors
    /// See [`CellReader::id`].
    fn ids(&mut self) -> Result<Option<Vec<[u8; 16]>>, String>;
    /// Fetches the next value, a byte string.
    ///
    /// # Errors
    /// See [`CellReader::id`].
    fn bytes(&mut self) -> Result<Option<Vec<u8>>, String>;
    /// Returns the total size of the fetched values in bytes; 0 if the store does not count them.
    fn size(&self) -> usize {
        0
    }
}

/// A resource that is stored in a table of its own.
pub trait Stored: Sized + Send + Sync + 'static {
    /// Kind of the resource's id.
    type Kind: Kind;

    /// Table of the resource.
    const TABLE: &'static Table;

    /// Returns the id of the resource.
    fn key(&self) -> Id<Self::Kind>;

    /// Writes the cells: those of the columns, then those of the derived columns.
    fn write(&self, out: &mut Cells);

    /// Reads the cells of the columns.
    ///
    /// # Errors
    /// [`CorruptRowError`] naming the column.
    fn read(row: &mut Reader<'_>) -> Result<Self, CorruptRowError>;

    /// Returns the tags of the row in each side table, in the order of [`Table::members`].
    fn members(&self) -> Vec<Vec<[u8; 16]>> {
        vec![]
    }

    /// Returns `true` if the row is searchable; see `candor-search-index`.
    fn is_searched(&self) -> bool {
        false
    }

    /// Returns the cells of the row.
    ///
    /// # Errors
    /// [`RowWriteError`] naming the column.
    fn cells(&self) -> Result<Vec<SqlValue>, RowWriteError> {
        let columns = Self::TABLE.columns.len() + Self::TABLE.derived.len();
        let mut cells = Cells { cells: Vec::with_capacity(columns), unwritable: None };
        self.write(&mut cells);
        debug_assert_eq!(cells.cells.len(), columns, "{}", Self::TABLE.name);
        let Some((at, reason)) = cells.unwritable else { return Ok(cells.cells) };
        let column =
            Self::TABLE.columns.iter().chain(Self::TABLE.derived).nth(at).map_or("", |column| column.name);
        Err(RowWriteError { table: Self::TABLE.name, column, reason })
    }
}
