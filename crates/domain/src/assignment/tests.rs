use super::*;
use crate::access::tests::{bound_caller, unbound};
use crate::access::{AccessLevel, PermissionError};
use crate::event::EventType;
use crate::id::ObservationId;
use crate::json::{Object, Value};
use crate::keyed::Metadata;
use crate::notification::Recipients;
use crate::observation;
use crate::people;
use crate::problem::{Code, ValidationErrors};
use ulid::Ulid;

pub(crate) const NOON: Timestamp = Timestamp::from_millis(1_772_366_400_000);

fn person(number: u128) -> EmployeeId {
    EmployeeId::from_ulid(Ulid(number))
}

/// Returns an open assignment with three reviewers, which two submissions complete.
pub(crate) fn assignment() -> Assignment {
    let reviewer_ids: Vec<_> = [3, 4, 5].map(person).to_vec();
    Assignment {
        id: AssignmentId::from_ulid(Ulid(1)),
        employee_id: person(2),
        requester_id: Some(person(9)),
        title: "Before the review".to_owned(),
        instructions: None,
        due_date: None,
        submissions: reviewer_ids.iter().map(|reviewer| Submission::pending(*reviewer)).collect(),
        reviewer_ids,
        required_submissions: 2,
        status: Status::Open,
        submitted_count: 0,
        created_at: NOON,
        updated_at: NOON,
        metadata: Metadata::default(),
        external_id: None,
    }
}

fn object(text: &str) -> Object {
    let Ok(Value::Object(members)) = serde_json::from_str(text) else { panic!("{text}") };
    members
}

type Found = Vec<(String, Code)>;
/// A field, its value as JSON, and the expected problem.
type Case<'a> = (&'a str, String, Option<(&'a str, Code)>);

fn field_codes(problems: &ValidationErrors) -> Found {
    problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect()
}

fn refusal_codes(refused: DomainError) -> Found {
    let DomainError::Unprocessable(problems) = refused else { panic!("{refused:?}") };
    field_codes(&problems)
}

/// Builds a body from `good` with some members replaced or added.
fn with(good: &str, members: &[(&str, String)]) -> Object {
    let mut body = object(good);
    for (name, value) in members {
        body.set(name, serde_json::from_str(value).unwrap());
    }
    body
}

fn check(good: &str, table: &[Case<'_>], parse: impl Fn(Object) -> Option<ValidationErrors>) {
    for (name, value, wanted) in table {
        let codes =
            parse(with(good, &[(name, value.clone())])).map(|problems| field_codes(&problems)).unwrap_or_default();
        let expected_codes: Found = wanted.iter().map(|(field, code)| ((*field).to_owned(), *code)).collect();
        assert_eq!(codes, expected_codes, "{name}: {value:.60}");
    }
}

const GOOD: &str = r#"{"employee_id":"emp_2","title":"x","reviewer_ids":["a","b","c"]}"#;

#[test]
fn new_assignment_with_bad_fields_names_each_of_them() {
    let text = |chars: usize| format!("\"{}\"", "é".repeat(chars));
    let people = |count: usize| {
        format!("[{}]", (0..count).map(|number| format!("\"{number}\"")).collect::<Vec<_>>().join(","))
    };
    let owned_text = |text: &str| text.to_owned();
    let table = [
        ("employee_id", "null".to_owned(), Some(("employee_id", Code::Required))),
        ("employee_id", "7".to_owned(), Some(("employee_id", Code::InvalidFormat))),
        ("requester_id", "null".to_owned(), None),
        ("requester_id", "[]".to_owned(), Some(("requester_id", Code::InvalidFormat))),
        ("title", text(200), None),
        ("title", text(201), Some(("title", Code::TooLong))),
        ("title", "\"\"".to_owned(), Some(("title", Code::TooShort))),
        ("instructions", text(4000), None),
        ("instructions", text(4001), Some(("instructions", Code::TooLong))),
        ("due_date", "\"2026-02-29\"".to_owned(), Some(("due_date", Code::InvalidFormat))),
        ("due_date", "\"2020-02-29\"".to_owned(), None),
        ("reviewer_ids", people(50), None),
        ("reviewer_ids", people(51), Some(("reviewer_ids", Code::TooLong))),
        ("reviewer_ids", people(0), Some(("reviewer_ids", Code::TooShort))),
        ("reviewer_ids", "[\"a\",\"a\"]".to_owned(), Some(("reviewer_ids", Code::InvalidFormat))),
        ("reviewer_ids", "null".to_owned(), Some(("reviewer_ids", Code::Required))),
        ("required_submissions", owned_text("1"), None),
        ("required_submissions", owned_text("3"), None),
        ("required_submissions", owned_text("4"), Some(("required_submissions", Code::OutOfRange))),
        ("required_submissions", owned_text("0"), Some(("required_submissions", Code::OutOfRange))),
        ("required_submissions", owned_text("51"), Some(("required_submissions", Code::OutOfRange))),
        ("required_submissions", owned_text("1.5"), Some(("required_submissions", Code::InvalidFormat))),
        ("required_submissions", owned_text("null"), Some(("required_submissions", Code::Required))),
        ("status", "\"open\"".to_owned(), Some(("status", Code::ReadOnly))),
        ("submitted_count", "0".to_owned(), Some(("submitted_count", Code::ReadOnly))),
        ("reviewers", "[]".to_owned(), Some(("reviewers", Code::UnknownField))),
        ("metadata", r#"{"cycle":1}"#.to_owned(), Some(("metadata.cycle", Code::InvalidFormat))),
        ("external_id", text(128), None),
        ("external_id", text(129), Some(("external_id", Code::TooLong))),
    ];
    check(GOOD, &table, |body| Draft::parse(body).err());
}

const SUBMITTED: &str = r#"{"reviewer_id":"emp_3","observations":[{"type":"strength","observation":"Listens."}]}"#;

#[test]
fn submission_with_bad_fields_names_field_and_observation() {
    let one = |members: &str| format!(r#"[{{"type":"strength","observation":"x"}},{{{members}}}]"#);
    let many = |count: usize| format!("[{}]", vec![r#"{"type":"strength","observation":"x"}"#; count].join(","));
    let table = [
        ("reviewer_id", "null".to_owned(), Some(("reviewer_id", Code::Required))),
        ("observations", many(10), None),
        ("observations", many(11), Some(("observations", Code::TooLong))),
        ("observations", many(0), Some(("observations", Code::TooShort))),
        ("observations", "null".to_owned(), Some(("observations", Code::Required))),
        ("observations", "{}".to_owned(), Some(("observations", Code::InvalidFormat))),
        ("observations", "[7]".to_owned(), Some(("observations[0]", Code::InvalidFormat))),
        ("observations", one(r#""type":"strength""#), Some(("observations[1].observation", Code::Required))),
        (
            "observations",
            one(r#""type":"praise","observation":"x""#),
            Some(("observations[1].type", Code::InvalidEnum)),
        ),
        (
            "observations",
            one(r#""type":"strength","observation":"x","observation_date":"2026-03-03""#),
            Some(("observations[1].observation_date", Code::OutOfRange)),
        ),
        (
            "observations",
            one(r#""type":"strength","observation":"x","author_id":"emp_3""#),
            Some(("observations[1].author_id", Code::ReadOnly)),
        ),
        (
            "observations",
            one(r#""type":"strength","observation":"x","employee_id":"emp_2""#),
            Some(("observations[1].employee_id", Code::ReadOnly)),
        ),
        (
            "observations",
            one(r#""type":"strength","observation":"x","metadata":{"k":[]}"#),
            Some(("observations[1].metadata.k", Code::InvalidFormat)),
        ),
        (
            "observations",
            format!("[{}]", [r#"{"type":"strength","observation":"x","external_id":"crm-7"}"#; 2].join(",")),
            Some(("observations[1].external_id", Code::InvalidFormat)),
        ),
        (
            "observations",
            one(r#""type":"strength","observation":"x","a":1"#),
            Some(("observations[1].a", Code::UnknownField)),
        ),
        ("status", "\"submit\"".to_owned(), Some(("status", Code::UnknownField))),
    ];
    check(SUBMITTED, &table, |body| {
        SubmissionDraft::parse(body, &assignment(), &unbound(AccessLevel::Standard), NOON).err()
    });
}

#[test]
fn assignment_names_existing_people_and_a_joined_subject() {
    let create = |known: &[(u128, people::Status)]| {
        let body = format!(
            r#"{{"employee_id":"{}","requester_id":"{}","title":"x","reviewer_ids":["{}","{}"]}}"#,
            person(2),
            person(9),
            person(3),
            person(4)
        );
        let references = References {
            people: known.iter().map(|(id, status)| (person(*id), *status)).collect(),
            ..References::default()
        };
        let draft = Draft::parse(object(&body)).unwrap();
        assert_eq!(draft.people(), [2, 9, 3, 4].map(person));
        Assignment::create(AssignmentId::from_ulid(Ulid(1)), draft, &references, NOON)
    };
    use people::Status::{Active, Deactivated, PendingInvite};
    let decision = create(&[(2, Deactivated), (9, Active), (3, PendingInvite), (4, Active)]).unwrap();
    assert_eq!((decision.events, decision.state.required_submissions), (vec![EventType::AssignmentCreated], 2));
    let recipients: Vec<_> = decision.notices.iter().map(|notice| notice.to).collect();
    assert_eq!(recipients, [3, 4].map(|number| Recipients::Person(person(number))));
    let missing = |field: &str| (field.to_owned(), Code::NotFoundInOrganization);
    let all = [missing("employee_id"), missing("requester_id"), missing("reviewer_ids"), missing("reviewer_ids")];
    assert_eq!(refusal_codes(create(&[]).unwrap_err()), all);
    let error = create(&[(2, PendingInvite), (9, Active), (3, Active), (4, Active)]).unwrap_err();
    assert_eq!(refusal_codes(error), [("employee_id".to_owned(), Code::InvalidState)]);
}

fn submission_of(reviewer: u128, observations: usize) -> SubmissionDraft {
    let one = r#"{"type":"strength","observation":"Listens."}"#;
    let observations = vec![one; observations].join(",");
    let body = format!(r#"{{"reviewer_id":"{}","observations":[{observations}]}}"#, person(reviewer));
    SubmissionDraft::parse(object(&body), &assignment(), &unbound(AccessLevel::Standard), NOON).unwrap()
}

fn submit(
    to: &Assignment,
    draft: SubmissionDraft,
) -> Result<(Decision<Assignment>, Vec<Decision<observation::Observation>>), DomainError> {
    let people = [2, 3, 4, 5, 9].map(|number| (person(number), people::Status::Active)).into();
    let mut references = observation::References { people, ..Default::default() };
    references.external_ids.add("taken", ObservationId::from_ulid(Ulid(7)), true);
    let next = std::cell::Cell::new(100);
    let ids = || ObservationId::from_ulid(Ulid(next.replace(next.get() + 1)));
    to.submit(draft, ids, &references, NOON)
}

#[test]
fn submission_creates_observations_by_its_reviewer() {
    let (decision, observations) = submit(&assignment(), submission_of(4, 2)).unwrap();
    for observation in &observations {
        assert_eq!((observation.state.employee_id, observation.state.author_id), (person(2), Some(person(4))));
        assert_eq!(
            (observation.events.as_slice(), observation.audit.action),
            (&[EventType::ObservationCreated][..], "observation.create")
        );
    }
    let state = &decision.state;
    assert_eq!(
        (state.status, state.submitted_count, decision.events.as_slice()),
        (Status::Open, 1, &[EventType::AssignmentUpdated][..])
    );
    assert_eq!(
        state.submissions[1].observation_ids,
        [100, 101].map(|number| ObservationId::from_ulid(Ulid(number)))
    );
    let statuses = state.submissions.iter().map(|submission| submission.status);
    use SubmissionStatus::{Pending, Submitted};
    assert_eq!(statuses.collect::<Vec<_>>(), [Pending, Submitted, Pending]);
    assert_eq!(decision.notices, []);
}

#[test]
fn last_required_submission_completes_and_notifies_requester() {
    let first = submit(&assignment(), submission_of(4, 1)).unwrap().0.state;
    let last = submit(&first, submission_of(3, 1)).unwrap().0;
    assert_eq!((last.state.status, last.events), (Status::Completed, vec![EventType::AssignmentCompleted]));
    assert_eq!(last.notices.iter().map(|notice| notice.to).collect::<Vec<_>>(), [Recipients::Person(person(9))]);
    let nobody = Assignment { requester_id: None, ..first };
    assert_eq!(submit(&nobody, submission_of(3, 1)).unwrap().0.notices, []);
}

#[test]
fn each_status_accepts_only_its_actions() {
    let open_assignment = submit(&assignment(), submission_of(4, 1)).unwrap().0.state;
    let completed_assignment = submit(&open_assignment, submission_of(3, 1)).unwrap().0.state;
    let cancellation = open_assignment.cancel(NOON).unwrap();
    assert_eq!(
        (cancellation.events.as_slice(), cancellation.audit.action),
        (&[EventType::AssignmentCanceled][..], "assignment.cancel")
    );
    let canceled_assignment = cancellation.state;
    // Per status: submission by a pending reviewer, by a reviewer who has submitted, by a non-reviewer; then
    // cancel.
    let table = [
        (&open_assignment, [Ok(()), Err(409), Err(422), Ok(())]),
        (&completed_assignment, [Err(409), Err(409), Err(409), Err(409)]),
        (&canceled_assignment, [Err(409), Err(409), Err(409), Err(409)]),
    ];
    let status = |refused: DomainError| match &refused {
        DomainError::Conflict(_) => 409,
        DomainError::Unprocessable(problems) => {
            assert_eq!(field_codes(problems), [("reviewer_id".to_owned(), Code::NotAReviewer)]);
            422
        }
        DomainError::Invalid(_) | DomainError::NotFound | DomainError::Denied(_) => panic!("{refused:?}"),
    };
    for (from, wanted) in table {
        let submit = |reviewer| submit(from, submission_of(reviewer, 1)).map(drop).map_err(status);
        let results = [submit(5), submit(4), submit(7), from.cancel(NOON).map(drop).map_err(status)];
        assert_eq!(results, wanted, "{:?}", from.status);
    }
}

#[test]
fn bad_reference_in_a_submission_names_its_observation() {
    let body = r#"{"reviewer_id":"emp_00000000000000000000000003","observations":[
        {"type":"strength","observation":"x"},
        {"type":"strength","observation":"x","attribute_ids":["a","b"]}]}"#;
    let draft =
        SubmissionDraft::parse(object(body), &assignment(), &unbound(AccessLevel::Standard), NOON).unwrap();
    let missing = ("observations[1].attribute_ids".to_owned(), Code::NotFoundInOrganization);
    assert_eq!(refusal_codes(submit(&assignment(), draft).unwrap_err()), [missing.clone(), missing]);
}

#[test]
fn bound_key_requests_and_submits_as_its_person() {
    let naming = |requester: &str| Draft::parse(with(GOOD, &[("requester_id", requester.to_owned())])).unwrap();
    let own = format!("\"{}\"", person(9));
    let organization = unbound(AccessLevel::Standard);
    let table = [
        (organization.clone(), naming("null"), Ok(None)),
        (organization.clone(), naming(&own), Ok(Some(person(9)))),
        (bound_caller(person(9), false), Draft::parse(object(GOOD)).unwrap(), Ok(Some(person(9)))),
        (bound_caller(person(9), true), Draft::parse(object(GOOD)).unwrap(), Ok(Some(person(9)))),
        (bound_caller(person(9), false), naming(&own), Ok(Some(person(9)))),
        (bound_caller(person(9), false), naming("null"), Err(PermissionError::OtherPerson)),
        (bound_caller(person(8), false), naming(&own), Err(PermissionError::OtherPerson)),
        (bound_caller(person(8), true), naming(&own), Err(PermissionError::OtherPerson)),
    ];
    for (caller, draft, wanted) in table {
        let draft_of_person = draft.clone().asked_by(&caller);
        assert_eq!(draft_of_person.map(|draft| draft.people().first().copied()), wanted, "{caller:?} {draft:?}");
    }
    let submission = submission_of(4, 1);
    assert_eq!(submission.may_be_submitted_by(&bound_caller(person(4), false)), Ok(()));
    assert_eq!(submission.may_be_submitted_by(&organization), Ok(()));
    for is_org_admin in [false, true] {
        let other = bound_caller(person(3), is_org_admin);
        assert_eq!(submission.may_be_submitted_by(&other), Err(PermissionError::OtherPerson));
    }
    let body = r#"{"observations":[{"type":"strength","observation":"x"}]}"#;
    let reviewer = bound_caller(person(4), false);
    let parse = |caller| SubmissionDraft::parse(object(body), &assignment(), caller, NOON);
    assert_eq!(parse(&reviewer).unwrap().may_be_submitted_by(&reviewer), Ok(()));
    assert_eq!(field_codes(&parse(&organization).unwrap_err()), [("reviewer_id".to_owned(), Code::Required)]);
}

#[test]
fn assignment_is_canceled_by_its_requester_and_org_admins() {
    let table = [
        (unbound(AccessLevel::Standard), true),
        (bound_caller(person(9), false), true),
        (bound_caller(person(4), false), false),
        (bound_caller(person(4), false).with_level(AccessLevel::Admin), false),
        (bound_caller(person(7), true), true),
    ];
    for (caller, may) in table {
        let expected_error = (!may).then_some(PermissionError::NotTheRequester);
        assert_eq!(assignment().may_be_canceled_by(&caller).err(), expected_error, "{caller:?}");
    }
}

#[test]
fn submitted_observation_names_its_requester() {
    let observations = submit(&assignment(), submission_of(4, 2)).unwrap().1;
    assert!(observations.iter().all(|decision| decision.state.requester_id == Some(person(9))));
}

#[test]
fn assignment_without_due_date_sorts_last_and_matches_no_bounds() {
    use crate::params::Bounds;
    let day = |text: &str| text.parse::<Date>().unwrap();
    assert_eq!(assignment().due_by(), day("9999-12-31"));
    let due_between = |gte, lte| Assignment::due_within(Bounds { gte, lte });
    assert_eq!(due_between(None, None), Bounds::default());
    let some = Some(day("2026-03-02"));
    assert_eq!(due_between(some, None), Bounds { gte: some, lte: Some(day("9999-12-30")) });
    assert_eq!(due_between(None, some), Bounds { gte: None, lte: some });
}

#[test]
fn json_has_the_members_of_the_contract() {
    let state = submit(&assignment(), submission_of(4, 1)).unwrap().0.state;
    assert_eq!(
        serde_json::to_string(&state).unwrap(),
        r#"{"id":"asg_00000000000000000000000001","employee_id":"emp_00000000000000000000000002","requester_id":"emp_00000000000000000000000009","title":"Before the review","instructions":null,"due_date":null,"reviewer_ids":["emp_00000000000000000000000003","emp_00000000000000000000000004","emp_00000000000000000000000005"],"required_submissions":2,"status":"open","submissions":[{"reviewer_id":"emp_00000000000000000000000003","status":"pending","observation_ids":[],"submitted_at":null},{"reviewer_id":"emp_00000000000000000000000004","status":"submitted","observation_ids":["obs_00000000000000000000000034"],"submitted_at":"2026-03-01T12:00:00.001Z"},{"reviewer_id":"emp_00000000000000000000000005","status":"pending","observation_ids":[],"submitted_at":null}],"submitted_count":1,"created_at":"2026-03-01T12:00:00.000Z","updated_at":"2026-03-01T12:00:00.001Z","metadata":{},"external_id":null}"#
    );
}

mod external_ids;
