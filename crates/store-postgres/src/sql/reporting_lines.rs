//! Pieces of the statements that follow reporting lines.

/// Greatest depth of a reporting line that is followed. It bounds the recursion where the stored tree is broken.
pub(crate) const MAX_DEPTH: u32 = 10_000;

/// Subquery named `e` with the manager of the person with this id. `OFFSET 0` makes each step one look into the primary key.
pub(crate) fn manager_of(tenant: &str, id: &str) -> String {
    format!("(SELECT manager_id FROM employees WHERE tenant_id = {tenant} AND id = {id} OFFSET 0) AS e")
}
