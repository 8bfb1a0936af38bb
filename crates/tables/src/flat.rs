//! Aggregates as flat columns: written and read back in one place for every store.
//!
//! A store brings two things of its own: how a [`Cell`] is bound, and how a value is fetched ([`Fetch`]). Which columns
//! a resource has, in which order, and what makes a stored value corrupt is said once, here and in [`crate::rows`].

use candor_domain::id::{Id, Kind};
use candor_domain::time::{Date, Timestamp};
use serde::Serialize;

use crate::error::{Corrupt, Unwritable};

mod reader;
mod table;

pub use reader::Reader;
pub use table::{BackgroundWorker, Index, MemberTable, Related, Table};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// 16 bytes: `uuid`, `BLOB`.
    Id,
    /// Text.
    Text,
    /// A whole number of 64 bits.
    Int,
    /// A boolean.
    Flag,
    /// Milliseconds: `timestamptz`, `INTEGER`.
    Time,
    /// Days: `date`, `INTEGER`.
    Date,
    /// Many ids in order: `uuid[]`, `BLOB` of 16 bytes each.
    Ids,
    /// Bytes: `bytea`, `BLOB`.
    Bytes,
}

/// A column. Two columns are equal if their names and types are.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name, the same in every store.
    pub name: &'static str,
    /// Type of its values.
    pub kind: Type,
    /// Whether it may be null; known of declared columns only.
    pub is_nullable: bool,
}

impl PartialEq for Column {
    fn eq(&self, other: &Self) -> bool {
        (self.name, self.kind) == (other.name, other.kind)
    }
}

impl Eq for Column {}

impl Column {
    /// A column of a type.
    #[must_use]
    pub const fn new(name: &'static str, kind: Type) -> Self {
        Self { name, kind, is_nullable: false }
    }
}

/// One value on its way into a store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    /// Nothing, in a column of this type.
    Null(Type),
    /// See [`Type::Id`].
    Id([u8; 16]),
    /// See [`Type::Text`].
    Text(String),
    /// See [`Type::Int`].
    Int(i64),
    /// See [`Type::Flag`].
    Flag(bool),
    /// See [`Type::Time`].
    Time(Timestamp),
    /// See [`Type::Date`].
    Date(Date),
    /// See [`Type::Ids`].
    Ids(Vec<[u8; 16]>),
    /// See [`Type::Bytes`].
    Bytes(Vec<u8>),
}

impl Cell {
    /// The type of the column it goes to.
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

/// The cells of a row, in the order of its columns.
#[derive(Debug, Default)]
pub struct Cells {
    cells: Vec<Cell>,
    /// The first cell whose value has no form, by its number, and why.
    unwritable: Option<(usize, String)>,
}

impl Cells {
    /// Adds a cell.
    pub fn put(&mut self, cell: Cell) {
        self.cells.push(cell);
    }
    /// Adds a value as JSON text. One that has no such form makes the whole row [`Unwritable`].
    pub fn json<T: Serialize>(&mut self, it: &T) {
        match serde_json::to_string(it) {
            Ok(text) => self.put(Cell::Text(text)),
            Err(error) => {
                let at = self.cells.len();
                self.unwritable.get_or_insert_with(|| (at, error.to_string()));
                self.put(Cell::Null(Type::Text));
            }
        }
    }
}

/// Fetches the values of one row, from the first column to the last. Each call is the next column; `None` is null.
pub trait Fetch {
    /// The next value, an id.
    ///
    /// # Errors
    /// What is wrong with the stored value; so for all of them.
    fn id(&mut self) -> Result<Option<[u8; 16]>, String>;
    /// The next value, a text.
    ///
    /// # Errors
    /// See [`Fetch::id`].
    fn text(&mut self) -> Result<Option<String>, String>;
    /// The next value, a number.
    ///
    /// # Errors
    /// See [`Fetch::id`].
    fn int(&mut self) -> Result<Option<i64>, String>;
    /// The next value, a boolean.
    ///
    /// # Errors
    /// See [`Fetch::id`].
    fn flag(&mut self) -> Result<Option<bool>, String>;
    /// The next value, an instant.
    ///
    /// # Errors
    /// See [`Fetch::id`].
    fn time(&mut self) -> Result<Option<Timestamp>, String>;
    /// The next value, a day.
    ///
    /// # Errors
    /// See [`Fetch::id`].
    fn date(&mut self) -> Result<Option<Date>, String>;
    /// The next value, ids.
    ///
    /// # Errors
    /// See [`Fetch::id`].
    fn ids(&mut self) -> Result<Option<Vec<[u8; 16]>>, String>;
    /// The next value, bytes.
    ///
    /// # Errors
    /// See [`Fetch::id`].
    fn bytes(&mut self) -> Result<Option<Vec<u8>>, String>;
    /// Bytes of the values that were fetched; 0 where they are not counted.
    fn size(&self) -> usize {
        0
    }
}

/// A value with a table of its own.
pub trait Stored: Sized + Send + Sync + 'static {
    /// What its id names.
    type Kind: Kind;

    /// Its table.
    const TABLE: &'static Table;

    /// Its id.
    fn key(&self) -> Id<Self::Kind>;

    /// Its cells: those of the columns, then those of the derived ones.
    fn write(&self, out: &mut Cells);

    /// Reads the cells of the columns.
    ///
    /// # Errors
    /// [`Corrupt`] naming the column.
    fn read(row: &mut Reader<'_>) -> Result<Self, Corrupt>;

    /// Its tags in the side table.
    fn members(&self) -> Vec<[u8; 16]> {
        vec![]
    }

    /// Whether words find it now; see `candor-search-index`.
    fn is_searched(&self) -> bool {
        false
    }

    /// Its cells.
    ///
    /// # Errors
    /// [`Unwritable`] naming the column.
    fn cells(&self) -> Result<Vec<Cell>, Unwritable> {
        let columns = Self::TABLE.columns.len() + Self::TABLE.derived.len();
        let mut out = Cells { cells: Vec::with_capacity(columns), unwritable: None };
        self.write(&mut out);
        debug_assert_eq!(out.cells.len(), columns, "{}", Self::TABLE.name);
        let Some((at, reason)) = out.unwritable else { return Ok(out.cells) };
        let column = Self::TABLE.columns.iter().chain(Self::TABLE.derived).nth(at).map_or("", |column| column.name);
        Err(Unwritable { table: Self::TABLE.name, column, reason })
    }
}
