//! Settings and forms of statements about the queue that leave the planner the right choices.

/// A plan is made when a statement is first seen, and the queue is empty then as a rule: reading all of it and putting
/// it in order looks as good as any index, and stays the plan until the server looks at the table again, when a million
/// deliveries may have been queued. So only plans that do well with a long queue are left to choose from: along an
/// index, in its order, one row after the other.
pub(crate) const STEER: &str = "SELECT set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true), \
    set_config('enable_incremental_sort', 'off', true), set_config('enable_bitmapscan', 'off', true), \
    set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), \
    set_config('enable_hashagg', 'off', true)";

/// A lease need not outlive a crash of the server: what was leased is then due at once instead of at its end, and what
/// was sent meanwhile is sent once more, as after a crash of the service. Everything that is recorded later is written
/// to the disk together with it.
pub(crate) const UNFLUSHED: &str = "SET LOCAL synchronous_commit = off";

/// The subscription with these ids, as a subquery. An order that only its key has keeps the planner from the indexes of
/// the lists, which begin with the tenant too.
pub(crate) fn webhook(wanted: &str, tenant: &str, id: &str, lock: &str) -> String {
    format!(
        "(SELECT {wanted} FROM webhooks WHERE tenant_id = {tenant} AND id >= {id} AND id <= {id} ORDER BY id LIMIT 1{lock})"
    )
}
