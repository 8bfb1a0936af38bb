//! Tests of the catalogue, the body of an event, and the start of the feed.

use super::*;
use crate::access::Environment;
use crate::id::OrganizationId;
use ulid::Ulid;

#[test]
fn every_event_type_is_parsed_from_its_word() {
    assert_eq!(EventType::ALL.len(), 27);
    for kind in EventType::ALL {
        assert_eq!(EventType::from_word(kind.word()), Ok(*kind));
    }
}

#[test]
fn event_type_keeps_its_stored_bit() {
    let bits: Vec<_> = EventType::ALL.iter().map(|kind| kind.bit()).collect();
    assert_eq!(bits, (0..27).map(|index| 1 << index).collect::<Vec<i64>>());
    assert_eq!((EventType::ObservationCreated.bit(), EventType::TestPing.bit()), (1, 1 << 23));
    assert_eq!((EventType::ObjectiveCreated.bit(), EventType::EmployeeRehired.bit()), (1 << 12, 1 << 22));
}

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

fn start(pairs: &[(&str, &str)]) -> Result<FeedStart, Vec<(String, Code)>> {
    let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let codes = |problems: ValidationErrors| {
        problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect()
    };
    FeedRequest::parse(Params::new(pairs), NOW).map(|request| request.start).map_err(codes)
}

#[test]
fn feed_starts_at_the_requested_position() {
    let early = NOW.plus_seconds(-60);
    assert_eq!(start(&[]), Ok(FeedStart::Oldest));
    assert_eq!(start(&[("since", "now")]), Ok(FeedStart::Now));
    assert_eq!(start(&[("since", &early.to_string())]), Ok(FeedStart::Since(early)));
    let slightly_ahead = NOW.plus_seconds(MOST_COMMIT_DELAY_SECONDS);
    assert_eq!(start(&[("since", &slightly_ahead.to_string())]), Ok(FeedStart::Since(slightly_ahead)));
    let digest = FeedRequest::parse(Params::new(vec![]), NOW).unwrap().digest;
    let place = Position { key: crate::page::Key::Rank(7), id: [1; 16] };
    let cursor = crate::page::cursor(digest, &place);
    assert_eq!(start(&[("cursor", &cursor)]), Ok(FeedStart::After(place)));
    let since = |text: &str, code| (start(&[("since", text)]), Err(vec![("since".to_owned(), code)]));
    for (found, wanted) in [
        since("yesterday", Code::InvalidFormat),
        since("2026-01-01", Code::InvalidFormat),
        since(&NOW.plus_seconds(-FEED_DAYS * DAY_SECONDS - 1).to_string(), Code::OutOfRange),
        since(&NOW.plus_seconds(MOST_COMMIT_DELAY_SECONDS + 1).to_string(), Code::OutOfRange),
    ] {
        assert_eq!(found, wanted);
    }
    let both = start(&[("since", "now"), ("cursor", &cursor)]);
    assert_eq!(both, Err(vec![("since".to_owned(), Code::InvalidFormat)]));
}

#[test]
fn first_id_at_is_the_lowest_id_of_its_millisecond() {
    let at = Timestamp::from_millis(1_234_567);
    assert_eq!(first_id_at(at).ulid().timestamp_ms(), 1_234_567);
    assert!(first_id_at(at) <= EventId::from_ulid(Ulid::from_parts(1_234_567, 0)));
    assert!(first_id_at(at) > EventId::from_ulid(Ulid::from_parts(1_234_566, u128::MAX)));
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
