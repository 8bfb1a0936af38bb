//! Every table alike: one row, many rows, a new row, a changed row, and the side tables.

use std::collections::BTreeSet;
use std::sync::Arc;

use candor_domain::access::Tenant;
use candor_domain::id::Kind;
use candor_port_storage::flat::{Column, Fetch, MemberTable, Reader, Stored, Table};
use candor_port_storage::{CommitError, Row, StorageError, Version, Versioned, Wanted};

use crate::refusal::refused;
use crate::sql::{Db, Sql, Value};
use crate::text::Draft;

/// Values that are looked up by one statement; more take several.
pub(crate) const AT_ONCE: usize = 64;

/// The texts that a table's columns make.
pub(crate) struct Statements {
    /// The columns that are read, the version last.
    pub(crate) columns: String,
    get: Arc<str>,
    insert: Arc<str>,
    update: Arc<str>,
}

impl Statements {
    pub(crate) fn of(table: &Table) -> Self {
        let name = table.name;
        let version = table.versioned.then_some("version");
        let columns: Vec<_> = table.read().map(|it| it.name).chain(version).collect();
        let written: Vec<_> = names(table.columns).chain(names(table.derived)).chain(version).collect();
        let columns = columns.join(", ");
        let values = vec!["?"; written.len()].join(", ");
        let changes: Vec<_> = written.iter().skip(1).map(|it| format!("{it} = ?")).collect();
        Self {
            get: format!("SELECT {columns} FROM {name} WHERE tenant_id = ? AND id = ?").into(),
            insert: format!("INSERT INTO {name} (tenant_id, {}) VALUES (?, {values})", written.join(", ")).into(),
            update: format!("UPDATE {name} SET {} WHERE tenant_id = ? AND id = ? AND version = ?", changes.join(", "))
                .into(),
            columns,
        }
    }

    /// What adds a row: the tenant, then the cells.
    pub(crate) fn insert(&self) -> Arc<str> {
        Arc::clone(&self.insert)
    }
}

fn names(columns: &'static [Column]) -> impl Iterator<Item = &'static str> {
    columns.iter().map(|it| it.name)
}

/// Reads a row's value.
pub(crate) fn value<T: Stored>(row: &mut dyn Fetch) -> Result<T, StorageError> {
    T::read(&mut Reader::new(row, T::TABLE))
}

/// Reads a row's value and its version behind it.
pub(crate) fn versioned<T: Stored>(row: &mut dyn Fetch) -> Result<Versioned<T>, StorageError> {
    let mut reader = Reader::new(row, T::TABLE);
    let value = T::read(&mut reader)?;
    Ok(Versioned { value, version: Version(reader.int()?) })
}

/// One row.
pub(crate) fn get<T: Stored>(db: &mut Db, tenant: Tenant, id: [u8; 16]) -> Result<Option<Versioned<T>>, StorageError> {
    let text = Arc::clone(&db.statements(T::TABLE).get);
    db.first(Sql::new(text).bind(tenant).bind(id), versioned)
}

/// One row of a table whose rows do not change.
pub(crate) fn one<T: Stored>(db: &mut Db, tenant: Tenant, id: [u8; 16]) -> Result<Option<T>, StorageError> {
    let text = Arc::clone(&db.statements(T::TABLE).get);
    db.first(Sql::new(text).bind(tenant).bind(id), value)
}

/// The one row that a condition behind the tenant names.
pub(crate) fn find<T: Stored>(
    db: &mut Db,
    tenant: Tenant,
    condition: &str,
    value: impl Into<Value>,
) -> Result<Option<Versioned<T>>, StorageError> {
    let columns = &db.statements(T::TABLE).columns;
    let text = format!("SELECT {columns} FROM {} WHERE tenant_id = ? AND {condition}", T::TABLE.name);
    db.first(Sql::new(text).bind(tenant).bind(value), versioned)
}

/// The id of the row in which a column has a value.
pub(crate) fn id_by(
    db: &mut Db,
    tenant: Tenant,
    table: &'static str,
    column: &'static str,
    value: &str,
) -> Result<Option<[u8; 16]>, StorageError> {
    let text = format!("SELECT id FROM {table} WHERE tenant_id = ? AND {column} = ?");
    let corrupt = |reason| StorageError::Corrupt { table, column: "id", reason };
    Ok(db.first(Sql::new(text).bind(tenant).bind(value), |row| row.id().map_err(corrupt))?.flatten())
}

/// Those of the rows that are there.
pub(crate) fn by_ids<T: Stored>(
    db: &mut Db,
    tenant: Tenant,
    ids: &[[u8; 16]],
) -> Result<Vec<Versioned<T>>, StorageError> {
    by_values(db, tenant, " AND id", ids.iter().copied())
}

/// Those of the rows that are there in another version than is known.
pub(crate) fn wanted<T: Stored, K: Kind>(
    db: &mut Db,
    tenant: Tenant,
    wanted: &[Wanted<K>],
) -> Result<Vec<Versioned<T>>, StorageError> {
    let statements = db.statements(T::TABLE);
    let mut found = vec![];
    for wanted in wanted.chunks(AT_ONCE) {
        let mut draft = Draft::default();
        draft.rows("WITH wanted (wanted_id, known) AS (VALUES ", wanted.iter().map(Wanted::parts));
        draft.add(") SELECT ").add(&statements.columns).add(" FROM wanted CROSS JOIN ").add(T::TABLE.name);
        draft.with(" WHERE tenant_id = ", tenant).add(" AND id = wanted_id AND version <> known");
        found.extend(db.rows(draft.finish(), versioned)?);
    }
    Ok(found)
}

/// The rows with one of these values in a column; the condition leads to the column.
pub(crate) fn by_values<T: Stored, V: Into<Value> + Ord>(
    db: &mut Db,
    tenant: Tenant,
    condition: &str,
    values: impl IntoIterator<Item = V>,
) -> Result<Vec<Versioned<T>>, StorageError> {
    let statements = db.statements(T::TABLE);
    let mut wanted = values.into_iter().collect::<BTreeSet<_>>().into_iter().peekable();
    // Most values are of one row each; growing bit by bit, a long list would be in memory twice.
    let mut found = Vec::with_capacity(wanted.len());
    while wanted.peek().is_some() {
        let mut draft = Draft::default();
        draft.add("SELECT ").add(&statements.columns).add(" FROM ").add(T::TABLE.name);
        draft.with(" WHERE tenant_id = ", tenant).any_of(condition, wanted.by_ref().take(AT_ONCE));
        found.extend(db.rows(draft.finish(), versioned)?);
    }
    Ok(found)
}

/// Adds a row of a table whose rows do not change.
pub(crate) fn append<T: Stored>(db: &mut Db, tenant: Tenant, it: &T) -> Result<(), CommitError> {
    let text = Arc::clone(&db.statements(T::TABLE).insert);
    let sql = Sql::new(text).bind(tenant).bind_all(it.cells());
    db.execute(&sql).map(drop).map_err(|it| refused(&it))
}

/// Writes a row, if it has the version that was seen.
pub(crate) fn write<T: Stored>(db: &mut Db, tenant: Tenant, row: &Row<T>) -> Result<(), CommitError> {
    let statements = db.statements(T::TABLE);
    let mut cells = row.value.cells().into_iter().map(Value::from);
    let id = cells.next().unwrap_or(Value::Null);
    let next = row.version().0;
    let stored = match row.seen {
        None => {
            let sql = Sql::new(Arc::clone(&statements.insert)).bind(tenant).bind(id.clone()).bind_all(cells).bind(next);
            db.execute(&sql).map_err(|it| refused(&it))?;
            BTreeSet::new()
        }
        Some(seen) => {
            let sql = Sql::new(Arc::clone(&statements.update)).bind_all(cells).bind(next);
            let changed = db.execute(&sql.bind(tenant).bind(id.clone()).bind(seen.0)).map_err(|it| refused(&it))?;
            if changed == 0 {
                return Err(CommitError::Stale);
            }
            T::TABLE.members.map(|side| members(db, tenant, side, id.clone())).transpose()?.unwrap_or_default()
        }
    };
    let Some(side) = T::TABLE.members else { return Ok(()) };
    let wanted = row.value.members().into_iter().collect();
    write_members(db, tenant, side, &id, &stored, &wanted)
}

fn members(db: &mut Db, tenant: Tenant, side: MemberTable, id: Value) -> Result<BTreeSet<[u8; 16]>, StorageError> {
    let MemberTable { name, owner, member } = side;
    let text = format!("SELECT {member} FROM {name} WHERE tenant_id = ? AND {owner} = ?");
    let corrupt = |reason| StorageError::Corrupt { table: name, column: member, reason };
    let stored = db.rows(Sql::new(text).bind(tenant).bind(id), |row| row.id().map_err(corrupt))?;
    Ok(stored.into_iter().flatten().collect())
}

/// Brings a side table up to date: only the differences are written.
fn write_members(
    db: &mut Db,
    tenant: Tenant,
    side: MemberTable,
    id: &Value,
    stored: &BTreeSet<[u8; 16]>,
    wanted: &BTreeSet<[u8; 16]>,
) -> Result<(), CommitError> {
    let MemberTable { name, owner, member } = side;
    let delete = format!("DELETE FROM {name} WHERE tenant_id = ? AND {member} = ? AND {owner} = ?");
    let insert = format!("INSERT INTO {name} (tenant_id, {member}, {owner}) VALUES (?, ?, ?)");
    let gone = stored.difference(wanted).map(|it| (&delete, it));
    let added = wanted.difference(stored).map(|it| (&insert, it));
    for (text, tag) in gone.chain(added) {
        let sql = Sql::new(text.as_str()).bind(tenant).bind(*tag).bind(id.clone());
        db.execute(&sql).map_err(|it| refused(&it))?;
    }
    Ok(())
}

/// Whether the row is there with this version.
pub(crate) fn has_version(
    db: &mut Db,
    tenant: Tenant,
    table: &str,
    id: [u8; 16],
    version: Version,
) -> Result<bool, StorageError> {
    let text = format!("SELECT 1 FROM {table} WHERE tenant_id = ? AND id = ? AND version = ?");
    db.exists(Sql::new(text).bind(tenant).bind(id).bind(version.0))
}
