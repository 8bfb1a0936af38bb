//! Reads of rows of any table, without the type of the resource.

use std::any::Any;
use std::marker::PhantomData;

use candor_domain::id::Id;
use candor_domain::visibility::Readers;

use crate::error::CorruptRowError;
use crate::flat::{CellReader, Column, Reader, Stored, Table, Type};
use crate::version::{Version, Versioned};

/// A row that was read, with its value type erased. The caller restores the type with [`AnyStored::into_typed`] or
/// [`AnyStored::readers`].
#[derive(Debug)]
pub struct AnyStored {
    /// Id of the row.
    pub id: [u8; 16],
    /// Version of the row; [`Version::FIRST`] in tables without versions.
    pub version: Version,
    /// Stored size of the values in bytes.
    pub bytes: usize,
    value: Box<dyn Any + Send>,
}

impl AnyStored {
    /// Returns the row as a `T` with its version, or `None` if the row was read as another type.
    #[must_use]
    pub fn into_typed<T: Stored>(self) -> Option<Versioned<T>> {
        Some(Versioned { value: *self.value.downcast::<T>().ok()?, version: self.version })
    }

    /// Returns the readers of the row, or `None` if other columns were read.
    #[must_use]
    pub fn readers(self) -> Option<Readers> {
        Some(*self.value.downcast().ok()?)
    }
}

/// A table with the function that reads its rows. Stores read all resources through this type.
#[derive(Debug, Clone, Copy)]
pub struct RowKind {
    table: &'static Table,
    read: fn(&mut dyn CellReader) -> Result<AnyStored, CorruptRowError>,
}

impl RowKind {
    /// Creates the kind for whole rows of a resource.
    #[must_use]
    pub const fn new<T: Stored>() -> Self {
        Self { table: T::TABLE, read: any::<T> }
    }

    /// Creates the kind for the readers of a resource's rows.
    #[must_use]
    pub const fn readers_of<T: StoredReaders>() -> Self {
        Self { table: T::READERS, read: readers::<T> }
    }

    /// Returns the table with the columns to read.
    #[must_use]
    pub const fn table(self) -> &'static Table {
        self.table
    }

    /// Reads a row: the columns of [`Table::read`], then the version if the table has one.
    ///
    /// # Errors
    /// [`CorruptRowError`] naming the column.
    pub fn read(self, row: &mut dyn CellReader) -> Result<AnyStored, CorruptRowError> {
        (self.read)(row)
    }
}

/// A lookup of rows by the values of a column.
#[derive(Debug, Clone, Copy)]
pub struct Lookup {
    /// The table of the rows.
    pub kind: RowKind,
    /// The column.
    pub column: Column,
}

impl Lookup {
    /// Creates the lookup of a resource's whole rows.
    #[must_use]
    pub const fn new<T: Stored>(column: Column) -> Self {
        Self { kind: RowKind::new::<T>(), column }
    }
}

/// A resource whose readers can be read without the rest of the row.
pub trait StoredReaders: Stored {
    /// Declaration of the table with only the id and the columns that determine the readers.
    const READERS: &'static Table;

    /// Reads the id and the readers of a row.
    ///
    /// # Errors
    /// [`CorruptRowError`] naming the column.
    fn read_readers(row: &mut Reader<'_>) -> Result<(Id<Self::Kind>, Readers), CorruptRowError>;
}

fn readers<T: StoredReaders>(row: &mut dyn CellReader) -> Result<AnyStored, CorruptRowError> {
    let mut reader = Reader::new(row, T::READERS);
    let (id, value) = T::read_readers(&mut reader)?;
    Ok(AnyStored { id: id.to_bytes(), version: Version::FIRST, bytes: row.size(), value: Box::new(value) })
}

fn any<T: Stored>(row: &mut dyn CellReader) -> Result<AnyStored, CorruptRowError> {
    let Versioned { value, version } = read_versioned::<T>(row)?;
    Ok(AnyStored { id: value.key().to_bytes(), version, bytes: row.size(), value: Box::new(value) })
}

/// Reads a row like [`RowKind::read`]. Rows of tables without versions get [`Version::FIRST`].
///
/// # Errors
/// [`CorruptRowError`] naming the column.
pub fn read_versioned<T: Stored>(row: &mut dyn CellReader) -> Result<Versioned<T>, CorruptRowError> {
    let mut reader = Reader::new(row, T::TABLE);
    let value = T::read(&mut reader)?;
    let version = if T::TABLE.versioned { Version(reader.int()?) } else { Version::FIRST };
    Ok(Versioned { value, version })
}

/// A column by which rows of a resource are looked up; an index must begin with it. If at most one row has each
/// value, the rows of several values may be read at once. Otherwise a list reads them in pages.
#[derive(Debug)]
pub struct LookupColumn<T> {
    column: Column,
    rows: PhantomData<fn() -> T>,
}

impl<T: Stored> LookupColumn<T> {
    /// Declares a lookup by this column of the resource's table.
    #[must_use]
    pub const fn column(name: &'static str, kind: Type) -> Self {
        Self { column: Column::new(name, kind), rows: PhantomData }
    }

    /// Returns name and type of the column.
    #[must_use]
    pub const fn get(&self) -> Column {
        self.column
    }
}

/// Column of the id, which every table has.
pub const ID: Column = Column::new("id", Type::Id);
