//! An event rendered once for all of its deliveries.

use std::sync::OnceLock;

use bytes::Bytes;
use candor_domain::access::Tenant;
use candor_domain::event::{Event, EventType};
use candor_domain::id::EventId;
use candor_domain::time::Timestamp;
use candor_subscriptions::{DeliveryOrigin, Job, PayloadForm, ping, thin_body};

/// An event and its request bodies.
#[derive(Debug)]
pub(super) struct Message {
    /// The event. `data` is empty, because the full body contains it.
    pub(super) event: Event,
    pub(super) tenant: Tenant,
    full: Bytes,
    /// Body of the thin form. Rendered for the first subscription with that form.
    thin: OnceLock<Bytes>,
}

impl Message {
    pub(super) fn new(tenant: Tenant, event: Event) -> Self {
        let full = Bytes::from(event.body(tenant));
        Self { event: Event { data: String::new(), ..event }, tenant, full, thin: OnceLock::new() }
    }

    /// Returns the body that is sent and signed (§6.3). `public_url` is the address of the service.
    pub(super) fn body(&self, form: PayloadForm, public_url: &str) -> Bytes {
        match form {
            PayloadForm::Full => self.full.clone(),
            PayloadForm::Thin => self.thin.get_or_init(|| self.make_thin(public_url)).clone(),
        }
    }

    fn make_thin(&self, public_url: &str) -> Bytes {
        let api_url = format!("{}/v1", public_url.trim_end_matches('/'));
        thin_body(&self.event, self.tenant, &self.full, &api_url).into()
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
