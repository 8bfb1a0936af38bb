//! The columns of rows: their names in a statement, and reading them.

use candor_domain::access::Tenant;
use candor_port_storage::Versioned;
use candor_tables::flat::{Fetch, MemberTable, Related, Stored, Table};
use candor_tables::read;

use crate::failure::Failure;

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
