//! Reading rows of any table: kinds of rows, and the rows that were found.

use std::any::Any;
use std::marker::PhantomData;

use candor_domain::id::Id;
use candor_domain::visibility::Readers;

use crate::error::Corrupt;
use crate::flat::{Column, Fetch, Reader, Stored, Table, Type};
use crate::version::{Version, Versioned};

/// A row that was read, whose type only whoever asked for it knows.
#[derive(Debug)]
pub struct Found {
    /// Its id.
    pub id: [u8; 16],
    /// Its version; the first one where rows never change.
    pub version: Version,
    /// Bytes of its values as they are stored.
    pub bytes: usize,
    value: Box<dyn Any + Send>,
}

impl Found {
    /// Returns the row as a value of its type, or `None` if it was read as another one.
    #[must_use]
    pub fn typed<T: Stored>(self) -> Option<Versioned<T>> {
        Some(Versioned { value: *self.value.downcast::<T>().ok()?, version: self.version })
    }

    /// Returns the readers of the row, or `None` if something else of it was read.
    #[must_use]
    pub fn readers(self) -> Option<Readers> {
        Some(*self.value.downcast().ok()?)
    }
}

/// A kind of row: its table, and how a row of it is read. A store needs to know no more of a resource.
#[derive(Debug, Clone, Copy)]
pub struct RowKind {
    table: &'static Table,
    read: fn(&mut dyn Fetch) -> Result<Found, Corrupt>,
}

impl RowKind {
    /// The rows of an aggregate.
    #[must_use]
    pub const fn of<T: Stored>() -> Self {
        Self { table: T::TABLE, read: any::<T> }
    }

    /// The readers of the rows of an aggregate.
    #[must_use]
    pub const fn readers_of<T: StoredReaders>() -> Self {
        Self { table: T::READERS, read: readers::<T> }
    }

    /// Their table.
    #[must_use]
    pub const fn table(self) -> &'static Table {
        self.table
    }

    /// Reads a row, whose columns are those of [`Table::read`] and then the version, if rows of the table have one.
    ///
    /// # Errors
    /// [`Corrupt`] naming the column.
    pub fn read(self, row: &mut dyn Fetch) -> Result<Found, Corrupt> {
        (self.read)(row)
    }
}

/// An aggregate whose readers can be read without the rest of the row.
pub trait StoredReaders: Stored {
    /// The same table with nothing but the id and the columns that say who sees a row.
    const READERS: &'static Table;

    /// Reads the columns: the id, and who may read the row.
    ///
    /// # Errors
    /// [`Corrupt`] naming the column.
    fn read_readers(row: &mut Reader<'_>) -> Result<(Id<Self::Kind>, Readers), Corrupt>;
}

fn readers<T: StoredReaders>(row: &mut dyn Fetch) -> Result<Found, Corrupt> {
    let mut reader = Reader::new(row, T::READERS);
    let (id, value) = T::read_readers(&mut reader)?;
    Ok(Found { id: id.to_bytes(), version: Version::FIRST, bytes: row.size(), value: Box::new(value) })
}

fn any<T: Stored>(row: &mut dyn Fetch) -> Result<Found, Corrupt> {
    let Versioned { value, version } = versioned::<T>(row)?;
    Ok(Found { id: value.key().to_bytes(), version, bytes: row.size(), value: Box::new(value) })
}

/// Reads a row of one kind, as [`RowKind::read`] does. What is never changed has the first version.
///
/// # Errors
/// [`Corrupt`] naming the column.
pub fn versioned<T: Stored>(row: &mut dyn Fetch) -> Result<Versioned<T>, Corrupt> {
    let mut reader = Reader::new(row, T::TABLE);
    let value = T::read(&mut reader)?;
    let version = if T::TABLE.versioned { Version(reader.int()?) } else { Version::FIRST };
    Ok(Versioned { value, version })
}

/// A column by which rows of an aggregate are looked up; an index leads from its values to them.
#[derive(Debug)]
pub struct By<T> {
    column: Column,
    rows: PhantomData<fn() -> T>,
}

impl<T: Stored> By<T> {
    /// A column of the aggregate's table.
    #[must_use]
    pub const fn column(name: &'static str, kind: Type) -> Self {
        Self { column: Column::new(name, kind), rows: PhantomData }
    }

    /// The column.
    #[must_use]
    pub const fn get(&self) -> Column {
        self.column
    }
}

/// The column of the ids, which every table has.
pub const ID: Column = Column::new("id", Type::Id);
