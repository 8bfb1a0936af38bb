//! The headers of one attempt (§6.3, decisions F5, F9).

use candor_domain::event::Event;
use candor_domain::fields::StringEnum;
use candor_domain::id::DeliveryId;
use candor_domain::secret::Secret;
use candor_domain::signature::{sign, sign_standard, unix_seconds};
use candor_domain::time::Timestamp;

/// Value of the `User-Agent` header of deliveries (§6.3).
pub const USER_AGENT: &str = "Service-Webhooks/v1";

/// Returns the headers of an attempt, signed at `at` with these secrets, oldest first.
///
/// `body` is the body of the request as it is sent: [`Event::body`], or its thin form. `replay` marks a redelivery
/// or replay that a client requested.
#[must_use]
pub fn headers(
    event: &Event,
    delivery: DeliveryId,
    secrets: &[Secret],
    at: Timestamp,
    body: &[u8],
    replay: bool,
) -> Vec<(&'static str, String)> {
    let id = event.public_id();
    let seconds = unix_seconds(at).to_string();
    let standard = sign_standard(secrets, &id, at, body);
    let mut headers = vec![
        ("Content-Type", "application/json".to_owned()),
        ("User-Agent", USER_AGENT.to_owned()),
        ("X-Service-Event", event.kind.word().to_owned()),
        ("X-Service-Event-Id", id.clone()),
        ("X-Service-Delivery-Id", delivery.to_string()),
        ("X-Service-Timestamp", seconds.clone()),
        ("X-Service-Signature", sign(secrets, at, body)),
        ("webhook-id", id),
        ("webhook-timestamp", seconds),
        ("webhook-signature", standard),
    ];
    if replay {
        headers.push(("X-Service-Replay", "true".to_owned()));
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::super::ping;
    use super::*;
    use candor_domain::access::{Environment, Tenant};
    use candor_domain::event::EventType;
    use candor_domain::id::{EventId, OrganizationId};
    use candor_domain::signature;
    use ulid::Ulid;

    #[test]
    fn attempt_has_contract_and_standard_webhooks_headers() {
        let secrets = [Secret::new("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=".to_owned())];
        let time = Timestamp::from_millis(1_772_352_930_999);
        let tenant = Tenant { organization: OrganizationId::from_ulid(Ulid(2)), environment: Environment::Live };
        let event = Event {
            id: EventId::from_ulid(Ulid(1)),
            kind: EventType::ObservationCreated,
            created_at: time,
            data: "{}".to_owned(),
            request_id: None,
        };
        let body = event.body(tenant);
        let request_headers =
            headers(&event, DeliveryId::from_ulid(Ulid(3)), &secrets, time, body.as_bytes(), false);
        let id = "evt_00000000000000000000000001";
        let expected_headers = [
            ("Content-Type", "application/json"),
            ("User-Agent", "Service-Webhooks/v1"),
            ("X-Service-Event", "observation.created"),
            ("X-Service-Event-Id", id),
            ("X-Service-Delivery-Id", "del_00000000000000000000000003"),
            ("X-Service-Timestamp", "1772352930"),
            ("X-Service-Signature", &signature::sign(&secrets, time, body.as_bytes())),
            ("webhook-id", id),
            ("webhook-timestamp", "1772352930"),
            ("webhook-signature", &signature::sign_standard(&secrets, id, time, body.as_bytes())),
        ];
        assert_eq!(request_headers, expected_headers.map(|(name, value)| (name, value.to_owned())));
        assert_eq!(signature::verify(secrets[0].reveal(), &request_headers[6].1, body.as_bytes(), time), Ok(()));
    }

    #[test]
    fn replay_is_marked_and_test_event_id_has_its_own_prefix() {
        let time = Timestamp::from_millis(0);
        let event = ping(EventId::from_ulid(Ulid(1)), time);
        let request_headers = headers(&event, DeliveryId::from_ulid(Ulid(3)), &[], time, b"", true);
        let value = |wanted: &str| {
            request_headers.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.as_str())
        };
        assert_eq!(value("X-Service-Replay"), Some("true"));
        assert_eq!(value("X-Service-Event"), Some("test.ping"));
        assert_eq!(value("X-Service-Event-Id"), Some("evt_test_00000000000000000000000001"));
        assert_eq!(value("webhook-id"), value("X-Service-Event-Id"));
    }
}
