//! Rows of change sets grouped by table, so that one part of the statement writes all rows of a table.

use candor_domain::access::Tenant;
use candor_port_storage::change::RowKey;
use candor_tables::AnyRow;
use candor_tables::RowWriteError;
use candor_tables::Version;
use candor_tables::flat::{MemberTable, SqlValue, Table, Type};

use super::STALE;
use crate::layout::Statement;
use crate::layout::rows::{Entry, array_columns, bind_arrays, column_names, written_columns};

/// Adds the deletion of a row. The statement fails with [`STALE`] if the row is missing or does not have the version
/// `seen`.
pub(super) fn remove(statement: &mut Statement, RowKey { table, id }: RowKey, seen: Version) {
    let (id, seen) = (statement.sql.id(id), statement.sql.bind(SqlValue::Int(seen.0)));
    let (tenant, using, name) = (statement.tenant.clone(), statement.using_clause(), table.name);
    let part = statement.part(&format!(
        "DELETE FROM {name} AS t {using} WHERE t.tenant_id = {tenant} AND t.id = {id} \
             AND t.version = {seen} RETURNING 1"
    ));
    statement.check(&format!("(SELECT count(*) FROM {part}) = 1"), STALE);
}

/// Rows to write, grouped by table.
pub(super) struct RowBatches<'c> {
    tenant: Tenant,
    batches: Vec<RowBatch<'c>>,
}

/// Rows of one table.
struct RowBatch<'c> {
    table: &'static Table,
    new: Vec<Entry<'c>>,
    changed: Vec<Entry<'c>>,
}

impl<'c> RowBatches<'c> {
    /// Creates batches without rows.
    pub(super) const fn new(tenant: Tenant) -> Self {
        Self { tenant, batches: vec![] }
    }

    /// Adds a row to the batch of its table.
    pub(super) fn add(&mut self, row: &'c AnyRow) -> Result<(), RowWriteError> {
        let (table, entry) = (row.table(), Entry::new(row)?);
        let index = self.batches.iter().position(|batch| batch.table.name == table.name).unwrap_or_else(|| {
            self.batches.push(RowBatch { table, new: vec![], changed: vec![] });
            self.batches.len() - 1
        });
        let RowBatch { new, changed, .. } = &mut self.batches[index];
        if row.version_read().is_some() {
            changed.push(entry)
        } else {
            new.push(entry)
        }
        Ok(())
    }

    /// Adds the parts that write all rows.
    pub(super) fn write(&self, statement: &mut Statement) {
        for batch in &self.batches {
            let tenant = match batch.table.tenant(self.tenant) {
                own if own == self.tenant => statement.tenant.clone(),
                other => statement.sql.id(other.to_bytes()),
            };
            batch.write(statement, &tenant);
        }
    }
}

impl RowBatch<'_> {
    fn write(&self, statement: &mut Statement, tenant: &str) {
        // Parts of one statement may refer to rows that another part inserts. A separate statement must follow the
        // insert.
        let is_late = |row: &&Entry<'_>| statement.layout.runs_parts_in_order() && row.refers_to(&self.new);
        let (late, early): (Vec<_>, Vec<_>) = self.changed.iter().partition(is_late);
        update(statement, self.table, tenant, &early);
        insert(statement, self.table, tenant, &self.new);
        update(statement, self.table, tenant, &late);
        self.queue_for_index(statement);
        for (at, side) in self.table.members.iter().enumerate() {
            let [changed, new] = [&self.changed, &self.new].map(|rows| member_pairs(rows, at));
            remove_members(statement, side, tenant, &self.changed, &changed);
            add_members(statement, side, tenant, changed, "ON CONFLICT DO NOTHING");
            // No `ON CONFLICT`: a new row has no stored members yet.
            add_members(statement, side, tenant, new, "");
        }
        let layout = statement.layout;
        layout.name_secrets(
            statement,
            self.table,
            tenant,
            &self.changed.iter().chain(&self.new).collect::<Vec<_>>(),
        );
    }

    /// Queues the searchable rows for the full-text index.
    fn queue_for_index(&self, statement: &mut Statement) {
        let searched_rows: Vec<_> =
            self.changed.iter().chain(&self.new).filter(|entry| entry.row.is_searched()).collect();
        if searched_rows.is_empty() {
            return;
        }
        let (tenant, table) =
            (statement.tenant.clone(), statement.sql.bind(SqlValue::Text(self.table.name.to_owned())));
        let into = "INSERT INTO search_pending (tenant_id, table_name, id, version)";
        // Only a changed row can be in the queue already.
        let conflict_clause = match self.changed.as_slice() {
            [] => "",
            _ => "ON CONFLICT (tenant_id, table_name, id) DO UPDATE SET version = excluded.version",
        };
        if searched_rows.len() <= statement.layout.most_values() {
            let row = |entry: &&Entry<'_>| {
                let version = SqlValue::Int(entry.row.version().0);
                let (id, version) = (statement.sql.id(entry.row.id()), statement.sql.bind(version));
                format!("{tenant}, {table}, {id}, {version}")
            };
            let rows: Vec<_> = searched_rows.iter().map(row).collect();
            let rows = statement.rows(&rows);
            statement.part(&format!("{into} {rows} {conflict_clause}"));
            return;
        }
        let ids = statement.sql.ids(searched_rows.iter().map(|entry| entry.row.id()));
        let versions =
            statement.sql.many(Type::Int, searched_rows.iter().map(|entry| SqlValue::Int(entry.row.version().0)));
        let from = statement.source_clause(&format!("UNNEST({ids}, {versions}) AS u (id, version)"));
        statement.part(&format!("{into} SELECT {tenant}, {table}, u.id, u.version {from} {conflict_clause}"));
    }
}

/// Returns the table and columns of an insert, and the initial value of the version column if the table has one.
fn insert_target(table: &Table) -> (String, &'static str) {
    let (version, first) = if table.versioned { (", version", ", 1") } else { ("", "") };
    (format!("{} (tenant_id, {}{version})", table.name, column_names(table)), first)
}

fn insert(statement: &mut Statement, table: &Table, tenant: &str, rows: &[Entry<'_>]) {
    if rows.is_empty() {
        return;
    }
    let (target, first) = insert_target(table);
    if rows.len() <= statement.layout.most_values() {
        let row = |entry: &Entry<'_>| format!("{tenant}, {}{first}", entry.bind_cells(statement));
        let rows: Vec<_> = rows.iter().map(row).collect();
        let rows = statement.rows(&rows);
        statement.part(&format!("INSERT INTO {target} {rows}"));
        return;
    }
    let all: Vec<_> = rows.iter().collect();
    let (source, values) = (bind_arrays(statement, table, &all), array_columns(table).join(", "));
    let from = statement.source_clause(&source);
    statement.part(&format!("INSERT INTO {target} SELECT {tenant}, {values}{first} {from}"));
}

fn update(statement: &mut Statement, table: &Table, tenant: &str, rows: &[&Entry<'_>]) {
    match rows {
        [] => {}
        [one] => update_one(statement, table, tenant, one),
        many => update_many(statement, table, tenant, many),
    }
}

fn update_one(statement: &mut Statement, table: &Table, tenant: &str, row: &Entry<'_>) {
    let values = row.cells.iter().zip(written_columns(table)).skip(1);
    let sets: Vec<_> =
        values.map(|(cell, column)| format!("{} = {}", column.name, statement.sql.bind(cell.clone()))).collect();
    let (id, seen, from) =
        (statement.sql.bind(row.id()), statement.sql.bind(row.version_cell()), statement.source_clause(""));
    let part = statement.part(&format!(
        "UPDATE {} AS t SET {}, version = t.version + 1 {from} \
             WHERE t.tenant_id = {tenant} AND t.id = {id} AND t.version = {seen} RETURNING 1",
        table.name,
        sets.join(", ")
    ));
    statement.check(&format!("(SELECT count(*) FROM {part}) = 1"), STALE);
}

fn update_many(statement: &mut Statement, table: &Table, tenant: &str, rows: &[&Entry<'_>]) {
    let source = bind_arrays(statement, table, rows);
    let columns = written_columns(table).zip(array_columns(table)).skip(1);
    let sets: Vec<_> = columns.map(|(column, value)| format!("{} = {value}", column.name)).collect();
    let from = statement.source_clause(&source);
    let part = statement.part(&format!(
        "UPDATE {} AS t SET {}, version = t.version + 1 {from} \
             WHERE t.tenant_id = {tenant} AND t.id = u.id AND t.version = u.seen RETURNING 1",
        table.name,
        sets.join(", ")
    ));
    // A bind instead of a literal: each literal count would be a new prepared statement.
    let count = statement.sql.bind(SqlValue::Int(i64::try_from(rows.len()).unwrap_or(i64::MAX)));
    statement.check(&format!("(SELECT count(*) FROM {part}) = {count}"), STALE);
}

/// Ids of owners and of their members, such as tags, for a side table, as parallel arrays.
type MemberPairs = (Vec<[u8; 16]>, Vec<[u8; 16]>);

fn member_pairs(rows: &[Entry<'_>], side: usize) -> MemberPairs {
    let pairs =
        rows.iter().flat_map(|entry| entry.row.members(side).iter().map(move |member| (entry.row.id(), *member)));
    pairs.unzip()
}

fn remove_members(
    statement: &mut Statement,
    members: &MemberTable,
    tenant: &str,
    changed: &[Entry<'_>],
    (owners, tags): &MemberPairs,
) {
    if changed.is_empty() {
        return;
    }
    let rows = statement.sql.ids(changed.iter().map(|entry| entry.row.id()));
    let (owners, tags) = (statement.sql.ids(owners.iter().copied()), statement.sql.ids(tags.iter().copied()));
    let (MemberTable { name, owner, member }, using) = (members, statement.using_clause());
    statement.part(&format!(
        "DELETE FROM {name} AS m {using} WHERE m.tenant_id = {tenant} AND m.{owner} = ANY({rows}) \
             AND NOT EXISTS \
             (SELECT 1 FROM UNNEST({owners}, {tags}) AS u (owner, tag) \
             WHERE u.owner = m.{owner} AND u.tag = m.{member})"
    ));
}

fn add_members(
    statement: &mut Statement,
    members: &MemberTable,
    tenant: &str,
    (owners, tags): MemberPairs,
    conflict: &str,
) {
    if tags.is_empty() {
        return;
    }
    let rows = if tags.len() <= statement.layout.most_member_values() {
        let pairs = owners.into_iter().zip(tags).map(|(owner, tag)| {
            let (owner, tag) = (statement.sql.id(owner), statement.sql.id(tag));
            format!("{tenant}, {owner}, {tag}")
        });
        let pairs: Vec<_> = pairs.collect();
        statement.rows(&pairs)
    } else {
        let (owners, tags) = (statement.sql.ids(owners), statement.sql.ids(tags));
        let from = statement.source_clause(&format!("UNNEST({owners}, {tags}) AS u (owner, tag)"));
        format!("SELECT {tenant}, u.owner, u.tag {from}")
    };
    let MemberTable { name, owner, member } = members;
    statement.part(&format!("INSERT INTO {name} (tenant_id, {owner}, {member}) {rows} {conflict}"));
}
