//! An event rendered once for all of its deliveries.

use bytes::Bytes;
use candor_domain::access::Tenant;
use candor_domain::event::{Event, EventType};
use candor_domain::id::EventId;
use candor_domain::time::Timestamp;
use candor_domain::webhook::{DeliveryOrigin, Job, ping};

/// An event and its request body.
#[derive(Debug)]
pub(super) struct Message {
    /// The event. `data` is empty, because the body contains it.
    pub(super) event: Event,
    /// Body that is sent and signed (§6.3).
    pub(super) body: Bytes,
}

impl Message {
    pub(super) fn new(tenant: Tenant, event: Event) -> Self {
        let body = Bytes::from(event.body(tenant));
        Self { event: Event { data: String::new(), ..event }, body }
    }

    /// Creates the message of a delivery with a test event, which is not stored. Returns `None` for other
    /// deliveries.
    pub(super) fn for_test(job: &Job) -> Option<Self> {
        let is_test = job.origin == DeliveryOrigin::Test || job.event_type == EventType::TestPing;
        is_test.then(|| Self::new(job.tenant, ping(job.event_id, made_at(job.event_id))))
    }
}

/// Returns the creation time of an event, which its id contains.
fn made_at(id: EventId) -> Timestamp {
    Timestamp::from_millis(i64::try_from(id.ulid().timestamp_ms()).unwrap_or(i64::MAX))
}
