//! Texts of the statements that read and write a table.

use std::sync::Arc;

use candor_tables::flat::{Column, MemberTable, Related, Table};

/// Statement texts of a table.
pub(crate) struct Statements {
    /// Selected columns, the version last.
    pub(crate) columns: String,
    pub(crate) get: Arc<str>,
    pub(crate) insert: Arc<str>,
    pub(crate) update: Arc<str>,
}

impl Statements {
    pub(crate) fn new(table: &Table) -> Self {
        let name = table.name;
        let version = table.versioned.then_some("version");
        let written_columns: Vec<_> = names(table.columns).chain(names(table.derived)).chain(version).collect();
        let columns = columns(table, "");
        let values = vec!["?"; written_columns.len()].join(", ");
        let changes: Vec<_> = written_columns.iter().skip(1).map(|column| format!("{column} = ?")).collect();
        Self {
            get: format!("SELECT {columns} FROM {name} WHERE tenant_id = ? AND id = ?").into(),
            insert: format!("INSERT INTO {name} (tenant_id, {}) VALUES (?, {values})", written_columns.join(", "))
                .into(),
            update: format!(
                "UPDATE {name} SET {} WHERE tenant_id = ? AND id = ? AND version = ?",
                changes.join(", ")
            )
            .into(),
            columns,
        }
    }

    /// Returns the insert statement. Its values are the tenant and then the cells.
    pub(crate) fn insert(&self) -> Arc<str> {
        Arc::clone(&self.insert)
    }
}

/// Returns the selected columns, the version last, each with a prefix such as `t.`.
pub(crate) fn columns(table: &Table, prefix: &str) -> String {
    let plain = |name: &str| format!("{prefix}{name}");
    let row = if prefix.is_empty() { format!("{}.", table.name) } else { prefix.to_owned() };
    let names = table
        .read()
        .map(|column| plain(column.name))
        .chain(table.related.iter().map(|column| related_ids_expression(column, &row)));
    names.chain(table.versioned.then(|| plain("version"))).collect::<Vec<_>>().join(", ")
}

/// Returns the expression that reads the related ids of a row from a side table.
fn related_ids_expression(it: &Related, row: &str) -> String {
    let Related { members: MemberTable { name, .. }, by, ids, table, archived, newest, .. } = *it;
    let archived_flag = i32::from(archived);
    let newest = newest.map(|most| format!(" ORDER BY l.{ids} DESC LIMIT {most}")).unwrap_or_default();
    format!(
        "coalesce((SELECT unhex(group_concat(hex(id), '')) FROM (SELECT l.{ids} AS id FROM {name} l \
         WHERE l.tenant_id = {row}tenant_id AND l.{by} = {row}id AND EXISTS (SELECT 1 FROM {table} o \
         WHERE o.tenant_id = l.tenant_id AND o.id = l.{ids} AND o.archived = {archived_flag}){newest})), x'')"
    )
}

fn names(columns: &'static [Column]) -> impl Iterator<Item = &'static str> {
    columns.iter().map(|column| column.name)
}
