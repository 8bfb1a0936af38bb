//! Mapping of aggregates to flat columns, shared by all stores.
//!
//! A store only implements binding of a [`Cell`] and fetching of a value ([`Fetch`]). The columns of a
//! resource, their order, and the detection of corrupt values are defined here and in [`crate::rows`].

use candor_domain::fields::Word;
use candor_domain::id::{Id, Kind};
use candor_domain::time::{Date, Timestamp};
use serde::Serialize;

use crate::error::{Corrupt, Unwritable};

mod reader;
mod table;

pub use reader::Reader;
pub use table::{BackgroundWorker, Index, MemberTable, Related, Table};

/// Type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// 16 bytes: `uuid`, `BLOB`.
    Id,
    /// A text: `text`, `TEXT`.
    Text,
    /// A 64-bit integer: `bigint`, `INTEGER`.
    Int,
    /// A boolean: `boolean`, `INTEGER` with 0 or 1.
    Flag,
    /// Milliseconds since 1970: `timestamptz`, `INTEGER`.
    Time,
    /// Days since 1970: `date`, `INTEGER`.
    Date,
    /// An ordered list of ids: `uuid[]`, `BLOB` with 16 bytes each.
    Ids,
    /// A byte string: `bytea`, `BLOB`.
    Bytes,
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Column {
    /// Name of the column, equal in all stores.
    pub name: &'static str,
    /// Type of the values.
    pub kind: Type,
}

impl Column {
    /// Creates a column of this type.
    #[must_use]
    pub const fn new(name: &'static str, kind: Type) -> Self {
        Self { name, kind }
    }
}

/// A value to write or compare.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    /// Null in a column of this type.
    Null(Type),
    /// An id; see [`Type::Id`].
    Id([u8; 16]),
    /// A text; see [`Type::Text`].
    Text(String),
    /// A number; see [`Type::Int`].
    Int(i64),
    /// A boolean; see [`Type::Flag`].
    Flag(bool),
    /// A timestamp; see [`Type::Time`].
    Time(Timestamp),
    /// A date; see [`Type::Date`].
    Date(Date),
    /// A list of ids; see [`Type::Ids`].
    Ids(Vec<[u8; 16]>),
    /// A byte string; see [`Type::Bytes`].
    Bytes(Vec<u8>),
}

impl Cell {
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

impl<K: Kind> From<Id<K>> for Cell {
    fn from(it: Id<K>) -> Self {
        Self::Id(it.to_bytes())
    }
}

impl From<String> for Cell {
    fn from(it: String) -> Self {
        Self::Text(it)
    }
}

impl From<[u8; 32]> for Cell {
    fn from(it: [u8; 32]) -> Self {
        Self::Bytes(it.to_vec())
    }
}

impl From<Timestamp> for Cell {
    fn from(it: Timestamp) -> Self {
        Self::Time(it)
    }
}

impl From<Date> for Cell {
    fn from(it: Date) -> Self {
        Self::Date(it)
    }
}

/// Cells of a row in column order.
#[derive(Debug, Default)]
pub struct Cells {
    cells: Vec<Cell>,
    /// Index of the first cell that could not be encoded, and the reason.
    unwritable: Option<(usize, String)>,
}

impl Cells {
    /// Appends a cell for the next column.
    pub fn put(&mut self, cell: Cell) {
        self.cells.push(cell);
    }
    /// Appends a value as JSON text. If it cannot be serialized, the whole row is [`Unwritable`].
    pub fn json<T: Serialize>(&mut self, it: &T) {
        match serde_json::to_string(it) {
            Ok(text) => self.text(text),
            Err(error) => {
                let at = self.cells.len();
                self.unwritable.get_or_insert_with(|| (at, error.to_string()));
                self.put(Cell::Null(Type::Text));
            }
        }
    }
    /// Appends a value as JSON text, or null.
    pub fn opt_json<T: Serialize>(&mut self, it: Option<&T>) {
        match it {
            Some(it) => self.json(it),
            None => self.put(Cell::Null(Type::Text)),
        }
    }
    /// Appends an id to the row.
    pub fn id<K: Kind>(&mut self, it: Id<K>) {
        self.put(Cell::Id(it.to_bytes()));
    }
    /// Appends an id or null.
    pub fn opt_id<K: Kind>(&mut self, it: Option<Id<K>>) {
        self.put(it.map_or(Cell::Null(Type::Id), |it| Cell::Id(it.to_bytes())));
    }
    /// Appends a text to the row.
    pub fn text(&mut self, it: impl Into<String>) {
        self.put(Cell::Text(it.into()));
    }
    /// Appends a text or null.
    pub fn opt_text(&mut self, it: Option<&String>) {
        self.put(it.map_or(Cell::Null(Type::Text), |it| Cell::Text(it.clone())));
    }
    /// Appends the word of an enumeration.
    pub fn word<T: Word>(&mut self, it: T) {
        self.text(it.word());
    }
    /// Appends the word of an enumeration, or null.
    pub fn opt_word<T: Word>(&mut self, it: Option<T>) {
        self.put(it.map_or(Cell::Null(Type::Text), |it| Cell::Text(it.word().to_owned())));
    }
    /// Appends bytes or null.
    pub fn opt_bytes(&mut self, it: Option<Vec<u8>>) {
        self.put(it.map_or(Cell::Null(Type::Bytes), Cell::Bytes));
    }
    /// Appends a number or null.
    pub fn opt_int(&mut self, it: Option<i64>) {
        self.put(it.map_or(Cell::Null(Type::Int), Cell::Int));
    }
    /// Appends a timestamp to the row.
    pub fn time(&mut self, it: Timestamp) {
        self.put(Cell::Time(it));
    }
    /// Appends a timestamp or null.
    pub fn opt_time(&mut self, it: Option<Timestamp>) {
        self.put(it.map_or(Cell::Null(Type::Time), Cell::Time));
    }
    /// Appends a list of ids.
    pub fn ids<K: Kind>(&mut self, it: &[Id<K>]) {
        self.put(Cell::Ids(it.iter().map(|id| id.to_bytes()).collect()));
    }
}

/// Fetches the values of one row in column order. Each call returns the next column; `None` is null.
pub trait Fetch {
    /// Fetches an id.
    ///
    /// # Errors
    /// A message about the invalid stored value.
    fn id(&mut self) -> Result<Option<[u8; 16]>, String>;
    /// Fetches a text.
    ///
    /// # Errors
    /// See [`Fetch::id`].
    fn text(&mut self) -> Result<Option<String>, String>;
    /// Fetches a number.
    ///
    /// # Errors
    /// See [`Fetch::id`].
    fn int(&mut self) -> Result<Option<i64>, String>;
    /// Fetches a boolean.
    ///
    /// # Errors
    /// See [`Fetch::id`].
    fn flag(&mut self) -> Result<Option<bool>, String>;
    /// Fetches a timestamp.
    ///
    /// # Errors
    /// See [`Fetch::id`].
    fn time(&mut self) -> Result<Option<Timestamp>, String>;
    /// Fetches a date.
    ///
    /// # Errors
    /// See [`Fetch::id`].
    fn date(&mut self) -> Result<Option<Date>, String>;
    /// Fetches a list of ids.
    ///
    /// # Errors
    /// See [`Fetch::id`].
    fn ids(&mut self) -> Result<Option<Vec<[u8; 16]>>, String>;
    /// Fetches bytes.
    ///
    /// # Errors
    /// See [`Fetch::id`].
    fn bytes(&mut self) -> Result<Option<Vec<u8>>, String>;
    /// Returns the number of fetched bytes, or 0 if the store does not count them.
    fn size(&self) -> usize {
        0
    }
}

/// A type that is stored in a table of its own.
pub trait Stored: Sized + Send + Sync + 'static {
    /// Kind of the type's ids.
    type Kind: Kind;

    /// Table of the type.
    const TABLE: &'static Table;

    /// Returns the id of the value.
    fn key(&self) -> Id<Self::Kind>;

    /// Appends the cells of the columns, then those of the derived columns.
    fn write(&self, out: &mut Cells);

    /// Decodes the cells of the columns.
    ///
    /// # Errors
    /// [`Corrupt`] naming the column.
    fn read(row: &mut Reader<'_>) -> Result<Self, Corrupt>;

    /// Returns the tags for the side table.
    fn members(&self) -> Vec<[u8; 16]> {
        vec![]
    }

    /// Returns `true` if the value has searchable words; see `candor-search-index`.
    fn is_searched(&self) -> bool {
        false
    }

    /// Returns all cells of the row.
    ///
    /// # Errors
    /// [`Unwritable`] naming the column.
    fn cells(&self) -> Result<Vec<Cell>, Unwritable> {
        let columns = Self::TABLE.columns.len() + Self::TABLE.derived.len();
        let mut out = Cells { cells: Vec::with_capacity(columns), unwritable: None };
        self.write(&mut out);
        debug_assert_eq!(out.cells.len(), columns, "{}", Self::TABLE.name);
        let Some((at, reason)) = out.unwritable else { return Ok(out.cells) };
        let column = Self::TABLE.columns.iter().chain(Self::TABLE.derived).nth(at).map_or("", |it| it.name);
        Err(Unwritable { table: Self::TABLE.name, column, reason })
    }
}
