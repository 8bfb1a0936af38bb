//! Reads that are alike for every table: what a store implements once, and the typed forms of that.

use std::any::Any;
use std::future::Future;
use std::marker::PhantomData;

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::id::Id;
use candor_domain::page::Page;
use candor_domain::visibility::Readers;

use crate::flat::{Cell, Column, Fetch, Reader, Stored, Table, Type};
use crate::listing::{Listing, TypedListing};
use crate::store::{Read, StorageError};
use crate::{Version, Versioned};

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

/// A kind of row: its table, and how a row of it is read. A store needs to know no more of a resource.
#[derive(Debug, Clone, Copy)]
pub struct RowKind {
    table: &'static Table,
    read: fn(&mut dyn Fetch) -> Result<Found, StorageError>,
}

impl RowKind {
    /// The rows of an aggregate.
    #[must_use]
    pub const fn of<T: Stored>() -> Self {
        Self { table: T::TABLE, read: any::<T> }
    }

    /// Their table.
    #[must_use]
    pub const fn table(self) -> &'static Table {
        self.table
    }

    /// Reads a row, whose columns are those of [`Table::read`] and then the version, if rows of the table have one.
    ///
    /// # Errors
    /// [`StorageError::Corrupt`] naming the column.
    pub fn read(self, row: &mut dyn Fetch) -> Result<Found, StorageError> {
        (self.read)(row)
    }
}

/// An aggregate whose readers can be read without the rest of the row.
pub trait StoredReaders: Stored {
    /// The same table with nothing but the id and the columns that say who sees a row.
    const READERS: &'static Table;

    /// Reads the columns behind the id.
    ///
    /// # Errors
    /// [`StorageError::Corrupt`] naming the column.
    fn read_readers(row: &mut Reader<'_>) -> Result<Readers, StorageError>;
}

fn readers<T: StoredReaders>(row: &mut dyn Fetch) -> Result<Found, StorageError> {
    let mut reader = Reader::new(row, T::READERS);
    let id: Id<T::Kind> = reader.id()?;
    let value = T::read_readers(&mut reader)?;
    Ok(Found { id: id.to_bytes(), version: Version::FIRST, bytes: row.size(), value: Box::new(value) })
}

fn any<T: Stored>(row: &mut dyn Fetch) -> Result<Found, StorageError> {
    let Versioned { value, version } = versioned::<T>(row)?;
    Ok(Found { id: value.key().to_bytes(), version, bytes: row.size(), value: Box::new(value) })
}

fn typed<T: Stored>(row: Found) -> Read<Versioned<T>> {
    let other = |_| StorageError::Failed(format!("a row of another table was read as one of {}", T::TABLE.name));
    Ok(Versioned { value: *row.value.downcast::<T>().map_err(other)?, version: row.version })
}

/// Reads a row of one kind, as [`RowKind::read`] does. What is never changed has the first version.
///
/// # Errors
/// [`StorageError::Corrupt`] naming the column.
pub fn versioned<T: Stored>(row: &mut dyn Fetch) -> Result<Versioned<T>, StorageError> {
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
}

/// The column of the ids, which every table has.
pub const ID: Column = Column::new("id", Type::Id);

/// The reads that are alike for every table. Whoever asks uses [`StorageExt`].
#[async_trait]
pub trait Rows {
    /// The row that has a value in a column in which no two rows of a tenant have the same.
    async fn any_row(&self, tenant: Tenant, kind: RowKind, by: Column, value: Cell) -> Read<Option<Found>>;
    /// The rows that have one of these values in a column, in any order. There is at least one value, and none is
    /// given twice.
    async fn any_rows(&self, tenant: Tenant, kind: RowKind, by: Column, values: Vec<Cell>) -> Read<Vec<Found>>;
    /// The first rows of what some lists hold together, in their order: as many as their limit, and one more if there is
    /// one. The lists are of one kind of row in one order and have no row in common.
    async fn any_page(&self, tenant: Tenant, lists: &[Listing]) -> Read<Vec<Found>>;
    /// The row that has a value in a column in which no two rows have the same, whoever's it is, with its tenant.
    async fn any_owned(&self, kind: RowKind, by: Column, value: Cell) -> Read<Option<(Tenant, Found)>>;
    /// The rows of any tenant that have a value up to this one in a column, in the order of these values, then of tenants
    /// and ids: at most `most`.
    async fn any_due(&self, kind: RowKind, by: Column, until: Cell, most: u16) -> Read<Vec<(Tenant, Found)>>;
}

/// The same reads for those who know what they ask for.
pub trait StorageExt: Rows + Sync {
    /// The resource with this id.
    fn row<T: Stored>(
        &self,
        tenant: Tenant,
        id: Id<T::Kind>,
    ) -> impl Future<Output = Read<Option<Versioned<T>>>> + Send {
        one(self, tenant, ID, id.into())
    }

    /// The id of the resource that has this value in a column in which no two of a tenant have the same.
    fn id_by<T: Stored>(
        &self,
        tenant: Tenant,
        by: By<T>,
        value: impl Into<Cell>,
    ) -> impl Future<Output = Read<Option<Id<T::Kind>>>> + Send {
        let found = one::<T, _>(self, tenant, by.column, value.into());
        async move { Ok(found.await?.map(|it| it.value.key())) }
    }

    /// Those of the resources with these ids that are there, in any order.
    fn rows<T: Stored>(
        &self,
        tenant: Tenant,
        ids: &[Id<T::Kind>],
    ) -> impl Future<Output = Read<Vec<Versioned<T>>>> + Send {
        among(self, tenant, ID, ids)
    }

    /// The readers of the resources with these ids, in any order. Texts of the rows are not read.
    fn readers<T: StoredReaders>(
        &self,
        tenant: Tenant,
        ids: &[Id<T::Kind>],
    ) -> impl Future<Output = Read<Vec<(Id<T::Kind>, Readers)>>> + Send {
        let values = distinct(ids.iter().copied().map(Cell::from).collect());
        async move {
            if values.is_empty() {
                return Ok(vec![]);
            }
            let kind = RowKind { table: T::READERS, read: readers::<T> };
            let found = self.any_rows(T::TABLE.tenant(tenant), kind, ID, values).await?;
            let other = |_| StorageError::Failed(format!("readers of {} were read as a row", T::TABLE.name));
            found.into_iter().map(|row| Ok((Id::from_bytes(row.id), *row.value.downcast().map_err(other)?))).collect()
        }
    }

    /// The resources with one of these values in a column, in any order.
    fn rows_by<T: Stored, V: Clone + Into<Cell>>(
        &self,
        tenant: Tenant,
        by: By<T>,
        values: &[V],
    ) -> impl Future<Output = Read<Vec<Versioned<T>>>> + Send {
        among(self, tenant, by.column, values)
    }

    /// A page of a list.
    fn page<T: Stored>(&self, tenant: Tenant, list: TypedListing<T>) -> impl Future<Output = Read<Page<T>>> + Send {
        async move {
            let limit = list.limit();
            let rows = first(self, tenant, list).await?;
            Ok(Page::of(rows.into_iter().map(|it| it.value).collect(), limit))
        }
    }

    /// The entries of a page, each with its version.
    fn entries<T: Stored>(
        &self,
        tenant: Tenant,
        list: TypedListing<T>,
    ) -> impl Future<Output = Read<Vec<Versioned<T>>>> + Send {
        async move {
            let limit = list.limit();
            let mut rows = first(self, tenant, list).await?;
            rows.truncate(limit.into());
            Ok(rows)
        }
    }

    /// The first entry of a list.
    fn first<T: Stored>(
        &self,
        tenant: Tenant,
        list: TypedListing<T>,
    ) -> impl Future<Output = Read<Option<Versioned<T>>>> + Send {
        async move { Ok(first(self, tenant, list).await?.into_iter().next()) }
    }

    /// The resource that has this value in a column in which no two have the same, and whose it is.
    fn owned<T: Stored>(
        &self,
        by: By<T>,
        value: impl Into<Cell>,
    ) -> impl Future<Output = Read<Option<(Tenant, Versioned<T>)>>> + Send {
        let found = self.any_owned(RowKind::of::<T>(), by.column, value.into());
        async move { found.await?.map(|(tenant, row)| Ok((tenant, typed(row)?))).transpose() }
    }

    /// The resources of any tenant that are due by this column until then, the longest due first: at most `most`.
    fn due<T: Stored>(
        &self,
        by: By<T>,
        until: impl Into<Cell>,
        most: u16,
    ) -> impl Future<Output = Read<Vec<(Tenant, Versioned<T>)>>> + Send {
        let found = self.any_due(RowKind::of::<T>(), by.column, until.into(), most);
        async move { found.await?.into_iter().map(|(tenant, row)| Ok((tenant, typed(row)?))).collect() }
    }
}

impl<S: Rows + Sync + ?Sized> StorageExt for S {}

async fn one<T: Stored, S: Rows + Sync + ?Sized>(
    store: &S,
    tenant: Tenant,
    by: Column,
    value: Cell,
) -> Read<Option<Versioned<T>>> {
    let found = store.any_row(T::TABLE.tenant(tenant), RowKind::of::<T>(), by, value).await?;
    found.map(typed).transpose()
}

/// Each value once: a store asks for so many at a time, and would answer a row as often as it is asked for.
fn distinct(mut values: Vec<Cell>) -> Vec<Cell> {
    values.sort_unstable();
    values.dedup();
    values
}

fn among<'s, T: Stored, S: Rows + Sync + ?Sized, V: Clone + Into<Cell>>(
    store: &'s S,
    tenant: Tenant,
    by: Column,
    values: &[V],
) -> impl Future<Output = Read<Vec<Versioned<T>>>> + Send + use<'s, T, S, V> {
    let values = distinct(values.iter().cloned().map(Into::into).collect());
    async move {
        if values.is_empty() {
            return Ok(vec![]);
        }
        let found = store.any_rows(T::TABLE.tenant(tenant), RowKind::of::<T>(), by, values).await?;
        found.into_iter().map(typed).collect()
    }
}

async fn first<T: Stored, S: Rows + Sync + ?Sized>(
    store: &S,
    tenant: Tenant,
    list: TypedListing<T>,
) -> Read<Vec<Versioned<T>>> {
    let rows = store.any_page(T::TABLE.tenant(tenant), list.parts()).await?;
    rows.into_iter().map(typed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_asked_for_once() {
        let values = [Cell::Id([2; 16]), Cell::Id([1; 16]), Cell::Id([2; 16])];
        assert_eq!(distinct(values.to_vec()), [Cell::Id([1; 16]), Cell::Id([2; 16])]);
        assert_eq!(distinct(vec![]), []);
    }
}
