//! Closure of the reporting tree, in statements that are forwarded to the tenant's node unchanged.

use candor_domain::access::Tenant;

use crate::sql::Sql;
use crate::sql::reporting_lines::{MAX_DEPTH, manager_of};

/// Builds a statement that deletes obsolete reporting lines, and one that inserts new lines. Each finds the people
/// below the moved people in the stored lines. The deletion keeps the line from each person to the nearest moved
/// person above, so the insert finds the same people.
pub(super) fn moved_lines(tenant: Tenant, moved: &[[u8; 16]]) -> Vec<Sql> {
    let mut sql = Sql::default();
    let (tenant, moved) = (sql.tenant(tenant), sql.ids(moved.iter().copied()));
    let subordinates = format!(
        "SELECT u.id FROM UNNEST({moved}) AS u (id) UNION SELECT o.descendant_id FROM reporting_lines AS o \
         WHERE o.tenant_id = {tenant} AND o.ancestor_id = ANY({moved})"
    );
    let line = format!(
        "(WITH RECURSIVE line (descendant_id, ancestor_id, depth) AS (\
         SELECT b.id, e.manager_id, 1::bigint FROM ({subordinates}) AS b CROSS JOIN LATERAL {first} \
         WHERE e.manager_id IS NOT NULL \
         UNION ALL SELECT s.descendant_id, e.manager_id, s.depth + 1 FROM line AS s CROSS JOIN LATERAL {next} \
         WHERE e.manager_id IS NOT NULL AND s.depth < {MAX_DEPTH}) \
         SELECT descendant_id, ancestor_id, depth FROM line) AS n",
        first = manager_of(&tenant, "b.id"),
        next = manager_of(&tenant, "s.ancestor_id"),
    );
    let removal = format!(
        "DELETE FROM reporting_lines AS l WHERE l.tenant_id = {tenant} AND l.descendant_id IN ({subordinates}) \
         AND NOT EXISTS \
         (SELECT 1 FROM {line} WHERE n.descendant_id = l.descendant_id AND n.ancestor_id = l.ancestor_id)"
    );
    let new = format!(
        "INSERT INTO reporting_lines AS l (tenant_id, ancestor_id, descendant_id, depth) \
         SELECT {tenant}, n.ancestor_id, n.descendant_id, n.depth FROM {line} \
         ON CONFLICT (tenant_id, ancestor_id, descendant_id) DO UPDATE SET depth = excluded.depth \
         WHERE l.depth <> excluded.depth"
    );
    vec![sql.part(&removal), sql.part(&new)]
}
