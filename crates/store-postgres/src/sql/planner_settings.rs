//! Planner settings and statement forms for the queue.

/// Restricts the planner to plans along an index, in its order. A statement is usually planned while the queue is
/// empty. A scan and sort of the whole table then looks as good as any index. That plan would stay until the next
/// `ANALYZE`, when a million deliveries may be queued.
pub(crate) const STEER: &str = "SELECT set_config('enable_seqscan', 'off', true), \
    set_config('enable_sort', 'off', true), \
    set_config('enable_incremental_sort', 'off', true), set_config('enable_bitmapscan', 'off', true), \
    set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), \
    set_config('enable_hashagg', 'off', true)";

/// Asynchronous commit of a lease, which need not survive a crash of the server. A lost lease makes its deliveries
/// due at once, and deliveries that were already sent are sent again, as after a crash of the service. Later
/// records flush the WAL, which contains the lease.
pub(crate) const UNFLUSHED: &str = "SET LOCAL synchronous_commit = off";

/// Subquery for the subscription with this tenant and id. It sorts by id, which only the primary key supports, so that
/// the planner does not choose an index of lists, which begins with the tenant as well.
pub(crate) fn webhook(wanted: &str, tenant: &str, id: &str, lock: &str) -> String {
    format!(
        "(SELECT {wanted} FROM webhooks WHERE tenant_id = {tenant} AND id >= {id} AND id <= {id} ORDER BY id \
         LIMIT 1{lock})"
    )
}
