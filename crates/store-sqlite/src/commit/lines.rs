//! Maintenance of the closure table of the reporting lines.

use std::collections::BTreeSet;

use candor_domain::access::Tenant;
use candor_domain::id::{EmployeeId, Id};
use candor_domain::people::MAX_REPORTING_DEPTH;
use candor_port_storage::error::Read;
use candor_port_storage::store::Ancestors;
use candor_port_storage::{CommitError, StorageError, Version};
use candor_tables::flat::CellReader;

use super::rebuild::{self, are_complete};
use crate::sql::refusal::commit_error;
use crate::sql::{Db, Sql, Value};
use crate::table::AT_ONCE;

/// Increments the version of the tenant's tree, once per change set that moves a person.
const COUNT_UP: &str = "INSERT INTO reporting_trees (tenant_id, version, changes) VALUES (?, 1, 0) \
    ON CONFLICT (tenant_id) DO UPDATE SET version = version + 1 RETURNING version";

/// Counts a change of reporting lines, with or without a move.
const COUNT: &str = "INSERT INTO reporting_trees (tenant_id, version, changes) VALUES (?, 0, 1) \
    ON CONFLICT (tenant_id) DO UPDATE SET changes = changes + 1";

const MANAGER: &str =
    "SELECT ancestor_id FROM reporting_lines WHERE tenant_id = ? AND descendant_id = ? AND depth = 1";

const IS_TOP: &str = "SELECT 1 FROM reporting_lines WHERE tenant_id = ? AND ancestor_id = ? LIMIT 1";

/// Deletes the lines from the person's subtree to every ancestor of the person.
const LEAVE: &str = "DELETE FROM reporting_lines WHERE tenant_id = ?1 \
    AND ancestor_id IN (SELECT ancestor_id FROM reporting_lines WHERE tenant_id = ?1 AND descendant_id = ?2) \
    AND descendant_id IN (SELECT ?2 UNION ALL \
        SELECT descendant_id FROM reporting_lines WHERE tenant_id = ?1 AND ancestor_id = ?2)";

/// Adds the lines from the person to the manager and to every ancestor of the manager.
const JOIN: &str = "INSERT INTO reporting_lines (tenant_id, ancestor_id, descendant_id, depth) \
    SELECT ?1, ?3, ?2, 1 UNION ALL \
    SELECT ?1, ancestor_id, ?2, depth + 1 FROM reporting_lines WHERE tenant_id = ?1 AND descendant_id = ?3";

/// Adds the lines from everyone below the person to every ancestor of the person.
const FOLLOW: &str = "INSERT INTO reporting_lines (tenant_id, ancestor_id, descendant_id, depth) \
    SELECT ?1, a.ancestor_id, d.descendant_id, a.depth + d.depth \
    FROM reporting_lines a CROSS JOIN reporting_lines d \
    WHERE a.tenant_id = ?1 AND a.descendant_id = ?2 AND d.tenant_id = ?1 AND d.ancestor_id = ?2";

/// Number of managers above a person.
const DEPTH: &str =
    "SELECT coalesce(max(depth), 0) FROM reporting_lines WHERE tenant_id = ? AND descendant_id = ?";

/// Number of levels below a person.
const HEIGHT: &str = "SELECT coalesce(max(depth), 0) FROM reporting_lines WHERE tenant_id = ? AND ancestor_id = ?";

const BELOW: &str =
    "SELECT count(*) FROM (SELECT 1 FROM reporting_lines WHERE tenant_id = ? AND ancestor_id = ? LIMIT ?)";

/// Increments the version of the tree and returns the previous one.
pub(crate) fn count_up(db: &mut Db, tenant: Tenant) -> Read<Version> {
    Ok(Version(db.number(Sql::new(COUNT_UP).bind(tenant))? - 1))
}

/// Returns the version of the tenant's tree.
pub(crate) fn version(db: &mut Db, tenant: Tenant) -> Read<Version> {
    let text = "SELECT coalesce((SELECT version FROM reporting_trees WHERE tenant_id = ?), 0)";
    Ok(Version(db.number(Sql::new(text).bind(tenant))?))
}

/// Writes the lines of one new person.
pub(crate) fn start(
    db: &mut Db,
    tenant: Tenant,
    person: EmployeeId,
    manager: Option<EmployeeId>,
) -> Result<(), CommitError> {
    let Some(manager) = manager else { return Ok(()) };
    run(db, Sql::new(JOIN).bind(tenant).bind(person).bind(manager))
}

/// Writes the lines of several new people, many with one statement: within a savepoint, a statement costs more if
/// more was written before it.
pub(crate) fn start_all(
    db: &mut Db,
    tenant: Tenant,
    people: &[(EmployeeId, EmployeeId)],
) -> Result<(), CommitError> {
    run(db, Sql::new(COUNT).bind(tenant))?;
    if let ([(person, manager)], true) = (people, are_complete(db, tenant)?) {
        start(db, tenant, *person, Some(*manager))?;
        return check_depth(db, tenant, *person);
    }
    people.chunks(AT_ONCE).try_for_each(|some| run(db, beginnings(tenant, some)))?;
    people.iter().try_for_each(|(person, _)| check_depth(db, tenant, *person))
}

/// Fails with [`CommitError::Stale`] if too many managers would be above the person, or above the people below the
/// person.
fn check_depth(db: &mut Db, tenant: Tenant, person: EmployeeId) -> Result<(), CommitError> {
    let depth = db.number(Sql::new(DEPTH).bind(tenant).bind(person))?;
    let height = db.number(Sql::new(HEIGHT).bind(tenant).bind(person))?;
    if depth + height > i64::from(MAX_REPORTING_DEPTH) { Err(CommitError::Stale) } else { Ok(()) }
}

/// Returns the number of levels below each of these people, without people who have no reports.
pub(crate) fn heights(db: &mut Db, tenant: Tenant, people: &[EmployeeId]) -> Read<Vec<(EmployeeId, u32)>> {
    let mut all = vec![];
    for person in people {
        let height = db.number(Sql::new(HEIGHT).bind(tenant).bind(*person))?;
        if height > 0 {
            all.push((*person, u32::try_from(height).unwrap_or(u32::MAX)));
        }
    }
    Ok(all)
}

/// Builds the statement that writes the lines of new people. It takes their managers as values: looking them
/// up would make SQLite scan the whole index of managers. NULL rows pad the list to a power of two, which
/// limits the number of prepared statements.
pub(crate) fn beginnings(tenant: Tenant, people: &[(EmployeeId, EmployeeId)]) -> Sql {
    let count = people.len().next_power_of_two();
    let text = format!(
        "WITH RECURSIVE line (descendant_id, ancestor_id, depth) AS (\
         SELECT column1, column2, 1 FROM (VALUES {}) WHERE column1 IS NOT NULL \
         UNION ALL SELECT s.descendant_id, e.manager_id, s.depth + 1 FROM line AS s CROSS JOIN employees AS e \
         WHERE e.tenant_id = ? AND e.id = s.ancestor_id AND e.manager_id IS NOT NULL AND s.depth <= {MAX_REPORTING_DEPTH}) \
         INSERT INTO reporting_lines (tenant_id, ancestor_id, descendant_id, depth) \
         SELECT ?, ancestor_id, descendant_id, depth FROM line",
        vec!["(?, ?)"; count].join(", ")
    );
    let parameters = people.iter().flat_map(|(person, manager)| [Value::from(*person), Value::from(*manager)]);
    let nothing = std::iter::repeat_n(Value::Null, 2 * (count - people.len()));
    Sql::new(text).bind_all(parameters.chain(nothing)).bind(tenant).bind(tenant)
}

/// Moves a person with their subtree under another manager, or to the top. Subtracts the number of written lines
/// from `lines_left`. If the move needs more lines than are left, a rebuild writes them later.
pub(crate) fn change(
    db: &mut Db,
    tenant: Tenant,
    person: EmployeeId,
    manager: Option<EmployeeId>,
    lines_left: &mut usize,
) -> Result<(), CommitError> {
    if !are_complete(db, tenant)? {
        return postpone(db, tenant, person, manager);
    }
    let corrupt = |reason| StorageError::Corrupt { table: "reporting_lines", column: "ancestor_id", reason };
    let manager_before =
        db.first(Sql::new(MANAGER).bind(tenant).bind(person), |row| row.id().map_err(corrupt))?.flatten();
    if manager_before == manager.map(|manager| manager.to_bytes()) {
        return Ok(());
    }
    match lines_left.checked_sub(lines_of_move(db, tenant, person, manager, *lines_left)?) {
        Some(rest) => *lines_left = rest,
        None => return postpone(db, tenant, person, manager),
    }
    run(db, Sql::new(COUNT).bind(tenant))?;
    if manager_before.is_some() {
        run(db, Sql::new(LEAVE).bind(tenant).bind(person))?;
    }
    start(db, tenant, person, manager)?;
    if manager.is_some() {
        check_depth(db, tenant, person)?;
    }
    if manager.is_some() && db.exists(Sql::new(IS_TOP).bind(tenant).bind(person))? {
        run(db, Sql::new(FOLLOW).bind(tenant).bind(person))?;
    }
    Ok(())
}

/// Returns the number of lines that a move deletes and adds. Counts only a little beyond `most`.
fn lines_of_move(
    db: &mut Db,
    tenant: Tenant,
    person: EmployeeId,
    manager: Option<EmployeeId>,
    most: usize,
) -> Read<usize> {
    let depth_before = db.number(Sql::new(DEPTH).bind(tenant).bind(person))?;
    let depth_after = match manager {
        Some(manager) => db.number(Sql::new(DEPTH).bind(tenant).bind(manager))? + 1,
        None => 0,
    };
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let count_below = db.number(Sql::new(BELOW).bind(tenant).bind(person).bind(most.saturating_add(1)))?;
    Ok(usize::try_from((count_below + 1).saturating_mul(depth_before + depth_after)).unwrap_or(usize::MAX))
}

/// Leaves the lines of a move to the rebuild, and checks the maximum depth. The managers above are read from the
/// people; the levels below are read from the lines, which do not have the moves of this change set.
fn postpone(
    db: &mut Db,
    tenant: Tenant,
    person: EmployeeId,
    manager: Option<EmployeeId>,
) -> Result<(), CommitError> {
    rebuild::mark(db, tenant).map_err(|error| commit_error(&error))?;
    let Some(manager) = manager else { return Ok(()) };
    let depth =
        i64::try_from(read_lines_above(db, tenant, vec![manager.to_bytes()])?.lines.len()).unwrap_or(i64::MAX);
    let height = db.number(Sql::new(HEIGHT).bind(tenant).bind(person))?;
    let is_bounded = depth.saturating_add(1 + height) <= i64::from(MAX_REPORTING_DEPTH);
    if is_bounded { Ok(()) } else { Err(CommitError::Stale) }
}

/// Reads the lines of these people and of all their ancestors, one level per step.
pub(crate) fn read_lines_above(db: &mut Db, tenant: Tenant, people: Vec<[u8; 16]>) -> Read<Ancestors> {
    // The version is read first: if lines change between the statements, a move that relies on this version
    // is refused as stale.
    let tree = version(db, tenant)?;
    let (mut seen, mut lines) = (BTreeSet::new(), Vec::new());
    let mut step: BTreeSet<[u8; 16]> = people.into_iter().collect();
    while !step.is_empty() {
        let from = lines.len();
        let mut rest = step.iter().copied().peekable();
        while rest.peek().is_some() {
            let some: Vec<_> = rest.by_ref().take(AT_ONCE).collect();
            let manager_rows =
                db.rows(managers(tenant, &some), |row| Ok((id(row, "id")?, id(row, "manager_id")?)))?;
            lines.extend(manager_rows);
        }
        seen.append(&mut step);
        step.extend(lines[from..].iter().map(|(_, manager)| *manager).filter(|line| !seen.contains(line)));
    }
    let lines = lines.into_iter().map(|(person, manager)| (Id::from_bytes(person), Id::from_bytes(manager)));
    Ok(Ancestors { tree, lines: lines.collect() })
}

/// Builds the statement that returns the manager of each of these people, without those who have none. Each
/// person is looked up by key: with a list of ids, SQLite would scan the index of managers, which has both
/// columns.
pub(crate) fn managers(tenant: Tenant, people: &[[u8; 16]]) -> Sql {
    let count = people.len().next_power_of_two();
    let text = format!(
        "SELECT e.id, e.manager_id FROM (VALUES {}) AS p CROSS JOIN employees AS e \
         WHERE e.tenant_id = ? AND e.id = p.column1 AND e.manager_id IS NOT NULL",
        vec!["(?)"; count].join(", ")
    );
    let padding = std::iter::repeat_n(Value::Null, count - people.len());
    Sql::new(text).bind_all(people.iter().map(|person| Value::from(*person)).chain(padding)).bind(tenant)
}

pub(crate) fn id(row: &mut dyn CellReader, column: &'static str) -> Read<[u8; 16]> {
    let corrupt = |reason| StorageError::Corrupt { table: "reporting_lines", column, reason };
    row.id().map_err(corrupt)?.ok_or_else(|| corrupt("null".to_owned()))
}

fn run(db: &mut Db, sql: Sql) -> Result<(), CommitError> {
    db.execute(&sql).map(drop).map_err(|error| commit_error(&error))
}
