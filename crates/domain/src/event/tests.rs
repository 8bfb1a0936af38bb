//! Tests of the catalogue and of the body of an event.

use super::*;
use crate::access::Environment;
use crate::id::OrganizationId;
use ulid::Ulid;

#[test]
fn every_event_type_is_parsed_from_its_word() {
    for kind in EventType::ALL {
        assert_eq!(EventType::from_word(kind.word()), Ok(*kind));
    }
}

#[test]
fn event_type_keeps_its_stored_bit() {
    let bits: Vec<_> = EventType::ALL.iter().map(|kind| kind.bit()).collect();
    assert_eq!(bits, (0..bits.len()).map(|index| 1 << index).collect::<Vec<i64>>());
    assert!(bits.len() < 64, "the set of types is a signed integer of 64 bits");
    assert_eq!((EventType::ObservationCreated.bit(), EventType::TestPing.bit()), (1, 1 << 23));
    assert_eq!((EventType::ObjectiveCreated.bit(), EventType::EmployeeRehired.bit()), (1 << 12, 1 << 22));
    // A type that is inserted before the newest one would move its bit.
    assert_eq!(EventType::IdentityProviderDeleted.bit(), 1 << 57);
}

#[test]
fn event_body_has_the_contract_members_in_order() {
    let event = Event {
        id: EventId::from_ulid(Ulid(1)),
        kind: EventType::ObservationCreated,
        created_at: Timestamp::from_millis(0),
        data: r#"{"id":"obs_1"}"#.to_owned(),
        request_id: Some("req_1".to_owned()),
    };
    let tenant = Tenant { organization: OrganizationId::from_ulid(Ulid(2)), environment: Environment::Live };
    assert_eq!(
        event.body(tenant),
        r#"{"id":"evt_00000000000000000000000001","event":"observation.created","created_at":"1970-01-01T00:00:00.000Z","api_version":"v1","organization_id":"org_00000000000000000000000002","data":{"id":"obs_1"}}"#
    );
}
