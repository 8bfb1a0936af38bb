//! External ids of assignments and of submitted observations.

use super::*;

#[test]
fn taken_external_id_in_a_submission_names_its_observation() {
    let body = |second: &str| {
        let first = r#"{"type":"strength","observation":"x","external_id":"taken"}"#;
        let body = format!(
            r#"{{"reviewer_id":"emp_00000000000000000000000003","observations":[
                {{"type":"strength","observation":"x"}},{first},{second}]}}"#
        );
        SubmissionDraft::parse(object(&body), &assignment(), &unbound(AccessLevel::Standard), NOON).unwrap()
    };
    let DomainError::Conflict(conflict) =
        submit(&assignment(), body(r#"{"type":"strength","observation":"x"}"#)).unwrap_err()
    else {
        panic!()
    };
    let holder = ObservationId::from_ulid(Ulid(7)).to_string();
    assert_eq!((conflict.field.as_str(), conflict.conflicting_id), ("observations[1].external_id", Some(holder)));
    let unknown = body(r#"{"type":"strength","observation":"x","attribute_ids":["a"]}"#);
    let missing = ("observations[2].attribute_ids".to_owned(), Code::NotFoundInOrganization);
    assert_eq!(refusal_codes(submit(&assignment(), unknown).unwrap_err()), [missing], "references come first");
}

#[test]
fn external_id_of_another_assignment_is_a_conflict() {
    let text = format!(
        r#"{{"employee_id":"{}","title":"x","reviewer_ids":["{}"],"external_id":"crm-7","metadata":{{"k":"v"}}}}"#,
        person(2),
        person(3)
    );
    let draft = Draft::parse(object(&text)).unwrap();
    let people = [2, 3].map(|number| (person(number), people::Status::Active)).into();
    let mut references = References { people, ..References::default() };
    let [one, other] = [1, 2].map(|number| AssignmentId::from_ulid(Ulid(number)));
    let first_assignment = Assignment::create(one, draft.clone(), &references, NOON).unwrap().state;
    assert_eq!(first_assignment.metadata, Metadata([("k".to_owned(), "v".to_owned())].into()));
    references.external_ids.add("crm-7", one, true);
    let conflict = DomainError::already_taken("external_id", "crm-7", Some(one));
    assert_eq!(Assignment::create(other, draft, &references, NOON).unwrap_err(), conflict);
}
