//! How much one commit may queue. An event makes as many deliveries as subscriptions of its data set want it, and they are
//! queued with it, so a commit of many events is bounded by both: no other writer waits for long behind one.

use candor_domain::access::Tenant;
use candor_domain::event::EventType;
use candor_port_storage::error::Read;

use crate::context::services::Services;

/// Deliveries queued in one commit of several events; one event alone may make more. On SQLite, where everybody waits for
/// one writer, each costs 10 to 20 µs.
pub(crate) const DELIVERIES: usize = 500;

/// How many events of a type a commit of the data set may have: `most`, or fewer where many want them, but one at least.
pub(crate) async fn events_at_once(services: &Services, tenant: Tenant, kind: EventType, most: usize) -> Read<usize> {
    let each = services.store.subscribers(tenant).await?.deliveries_of([kind]);
    Ok(DELIVERIES.checked_div(each).unwrap_or(most).clamp(1, most))
}
