//! What a change set does to subscriptions beyond writing their rows, and to the queue of deliveries.

use candor_domain::id::WebhookId;
use candor_port_storage::Version;
use candor_port_storage::flat::Cell;

use super::statement::{STALE, Statement};

/// Forgets the failures of a subscription, which are not part of its version.
pub(super) fn forgive(statement: &mut Statement, id: WebhookId) {
    let id = statement.sql.id(id.to_bytes());
    let (tenant, from) = (statement.tenant.clone(), statement.from(""));
    statement.part(
        "",
        &format!(
            "UPDATE webhooks AS t SET failures = NULL, failing_since = NULL {from} \
             WHERE t.tenant_id = {tenant} AND t.id = {id}"
        ),
    );
}

/// Removes a subscription.
pub(super) fn remove(statement: &mut Statement, id: WebhookId, seen: Version) {
    let (id, seen) = (statement.sql.id(id.to_bytes()), statement.sql.bind(Cell::Int(seen.0)));
    let (tenant, using) = (statement.tenant.clone(), statement.using());
    let part = statement.part(
        "",
        &format!(
            "DELETE FROM webhooks AS t {using} WHERE t.tenant_id = {tenant} AND t.id = {id} AND t.version = {seen} RETURNING 1"
        ),
    );
    statement.check(&format!("(SELECT count(*) FROM {part}) = 1"), STALE);
}
