//! Statements on the reporting tree and its closure.

use candor_domain::access::Tenant;
use candor_domain::people::{MAX_LINES_AT_ONCE, MAX_REPORTING_DEPTH};
use candor_port_storage::ReportingLineChange;
use candor_tables::flat::SqlValue;

use super::{STALE, TOO_WIDE};
use crate::connection::session::STATEMENT_TIMEOUT;
use crate::layout::Statement;
use crate::layout::statement::assert_sql;
use crate::sql::Sql;
use crate::sql::reporting_lines::{MAX_DEPTH, manager_of};

/// Locks the row of the tenant's reporting tree until the end of the transaction, and counts the change. A move
/// also increments the tree's version, and fails unless the change set saw the current version. A missing row
/// counts as version 0.
pub(super) fn lock_tree(first: &mut Statement, lines: &[ReportingLineChange]) {
    let tenant = first.tenant.clone();
    let insert = "INSERT INTO reporting_trees AS t (tenant_id, version, changes)";
    let Some(tree_version) = lines.iter().find_map(|line| line.seen) else {
        let rows = first.rows(&[format!("{tenant}, 0, 1")]);
        first.part(&format!("{insert} {rows} ON CONFLICT (tenant_id) DO UPDATE SET changes = t.changes + 1"));
        return;
    };
    let all_saw_it = lines.iter().filter_map(|line| line.seen).all(|version| version == tree_version);
    let (tree_version, all_saw_it) =
        (first.sql.bind(SqlValue::Int(tree_version.0)), first.sql.bind(SqlValue::Flag(all_saw_it)));
    let rows = first.rows(&[format!("{tenant}, 1, 1")]);
    let tree = first.part(&format!(
        "{insert} {rows} ON CONFLICT (tenant_id) DO UPDATE SET version = t.version + 1, \
             changes = t.changes + 1 WHERE t.version = {tree_version} RETURNING t.version"
    ));
    first.check(&format!("{all_saw_it} AND (SELECT version FROM {tree}) = {tree_version} + 1"), STALE);
}

/// Adds the reporting lines of new people. Only new people report to new people, so no other line changes.
pub(super) fn new_lines(tenant: Tenant, new: impl Iterator<Item = [u8; 16]>) -> Sql {
    let mut sql = Sql::default();
    let (tenant, new) = (sql.tenant(tenant), sql.ids(new));
    // The recursion is inside the `SELECT`: Citus drops the `RECURSIVE` of a `WITH` in front of an `INSERT`.
    sql.push(&format!(
        "INSERT INTO reporting_lines (tenant_id, ancestor_id, descendant_id, depth) \
         SELECT {tenant}, n.ancestor_id, n.descendant_id, n.depth FROM (\
         WITH RECURSIVE line (descendant_id, ancestor_id, depth) AS (\
         SELECT u.id, e.manager_id, 1::bigint FROM UNNEST({new}) AS u (id) CROSS JOIN LATERAL {first} \
         WHERE e.manager_id IS NOT NULL \
         UNION ALL SELECT s.descendant_id, e.manager_id, s.depth + 1 FROM line AS s CROSS JOIN LATERAL {next} \
         WHERE e.manager_id IS NOT NULL AND s.depth < {MAX_DEPTH}) \
         SELECT ancestor_id, descendant_id, depth FROM line) AS n",
        first = manager_of(&tenant, "u.id"),
        next = manager_of(&tenant, "s.ancestor_id"),
    ));
    sql
}

/// Limits the time of a statement that writes reporting lines: events of other tenants wait for its transaction.
pub(super) const SHORT_TIMEOUT: &str = "SET LOCAL statement_timeout = '5s'";

/// Builds the statement that ends [`SHORT_TIMEOUT`]. A commit that waits for a standby must not be cancelled early.
pub(super) fn usual_timeout() -> Sql {
    Sql::plain(&format!("SET LOCAL statement_timeout = {}", STATEMENT_TIMEOUT.as_millis()))
}

/// Builds the statement that fails if one commit would write too many reporting lines: those of the moved people
/// and of all people below them. It runs after the rows of the people are written and before the lines change. It
/// counts at most [`MAX_LINES_AT_ONCE`] people below each moved person, and a person below two moved people twice.
pub(super) fn check_width(tenant: Tenant, moved: &[[u8; 16]]) -> Sql {
    let mut sql = Sql::default();
    let (tenant, moved) = (sql.tenant(tenant), sql.ids(moved.iter().copied()));
    let lines = |column: &str, limit: &str| {
        format!(
            "(SELECT count(*) FROM (SELECT 1 FROM reporting_lines AS l WHERE l.tenant_id = {tenant} \
             AND l.{column} = u.id {limit}) AS c)"
        )
    };
    let lines_below = lines("ancestor_id", &format!("LIMIT {MAX_LINES_AT_ONCE}"));
    let lines_before = lines("descendant_id", "OFFSET 0");
    let lines_after = format!(
        "(WITH RECURSIVE line (ancestor_id, depth) AS (\
         SELECT e.manager_id, 1::bigint FROM {first} WHERE e.manager_id IS NOT NULL \
         UNION ALL SELECT e.manager_id, s.depth + 1 FROM line AS s CROSS JOIN LATERAL {next} \
         WHERE e.manager_id IS NOT NULL AND s.depth <= {MAX_REPORTING_DEPTH}) SELECT count(*) FROM line)",
        first = manager_of(&tenant, "u.id"),
        next = manager_of(&tenant, "s.ancestor_id"),
    );
    let is_bounded = format!(
        "(SELECT sum(({lines_below} + 1) * ({lines_before} + {lines_after})) FROM UNNEST({moved}) AS u (id)) <= {MAX_LINES_AT_ONCE}"
    );
    sql.push(&format!("SELECT {}", assert_sql(&is_bounded, TOO_WIDE)));
    sql
}

/// Builds the statement that fails if one of these people, or a person below them, has too many managers above.
pub(super) fn check_depths(tenant: Tenant, people: impl Iterator<Item = [u8; 16]>) -> Sql {
    let mut sql = Sql::default();
    let (tenant, people) = (sql.tenant(tenant), sql.ids(people));
    let deepest = |column: &str| {
        format!(
            "(SELECT coalesce(max(l.depth), 0) FROM reporting_lines AS l WHERE l.tenant_id = {tenant} \
             AND l.{column} = u.id)"
        )
    };
    let (depth, height) = (deepest("descendant_id"), deepest("ancestor_id"));
    let is_bounded = format!(
        "NOT EXISTS (SELECT 1 FROM UNNEST({people}) AS u (id) WHERE {depth} + {height} > {MAX_REPORTING_DEPTH})"
    );
    sql.push(&format!("SELECT {}", assert_sql(&is_bounded, STALE)));
    sql
}
