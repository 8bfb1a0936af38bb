//! Generic access to tables: reads and writes of rows and their side tables.

use std::collections::BTreeSet;
use std::sync::Arc;

use candor_domain::access::Tenant;
use candor_port_storage::error::Read;
use candor_port_storage::{CommitError, StorageError, Version};
use candor_tables::AnyRow;
use candor_tables::flat::{CellReader, MemberTable, Reader, SqlValue, Stored};
use candor_tables::read::{AnyStored, ID, Lookup};

use crate::search;
use crate::sql::refusal::commit_error;
use crate::sql::row::tenant_of;
use crate::sql::{Db, Sql};
use crate::text::Draft;

/// Maximum number of values per lookup statement.
pub(crate) const AT_ONCE: usize = 64;

/// Reads the value of a row.
pub(crate) fn value<T: Stored>(row: &mut dyn CellReader) -> Read<T> {
    Ok(T::read(&mut Reader::new(row, T::TABLE))?)
}

/// Returns the row with a value in a column.
pub(crate) fn get(db: &mut Db, tenant: Tenant, by: Lookup, value: SqlValue) -> Read<Option<AnyStored>> {
    let statements = db.statements(by.kind.table());
    let text = if by.column == ID {
        Arc::clone(&statements.get)
    } else {
        format!(
            "SELECT {} FROM {} WHERE tenant_id = ? AND {} = ?",
            statements.columns,
            by.kind.table().name,
            by.column.name
        )
        .into()
    };
    db.first(Sql::new(text).bind(tenant).bind(value), |row| Ok(by.kind.read(row)?))
}

/// Returns the row with a value in a column, of any tenant.
pub(crate) fn row_in_any_tenant(db: &mut Db, by: Lookup, value: SqlValue) -> Read<Option<(Tenant, AnyStored)>> {
    let (columns, name) = (&db.statements(by.kind.table()).columns, by.kind.table().name);
    let text = format!("SELECT tenant_id, {columns} FROM {name} WHERE {} = ?", by.column.name);
    db.first(Sql::new(text).bind(value), |row| Ok((tenant_of(row, name)?, by.kind.read(row)?)))
}

/// Returns the rows with at most this value in a column, of all tenants.
pub(crate) fn due(db: &mut Db, by: Lookup, until: SqlValue, most: u16) -> Read<Vec<(Tenant, AnyStored)>> {
    let (columns, name) = (&db.statements(by.kind.table()).columns, by.kind.table().name);
    let column_name = by.column.name;
    let text = format!(
        "SELECT tenant_id, {columns} FROM {name} WHERE {column_name} <= ? ORDER BY {column_name}, tenant_id, id LIMIT ?"
    );
    db.rows(Sql::new(text).bind(until).bind(i64::from(most)), |row| {
        Ok((tenant_of(row, name)?, by.kind.read(row)?))
    })
}

/// Reads one row of a table with immutable rows.
pub(crate) fn one<T: Stored>(db: &mut Db, tenant: Tenant, id: [u8; 16]) -> Read<Option<T>> {
    let text = Arc::clone(&db.statements(T::TABLE).get);
    db.first(Sql::new(text).bind(tenant).bind(id), value)
}

/// Returns the rows with one of these values in a column.
pub(crate) fn by_values(db: &mut Db, tenant: Tenant, by: Lookup, values: Vec<SqlValue>) -> Read<Vec<AnyStored>> {
    let (statements, name) = (db.statements(by.kind.table()), by.kind.table().name);
    // Most values match one row each. A vector that grows step by step would hold a long list twice.
    let mut rows = Vec::with_capacity(values.len());
    let mut values = values.into_iter().peekable();
    while values.peek().is_some() {
        let mut draft = Draft::default();
        draft.add("SELECT ").add(&statements.columns).add(" FROM ").add(name);
        draft
            .with(" WHERE tenant_id = ", tenant)
            .add(" AND ")
            .any_of(by.column.name, values.by_ref().take(AT_ONCE));
        rows.extend(db.rows(draft.finish(), |row| Ok(by.kind.read(row)?))?);
    }
    Ok(rows)
}

/// Returns for each of these values the newest row with the value in a column.
pub(crate) fn newest_by_values(
    db: &mut Db,
    tenant: Tenant,
    by: Lookup,
    values: Vec<SqlValue>,
) -> Read<Vec<AnyStored>> {
    let columns = &db.statements(by.kind.table()).columns;
    let text: Arc<str> = format!(
        "SELECT {columns} FROM {} WHERE tenant_id = ? AND {} = ? ORDER BY created_at DESC, id DESC LIMIT 1",
        by.kind.table().name,
        by.column.name
    )
    .into();
    let mut rows = vec![];
    for value in values {
        let sql = Sql::new(Arc::clone(&text)).bind(tenant).bind(value);
        rows.extend(db.first(sql, |row| Ok(by.kind.read(row)?))?);
    }
    Ok(rows)
}

/// Inserts a row, or updates it if it has the version that was seen.
pub(crate) fn write(db: &mut Db, tenant: Tenant, row: &AnyRow) -> Result<(), CommitError> {
    let table = row.table();
    let (statements, tenant) = (db.statements(table), table.tenant(tenant));
    let cells = row.cells().map_err(StorageError::from)?;
    let next = table.versioned.then_some(row.version().0);
    match row.version_read() {
        None => {
            let sql = Sql::new(Arc::clone(&statements.insert)).bind(tenant).bind_all(cells).bind_all(next);
            db.execute(&sql).map_err(|error| commit_error(&error))?;
        }
        Some(seen) => {
            // Skips the first cell, the id, which an update does not change.
            let sql = Sql::new(Arc::clone(&statements.update)).bind_all(cells.iter().skip(1)).bind_all(next);
            let changed_count =
                db.execute(&sql.bind(tenant).bind(row.id()).bind(seen.0)).map_err(|error| commit_error(&error))?;
            if changed_count == 0 {
                return Err(CommitError::Stale);
            }
        }
    }
    search::wait(db, tenant, row)?;
    for (at, side) in table.members.iter().enumerate() {
        let members_before = match row.version_read() {
            None => BTreeSet::new(),
            Some(_) => members(db, tenant, *side, row.id())?,
        };
        let members_after = row.members(at).iter().copied().collect();
        write_members(db, tenant, *side, row.id(), &members_before, &members_after)?;
    }
    Ok(())
}

fn members(db: &mut Db, tenant: Tenant, side: MemberTable, id: [u8; 16]) -> Read<BTreeSet<[u8; 16]>> {
    let MemberTable { name, owner, member } = side;
    let text = format!("SELECT {member} FROM {name} WHERE tenant_id = ? AND {owner} = ?");
    let corrupt = |reason| StorageError::Corrupt { table: name, column: member, reason };
    let member_ids = db.rows(Sql::new(text).bind(tenant).bind(id), |row| row.id().map_err(corrupt))?;
    Ok(member_ids.into_iter().flatten().collect())
}

/// Updates a side table by writing only the differences.
fn write_members(
    db: &mut Db,
    tenant: Tenant,
    side: MemberTable,
    id: [u8; 16],
    stored: &BTreeSet<[u8; 16]>,
    wanted: &BTreeSet<[u8; 16]>,
) -> Result<(), CommitError> {
    let MemberTable { name, owner, member } = side;
    let delete = format!("DELETE FROM {name} WHERE tenant_id = ? AND {member} = ? AND {owner} = ?");
    let insert = format!("INSERT INTO {name} (tenant_id, {member}, {owner}) VALUES (?, ?, ?)");
    let removals = stored.difference(wanted).map(|value| (&delete, value));
    let additions = wanted.difference(stored).map(|value| (&insert, value));
    for (text, tag) in removals.chain(additions) {
        let sql = Sql::new(text.as_str()).bind(tenant).bind(*tag).bind(id);
        db.execute(&sql).map_err(|error| commit_error(&error))?;
    }
    Ok(())
}

/// Returns `true` if the row exists with this version.
pub(crate) fn has_version(db: &mut Db, tenant: Tenant, table: &str, id: [u8; 16], version: Version) -> Read<bool> {
    let text = format!("SELECT 1 FROM {table} WHERE tenant_id = ? AND id = ? AND version = ?");
    db.exists(Sql::new(text).bind(tenant).bind(id).bind(version.0))
}
