//! Tests of erasures.

use serde_json::json;

use super::*;
use crate::json;
use crate::people::{Employee, Hold, Status};
use crate::refusal::DomainError;
use ulid::Ulid;

const AT: Timestamp = Timestamp::from_millis(5_000);

fn person() -> Employee {
    let person = crate::people::tests::employee(1);
    Employee { status: Status::Deactivated, job_title: Some("Nurse".to_owned()), ..person }
}

fn draft() -> ErasureDraft {
    ErasureDraft { reason: Some("Request of 2 March".to_owned()) }
}

#[test]
fn erased_person_keeps_id_and_pseudonym() {
    let person_before = person();
    let erasure = person_before.erase(draft(), AT).unwrap();
    let text = serde_json::to_string(&erasure.state).unwrap();
    assert!(!text.contains("Ada") && !text.contains("Nurse") && !text.contains("person1@"), "{text}");
    assert_eq!(erasure.state.id, person_before.id);
    assert_eq!(erasure.state.email, format!("erased-{}@erased.invalid", person_before.id));
    assert!(erasure.audit.changes.is_empty());
    assert_eq!(erasure.audit.comment.as_deref(), Some("Request of 2 March"));
}

#[test]
fn erasure_is_refused_for_active_held_and_erased_people() {
    let hold = Some(Hold { reason: "Lawsuit".to_owned(), held_at: AT });
    let erased_person = person().erase(draft(), AT).unwrap().state;
    for (person, field) in [
        (Employee { status: Status::Active, ..person() }, "status"),
        (Employee { status: Status::PendingInvite, ..person() }, "status"),
        (Employee { hold, ..person() }, "legal_hold"),
        (erased_person, "status"),
    ] {
        let Err(DomainError::Conflict(conflict)) = person.erase(draft(), AT) else { panic!("{person:?}") };
        assert_eq!(conflict.field, field);
    }
}

#[test]
fn repeated_erasure_ignores_the_status_and_the_hold_of_a_backup() {
    let hold = Some(Hold { reason: "Lawsuit".to_owned(), held_at: AT });
    let restored_person = Employee { status: Status::Active, deactivated_at: None, hold, ..person() };
    let erased_person = restored_person.erase_again(AT).unwrap().state;
    assert_eq!(
        (erased_person.status, erased_person.deactivated_at, &erased_person.hold),
        (Status::Deactivated, Some(AT), &None)
    );
    assert!(erased_person.erased_at.is_some() && !erased_person.first_name.contains("Ada"));
    assert_eq!(erased_person.erase_again(AT), None);
}

#[test]
fn mention_is_an_id_or_the_address_in_any_case() {
    let person = EmployeeId::from_ulid(Ulid(7));
    let other = EmployeeId::from_ulid(Ulid(9));
    let mentions = Mentions::new(person, [Ulid(8).0.to_be_bytes()], Some("Ada@Example.com"));
    let observation = crate::id::ObservationId::from_ulid(Ulid(8));
    for (text, wanted) in [
        (format!(r#"{{"employee_id":"{person}"}}"#), true),
        (format!("a {observation}"), true),
        (format!(r#"{{"employee_id":"{other}"}}"#), false),
        ("ADA@example.COM".to_owned(), true),
        ("_".to_owned(), false),
        (String::new(), false),
    ] {
        assert_eq!(mentions.occur_in(&text, AT), wanted, "{text}");
    }
}

#[test]
fn event_data_of_the_person_keeps_only_its_id() {
    let (person, other) = (EmployeeId::from_ulid(Ulid(7)), EmployeeId::from_ulid(Ulid(9)));
    let mentions = Mentions::new(person, [], None);
    for (kind, data, wanted) in [
        (EventType::EmployeeUpdated, format!(r#"{{"id":"{person}","first_name":"Ada"}}"#), true),
        (EventType::ObservationCreated, format!(r#"{{"id":"obs_1","employee_id":"{person}"}}"#), true),
        (EventType::ObservationCreated, format!(r#"{{"id":"obs_1","author_id":"{person}"}}"#), false),
        (EventType::EmployeeUpdated, format!(r#"{{"id":"{other}","manager_id":"{person}"}}"#), false),
        (EventType::EmployeeErased, format!(r#"{{"id":"{person}"}}"#), false),
        (EventType::EmployeeUpdated, format!(r#"{{"id":"{person}","erased":true}}"#), false),
    ] {
        let remaining_data = erased_event_data(kind, &data, AT, &mentions);
        assert_eq!(remaining_data.is_some(), wanted, "{data}");
        assert!(remaining_data.is_none_or(|data| data.contains(r#""erased":true"#) && !data.contains("Ada")));
    }
}

#[test]
fn events_of_messages_and_connectors_lose_only_the_texts() {
    let (person, other) = (EmployeeId::from_ulid(Ulid(7)), EmployeeId::from_ulid(Ulid(9)));
    let message = |author: EmployeeId, body: &str| {
        format!(r#"{{"author_id":"{author}","body":"{body}","conversation_id":"cnv_1","id":"msg_1"}}"#)
    };
    let connector = |message: &str| format!(r#"{{"id":"con_1","last_sync_message":{message}}}"#);
    let mentions = Mentions::new(person, [], Some("ada@example.com"));
    let (created, updated) = (EventType::ConversationMessageCreated, EventType::ConnectorUpdated);
    for (kind, data, wanted) in [
        (created, message(person, "Shall we?"), Some(message(person, ERASED_BODY))),
        (created, message(person, ERASED_BODY), None),
        (created, message(other, "Ask ada@example.com."), None),
        (updated, connector(r#""Row 2: Ada@example.com is taken.""#), Some(connector("null"))),
        (updated, connector(r#""Row 2: no name.""#), None),
        (updated, connector("null"), None),
    ] {
        assert_eq!(erased_event_data(kind, &data, AT, &mentions), wanted, "{data}");
    }
}

#[test]
fn event_of_a_resource_under_a_hold_keeps_its_data() {
    let (person, id) = (EmployeeId::from_ulid(Ulid(7)), Ulid(8));
    let held_mentions = Mentions::new(person, [], None).except([id.0.to_be_bytes()]);
    let observation = format!(r#"{{"id":"obs_{id}","employee_id":"{person}"}}"#);
    assert_eq!(erased_event_data(EventType::ObservationCreated, &observation, AT, &held_mentions), None);
    let message = format!(r#"{{"id":"msg_1","conversation_id":"cnv_{id}","author_id":"{person}","body":"Hi"}}"#);
    assert_eq!(erased_event_data(EventType::ConversationMessageCreated, &message, AT, &held_mentions), None);
}

#[test]
fn columns_with_words_of_people_have_no_statistics() {
    let columns: Vec<_> = texts::columns_without_statistics().collect();
    assert!(columns.contains(&("messages", "body")) && !columns.contains(&("search_pending", "table_name")));
}

#[test]
fn address_is_found_whole_and_behind_an_escape() {
    let mentions = Mentions::new(EmployeeId::from_ulid(Ulid(7)), [], Some("ada@example.com"));
    for text in [
        "ada@example.com",
        "<ADA@Example.com>",
        "Ask ada@example.com. Then wait",
        r#"{"body":"Hello\nada@example.com\tand"}"#,
        r#"{"body":"\u00a0ada@example.com"}"#,
        r#"name "\u{000061}da@example.com" is taken"#,
    ] {
        assert!(mentions.has_email(text), "{text}");
    }
    for text in [
        "nada@example.com",
        "benada@example.com",
        "x.ada@example.com",
        "ada@example.com.au",
        "ada@example.community",
        "ada@example-com",
        r#"{"body":"u00a0ada@example.com"}"#,
    ] {
        assert!(!mentions.has_email(text), "{text}");
    }
    let of_host = Mentions::new(EmployeeId::from_ulid(Ulid(7)), [], Some("ada@[192.0.2.1]"));
    assert!(of_host.has_email("Mail to ada@[192.0.2.1] came back"));
}

/// An address whose domain has a letter outside of ASCII, in several spellings.
const SPELLINGS: [&str; 6] = [
    "ada.love@müller.example",
    "Ada.Love@MÜLLER.example",
    "ada.love@xn--mller-kva.example",
    "ADA.LOVE@XN--MLLER-KVA.EXAMPLE",
    "ada.love@mu\u{308}ller.example",
    "ada.love@m\u{200b}üller。example",
];

#[test]
fn address_is_found_in_each_spelling() {
    for stored in &SPELLINGS[..5] {
        let mentions = Mentions::new(EmployeeId::from_ulid(Ulid(7)), [], Some(stored));
        for spelling in SPELLINGS {
            for text in [
                spelling.to_owned(),
                format!("manager_email {spelling:?} does not exist"),
                format!("Ask {spelling}, then wait."),
                format!("ist es {spelling}？"),
                json!({"message": format!("email {spelling:?} is taken")}).to_string(),
            ] {
                assert!(mentions.has_email(&text) && mentions.names_person(&text), "{stored} {text}");
            }
        }
        for text in ["ada.love@muller.example", "love@müller.example", "ada.love@müller.example.org", "@", "a@"]
        {
            assert!(!mentions.has_email(text), "{stored} {text}");
        }
    }
}

#[test]
fn truncated_address_and_name_are_found_by_their_beginning() {
    let names = ["ada.love@müller.example".to_owned(), "uid-4711".to_owned()];
    let mentions = Mentions::new(EmployeeId::from_ulid(Ulid(7)), [], Some(&names[0])).with_names(&names);
    for spelling in SPELLINGS[..5].iter().chain([&"uid-4711"]) {
        for count in 4..=spelling.chars().count() {
            let cut: String = spelling.chars().take(count).collect();
            for text in
                [format!("1 row had errors; manager_email \"{cut}…"), format!("unknown: `{cut}…` and more")]
            {
                assert!(mentions.names_person(&text), "{text}");
            }
        }
    }
    for text in ["\"ad…", "\"ada.x…", "\"xada.love…", "uid-47…", "an uid-4711", "\"uid-47\"", "…", "\"…"]
    {
        assert!(!mentions.names_person(text), "{text}");
    }
}

#[test]
fn events_of_connectors_lose_messages_with_any_name() {
    let names = ["ada@example.com".to_owned(), "4711".to_owned(), "Ada@Idp".to_owned()];
    let mentions = Mentions::new(EmployeeId::from_ulid(Ulid(7)), [], Some(&names[0])).with_names(&names);
    for (message, is_named) in [
        ("external_id \"4711\" conflicts with this row", true),
        ("No person has the name `ada@idp`", true),
        ("Ask ada@IDP.", true),
        ("external_id \"47110\" conflicts with this row", false),
        ("4711 of 4711 rows had errors", false),
    ] {
        let data = json!({"id": "con_1", "last_sync_message": message});
        let remaining_data = erased_event_data(EventType::ConnectorSyncFailed, &data.to_string(), AT, &mentions);
        assert_eq!(remaining_data.is_some(), is_named, "{message}");
        let value = json::parse(json!([{"to": message}]).to_string().as_bytes()).unwrap();
        assert_eq!(mentions.name_person_in(&value), is_named, "{message}");
    }
    let value = json::parse(br#"{"4711": "", "n": 4711}"#).unwrap();
    assert!(!mentions.name_person_in(&value), "members are no texts");
    assert!(!super::mailbox::ComparedText::may_name("4711 of 4711 rows had errors"), "nothing to compare");
}

#[test]
fn completed_erasure_forgets_the_address() {
    let plan = ErasurePlan {
        employee_id: EmployeeId::from_ulid(Ulid(7)),
        requested_by: Requester::key(KeyId::from_ulid(Ulid(2))),
        counts: BTreeMap::new(),
        tables_to_rewrite: vec![],
        sealed_email: vec![1],
    };
    let running = Erasure::begin(ErasureId::from_ulid(Ulid(3)), plan, AT);
    assert!(!running.may_complete(AT.plus_seconds(3_600)));
    let clean = running.with_clean_index(AT);
    assert!(!clean.may_complete(AT) && clean.may_complete(AT.plus_seconds(INDEX_SECONDS)));
    let completed_erasure = clean.complete(BTreeMap::from([("messages".to_owned(), 2)]), AT.plus_seconds(20));
    assert_eq!(
        (completed_erasure.state.status, completed_erasure.state.sealed_email),
        (ErasureStatus::Completed, None)
    );
    assert_eq!(completed_erasure.events, [EventType::ErasureCompleted]);
}

#[test]
fn requester_is_found_by_its_id() {
    let (key, run) =
        (Requester::key(KeyId::from_ulid(Ulid(2))), Requester::run(RetentionRunId::from_ulid(Ulid(3))));
    assert_eq!((Requester::with_id(&key.id), Requester::with_id(&run.id)), (Some(key), Some(run)));
    assert_eq!(Requester::with_id("emp_00000000000000000000000002"), None);
}
