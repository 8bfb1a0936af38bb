//! The reads of any table, and what others have in common.

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_port_storage::StorageError;
use candor_port_storage::Versioned;
use candor_port_storage::error::Read;
use candor_port_storage::read::Rows;
use candor_tables::flat::{Cell, Column, Fetch, MemberTable, Related, Stored, Table};
use candor_tables::listing::Listing;
use candor_tables::read::{self, Found, ID, RowKind};

use crate::PostgresStore;
use crate::failure::Failure;
use crate::layout::SECRETS;
use crate::sql::Sql;

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        Self::Corrupt(error)
    }
}

/// The columns that [`versioned`] reads, each with a prefix such as `t.`.
pub(crate) fn columns(table: &Table, prefix: &str) -> String {
    let row = if prefix.is_empty() { format!("{}.", table.name) } else { prefix.to_owned() };
    columns_of(table, prefix, &format!("{row}tenant_id"))
}

/// The same of the rows of a tenant, who has this placeholder: what is tied to them is on the same node of a cluster.
pub(crate) fn columns_of(table: &Table, prefix: &str, tenant: &str) -> String {
    let version = table.versioned.then_some("version");
    let plain = |name: &str| format!("{prefix}{name}");
    let row = if prefix.is_empty() { format!("{}.", table.name) } else { prefix.to_owned() };
    let names = table.read().map(|it| plain(it.name)).chain(table.related.iter().map(|it| related(it, &row, tenant)));
    names.chain(version.map(plain)).collect::<Vec<_>>().join(", ")
}

/// What is tied to a row, by the row's prefix. Each is looked up by its key: OFFSET 0 keeps the planner from joining, whose
/// cost it cannot know, and from an index that begins with what is archived, which can be much.
fn related(it: &Related, row: &str, tenant: &str) -> String {
    let Related { members: MemberTable { name, .. }, by, ids, column, table, archived, .. } = *it;
    if let Some(column) = column {
        // A row without any is spared the look: for a page of such rows it was a fifth of the statement.
        return format!(
            "CASE WHEN {row}{column} = '{{}}' THEN '{{}}' ELSE ARRAY(SELECT o.id FROM (SELECT id, archived FROM {table} \
             WHERE tenant_id = {tenant} AND id = ANY({row}{column}) OFFSET 0) AS o WHERE o.archived = {archived}) END"
        );
    }
    format!(
        "ARRAY(SELECT l.{ids} FROM {name} AS l WHERE l.tenant_id = {tenant} AND l.{by} = {row}id \
         AND (SELECT o.archived FROM {table} AS o WHERE o.tenant_id = {tenant} AND o.id = l.{ids} OFFSET 0) = {archived})"
    )
}

/// Reads the [`columns`] of a resource.
pub(crate) fn versioned<T: Stored>(row: &mut dyn Fetch) -> Result<Versioned<T>, Failure> {
    Ok(read::versioned(row)?)
}

/// Reads the tenant in front of a row that was found without one.
pub(crate) fn owner(row: &mut dyn Fetch) -> Result<Tenant, Failure> {
    Ok(Tenant::from_bytes(id(row)?))
}

/// Reads an id that must be there.
pub(crate) fn id(row: &mut dyn Fetch) -> Result<[u8; 16], Failure> {
    row.id().map_err(Failure::Other)?.ok_or_else(|| Failure::Other("an id is null".to_owned()))
}

/// Reads a boolean that must be there.
pub(crate) fn flag(row: &mut dyn Fetch) -> Result<bool, Failure> {
    row.flag().map(|it| it == Some(true)).map_err(Failure::Other)
}

/// Reads a number; null counts as nothing.
pub(crate) fn int(row: &mut dyn Fetch) -> Result<i64, Failure> {
    row.int().map(Option::unwrap_or_default).map_err(Failure::Other)
}

/// The server refuses such a text, and no stored one has it.
fn is_nowhere(value: &Cell) -> bool {
    matches!(value, Cell::Text(text) if text.contains('\0'))
}

#[async_trait]
impl Rows for PostgresStore {
    async fn any_row(&self, tenant: Tenant, kind: RowKind, by: Column, value: Cell) -> Read<Option<Found>> {
        if is_nowhere(&value) {
            return Ok(None);
        }
        let mut sql = Sql::default();
        let (tenant, value) = (sql.tenant(tenant), sql.bind(value));
        let (columns, table) = (columns_of(kind.table(), "", &tenant), kind.table().name);
        sql.push(&format!("SELECT {columns} FROM {table} WHERE tenant_id = {tenant} AND {} = {value}", by.name));
        self.find(&sql, |row| Ok(kind.read(row)?)).await
    }

    async fn any_rows(&self, tenant: Tenant, kind: RowKind, by: Column, mut values: Vec<Cell>) -> Read<Vec<Found>> {
        values.retain(|it| !is_nowhere(it));
        let mut sql = Sql::default();
        let (owner, count) = (tenant, values.len());
        let (tenant, values) = (sql.tenant(tenant), sql.many(by.kind, values));
        let (table, read) = (kind.table(), |row: &mut dyn Fetch| Ok(kind.read(row)?));
        if by == ID {
            let (columns, name) = (columns_of(table, "", &tenant), table.name);
            sql.push(&format!("SELECT {columns} FROM {name} WHERE tenant_id = {tenant} AND id = ANY({values})"));
            return self.read_sized(owner, kind, count, sql).await;
        }
        let (columns, name, by) = (columns_of(table, "t.", &tenant), table.name, by.name);
        sql.push(&format!(
            "SELECT {columns} FROM UNNEST({values}) AS u (value) CROSS JOIN LATERAL \
             (SELECT * FROM {name} WHERE tenant_id = {tenant} AND {by} = u.value OFFSET 0) AS t"
        ));
        // There may be thousands of them.
        self.apart(&sql.planned_anew(), read).await
    }

    async fn any_page(&self, tenant: Tenant, lists: &[Listing]) -> Read<Vec<Found>> {
        self.rows_of(tenant, lists).await
    }

    async fn any_owned(&self, kind: RowKind, by: Column, value: Cell) -> Read<Option<(Tenant, Found)>> {
        if is_nowhere(&value) {
            return Ok(None);
        }
        let mut sql = Sql::default();
        let mut of_its_tenant = String::new();
        // Other columns are looked up on every node.
        if self.layout.is_by_tenant() && SECRETS.contains(&by.name) {
            let Some(tenant) = self.tenant_of_secret(value.clone()).await? else { return Ok(None) };
            of_its_tenant = format!("tenant_id = {} AND ", sql.tenant(tenant));
        }
        let value = sql.bind(value);
        let (columns, table) = (columns(kind.table(), ""), kind.table().name);
        sql.push(&format!("SELECT tenant_id, {columns} FROM {table} WHERE {of_its_tenant}{} = {value}", by.name));
        self.find(&sql, |row| Ok((owner(row)?, kind.read(row)?))).await
    }

    async fn any_due(&self, kind: RowKind, by: Column, until: Cell, most: u16) -> Read<Vec<(Tenant, Found)>> {
        let mut sql = Sql::default();
        let (until, most) = (sql.bind(until), sql.bind(Cell::Int(i64::from(most))));
        let (columns, table, by) = (columns(kind.table(), ""), kind.table().name, by.name);
        sql.push(&format!(
            "SELECT tenant_id, {columns} FROM {table} WHERE {by} <= {until} ORDER BY {by}, tenant_id, id LIMIT {most}"
        ));
        self.read(&sql, |row| Ok((owner(row)?, kind.read(row)?))).await
    }
}
