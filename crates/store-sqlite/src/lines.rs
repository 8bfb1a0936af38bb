//! The closure of the reporting lines, kept in step with every change of one.

use std::collections::BTreeSet;

use candor_domain::access::Tenant;
use candor_domain::id::{EmployeeId, Id};
use candor_port_storage::flat::Fetch;
use candor_port_storage::store::LinesAbove;
use candor_port_storage::{CommitError, StorageError, Version};

use crate::refusal::refused;
use crate::sql::{Db, Sql};
use crate::table::AT_ONCE;
use crate::text::Draft;

/// The version of the tenant's tree; it counts up with every change set that moves someone.
const COUNT_UP: &str = "INSERT INTO reporting_trees (tenant_id, version, changes) VALUES (?, 1, 0) \
    ON CONFLICT (tenant_id) DO UPDATE SET version = version + 1 RETURNING version";

/// Counts a change of lines, whether or not somebody moved.
const COUNT: &str = "INSERT INTO reporting_trees (tenant_id, version, changes) VALUES (?, 0, 1) \
    ON CONFLICT (tenant_id) DO UPDATE SET changes = changes + 1";

const MANAGER: &str = "SELECT ancestor_id FROM reporting_lines WHERE tenant_id = ? AND descendant_id = ? AND depth = 1";

const IS_TOP: &str = "SELECT 1 FROM reporting_lines WHERE tenant_id = ? AND ancestor_id = ? LIMIT 1";

/// The person, and whoever is below them, leave everyone above the person.
const LEAVE: &str = "DELETE FROM reporting_lines WHERE tenant_id = ?1 \
    AND ancestor_id IN (SELECT ancestor_id FROM reporting_lines WHERE tenant_id = ?1 AND descendant_id = ?2) \
    AND descendant_id IN (SELECT ?2 UNION ALL \
        SELECT descendant_id FROM reporting_lines WHERE tenant_id = ?1 AND ancestor_id = ?2)";

/// The person joins the manager and everyone above the manager.
const JOIN: &str = "INSERT INTO reporting_lines (tenant_id, ancestor_id, descendant_id, depth) \
    SELECT ?1, ?3, ?2, 1 UNION ALL \
    SELECT ?1, ancestor_id, ?2, depth + 1 FROM reporting_lines WHERE tenant_id = ?1 AND descendant_id = ?3";

/// Whoever is below the person joins everyone who is now above the person.
const FOLLOW: &str = "INSERT INTO reporting_lines (tenant_id, ancestor_id, descendant_id, depth) \
    SELECT ?1, a.ancestor_id, d.descendant_id, a.depth + d.depth \
    FROM reporting_lines a CROSS JOIN reporting_lines d \
    WHERE a.tenant_id = ?1 AND a.descendant_id = ?2 AND d.tenant_id = ?1 AND d.ancestor_id = ?2";

/// Counts the tree's version up and says which one it had.
pub(crate) fn count_up(db: &mut Db, tenant: Tenant) -> Result<Version, StorageError> {
    Ok(Version(db.number(Sql::new(COUNT_UP).bind(tenant))? - 1))
}

/// Gives a new person their line.
pub(crate) fn start(
    db: &mut Db,
    tenant: Tenant,
    person: EmployeeId,
    manager: Option<EmployeeId>,
) -> Result<(), CommitError> {
    let Some(manager) = manager else { return Ok(()) };
    run(db, Sql::new(JOIN).bind(tenant).bind(person).bind(manager))
}

/// Gives several new people their lines, in one statement for many: a statement of many rows costs the more the more
/// was written before it within the savepoint.
pub(crate) fn start_all(db: &mut Db, tenant: Tenant, people: &[(EmployeeId, EmployeeId)]) -> Result<(), CommitError> {
    run(db, Sql::new(COUNT).bind(tenant))?;
    if let [(person, manager)] = people {
        return start(db, tenant, *person, Some(*manager));
    }
    for some in people.chunks(AT_ONCE) {
        let mut draft = Draft::default();
        draft
            .add("WITH RECURSIVE line (descendant_id, ancestor_id, depth) AS (SELECT id, manager_id, 1 FROM employees");
        draft.with(" WHERE tenant_id = ", tenant).any_of(" AND id", some.iter().map(|(person, _)| *person));
        draft.add(
            " UNION ALL SELECT s.descendant_id, e.manager_id, s.depth + 1 FROM line AS s CROSS JOIN employees AS e",
        );
        draft.with(" WHERE e.tenant_id = ", tenant).add(" AND e.id = s.ancestor_id AND e.manager_id IS NOT NULL)");
        draft.add(" INSERT INTO reporting_lines (tenant_id, ancestor_id, descendant_id, depth)");
        draft.with(" SELECT ", tenant).add(", ancestor_id, descendant_id, depth FROM line");
        run(db, draft.finish())?;
    }
    Ok(())
}

/// Moves a person, with everyone below them, under another manager or to the top.
pub(crate) fn change(
    db: &mut Db,
    tenant: Tenant,
    person: EmployeeId,
    manager: Option<EmployeeId>,
) -> Result<(), CommitError> {
    let corrupt = |reason| StorageError::Corrupt { table: "reporting_lines", column: "ancestor_id", reason };
    let before = db.first(Sql::new(MANAGER).bind(tenant).bind(person), |row| row.id().map_err(corrupt))?.flatten();
    if before == manager.map(|it| it.to_bytes()) {
        return Ok(());
    }
    run(db, Sql::new(COUNT).bind(tenant))?;
    if before.is_some() {
        run(db, Sql::new(LEAVE).bind(tenant).bind(person))?;
    }
    start(db, tenant, person, manager)?;
    if manager.is_some() && db.exists(Sql::new(IS_TOP).bind(tenant).bind(person))? {
        run(db, Sql::new(FOLLOW).bind(tenant).bind(person))?;
    }
    Ok(())
}

/// The lines of these people and of everybody above them.
pub(crate) fn above(db: &mut Db, tenant: Tenant, people: Vec<[u8; 16]>) -> Result<LinesAbove, StorageError> {
    // Read first: lines that change between the statements make a move that relies on this version stale.
    let version = "SELECT coalesce((SELECT version FROM reporting_trees WHERE tenant_id = ?), 0)";
    let tree = Version(db.number(Sql::new(version).bind(tenant))?);
    let mut all: BTreeSet<[u8; 16]> = people.iter().copied().collect();
    for some in people.chunks(AT_ONCE) {
        let mut draft = Draft::default();
        // Without DISTINCT, for which all lines of the tenant would be walked in their order.
        draft.with("SELECT ancestor_id FROM reporting_lines WHERE tenant_id = ", tenant);
        draft.any_of(" AND descendant_id", some.iter().copied());
        all.extend(db.rows(draft.finish(), |row| id(row, "ancestor_id"))?);
    }
    let (mut lines, mut rest) = (Vec::new(), all.into_iter().peekable());
    while rest.peek().is_some() {
        let mut draft = Draft::default();
        draft.with("SELECT id, manager_id FROM employees WHERE manager_id IS NOT NULL AND tenant_id = ", tenant);
        draft.any_of(" AND id", rest.by_ref().take(AT_ONCE));
        lines.extend(db.rows(draft.finish(), |row| Ok((id(row, "id")?, id(row, "manager_id")?)))?);
    }
    let lines = lines.into_iter().map(|(person, manager)| (Id::from_bytes(person), Id::from_bytes(manager)));
    Ok(LinesAbove { tree, lines: lines.collect() })
}

fn id(row: &mut dyn Fetch, column: &'static str) -> Result<[u8; 16], StorageError> {
    let corrupt = |reason| StorageError::Corrupt { table: "reporting_lines", column, reason };
    row.id().map_err(corrupt)?.ok_or_else(|| corrupt("null".to_owned()))
}

fn run(db: &mut Db, sql: Sql) -> Result<(), CommitError> {
    db.execute(&sql).map(drop).map_err(|it| refused(&it))
}
