use super::super::tests::{NOON, summary};
use super::super::{BODY_CHARS, TITLE_CHARS};
use super::*;
use crate::decision::Resource;
use crate::json::{Object, Value};
use crate::notification::{Recipients, Type};
use ulid::Ulid;

const PERSON: &str = "emp_00000000000000000000000002";

fn object(text: &str) -> Object {
    let Ok(Value::Object(members)) = serde_json::from_str(text) else { panic!("{text}") };
    members
}

fn parse(more: &str) -> Result<Draft, Vec<(String, Code)>> {
    let body = format!(r#"{{"employee_id":"{PERSON}","title":"First half"{more}}}"#);
    Draft::parse(object(&body)).map_err(|problems| {
        problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect()
    })
}

fn reference<K: Kind>(number: u128) -> Reference<K> {
    let id = Id::from_ulid(Ulid(number));
    Reference { text: id.to_string(), id: Some(id) }
}

#[test]
fn invalid_field_of_a_creation_is_reported() {
    let long = |n: usize| "é".repeat(n);
    let ids = |count: usize| (0..count).map(|index| format!("\"{index}\"")).collect::<Vec<_>>().join(",");
    let table = [
        (String::new(), None),
        (format!(r#","body":"{}""#, long(BODY_CHARS)), None),
        (format!(r#","body":"{}""#, long(BODY_CHARS + 1)), Some(("body", Code::TooLong))),
        (r#","body":null"#.to_owned(), Some(("body", Code::Required))),
        (r#","body":7"#.to_owned(), Some(("body", Code::InvalidFormat))),
        (r#","author_id":7"#.to_owned(), Some(("author_id", Code::InvalidFormat))),
        (r#","period_start":"2026-01-01","period_end":"2026-01-01""#.to_owned(), None),
        (
            r#","period_start":"2026-01-02","period_end":"2026-01-01""#.to_owned(),
            Some(("period_end", Code::OutOfRange)),
        ),
        (r#","period_start":"2026-01-01""#.to_owned(), Some(("period_end", Code::Required))),
        (r#","period_end":"2026-01-01","period_start":null"#.to_owned(), Some(("period_start", Code::Required))),
        (r#","period_start":null,"period_end":null"#.to_owned(), None),
        (format!(r#","included_objective_ids":[{}]"#, ids(MAX_OBJECTIVES)), None),
        (format!(r#","included_objective_ids":[{}]"#, ids(101)), Some(("included_objective_ids", Code::TooLong))),
        (r#","included_objective_ids":null"#.to_owned(), Some(("included_objective_ids", Code::Required))),
        (format!(r#","included_observation_ids":[{}]"#, ids(MAX_OBSERVATIONS)), None),
        (
            format!(r#","included_observation_ids":[{}]"#, ids(201)),
            Some(("included_observation_ids", Code::TooLong)),
        ),
        (
            r#","included_observation_ids":["a","a"]"#.to_owned(),
            Some(("included_observation_ids", Code::InvalidFormat)),
        ),
        (r#","metadata":null"#.to_owned(), Some(("metadata", Code::Required))),
        (r#","metadata":{"cycle":1}"#.to_owned(), Some(("metadata.cycle", Code::InvalidFormat))),
        (r#","external_id":null"#.to_owned(), None),
        (r#","external_id":"""#.to_owned(), Some(("external_id", Code::TooShort))),
        (format!(r#","external_id":"{}""#, long(129)), Some(("external_id", Code::TooLong))),
        (r#","status":"draft""#.to_owned(), Some(("status", Code::ReadOnly))),
        (r#","employee_feedback":null"#.to_owned(), Some(("employee_feedback", Code::ReadOnly))),
        (r#","period":1"#.to_owned(), Some(("period", Code::UnknownField))),
    ];
    for (more, code) in table {
        let expected_codes = code.map(|(field, code)| vec![(field.to_owned(), code)]);
        assert_eq!(parse(&more).err(), expected_codes, "{more:.60}");
    }
    for (title, code) in [(long(TITLE_CHARS + 1), Code::TooLong), (" ".to_owned(), Code::TooShort)] {
        let error =
            Draft::parse(object(&format!(r#"{{"employee_id":"{PERSON}","title":"{title}"}}"#))).unwrap_err();
        assert_eq!(error.as_slice()[0].code, code);
    }
}

#[test]
fn all_invalid_references_are_reported_at_once() {
    let draft = Draft {
        author: Some(Some(reference(3))),
        objectives: vec![reference(10), reference(11)],
        observations: vec![reference(20), reference(21), reference(22), reference(23)],
        ..parse("").unwrap()
    };
    let about =
        |person: u128, is_archived| StoredObservation { employee_id: Id::from_ulid(Ulid(person)), is_archived };
    let observation = |number: u128| ObservationId::from_ulid(Ulid(number));
    let mut references = References {
        people: [2].map(|number| Id::from_ulid(Ulid(number))).into(),
        objectives: [Id::from_ulid(Ulid(10))].into(),
        observations: [
            (observation(20), about(2, false)),
            (observation(21), about(9, false)),
            (observation(22), about(2, true)),
        ]
        .into(),
        ..References::default()
    };
    let id = SummaryId::from_ulid(Ulid(1));
    let Err(DomainError::Unprocessable(refused)) = Summary::create(id, draft.clone(), &references, NOON) else {
        panic!()
    };
    let codes: Vec<_> = refused.as_slice().iter().map(|problem| (problem.field.as_str(), problem.code)).collect();
    let expected_codes = [
        ("author_id", Code::NotFoundInOrganization),
        ("included_objective_ids", Code::NotFoundInOrganization),
        ("included_observation_ids", Code::InvalidState),
        ("included_observation_ids", Code::InvalidState),
        ("included_observation_ids", Code::NotFoundInOrganization),
    ];
    assert_eq!(codes, expected_codes);
    references.people.insert(Id::from_ulid(Ulid(3)));
    references.objectives.insert(Id::from_ulid(Ulid(11)));
    references.observations = (20..24).map(|number| (observation(number), about(2, false))).collect();
    let creation = Summary::create(id, draft, &references, NOON).unwrap();
    assert_eq!((creation.state.status, creation.events), (Status::Draft, vec![EventType::SummaryCreated]));
    assert_eq!(creation.state.included_observation_ids, [20, 21, 22, 23].map(observation), "in their order");
}

#[test]
fn only_added_observations_are_checked() {
    let (kept, added) = (reference::<ObservationKind>(20), reference::<ObservationKind>(21));
    let summary_before = Summary { included_observation_ids: vec![kept.id.unwrap()], ..summary(Status::Draft) };
    let with = |wanted: Vec<_>| Patch { observations: Some(wanted), ..Patch::default() };
    assert_eq!(
        summary_before.update(
            &summary_before,
            with(vec![kept.clone()]),
            &References::default(),
            None,
            false,
            NOON
        ),
        Ok(None)
    );
    let both = with(vec![added, kept]);
    assert!(matches!(
        summary_before.update(&summary_before, both, &References::default(), None, false, NOON),
        Err(DomainError::Unprocessable(_))
    ));
    let hidden_id = Id::from_ulid(Ulid(30));
    let hiding = Summary { archived_observation_ids: vec![hidden_id], ..summary_before };
    let emptied_summary =
        hiding.update(&hiding, with(vec![]), &References::default(), None, false, NOON).unwrap().unwrap().state;
    assert_eq!(emptied_summary.given_observation_ids(), [], "replacing the shown ids removes archived ones too");
}

#[test]
fn summary_update_keeps_ids_that_are_not_shown() {
    let (seen, added) = (reference::<ObservationKind>(20), reference::<ObservationKind>(21));
    let [unseen, archived_unseen] = [30, 31].map(|number| Id::from_ulid(Ulid(number)));
    let summary_before = Summary {
        included_observation_ids: vec![unseen, seen.id.unwrap()],
        archived_observation_ids: vec![archived_unseen],
        ..summary(Status::Draft)
    };
    let mut visible_summary = summary_before.clone();
    visible_summary.retain_linked(&|id| id.to_bytes() == seen.id.unwrap().to_bytes());
    assert_eq!(visible_summary.given_observation_ids(), [seen.id.unwrap()]);
    let about = StoredObservation { employee_id: summary_before.employee_id, is_archived: false };
    let references = References { observations: [(added.id.unwrap(), about)].into(), ..References::default() };
    let update = |wanted: Vec<_>| {
        let patch = Patch { observations: Some(wanted), ..Patch::default() };
        summary_before.update(&visible_summary, patch, &references, None, false, NOON)
    };
    assert_eq!(update(vec![seen]), Ok(None));
    let ids_after = |wanted: Vec<_>| update(wanted).unwrap().unwrap().state.given_observation_ids();
    assert_eq!(ids_after(vec![]), [unseen, archived_unseen]);
    assert_eq!(ids_after(vec![added.clone()]), [added.id.unwrap(), unseen, archived_unseen]);
    let reference = Reference { text: unseen.to_string(), id: Some(unseen) };
    assert!(
        matches!(update(vec![reference]), Err(DomainError::Unprocessable(_))),
        "like an id that does not exist"
    );
}

#[test]
fn each_change_of_a_summary_fires_an_event() {
    let patch = |text: &str| Patch::parse(object(text)).resolve_with(&summary(Status::PendingReview)).unwrap();
    let table = [
        (r#"{"title":"Second half"}"#, Some(1)),
        (r#"{"period_start":"2026-01-01","period_end":"2026-06-30"}"#, Some(1)),
        (r#"{"body":"Calm."}"#, Some(1)),
        (r#"{"metadata":{"cycle":"2026-h1"}}"#, Some(1)),
        (r#"{"external_id":"crm-7"}"#, Some(1)),
        (r#"{"metadata":{"absent":null},"external_id":null}"#, None),
        (
            r#"{"body":"Calm under pressure.","status":"pending_review","author_id":"emp_00000000000000000000000003"}"#,
            None,
        ),
    ];
    for (text, events) in table {
        let summary_before = summary(Status::PendingReview);
        let update_decision = summary_before
            .update(&summary_before, patch(text), &References::default(), None, false, NOON)
            .unwrap();
        assert_eq!(update_decision.map(|decision| decision.events.len()), events, "{text}");
    }
}

#[test]
fn other_content_in_review_that_needs_approval_is_notified() {
    for (status, needs_approval, text, is_notified) in [
        (Status::PendingReview, true, r#"{"body":"Swapped."}"#, true),
        (Status::PendingReview, true, r#"{"title":"Swapped"}"#, true),
        (Status::PendingReview, true, r#"{"period_start":"2026-01-01","period_end":"2026-06-30"}"#, true),
        (Status::PendingReview, true, r#"{"metadata":{"a":"b"}}"#, false),
        (Status::PendingReview, false, r#"{"body":"Swapped."}"#, false),
        (Status::Draft, true, r#"{"body":"Swapped."}"#, false),
    ] {
        let summary_before = summary(status);
        let patch = Patch::parse(object(text)).resolve_with(&summary_before).unwrap();
        let editor = summary_before.author_id;
        let decision = summary_before
            .update(&summary_before, patch, &References::default(), editor, needs_approval, NOON)
            .unwrap()
            .unwrap();
        let sent_notices: Vec<_> = decision.notices.iter().map(|notice| (notice.kind, notice.to)).collect();
        let expected_notice = (Type::SummaryChanged, Recipients::ManagerOf(summary_before.employee_id));
        assert_eq!(sent_notices, if is_notified { vec![expected_notice] } else { vec![] }, "{status:?} {text}");
    }
}

#[test]
fn period_is_checked_after_merging_the_update() {
    let days = |text: &str| Some(text.parse().unwrap());
    let summary_before =
        Summary { period_start: days("2026-01-01"), period_end: days("2026-06-30"), ..summary(Status::Draft) };
    let codes = |text: &str| {
        let problems =
            Patch::parse(object(text)).resolve_with(&summary_before).err().unwrap_or_else(ValidationErrors::none);
        problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect::<Vec<_>>()
    };
    assert_eq!(codes(r#"{"period_start":"2026-06-30"}"#), []);
    assert_eq!(codes(r#"{"period_start":"2026-07-01"}"#), [("period_end".to_owned(), Code::OutOfRange)]);
    assert_eq!(codes(r#"{"period_start":null}"#), [("period_start".to_owned(), Code::Required)]);
    assert_eq!(codes(r#"{"period_start":null,"period_end":null}"#), []);
}

#[test]
fn fixed_summary_refuses_any_update() {
    for status in [Status::Approved, Status::Shared, Status::Archived] {
        let summary_before = summary(status);
        let patch = Patch::parse(object(r#"{"title":null,"whatever":1}"#)).resolve_with(&summary_before).unwrap();
        let error =
            summary_before.update(&summary_before, patch, &References::default(), None, false, NOON).unwrap_err();
        assert_eq!(error, DomainError::transition("status", status.word(), "update"));
    }
    assert!(Patch::parse(object(r#"{"title":null}"#)).resolve_with(&summary(Status::PendingReview)).is_err());
}

#[test]
fn external_id_of_another_summary_is_a_conflict() {
    let (one, other) = (SummaryId::from_ulid(Ulid(1)), SummaryId::from_ulid(Ulid(9)));
    let draft = parse(r#","external_id":"crm-7","metadata":{"cycle":"h1"}"#).unwrap();
    let mut references = References { people: [draft.employee.id.unwrap()].into(), ..References::default() };
    let first_summary = Summary::create(one, draft.clone(), &references, NOON).unwrap().state;
    assert_eq!(first_summary.metadata, Metadata([("cycle".to_owned(), "h1".to_owned())].into()));
    references.external_ids.add("crm-7", one, true);
    let conflict = DomainError::already_taken("external_id", "crm-7", Some(one));
    assert_eq!(Summary::create(other, draft, &references, NOON).unwrap_err(), conflict);
    let patch = || Patch::parse(object(r#"{"external_id":"crm-7"}"#)).resolve_with(&first_summary).unwrap();
    assert_eq!(
        first_summary.update(&first_summary, patch(), &references, None, false, NOON),
        Ok(None),
        "it keeps its own"
    );
    let another = Summary { id: other, external_id: None, ..first_summary.clone() };
    assert_eq!(another.update(&another, patch(), &references, None, false, NOON).unwrap_err(), conflict);
}
