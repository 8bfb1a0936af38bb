//! The upkeep of the reporting tree's closure.

use candor_domain::access::Tenant;

use crate::layout::Layout;
use crate::sql::Sql;

/// The deepest line that is followed; a tree that deep does not exist, but a broken one must not be followed for ever.
const DEEPEST: u32 = 10_000;

/// Adds the lines of people who are new. Nobody is below them but others who are new, so nothing else changes.
pub(super) fn beginnings(tenant: Tenant, new: impl Iterator<Item = [u8; 16]>) -> Sql {
    let mut sql = Sql::default();
    let (tenant, new) = (sql.tenant(tenant), sql.ids(new));
    let manager_of =
        |id: &str| format!("(SELECT manager_id FROM employees WHERE tenant_id = {tenant} AND id = {id} OFFSET 0) AS e");
    // Inside of the SELECT, because a cluster forgets that what stands before an INSERT is recursive.
    sql.push(&format!(
        "INSERT INTO reporting_lines (tenant_id, ancestor_id, descendant_id, depth) \
         SELECT {tenant}, n.ancestor_id, n.descendant_id, n.depth FROM (\
         WITH RECURSIVE line (descendant_id, ancestor_id, depth) AS (\
         SELECT u.id, e.manager_id, 1::bigint FROM UNNEST({new}) AS u (id) CROSS JOIN LATERAL {first} \
         WHERE e.manager_id IS NOT NULL \
         UNION ALL SELECT s.descendant_id, e.manager_id, s.depth + 1 FROM line AS s CROSS JOIN LATERAL {next} \
         WHERE e.manager_id IS NOT NULL AND s.depth < {DEEPEST}) \
         SELECT ancestor_id, descendant_id, depth FROM line) AS n",
        first = manager_of("u.id"),
        next = manager_of("s.ancestor_id"),
    ));
    sql
}

/// Brings the closure up to date after these people got another manager, whoever else moved with them. It runs behind
/// the writes and under the lock of the tree: the lines of everyone below them are followed anew, and only what differs
/// is written.
pub(super) fn closure(layout: Layout, tenant: Tenant, moved: impl Iterator<Item = [u8; 16]>) -> Vec<Sql> {
    match layout {
        Layout::OneServer => vec![at_once(tenant, moved)],
        Layout::ByTenant => by_key(tenant, moved.collect()),
    }
}

/// In two statements. The second one finds whom the first one found: of those above somebody, the nearest one who moved
/// stays above them.
fn by_key(tenant: Tenant, moved: Vec<[u8; 16]>) -> Vec<Sql> {
    let mut sql = Sql::default();
    let (tenant, moved) = (sql.tenant(tenant), sql.ids(moved));
    let below = format!(
        "SELECT u.id FROM UNNEST({moved}) AS u (id) UNION SELECT o.descendant_id FROM reporting_lines AS o \
         WHERE o.tenant_id = {tenant} AND o.ancestor_id = ANY({moved})"
    );
    let manager_of =
        |id: &str| format!("(SELECT manager_id FROM employees WHERE tenant_id = {tenant} AND id = {id} OFFSET 0) AS e");
    let line = format!(
        "(WITH RECURSIVE line (descendant_id, ancestor_id, depth) AS (\
         SELECT b.id, e.manager_id, 1::bigint FROM ({below}) AS b CROSS JOIN LATERAL {first} WHERE e.manager_id IS NOT NULL \
         UNION ALL SELECT s.descendant_id, e.manager_id, s.depth + 1 FROM line AS s CROSS JOIN LATERAL {next} \
         WHERE e.manager_id IS NOT NULL AND s.depth < {DEEPEST}) \
         SELECT descendant_id, ancestor_id, depth FROM line) AS n",
        first = manager_of("b.id"),
        next = manager_of("s.ancestor_id"),
    );
    let gone = format!(
        "DELETE FROM reporting_lines AS l WHERE l.tenant_id = {tenant} AND l.descendant_id IN ({below}) AND NOT EXISTS \
         (SELECT 1 FROM {line} WHERE n.descendant_id = l.descendant_id AND n.ancestor_id = l.ancestor_id)"
    );
    let new = format!(
        "INSERT INTO reporting_lines AS l (tenant_id, ancestor_id, descendant_id, depth) \
         SELECT {tenant}, n.ancestor_id, n.descendant_id, n.depth FROM {line} \
         ON CONFLICT (tenant_id, ancestor_id, descendant_id) DO UPDATE SET depth = excluded.depth \
         WHERE l.depth <> excluded.depth"
    );
    vec![sql.part(&gone), sql.part(&new)]
}

/// What goes is found by row, because nothing else keeps the planner from reading everybody's lines.
fn at_once(tenant: Tenant, moved: impl Iterator<Item = [u8; 16]>) -> Sql {
    let mut sql = Sql::default();
    let (tenant, moved) = (sql.tenant(tenant), sql.ids(moved));
    // OFFSET 0 makes each step one look into the primary key.
    let manager_of =
        |id: &str| format!("(SELECT manager_id FROM employees WHERE tenant_id = {tenant} AND id = {id} OFFSET 0) AS e");
    sql.push(&format!(
        "WITH RECURSIVE moved AS MATERIALIZED (SELECT u.id FROM UNNEST({moved}) AS u (id)), \
         below AS MATERIALIZED (SELECT id FROM moved UNION SELECT l.descendant_id FROM moved AS m CROSS JOIN LATERAL \
         (SELECT descendant_id FROM reporting_lines WHERE tenant_id = {tenant} AND ancestor_id = m.id OFFSET 0) AS l), \
         line (descendant_id, ancestor_id, depth) AS (\
         SELECT b.id, e.manager_id, 1::bigint FROM below AS b CROSS JOIN LATERAL {first} WHERE e.manager_id IS NOT NULL \
         UNION ALL SELECT s.descendant_id, e.manager_id, s.depth + 1 FROM line AS s CROSS JOIN LATERAL {next} \
         WHERE e.manager_id IS NOT NULL AND s.depth < {DEEPEST}), \
         gone AS (DELETE FROM reporting_lines WHERE ctid = ANY(ARRAY(\
         SELECT o.ctid FROM below AS b CROSS JOIN LATERAL (SELECT l.ctid, l.descendant_id, l.ancestor_id \
         FROM reporting_lines AS l WHERE l.tenant_id = {tenant} AND l.descendant_id = b.id OFFSET 0) AS o \
         WHERE NOT EXISTS (SELECT 1 FROM line AS n \
         WHERE n.descendant_id = o.descendant_id AND n.ancestor_id = o.ancestor_id)))) \
         INSERT INTO reporting_lines AS l (tenant_id, ancestor_id, descendant_id, depth) \
         SELECT {tenant}, n.ancestor_id, n.descendant_id, n.depth FROM line AS n \
         ON CONFLICT (tenant_id, ancestor_id, descendant_id) DO UPDATE SET depth = excluded.depth \
         WHERE l.depth <> excluded.depth",
        first = manager_of("b.id"),
        next = manager_of("s.ancestor_id"),
    ));
    sql
}
