//! The synthetic event of the test endpoint (§4.4, decision F7).

use candor_domain::event::{Event, EventType};
use candor_domain::id::EventId;
use candor_domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// The message in the data of a test event.
pub const PING_MESSAGE: &str = "This is a test delivery; nothing has happened.";

/// The data of a test event.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Ping {
    /// Text that marks this event as a test.
    pub message: &'static str,
}

/// Creates a test event. Receivers see its id as `evt_test_…`, and its data has one message.
#[must_use]
pub fn ping(id: EventId, at: Timestamp) -> Event {
    let data = serde_json::json!(Ping { message: PING_MESSAGE }).to_string();
    Event { id, kind: EventType::TestPing, created_at: at, data, request_id: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::access::{Environment, Tenant};
    use candor_domain::id::OrganizationId;
    use ulid::Ulid;

    #[test]
    fn test_event_has_a_test_id_and_one_message() {
        let tenant = Tenant { organization: OrganizationId::from_ulid(Ulid(2)), environment: Environment::Test };
        let body = ping(EventId::from_ulid(Ulid(1)), Timestamp::from_millis(0)).body(tenant);
        let expected_ping = serde_json::json!({
            "id": "evt_test_00000000000000000000000001",
            "event": "test.ping",
            "created_at": "1970-01-01T00:00:00.000Z",
            "api_version": "v1",
            "organization_id": "org_00000000000000000000000002",
            "data": {"message": PING_MESSAGE},
        });
        assert_eq!(serde_json::from_str::<serde_json::Value>(&body).unwrap(), expected_ping);
    }
}
