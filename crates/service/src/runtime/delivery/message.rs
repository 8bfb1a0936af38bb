//! An event as it goes out: rendered once, whoever and however many it is for.

use bytes::Bytes;
use candor_domain::access::Tenant;
use candor_domain::event::{Event, EventType};
use candor_domain::id::EventId;
use candor_domain::time::Timestamp;
use candor_domain::webhook::{DeliveryOrigin, Job, ping};

/// An event and its body.
#[derive(Debug)]
pub(super) struct Message {
    /// The event without its data, which are in the body.
    pub(super) event: Event,
    /// What is sent and signed (§6.3).
    pub(super) body: Bytes,
}

impl Message {
    pub(super) fn of(tenant: Tenant, event: Event) -> Self {
        let body = Bytes::from(event.body(tenant));
        Self { event: Event { data: String::new(), ..event }, body }
    }

    /// The message of a delivery that carries a test event, which is stored nowhere.
    pub(super) fn of_test(job: &Job) -> Option<Self> {
        let is_test = job.origin == DeliveryOrigin::Test || job.event_type == EventType::TestPing;
        is_test.then(|| Self::of(job.tenant, ping(job.event_id, made_at(job.event_id))))
    }
}

/// When an event was made, which its id tells.
fn made_at(id: EventId) -> Timestamp {
    Timestamp::from_millis(i64::try_from(id.ulid().timestamp_ms()).unwrap_or(i64::MAX))
}
