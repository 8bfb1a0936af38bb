use super::*;
use crate::access::tests::{bound_caller, unbound};
use crate::access::{AccessLevel, PermissionError};
use crate::event::EventType;
use crate::fields::{Reference, StringEnum};
use crate::id::{EmployeeKind, MessageId, ObjectiveId};
use crate::json::{Object, Value};
use crate::notification::Recipients;
use crate::problem::Code;
use ulid::Ulid;

pub(crate) const NOON: Timestamp = Timestamp::from_millis(1_772_366_400_000);

fn person(number: u128) -> EmployeeId {
    EmployeeId::from_ulid(Ulid(number))
}

pub(crate) fn conversation() -> Conversation {
    Conversation {
        id: ConversationId::from_ulid(Ulid(1)),
        title: "The second quarter".to_owned(),
        about: Some(About::Objective(ObjectiveId::from_ulid(Ulid(9)))),
        participant_ids: vec![person(2), person(3)],
        last_message_at: None,
        created_at: NOON,
        updated_at: NOON,
        archived_at: None,
        joins: Joins::default(),
    }
}

fn object(text: &str) -> Object {
    let Ok(Value::Object(members)) = serde_json::from_str(text) else { panic!("{text}") };
    members
}

type Found = Vec<(String, Code)>;
/// A field, its value as JSON, and the expected problem.
type Case<'a> = (&'a str, String, Option<(&'a str, Code)>);

fn field_codes(problems: &crate::problem::ValidationErrors) -> Found {
    problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect()
}

fn refusal_codes(refused: DomainError) -> Found {
    let DomainError::Unprocessable(problems) = refused else { panic!("{refused:?}") };
    field_codes(&problems)
}

/// Builds the body of a creation from a good one with some members replaced or added.
fn body(members: &[(&str, String)]) -> Object {
    let mut body = object(r#"{"title":"x","participant_ids":["emp_1","emp_2"]}"#);
    for (name, value) in members {
        body.set(name, serde_json::from_str(value).unwrap());
    }
    body
}

#[test]
fn new_conversation_with_bad_fields_names_each_of_them() {
    let people = |count: usize| {
        format!("[{}]", (0..count).map(|number| format!("\"{number}\"")).collect::<Vec<_>>().join(","))
    };
    let text = |chars: usize| format!("\"{}\"", "é".repeat(chars));
    let table: &[Case<'_>] = &[
        ("title", text(200), None),
        ("title", text(201), Some(("title", Code::TooLong))),
        ("title", "\" \"".to_owned(), Some(("title", Code::TooShort))),
        ("title", "null".to_owned(), Some(("title", Code::Required))),
        ("participant_ids", people(20), None),
        ("participant_ids", people(21), Some(("participant_ids", Code::TooLong))),
        ("participant_ids", people(1), Some(("participant_ids", Code::TooShort))),
        ("participant_ids", "[\"a\",\"a\"]".to_owned(), Some(("participant_ids", Code::InvalidFormat))),
        ("participant_ids", "[\"a\",1]".to_owned(), Some(("participant_ids", Code::InvalidFormat))),
        ("participant_ids", "\"a\"".to_owned(), Some(("participant_ids", Code::InvalidFormat))),
        ("participant_ids", "null".to_owned(), Some(("participant_ids", Code::Required))),
        ("about", "null".to_owned(), None),
        ("about", r#"{"type":"employee","id":"whoever"}"#.to_owned(), None),
        ("about", "\"emp_1\"".to_owned(), Some(("about", Code::InvalidFormat))),
        ("about", r#"{"type":"webhook","id":"x"}"#.to_owned(), Some(("about.type", Code::InvalidEnum))),
        ("about", r#"{"type":"employee"}"#.to_owned(), Some(("about.id", Code::Required))),
        ("about", r#"{"type":"employee","id":7}"#.to_owned(), Some(("about.id", Code::InvalidFormat))),
        ("about", r#"{"type":"employee","id":"x","a":1}"#.to_owned(), Some(("about.a", Code::UnknownField))),
        ("last_message_at", "null".to_owned(), Some(("last_message_at", Code::ReadOnly))),
        ("messages", "[]".to_owned(), Some(("messages", Code::UnknownField))),
    ];
    for (name, value, wanted) in table {
        let codes = Draft::parse(body(&[(name, value.clone())]))
            .err()
            .map(|problems| field_codes(&problems))
            .unwrap_or_default();
        let expected_codes: Found = wanted.iter().map(|(field, code)| ((*field).to_owned(), *code)).collect();
        assert_eq!(codes, expected_codes, "{name}: {value:.60}");
    }
}

#[test]
fn participants_and_subject_must_exist() {
    let about = |id: &str| ("about", format!(r#"{{"type":"objective","id":"{id}"}}"#));
    let people = ("participant_ids", format!(r#"["{}","{}"]"#, person(2), person(3)));
    let goal = About::Objective(ObjectiveId::from_ulid(Ulid(9)));
    let create = |more: (&str, String), found: &References| {
        let draft = Draft::parse(body(&[people.clone(), more])).unwrap();
        Conversation::create(ConversationId::from_ulid(Ulid(1)), draft, found, NOON).map_err(refusal_codes)
    };
    let goal_id = ObjectiveId::from_ulid(Ulid(9)).to_string();
    let all = References { people: [person(2), person(3)].into(), about: Some(goal) };
    let state = create(about(&goal_id), &all).unwrap().state;
    assert_eq!((state.about, state.participant_ids), (Some(goal), vec![person(2), person(3)]));
    let one = References { people: [person(2)].into(), about: None };
    let missing = |field: &str| (field.to_owned(), Code::NotFoundInOrganization);
    assert_eq!(create(about("nonsense"), &one).unwrap_err(), [missing("about.id"), missing("participant_ids")]);
    assert_eq!(
        create(("about", "null".to_owned()), &References { about: None, ..all }).unwrap().state.about,
        None
    );
}

#[test]
fn bound_key_begins_conversations_of_its_person_only() {
    let people = ("participant_ids", format!(r#"["{}","{}"]"#, person(2), person(3)));
    let draft = Draft::parse(body(&[people])).unwrap();
    for is_org_admin in [false, true] {
        assert_eq!(draft.may_be_begun_by(&bound_caller(person(3), is_org_admin)), Ok(()));
        let outside = draft.may_be_begun_by(&bound_caller(person(4), is_org_admin));
        assert_eq!(outside, Err(PermissionError::NotAmongParticipants));
    }
    assert_eq!(draft.may_be_begun_by(&unbound(AccessLevel::Standard)), Ok(()));
}

#[test]
fn message_of_a_bound_key_has_its_person_as_author() {
    let (own, other) = (bound_caller(person(2), true), unbound(AccessLevel::Standard));
    let parse =
        |author: &str, caller| message::Draft::parse(object(&format!(r#"{{"body":"x"{author}}}"#)), caller);
    let author = |number| format!(r#","author_id":"{}""#, person(number));
    assert_eq!(parse("", &own).unwrap().may_be_written_by(&own), Ok(()));
    assert_eq!(parse(&author(2), &own).unwrap().may_be_written_by(&own), Ok(()));
    assert_eq!(parse(&author(3), &own).unwrap().may_be_written_by(&own), Err(PermissionError::OtherPerson));
    assert_eq!(parse(&author(3), &other).unwrap().may_be_written_by(&other), Ok(()));
    let missing_author = [("author_id".to_owned(), Code::Required)];
    assert_eq!(field_codes(&parse("", &other).unwrap_err()), missing_author);
    assert_eq!(field_codes(&parse(r#","author_id":null"#, &own).unwrap_err()), missing_author);
}

#[test]
fn subject_is_read_from_an_id_of_any_kind() {
    for (kind, prefix) in Type::ALL.iter().zip(["emp", "obj", "obs", "asg", "sum"]) {
        let id = format!("{prefix}_01ARZ3NDEKTSV4RRFFQ69G5FAV");
        let about = About::parse(&id).unwrap();
        assert_eq!((about.kind(), About::from_bytes(*kind, about.to_bytes())), (*kind, about));
        assert_eq!(serde_json::to_value(about).unwrap(), serde_json::json!({"type": kind.word(), "id": id}));
    }
    assert_eq!(About::parse("whk_01ARZ3NDEKTSV4RRFFQ69G5FAV"), None);
}

fn message_draft(author: EmployeeId) -> message::Draft {
    let body = object(&format!(r#"{{"author_id":"{author}","body":"Shall we?"}}"#));
    message::Draft::parse(body, &unbound(AccessLevel::Standard)).unwrap()
}

#[test]
fn archived_conversation_refuses_every_change() {
    let active_conversation = conversation();
    let archived_conversation = active_conversation.archive(NOON).unwrap().state;
    assert!(archived_conversation.updated_at > active_conversation.updated_at, "also within one millisecond");
    let message = MessageId::from_ulid(Ulid(5));
    let table = [(&active_conversation, [true, true, true]), (&archived_conversation, [false, false, false])];
    for (from, allowed) in table {
        let results = [
            from.update(&unbound(AccessLevel::Standard), &Patch::default(), &References::default(), NOON)
                .map(drop),
            from.archive(NOON).map(drop),
            from.add(message, message_draft(person(2)), NOON).map(drop),
        ];
        for (result, allowed) in results.into_iter().zip(allowed) {
            match result {
                Ok(()) => assert!(allowed),
                Err(refused) => assert!(!allowed && matches!(refused, DomainError::Conflict(_)), "{refused:?}"),
            }
        }
    }
    let Ok(Value::Object(wrong)) = serde_json::from_str(r#"{"title":null,"whatever":1}"#) else { panic!() };
    assert_eq!(
        Patch::parse(wrong.clone()).resolve_with(&archived_conversation),
        Ok(Patch::default()),
        "the content of the body is not checked"
    );
    assert!(Patch::parse(wrong).resolve_with(&active_conversation).is_err());
}

#[test]
fn title_and_participants_change_but_not_the_subject() {
    let conversation_before = conversation();
    let patch = |text: &str| Patch::parse(object(text)).resolve_with(&conversation_before);
    let references = References { people: [person(3), person(4)].into(), about: None };
    let both = format!(r#"{{"title":"Third","participant_ids":["{}","{}"]}}"#, person(3), person(4));
    let decision = conversation_before
        .update(&unbound(AccessLevel::Standard), &patch(&both).unwrap(), &references, NOON)
        .unwrap()
        .unwrap();
    assert_eq!(
        (decision.state.title.as_str(), &decision.state.participant_ids),
        ("Third", &vec![person(3), person(4)])
    );
    assert_eq!(decision.audit.changes.keys().collect::<Vec<_>>(), ["participant_ids", "title"]);
    assert_eq!(decision.events, [EventType::ConversationUpdated]);
    assert_eq!(
        conversation_before.update(
            &unbound(AccessLevel::Standard),
            &patch(r#"{"title":"The second quarter"}"#).unwrap(),
            &references,
            NOON
        ),
        Ok(None)
    );
    let body_with_absent = format!(r#"{{"participant_ids":["{}","{}"]}}"#, person(3), person(5));
    let error = conversation_before
        .update(&unbound(AccessLevel::Standard), &patch(&body_with_absent).unwrap(), &references, NOON)
        .unwrap_err();
    assert_eq!(refusal_codes(error), [("participant_ids".to_owned(), Code::NotFoundInOrganization)]);
    let about = field_codes(&patch(r#"{"about":null}"#).unwrap_err());
    assert_eq!(about, [("about".to_owned(), Code::ReadOnly)]);
    assert!(
        patch(r#"{"about":{"id":"obj_00000000000000000000000009","type":"objective"}}"#).is_ok(),
        "the stored subject is the same"
    );
}

#[test]
fn message_notifies_the_remaining_participants() {
    let conversation_before =
        Conversation { participant_ids: vec![person(2), person(3), person(4)], ..conversation() };
    let decision = conversation_before.add(MessageId::from_ulid(Ulid(5)), message_draft(person(3)), NOON).unwrap();
    assert_eq!(decision.events, [EventType::ConversationMessageCreated]);
    assert_eq!((decision.state.author_id, decision.state.created_at), (person(3), NOON));
    let recipients: Vec<_> = decision.notices.iter().map(|notice| (notice.to, notice.body.as_str())).collect();
    assert_eq!(recipients, [2, 4].map(|number| (Recipients::Person(person(number)), "Shall we?")));
    let error =
        conversation_before.add(MessageId::from_ulid(Ulid(5)), message_draft(person(9)), NOON).unwrap_err();
    assert_eq!(refusal_codes(error), [("author_id".to_owned(), Code::NotAParticipant)]);
}

#[test]
fn message_with_bad_fields_names_each_of_them() {
    let caller = unbound(AccessLevel::Standard);
    let parse = |text: String| {
        let draft = message::Draft::parse(object(&text), &caller);
        draft.err().map(|problems| field_codes(&problems)).unwrap_or_default()
    };
    let body = |text: &str| parse(format!(r#"{{"author_id":"a","body":"{text}"}}"#));
    let body_problem = |code| vec![("body".to_owned(), code)];
    assert_eq!(body(&"é".repeat(4000)), []);
    assert_eq!(body(&"é".repeat(4001)), body_problem(Code::TooLong));
    assert_eq!([body(""), body(" \\n")], [body_problem(Code::TooShort), body_problem(Code::TooShort)]);
    let all = parse(r#"{"author_id":7,"body":null,"id":"msg_1","conversation_id":"x","title":""}"#.to_owned());
    let expected_codes = [
        ("id", Code::ReadOnly),
        ("conversation_id", Code::ReadOnly),
        ("author_id", Code::InvalidFormat),
        ("body", Code::Required),
        ("title", Code::UnknownField),
    ];
    assert_eq!(all, expected_codes.map(|(field, code)| (field.to_owned(), code)));
}

#[test]
fn notice_has_an_excerpt_of_a_long_message() {
    let author = Reference::<EmployeeKind> { text: person(2).to_string(), id: Some(person(2)) };
    let text = format!(r#"{{"author_id":"{}","body":"{}"}}"#, author.text, "é".repeat(201));
    let draft = message::Draft::parse(object(&text), &unbound(AccessLevel::Standard)).unwrap();
    let decision = conversation().add(MessageId::from_ulid(Ulid(5)), draft, NOON).unwrap();
    assert_eq!(decision.notices[0].body, format!("{}…", "é".repeat(200)));
}

#[test]
fn json_has_the_members_of_the_contract() {
    assert_eq!(
        serde_json::to_string(&conversation()).unwrap(),
        r#"{"id":"cnv_00000000000000000000000001","title":"The second quarter","about":{"type":"objective","id":"obj_00000000000000000000000009"},"participant_ids":["emp_00000000000000000000000002","emp_00000000000000000000000003"],"last_message_at":null,"created_at":"2026-03-01T12:00:00.000Z","updated_at":"2026-03-01T12:00:00.000Z","archived_at":null}"#
    );
    let message = conversation().add(MessageId::from_ulid(Ulid(5)), message_draft(person(2)), NOON).unwrap().state;
    assert_eq!(
        serde_json::to_string(&message).unwrap(),
        r#"{"id":"msg_00000000000000000000000005","conversation_id":"cnv_00000000000000000000000001","author_id":"emp_00000000000000000000000002","body":"Shall we?","created_at":"2026-03-01T12:00:00.000Z"}"#
    );
}
