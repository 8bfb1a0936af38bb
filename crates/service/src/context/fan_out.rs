//! Limits the deliveries that one commit queues. An event queues one delivery per subscription that wants it, in
//! the same commit. So a commit is limited by its number of events and its number of deliveries, and other writers do
//! not wait long.

use candor_domain::access::Tenant;
use candor_domain::event::EventType;
use candor_port_storage::error::Read;

use crate::context::services::Services;

/// Maximum number of deliveries queued in one commit of several events; a single event may queue more. On SQLite,
/// where all writers wait for each other, one delivery takes 10 to 20 µs.
pub(crate) const DELIVERIES: usize = 500;

/// Returns the number of events of a type that one commit of the tenant may have: at most `most`, at least one,
/// fewer if many subscriptions want them.
pub(crate) async fn events_at_once(
    services: &Services,
    tenant: Tenant,
    kind: EventType,
    most: usize,
) -> Read<usize> {
    let each = services.store.subscribers(tenant).await?.deliveries_of([kind]);
    Ok(DELIVERIES.checked_div(each).unwrap_or(most).clamp(1, most))
}
