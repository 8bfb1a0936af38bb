//! SQL fragments that follow reporting lines.

/// Maximum number of levels that a recursion follows, in case a stored tree has a cycle. It is higher than the
/// limit of depth, because trees from before that limit may be deeper.
pub(crate) const MAX_DEPTH: u32 = 10_000;

/// Subquery named `e` with the manager of a person. `OFFSET 0` makes each step one lookup in the primary key.
pub(crate) fn manager_of(tenant: &str, id: &str) -> String {
    format!("(SELECT manager_id FROM employees WHERE tenant_id = {tenant} AND id = {id} OFFSET 0) AS e")
}
