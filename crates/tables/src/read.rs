//! Reads of rows of any table: kinds of rows, and decoded rows.

use std::any::Any;
use std::marker::PhantomData;

use candor_domain::id::Id;
use candor_domain::visibility::Readers;

use crate::error::Corrupt;
use crate::flat::{Column, Fetch, Reader, Stored, Table, Type};
use crate::version::{Version, Versioned};

/// A decoded row whose type only the caller knows.
#[derive(Debug)]
pub struct Found {
    /// Id of the row.
    pub id: [u8; 16],
    /// Version of the row; [`Version::FIRST`] if rows never change.
    pub version: Version,
    /// Size of the stored values in bytes.
    pub bytes: usize,
    value: Box<dyn Any + Send>,
}

impl Found {
    /// Returns the row as a `T`, or `None` if it has another type.
    #[must_use]
    pub fn typed<T: Stored>(self) -> Option<Versioned<T>> {
        Some(Versioned { value: *self.value.downcast::<T>().ok()?, version: self.version })
    }

    /// Returns the readers of the row, or `None` if it was read as another type.
    #[must_use]
    pub fn readers(self) -> Option<Readers> {
        Some(*self.value.downcast().ok()?)
    }
}

/// A kind of row: its table and decoder. A store needs no other knowledge of a resource.
#[derive(Debug, Clone, Copy)]
pub struct RowKind {
    table: &'static Table,
    read: fn(&mut dyn Fetch) -> Result<Found, Corrupt>,
}

impl RowKind {
    /// Returns the kind of whole rows of a `T`.
    #[must_use]
    pub const fn of<T: Stored>() -> Self {
        Self { table: T::TABLE, read: any::<T> }
    }

    /// Returns the kind that reads only the readers of a `T`.
    #[must_use]
    pub const fn readers_of<T: StoredReaders>() -> Self {
        Self { table: T::READERS, read: readers::<T> }
    }

    /// Returns the table of the rows.
    #[must_use]
    pub const fn table(self) -> &'static Table {
        self.table
    }

    /// Decodes a row with the columns of [`Table::read`], followed by the version if the table has one.
    ///
    /// # Errors
    /// [`Corrupt`] naming the column.
    pub fn read(self, row: &mut dyn Fetch) -> Result<Found, Corrupt> {
        (self.read)(row)
    }
}

/// An aggregate whose readers can be read without the rest of the row.
pub trait StoredReaders: Stored {
    /// The table with only the id and the columns that determine the readers.
    const READERS: &'static Table;

    /// Decodes the columns after the id.
    ///
    /// # Errors
    /// [`Corrupt`] naming the column.
    fn read_readers(row: &mut Reader<'_>) -> Result<Readers, Corrupt>;
}

fn readers<T: StoredReaders>(row: &mut dyn Fetch) -> Result<Found, Corrupt> {
    let mut reader = Reader::new(row, T::READERS);
    let id: Id<T::Kind> = reader.id()?;
    let value = T::read_readers(&mut reader)?;
    Ok(Found { id: id.to_bytes(), version: Version::FIRST, bytes: row.size(), value: Box::new(value) })
}

fn any<T: Stored>(row: &mut dyn Fetch) -> Result<Found, Corrupt> {
    let Versioned { value, version } = versioned::<T>(row)?;
    Ok(Found { id: value.key().to_bytes(), version, bytes: row.size(), value: Box::new(value) })
}

/// Decodes a row like [`RowKind::read`], with its type. Immutable rows have the first version.
///
/// # Errors
/// [`Corrupt`] naming the column.
pub fn versioned<T: Stored>(row: &mut dyn Fetch) -> Result<Versioned<T>, Corrupt> {
    let mut reader = Reader::new(row, T::TABLE);
    let value = T::read(&mut reader)?;
    let version = if T::TABLE.versioned { Version(reader.int()?) } else { Version::FIRST };
    Ok(Versioned { value, version })
}

/// An indexed column to look up rows by.
#[derive(Debug)]
pub struct By<T> {
    column: Column,
    rows: PhantomData<fn() -> T>,
}

impl<T: Stored> By<T> {
    /// Creates a lookup by a column of the aggregate's table.
    #[must_use]
    pub const fn column(name: &'static str, kind: Type) -> Self {
        Self { column: Column::new(name, kind), rows: PhantomData }
    }

    /// Returns the column without the type of its rows.
    #[must_use]
    pub const fn get(&self) -> Column {
        self.column
    }
}

/// The id column of every table.
pub const ID: Column = Column::new("id", Type::Id);
