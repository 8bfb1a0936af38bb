//! Events: the closed catalog (§6.2) and the body that feeds and deliveries share (§6.3).

mod access;
mod catalog;
mod feed;

pub use catalog::{EventData, EventType};
pub use feed::{
    FEED_DAYS, FeedFilter, FeedRequest, FeedStart, MOST_COMMIT_DELAY_SECONDS, first_id_at, oldest_in_feed,
};

use crate::access::Tenant;
use crate::fields::StringEnum;
use crate::id::EventId;
use crate::time::Timestamp;

/// The version of the event payload (§9).
pub const API_VERSION: &str = "v1";

/// A fact about a resource, stored together with the change that caused it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Id of the event, equal for every delivery and redelivery.
    pub id: EventId,
    /// The type of the event.
    pub kind: EventType,
    /// Time of the change.
    pub created_at: Timestamp,
    /// JSON text of the member `data`: the resource after the change, as GET returns it without expansion (decision
    /// F8), unless the [`EventData`] of the type says otherwise.
    pub data: String,
    /// Id of the request that caused the change; `None` for background work and old events. The commit sets it.
    pub request_id: Option<String>,
}

/// Returns the id that receivers see. Ids of test events start with `evt_test_` (§4.4).
#[must_use]
pub fn public_id(kind: EventType, id: EventId) -> String {
    if kind == EventType::TestPing { format!("evt_test_{}", id.ulid()) } else { id.to_string() }
}

impl Event {
    /// Returns the id that receivers see.
    #[must_use]
    pub fn public_id(&self) -> String {
        public_id(self.kind, self.id)
    }

    /// Returns the JSON body of a delivery, which is also an entry of the feed (§6.3).
    #[must_use]
    pub fn body(&self, tenant: Tenant) -> String {
        format!(
            r#"{{"id":"{}","event":"{}","created_at":"{}","api_version":"{API_VERSION}","organization_id":"{}","data":{}}}"#,
            self.public_id(),
            self.kind.word(),
            self.created_at,
            tenant.organization,
            self.data
        )
    }
}

#[cfg(test)]
mod tests;
