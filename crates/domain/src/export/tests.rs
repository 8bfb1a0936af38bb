use proptest::prelude::*;

use super::*;
use crate::access::Environment;
use crate::event::FEED_DAYS;
use crate::id::OrganizationId;
use crate::page::{Key, Position};
use crate::problem::{Code, ValidationErrors};

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);
const DAY_SECONDS: i64 = 86_400;

fn tenant(number: u8) -> Tenant {
    Tenant::live(OrganizationId::from_bytes([number; 16]))
}

fn parse(pairs: &[(&str, &str)], tenant: Tenant) -> Result<ExportRequest, Vec<(String, Code)>> {
    let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let codes = |problems: ValidationErrors| {
        problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect()
    };
    let open = |text: &str| Some(text.to_owned());
    Params::new(pairs).parse(|params| ExportRequest::read(params, tenant, NOW, open)).map_err(codes)
}

fn cursor(started_at: Timestamp, resource: ExportedResource) -> ExportCursor {
    let events = Position { key: Key::Rank(77), id: [3; 16] };
    ExportCursor { started_at, events, place: ExportPlace { resource, id: [9; 16] } }
}

#[test]
fn resources_are_read_once_each_in_the_order_of_the_lines() {
    assert_eq!(parse(&[], tenant(1)).unwrap().resources, ExportedResource::ALL);
    let some = parse(&[("resources", "messages,employees,messages")], tenant(1)).unwrap();
    assert_eq!(
        some,
        ExportRequest { resources: vec![ExportedResource::Employees, ExportedResource::Messages], from: None }
    );
    for wrong in ["", "people", "employees,", "Employees", "employees, messages"] {
        let error = parse(&[("resources", wrong)], tenant(1));
        assert_eq!(error, Err(vec![("resources".to_owned(), Code::InvalidEnum)]), "{wrong}");
    }
    let repeated_parameter = parse(&[("resources", "employees"), ("resources", "messages")], tenant(1));
    assert_eq!(repeated_parameter, Err(vec![("resources".to_owned(), Code::InvalidFormat)]));
}

#[test]
fn cursor_is_bound_to_data_set_and_resources() {
    let some = [ExportedResource::Employees, ExportedResource::Messages];
    let messages_cursor = cursor(NOW, ExportedResource::Messages);
    let text = messages_cursor.to_text(tenant(1), &some);
    let read = |resources: &str, tenant| parse(&[("resources", resources), ("cursor", &text)], tenant);
    assert_eq!(read("messages,employees", tenant(1)).unwrap().from, Some(messages_cursor));
    let cursor_error = || Err(vec![("cursor".to_owned(), Code::InvalidFormat)]);
    assert_eq!(read("messages", tenant(1)), cursor_error());
    assert_eq!(read("messages,employees,summaries", tenant(1)), cursor_error());
    assert_eq!(read("messages,employees", tenant(2)), cursor_error());
    let test = Tenant { environment: Environment::Test, ..tenant(1) };
    assert_eq!(read("messages,employees", test), cursor_error());
    let outside = cursor(NOW, ExportedResource::Summaries).to_text(tenant(1), &some);
    assert_eq!(parse(&[("resources", "messages,employees"), ("cursor", &outside)], tenant(1)), cursor_error());
    let unknown = Err(vec![("resources".to_owned(), Code::InvalidEnum)]);
    assert_eq!(read("people", tenant(1)), unknown, "the cursor is not blamed");
}

#[test]
fn cursor_lasts_as_long_as_the_feed_reaches_back() {
    let all = ExportedResource::ALL;
    let oldest = NOW.plus_seconds(-FEED_DAYS * DAY_SECONDS);
    let read = |at: Timestamp| {
        let text = cursor(at, ExportedResource::Attributes).to_text(tenant(1), all);
        parse(&[("cursor", &text)], tenant(1)).map(|request| request.from.is_some())
    };
    assert_eq!(read(oldest), Ok(true));
    assert_eq!(read(oldest.plus_seconds(-1)), Err(vec![("cursor".to_owned(), Code::OutOfRange)]));
}

#[test]
fn line_types_are_distinct_and_counts_include_zero() {
    let mut types = ExportRow::types();
    types.sort_unstable();
    types.dedup();
    assert_eq!(types.len(), ExportedResource::ALL.len());
    let mut counts = ExportCounts::zero(&[ExportedResource::Employees, ExportedResource::Messages]);
    counts.add(ExportedResource::Messages, 2);
    counts.add(ExportedResource::Messages, 1);
    assert_eq!(counts.total(), 3);
    let end = serde_json::to_string(&ExportEnd::new(counts)).unwrap();
    assert_eq!(end, r#"{"type":"end","counts":{"employees":0,"messages":3}}"#);
}

#[test]
fn header_repeats_the_feed_cursor_of_the_beginning() {
    let start_cursor = cursor(NOW, ExportedResource::Messages);
    let header = serde_json::to_value(ExportHeader::new(&start_cursor, &[ExportedResource::Messages])).unwrap();
    let expected_header = serde_json::json!({
        "type": "header", "started_at": NOW.to_string(), "events_cursor": start_cursor.events_cursor(),
        "resources": ["messages"], "api_version": "v1",
    });
    assert_eq!(header, expected_header);
    let feed = Params::new(vec![("cursor".to_owned(), start_cursor.events_cursor())]);
    let start = feed.parse(|params| crate::event::FeedRequest::read(params, NOW)).unwrap().start;
    assert_eq!(start, crate::event::FeedStart::After(start_cursor.events));
}

proptest! {
    #[test]
    fn cursor_survives_a_round_trip(millis in 1_799_000_000_000_i64..1_800_000_000_000, rank: i64, event: [u8; 16],
                                    index in 0..ExportedResource::ALL.len(), id: [u8; 16]) {
        let export_cursor = ExportCursor {
            started_at: Timestamp::from_millis(millis),
            events: Position { key: Key::Rank(rank), id: event },
            place: ExportPlace { resource: ExportedResource::ALL[index], id },
        };
        let text = export_cursor.to_text(tenant(1), ExportedResource::ALL);
        prop_assert_eq!(ExportCursor::read(&text, tenant(1), ExportedResource::ALL, NOW).ok(), Some(export_cursor));
    }

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,80}") {
        prop_assert!(ExportCursor::read(&text, tenant(1), ExportedResource::ALL, NOW).is_err());
    }
}
