//! Generic reads of all tables: the store's operations, and typed wrappers.

use std::future::Future;

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::id::Id;
use candor_domain::page::Page;
use candor_domain::visibility::Readers;
use candor_tables::Versioned;
use candor_tables::counts::{CountedGroups, GroupKey};
use candor_tables::flat::{Column, SqlValue, Stored};
use candor_tables::listing::{Listing, TypedListing};
use candor_tables::read::{AnyStored, ID, Lookup, LookupColumn, RowKind, StoredReaders};

use crate::error::{Read, StorageError};

/// Number of ids that [`StorageExt::rows_within`] looks up at a time.
pub const IDS_AT_A_TIME: usize = 100;

/// Number of values that [`StorageExt::rows_by_within`] looks up at a time.
pub const VALUES_AT_A_TIME: usize = 250;

/// Untyped reads of any table. Use them through [`StorageExt`].
#[async_trait]
pub trait Rows {
    /// Returns the row with this value in a column that is unique within a tenant.
    async fn any_row(&self, tenant: Tenant, by: Lookup, value: SqlValue) -> Read<Option<AnyStored>>;
    /// Returns the rows with one of these values in a column, in any order. At most one row has each value. `values`
    /// is not empty and has no duplicates.
    async fn any_rows(&self, tenant: Tenant, by: Lookup, values: Vec<SqlValue>) -> Read<Vec<AnyStored>>;
    /// Returns for each of these values the newest row with the value in a column: the row with the greatest
    /// `created_at` and id. The rows are in any order. `values` is not empty and has no duplicates.
    async fn any_newest(&self, tenant: Tenant, by: Lookup, values: Vec<SqlValue>) -> Read<Vec<AnyStored>>;
    /// Returns the first rows of several lists, merged in their order: up to their limit, plus one more if
    /// there is one. The lists have the same kind of row, the same order and no row in common.
    async fn any_page(&self, tenant: Tenant, lists: &[Listing]) -> Read<Vec<AnyStored>>;
    /// Counts the rows of several lists by group: at most `most` groups, the largest ones. Order and page of the
    /// lists are ignored. The lists have the same kind of row and no row in common. Reads every row, so it is a
    /// slow read (decision A17).
    async fn any_counts(
        &self,
        tenant: Tenant,
        lists: &[Listing],
        keys: &[GroupKey],
        most: usize,
    ) -> Read<CountedGroups>;
    /// Returns the row with this value in a globally unique column, of any tenant, with its tenant.
    async fn any_row_of_any_tenant(&self, by: Lookup, value: SqlValue) -> Read<Option<(Tenant, AnyStored)>>;
    /// Returns at most `most` rows of all tenants with a value up to `until` in a column, ordered by that
    /// value, tenant and id.
    async fn any_due(&self, by: Lookup, until: SqlValue, most: u16) -> Read<Vec<(Tenant, AnyStored)>>;
}

/// Typed reads of any table.
pub trait StorageExt: Rows + Sync {
    /// Returns the resource with this id.
    fn row<T: Stored>(
        &self,
        tenant: Tenant,
        id: Id<T::Kind>,
    ) -> impl Future<Output = Read<Option<Versioned<T>>>> + Send {
        one(self, tenant, ID, id.into())
    }

    /// Returns the resource with this value in a column that is unique within a tenant.
    fn row_by<T: Stored>(
        &self,
        tenant: Tenant,
        by: LookupColumn<T>,
        value: impl Into<SqlValue>,
    ) -> impl Future<Output = Read<Option<Versioned<T>>>> + Send {
        one(self, tenant, by.get(), value.into())
    }

    /// Returns the id of the resource with this value in a column that is unique within a tenant.
    fn id_by<T: Stored>(
        &self,
        tenant: Tenant,
        by: LookupColumn<T>,
        value: impl Into<SqlValue>,
    ) -> impl Future<Output = Read<Option<Id<T::Kind>>>> + Send {
        let stored_row = self.row_by(tenant, by, value);
        async move { Ok(stored_row.await?.map(|row| row.value.key())) }
    }

    /// Returns the resources with these ids that exist, in any order.
    fn rows<T: Stored>(
        &self,
        tenant: Tenant,
        ids: &[Id<T::Kind>],
    ) -> impl Future<Output = Read<Vec<Versioned<T>>>> + Send {
        rows_by_values(self, tenant, ID, ids)
    }

    /// Returns the resources with the first of these ids, in any order, and the number of ids that were looked up.
    /// Looks up [`IDS_AT_A_TIME`] ids at a time, until the rows have a size of `bytes` in total.
    fn rows_within<T: Stored>(
        &self,
        tenant: Tenant,
        ids: &[Id<T::Kind>],
        bytes: usize,
    ) -> impl Future<Output = Read<(Vec<Versioned<T>>, usize)>> + Send {
        let ids = ids.to_vec();
        async move {
            let (mut rows, mut size, mut covered) = (vec![], 0, 0);
            for part in ids.chunks(IDS_AT_A_TIME) {
                let values = distinct(part.iter().copied().map(SqlValue::from).collect());
                let stored_rows = self.any_rows(T::TABLE.tenant(tenant), Lookup::new::<T>(ID), values).await?;
                size += stored_rows.iter().map(|row| row.bytes).sum::<usize>();
                covered += part.len();
                rows.extend(stored_rows.into_iter().map(decode_row).collect::<Read<Vec<_>>>()?);
                if size >= bytes {
                    break;
                }
            }
            Ok((rows, covered))
        }
    }

    /// Returns the readers of the resources with these ids, in any order, without reading the texts of the
    /// rows.
    fn readers<T: StoredReaders>(
        &self,
        tenant: Tenant,
        ids: &[Id<T::Kind>],
    ) -> impl Future<Output = Read<Vec<(Id<T::Kind>, Readers)>>> + Send {
        let values = distinct(ids.iter().copied().map(SqlValue::from).collect());
        async move {
            if values.is_empty() {
                return Ok(vec![]);
            }
            let lookup = Lookup { kind: RowKind::readers_of::<T>(), column: ID };
            let rows = self.any_rows(T::TABLE.tenant(tenant), lookup, values).await?;
            let other = || StorageError::Failed(format!("readers of {} were read as a row", T::TABLE.name));
            rows.into_iter().map(|row| Ok((Id::from_bytes(row.id), row.readers().ok_or_else(other)?))).collect()
        }
    }

    /// Returns the resources with one of these values in a column, in any order.
    ///
    /// # Panics
    /// Panics in a debug build if the column is not unique: a client could create more rows with one value than
    /// may be read at once.
    fn rows_by<T: Stored, V: Clone + Into<SqlValue>>(
        &self,
        tenant: Tenant,
        by: LookupColumn<T>,
        values: &[V],
    ) -> impl Future<Output = Read<Vec<Versioned<T>>>> + Send {
        debug_assert!(T::TABLE.is_unique(&by.get()), "{}.{} is not unique", T::TABLE.name, by.get().name);
        rows_by_values(self, tenant, by.get(), values)
    }

    /// Returns the resources with one of these values in a unique column, in any order; `None` if the rows have
    /// more than `bytes` in total. Looks up [`VALUES_AT_A_TIME`] values at a time, and stops once the size is
    /// exceeded.
    fn rows_by_within<T: Stored, V: Clone + Into<SqlValue>>(
        &self,
        tenant: Tenant,
        by: LookupColumn<T>,
        values: &[V],
        bytes: usize,
    ) -> impl Future<Output = Read<Option<Vec<Versioned<T>>>>> + Send {
        let values = distinct(values.iter().cloned().map(Into::into).collect());
        async move {
            let (mut rows, mut size) = (vec![], 0);
            for part in values.chunks(VALUES_AT_A_TIME) {
                let keyed_rows =
                    self.any_rows(T::TABLE.tenant(tenant), Lookup::new::<T>(by.get()), part.to_vec()).await?;
                size += keyed_rows.iter().map(|row| row.bytes).sum::<usize>();
                if size > bytes {
                    return Ok(None);
                }
                rows.extend(keyed_rows.into_iter().map(decode_row).collect::<Read<Vec<_>>>()?);
            }
            Ok(Some(rows))
        }
    }

    /// Returns for each of these values the newest resource with the value in a column, in any order.
    fn newest_by<T: Stored, V: Clone + Into<SqlValue>>(
        &self,
        tenant: Tenant,
        by: LookupColumn<T>,
        values: &[V],
    ) -> impl Future<Output = Read<Vec<Versioned<T>>>> + Send {
        let values = distinct(values.iter().cloned().map(Into::into).collect());
        async move {
            if values.is_empty() {
                return Ok(vec![]);
            }
            let rows = self.any_newest(T::TABLE.tenant(tenant), Lookup::new::<T>(by.get()), values).await?;
            rows.into_iter().map(decode_row).collect()
        }
    }

    /// Returns a page of a list.
    fn page<T: Stored>(
        &self,
        tenant: Tenant,
        list: TypedListing<T>,
    ) -> impl Future<Output = Read<Page<T>>> + Send {
        async move {
            let limit = list.limit();
            let rows = first(self, tenant, list).await?;
            Ok(Page::from_items(rows.into_iter().map(|row| row.value).collect(), limit))
        }
    }

    /// Returns the entries of a page, each with its version.
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

    /// Counts the entries of a list by group: at most `most` groups, the largest ones.
    fn counts<T: Stored>(
        &self,
        tenant: Tenant,
        list: TypedListing<T>,
        keys: &[GroupKey],
        most: usize,
    ) -> impl Future<Output = Read<CountedGroups>> + Send {
        async move { self.any_counts(T::TABLE.tenant(tenant), list.parts(), keys, most).await }
    }

    /// Returns the first entry of a list.
    fn first<T: Stored>(
        &self,
        tenant: Tenant,
        list: TypedListing<T>,
    ) -> impl Future<Output = Read<Option<Versioned<T>>>> + Send {
        async move { Ok(first(self, tenant, list).await?.into_iter().next()) }
    }

    /// Returns the resource with this value in a globally unique column, and its tenant.
    fn row_in_any_tenant<T: Stored>(
        &self,
        by: LookupColumn<T>,
        value: impl Into<SqlValue>,
    ) -> impl Future<Output = Read<Option<(Tenant, Versioned<T>)>>> + Send {
        let owned_row = self.any_row_of_any_tenant(Lookup::new::<T>(by.get()), value.into());
        async move { owned_row.await?.map(|(tenant, row)| Ok((tenant, decode_row(row)?))).transpose() }
    }

    /// Returns at most `most` resources of all tenants whose value in this column is at most `until`, the lowest
    /// values first.
    fn due<T: Stored>(
        &self,
        by: LookupColumn<T>,
        until: impl Into<SqlValue>,
        most: u16,
    ) -> impl Future<Output = Read<Vec<(Tenant, Versioned<T>)>>> + Send {
        let rows = self.any_due(Lookup::new::<T>(by.get()), until.into(), most);
        async move { rows.await?.into_iter().map(|(tenant, row)| Ok((tenant, decode_row(row)?))).collect() }
    }
}

impl<S: Rows + Sync + ?Sized> StorageExt for S {}

fn decode_row<T: Stored>(row: AnyStored) -> Read<Versioned<T>> {
    let other = || StorageError::Failed(format!("a row of another table was read as one of {}", T::TABLE.name));
    row.into_typed().ok_or_else(other)
}

async fn one<T: Stored, S: Rows + Sync + ?Sized>(
    store: &S,
    tenant: Tenant,
    by: Column,
    value: SqlValue,
) -> Read<Option<Versioned<T>>> {
    let row = store.any_row(T::TABLE.tenant(tenant), Lookup::new::<T>(by), value).await?;
    row.map(decode_row).transpose()
}

/// Removes duplicates: stores limit the values per query, and would return a row once per duplicate.
fn distinct(mut values: Vec<SqlValue>) -> Vec<SqlValue> {
    values.sort_unstable();
    values.dedup();
    values
}

fn rows_by_values<'s, T: Stored, S: Rows + Sync + ?Sized, V: Clone + Into<SqlValue>>(
    store: &'s S,
    tenant: Tenant,
    by: Column,
    values: &[V],
) -> impl Future<Output = Read<Vec<Versioned<T>>>> + Send + use<'s, T, S, V> {
    let values = distinct(values.iter().cloned().map(Into::into).collect());
    async move {
        match values.as_slice() {
            [] => return Ok(vec![]),
            // Stores read single rows of concurrent requests together.
            [id] if by == ID => return Ok(one(store, tenant, by, id.clone()).await?.into_iter().collect()),
            _ => {}
        }
        let rows = store.any_rows(T::TABLE.tenant(tenant), Lookup::new::<T>(by), values).await?;
        rows.into_iter().map(decode_row).collect()
    }
}

async fn first<T: Stored, S: Rows + Sync + ?Sized>(
    store: &S,
    tenant: Tenant,
    list: TypedListing<T>,
) -> Read<Vec<Versioned<T>>> {
    let rows = store.any_page(T::TABLE.tenant(tenant), list.parts()).await?;
    rows.into_iter().map(decode_row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_values_are_queried_once() {
        let values = [SqlValue::Id([2; 16]), SqlValue::Id([1; 16]), SqlValue::Id([2; 16])];
        assert_eq!(distinct(values.to_vec()), [SqlValue::Id([1; 16]), SqlValue::Id([2; 16])]);
        assert_eq!(distinct(vec![]), []);
    }
}
