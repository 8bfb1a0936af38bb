//! Reads of rows of any table.

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_port_storage::error::Read;
use candor_port_storage::read::Rows;
use candor_tables::counts::{CountedGroups, GroupKey};
use candor_tables::flat::{CellReader, SqlValue};
use candor_tables::listing::Listing;
use candor_tables::read::{AnyStored, ID, Lookup};

use crate::sql::Sql;
use crate::sql::row::{columns, columns_of, owner};
use crate::store::PostgresStore;

/// Returns `true` for a text with NUL: PostgreSQL rejects it, and no stored text contains one.
fn is_nowhere(value: &SqlValue) -> bool {
    matches!(value, SqlValue::Text(text) if text.contains('\0'))
}

#[async_trait]
impl Rows for PostgresStore {
    async fn any_row(&self, tenant: Tenant, by: Lookup, value: SqlValue) -> Read<Option<AnyStored>> {
        if is_nowhere(&value) {
            return Ok(None);
        }
        let mut sql = Sql::default();
        let (tenant, value) = (sql.tenant(tenant), sql.bind(value));
        let (columns, table) = (columns_of(by.kind.table(), "", &tenant), by.kind.table().name);
        sql.push(&format!(
            "SELECT {columns} FROM {table} WHERE tenant_id = {tenant} AND {} = {value}",
            by.column.name
        ));
        self.find(&sql, |row| Ok(by.kind.read(row)?)).await
    }

    async fn any_rows(&self, tenant: Tenant, by: Lookup, mut values: Vec<SqlValue>) -> Read<Vec<AnyStored>> {
        values.retain(|value| !is_nowhere(value));
        let mut sql = Sql::default();
        let (owner, count) = (tenant, values.len());
        let (tenant, values) = (sql.tenant(tenant), sql.many(by.column.kind, values));
        let (table, read) = (by.kind.table(), |row: &mut dyn CellReader| Ok(by.kind.read(row)?));
        if by.column == ID {
            let (columns, name) = (columns_of(table, "", &tenant), table.name);
            sql.push(&format!("SELECT {columns} FROM {name} WHERE tenant_id = {tenant} AND id = ANY({values})"));
            return self.read_sized(owner, by.kind, count, sql).await;
        }
        let (columns, name, column) = (columns_of(table, "t.", &tenant), table.name, by.column.name);
        sql.push(&format!(
            "SELECT {columns} FROM UNNEST({values}) AS u (value) CROSS JOIN LATERAL \
             (SELECT * FROM {name} WHERE tenant_id = {tenant} AND {column} = u.value OFFSET 0) AS t"
        ));
        // Planned at each use with its values, because there may be thousands of them.
        self.run_exclusive(&sql.planned_anew(), read).await
    }

    async fn any_newest(&self, tenant: Tenant, by: Lookup, values: Vec<SqlValue>) -> Read<Vec<AnyStored>> {
        let mut sql = Sql::default();
        let (tenant, values) = (sql.tenant(tenant), sql.many(by.column.kind, values));
        let (table, column) = (by.kind.table(), by.column.name);
        let (columns, name) = (columns_of(table, "t.", &tenant), table.name);
        sql.push(&format!(
            "SELECT {columns} FROM UNNEST({values}) AS u (value) CROSS JOIN LATERAL \
             (SELECT * FROM {name} WHERE tenant_id = {tenant} AND {column} = u.value \
             ORDER BY created_at DESC, id DESC LIMIT 1) AS t"
        ));
        self.run_exclusive(&sql.planned_anew(), |row| Ok(by.kind.read(row)?)).await
    }

    async fn any_page(&self, tenant: Tenant, lists: &[Listing]) -> Read<Vec<AnyStored>> {
        self.rows_of(tenant, lists).await
    }

    async fn any_counts(
        &self,
        tenant: Tenant,
        lists: &[Listing],
        keys: &[GroupKey],
        most: usize,
    ) -> Read<CountedGroups> {
        self.counts_of(tenant, lists, keys, most).await
    }

    async fn any_row_of_any_tenant(&self, by: Lookup, value: SqlValue) -> Read<Option<(Tenant, AnyStored)>> {
        if is_nowhere(&value) {
            return Ok(None);
        }
        let mut sql = Sql::default();
        let mut of_its_tenant = String::new();
        // Columns without a hash of a secret are looked up on every node.
        if let Some(lookup) = self.layout.tenant_of_secret(by.column.name, value.clone()) {
            let Some(tenant) = self.find(&lookup, owner).await? else { return Ok(None) };
            of_its_tenant = format!("tenant_id = {} AND ", sql.tenant(tenant));
        }
        let value = sql.bind(value);
        let (columns, table) = (columns(by.kind.table(), ""), by.kind.table().name);
        sql.push(&format!(
            "SELECT tenant_id, {columns} FROM {table} WHERE {of_its_tenant}{} = {value}",
            by.column.name
        ));
        self.find(&sql, |row| Ok((owner(row)?, by.kind.read(row)?))).await
    }

    async fn any_due(&self, by: Lookup, until: SqlValue, most: u16) -> Read<Vec<(Tenant, AnyStored)>> {
        let mut sql = Sql::default();
        let (until, most) = (sql.bind(until), sql.bind(SqlValue::Int(i64::from(most))));
        let (columns, table, column) = (columns(by.kind.table(), ""), by.kind.table().name, by.column.name);
        sql.push(&format!(
            "SELECT tenant_id, {columns} FROM {table} WHERE {column} <= {until} ORDER BY {column}, tenant_id, id \
             LIMIT {most}"
        ));
        self.read(&sql, |row| Ok((owner(row)?, by.kind.read(row)?))).await
    }
}
