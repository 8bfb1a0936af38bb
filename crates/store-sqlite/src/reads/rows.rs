//! Reads of any table.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_port_storage::error::Read;
use candor_port_storage::read::Rows;
use candor_tables::counts::{CountedGroups, GROUP_BY, GroupKey};
use candor_tables::flat::SqlValue;
use candor_tables::listing::Listing;
use candor_tables::read::{AnyStored, Lookup};

use crate::listing;
use crate::sql::Db;
use crate::{SqliteStore, table};

#[async_trait]
impl Rows for SqliteStore {
    async fn any_row(&self, tenant: Tenant, by: Lookup, value: SqlValue) -> Read<Option<AnyStored>> {
        self.look_up(tenant, move |db| table::get(db, tenant, by, value)).await
    }

    async fn any_rows(&self, tenant: Tenant, by: Lookup, values: Vec<SqlValue>) -> Read<Vec<AnyStored>> {
        let (count, table) = (values.len(), by.kind.table());
        let read = move |db: &mut Db| table::by_values(db, tenant, by, values);
        let rows = match self.row_sizes.are_large(tenant, table, count) {
            false => self.look_up_all(tenant, count, read).await?,
            true => self.read_large(tenant, read).await?,
        };
        self.row_sizes.note_found(tenant, table, &rows);
        Ok(rows)
    }

    async fn any_newest(&self, tenant: Tenant, by: Lookup, values: Vec<SqlValue>) -> Read<Vec<AnyStored>> {
        let read = move |db: &mut Db| table::newest_by_values(db, tenant, by, values);
        self.read_large(tenant, read).await
    }

    async fn any_page(&self, tenant: Tenant, lists: &[Listing]) -> Read<Vec<AnyStored>> {
        if lists.is_empty() {
            return Ok(vec![]);
        }
        let rows =
            self.list(tenant, lists.to_vec(), move |db, lists| listing::read_merged(db, tenant, lists)).await?;
        if let Some(list) = lists.first() {
            self.row_sizes.note_found(tenant, list.table(), &rows);
        }
        Ok(rows)
    }

    async fn any_counts(
        &self,
        tenant: Tenant,
        lists: &[Listing],
        keys: &[GroupKey],
        most: usize,
    ) -> Read<CountedGroups> {
        let (lists, keys) = (lists.to_vec(), keys.to_vec());
        let conditions = vec![GROUP_BY.to_owned()];
        self.slowly(tenant, conditions, move |db| listing::counts::read(db, tenant, &lists, &keys, most)).await
    }

    async fn any_row_of_any_tenant(&self, by: Lookup, value: SqlValue) -> Read<Option<(Tenant, AnyStored)>> {
        self.look_up(None, move |db| table::row_in_any_tenant(db, by, value)).await
    }

    async fn any_due(&self, by: Lookup, until: SqlValue, most: u16) -> Read<Vec<(Tenant, AnyStored)>> {
        self.read(None, move |db| table::due(db, by, until, most)).await
    }
}
