//! Rebuild of the reporting lines after a move of many people.
//!
//! Such a move would write a row for each moved person and each manager above them, while all other writes wait.
//! So the move writes only the row of the person, and marks the tenant's lines as incomplete. The lines are then
//! rebuilt from the people in pieces. Until the rebuild ends, reads follow the managers of the people
//! (`listing/teams.rs`), and the next move waits.

use std::sync::Arc;

use candor_domain::access::Tenant;
use candor_port_storage::StorageError;
use candor_tables::flat::CellReader;
use diesel::result::QueryResult;

use crate::connection::writer::{self, Tasks};
use crate::sql::row::tenant_of;
use crate::sql::{Db, Sql, Value};

/// Number of people whose lines one commit rebuilds: for each, up to 64 lines are written and as many deleted.
const REBUILT_AT_ONCE: i64 = 128;
/// Maximum number of levels that the recursion follows, in case a stored tree has a cycle. It is higher than the
/// limit of depth, because trees from before that limit may be deeper.
const MOST_STEPS: u32 = 10_000;

const REBUILT_UNTIL: &str =
    "SELECT rebuilt_until FROM reporting_trees WHERE tenant_id = ? AND rebuilt_until IS NOT NULL";

const MARK: &str = "INSERT INTO reporting_trees (tenant_id, version, changes, rebuilt_until) \
    VALUES (?, 0, 1, zeroblob(16)) \
    ON CONFLICT (tenant_id) DO UPDATE SET changes = changes + 1, rebuilt_until = excluded.rebuilt_until";

/// Query for the last person of the next piece.
const END_OF_PIECE: &str = "SELECT max(id) FROM \
    (SELECT id FROM employees WHERE tenant_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3)";

const SET_REBUILT_UNTIL: &str = "UPDATE reporting_trees SET rebuilt_until = ?2 WHERE tenant_id = ?1";

/// Returns `true` unless the tenant's lines are being rebuilt.
pub(crate) fn are_complete(db: &mut Db, tenant: Tenant) -> Result<bool, StorageError> {
    Ok(!db.exists(Sql::new(REBUILT_UNTIL).bind(tenant))?)
}

/// Returns the tenants whose lines are incomplete.
pub(crate) fn incomplete_tenants(db: &mut Db) -> Result<Vec<Tenant>, StorageError> {
    let text = "SELECT tenant_id FROM reporting_trees WHERE rebuilt_until IS NOT NULL";
    db.rows(Sql::new(text), |row| tenant_of(row, "reporting_trees"))
}

/// Rebuilds the lines of the next people. Returns `false` if all lines are complete.
pub(crate) fn rebuild_some(db: &mut Db, tenant: Tenant) -> Result<bool, StorageError> {
    let stored_position = db.first(Sql::new(REBUILT_UNTIL).bind(tenant), |row| id(row))?;
    let Some(rebuilt_until) = stored_position else { return Ok(false) };
    let piece = Sql::new(END_OF_PIECE).bind(tenant).bind(rebuilt_until).bind(REBUILT_AT_ONCE);
    let last = db.first(piece, |row| row.id().map_err(StorageError::Failed))?.flatten();
    let new_rebuilt_until = last.map_or(Value::Null, Value::from);
    if let Some(last) = last {
        for text in rebuild_statements() {
            let sql = Sql::new(text).bind(tenant).bind(rebuilt_until).bind(last);
            db.run(&sql)?;
        }
    }
    let position_update = Sql::new(SET_REBUILT_UNTIL).bind(tenant).bind(new_rebuilt_until);
    db.run(&position_update)?;
    Ok(last.is_some())
}

/// Marks all lines of the tenant as incomplete.
pub(crate) fn mark(db: &mut Db, tenant: Tenant) -> QueryResult<()> {
    db.execute(&Sql::new(MARK).bind(tenant)).map(drop)
}

/// Builds the statements that delete the wrong lines of people with ids in a range and add the missing ones. Most
/// people keep their lines, and a row that stays costs no write. Lines are compared as texts: with row values,
/// SQLite would compare each line with each row of the subquery, and a piece took twenty times as long.
fn rebuild_statements() -> [String; 2] {
    let line = format!(
        "WITH RECURSIVE line (descendant_id, ancestor_id, depth) AS (\
         SELECT id, manager_id, 1 FROM employees \
         WHERE tenant_id = ?1 AND id > ?2 AND id <= ?3 AND manager_id IS NOT NULL \
         UNION ALL SELECT s.descendant_id, e.manager_id, s.depth + 1 FROM line AS s CROSS JOIN employees AS e \
         WHERE e.tenant_id = ?1 AND e.id = s.ancestor_id AND e.manager_id IS NOT NULL AND s.depth < {MOST_STEPS})"
    );
    let text = "hex(descendant_id) || hex(ancestor_id) || depth";
    [
        format!(
            "{line} DELETE FROM reporting_lines WHERE tenant_id = ?1 AND descendant_id > ?2 AND descendant_id <= ?3 \
             AND {text} NOT IN (SELECT {text} FROM line)"
        ),
        format!(
            "{line} INSERT INTO reporting_lines (tenant_id, ancestor_id, descendant_id, depth) \
             SELECT ?1, ancestor_id, descendant_id, depth FROM line WHERE true ON CONFLICT DO NOTHING"
        ),
    ]
}

fn id(row: &mut dyn CellReader) -> Result<[u8; 16], StorageError> {
    let corrupt = |reason| StorageError::Corrupt { table: "reporting_trees", column: "rebuilt_until", reason };
    row.id().map_err(corrupt)?.ok_or_else(|| corrupt("null".to_owned()))
}

/// Completes all lines that a process left incomplete, each piece in a transaction of its own.
pub(crate) fn complete_all(db: &mut Db) -> Result<(), StorageError> {
    let run = |db: &mut Db, text| db.run(&Sql::new(text)).map(drop);
    for tenant in incomplete_tenants(db)? {
        let mut has_more = true;
        while has_more {
            run(db, "BEGIN IMMEDIATE")?;
            has_more = rebuild_some(db, tenant)?;
            run(db, "COMMIT")?;
        }
    }
    Ok(())
}

/// Rebuilds the lines of a tenant in pieces, between other writes, until they are complete.
pub(crate) async fn complete(tasks: Arc<Tasks>, tenant: Tenant) -> Result<(), StorageError> {
    while writer::ask_for(&tasks, tenant, true, move |db| rebuild_some(db, tenant)).await? {}
    Ok(())
}
