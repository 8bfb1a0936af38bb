//! Columns of rows: their lists in statements, and functions that read them.

use candor_domain::access::Tenant;
use candor_port_storage::Versioned;
use candor_tables::flat::{CellReader, MemberTable, Related, Stored, Table};
use candor_tables::read;

use crate::failure::Failure;

/// Returns the list of the columns that [`read_versioned`] reads, with a prefix such as `t.`.
pub(crate) fn columns(table: &Table, prefix: &str) -> String {
    let row = if prefix.is_empty() { format!("{}.", table.name) } else { prefix.to_owned() };
    columns_of(table, prefix, &format!("{row}tenant_id"))
}

/// Returns the list of a row's columns for one tenant. With the tenant's placeholder, a cluster finds related rows
/// on the same node.
pub(crate) fn columns_of(table: &Table, prefix: &str, tenant: &str) -> String {
    let version = table.versioned.then_some("version");
    let plain = |name: &str| format!("{prefix}{name}");
    let row = if prefix.is_empty() { format!("{}.", table.name) } else { prefix.to_owned() };
    let names = table
        .read()
        .map(|column| plain(column.name))
        .chain(table.related.iter().map(|column| related_ids_query(column, &row, tenant)));
    names.chain(version.map(plain)).collect::<Vec<_>>().join(", ")
}

/// Subquery for related ids of a row. Each related row is looked up by its key: `OFFSET 0` keeps the planner from
/// joins, whose cost it cannot estimate, and from an index on `archived`, which may select many rows.
fn related_ids_query(it: &Related, row: &str, tenant: &str) -> String {
    let Related { members: MemberTable { name, .. }, by, ids, column, table, archived, newest, .. } = *it;
    if let Some(column) = column {
        // An empty array skips the lookup, which took a fifth of the time for a page of rows without related ids.
        return format!(
            "CASE WHEN {row}{column} = '{{}}' THEN '{{}}' ELSE ARRAY(SELECT o.id \
             FROM (SELECT id, archived FROM {table} WHERE tenant_id = {tenant} AND id = ANY({row}{column}) OFFSET 0) \
             AS o WHERE o.archived = {archived}) END"
        );
    }
    let newest = newest.map(|most| format!(" ORDER BY l.{ids} DESC LIMIT {most}")).unwrap_or_default();
    format!(
        "ARRAY(SELECT l.{ids} FROM {name} AS l WHERE l.tenant_id = {tenant} AND l.{by} = {row}id \
         AND (SELECT o.archived FROM {table} AS o WHERE o.tenant_id = {tenant} AND o.id = l.{ids} \
         OFFSET 0) = {archived}{newest})"
    )
}

/// Reads the [`columns`] of a resource.
pub(crate) fn read_versioned<T: Stored>(row: &mut dyn CellReader) -> Result<Versioned<T>, Failure> {
    Ok(read::read_versioned(row)?)
}

/// Reads the leading `tenant_id` column of a cross-tenant query.
pub(crate) fn owner(row: &mut dyn CellReader) -> Result<Tenant, Failure> {
    Ok(Tenant::from_bytes(id(row)?))
}

/// Reads an id; fails on null.
pub(crate) fn id(row: &mut dyn CellReader) -> Result<[u8; 16], Failure> {
    row.id().map_err(Failure::Other)?.ok_or_else(|| Failure::Other("an id is null".to_owned()))
}

/// Reads a boolean; null counts as `false`.
pub(crate) fn flag(row: &mut dyn CellReader) -> Result<bool, Failure> {
    row.flag().map(|flag| flag == Some(true)).map_err(Failure::Other)
}

/// Reads a number; null counts as 0.
pub(crate) fn int(row: &mut dyn CellReader) -> Result<i64, Failure> {
    row.int().map(Option::unwrap_or_default).map_err(Failure::Other)
}
