use super::super::Visibility;
use super::super::tests::observation;
use super::*;
use crate::json::Value;
use ulid::Ulid;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

fn parse(body: &str) -> Result<Draft, Vec<(String, Code)>> {
    let Ok(Value::Object(members)) = serde_json::from_str(body) else { panic!("{body}") };
    Draft::parse(members, NOW).map_err(|problems| {
        problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect()
    })
}

fn patch_of(content: ContentPatch) -> Patch {
    Patch { content, ..Patch::default() }
}

fn body(more: &str) -> String {
    format!(r#"{{"employee_id":"emp_00000000000000000000000002","type":"strength"{more}}}"#)
}

#[test]
fn texts_are_limited_in_characters() {
    let long = |n: usize| "é".repeat(n);
    for (more, code) in [
        (format!(r#","observation":"{}""#, long(4000)), None),
        (format!(r#","observation":"{}""#, long(4001)), Some(("observation", Code::TooLong))),
        (r#","observation":"""#.to_owned(), Some(("observation", Code::TooShort))),
        (r#","observation":null"#.to_owned(), Some(("observation", Code::Required))),
        (format!(r#","observation":"x","impact":"{}""#, long(2000)), None),
        (format!(r#","observation":"x","impact":"{}""#, long(2001)), Some(("impact", Code::TooLong))),
        (
            format!(r#","observation":"x","recommended_action":"{}""#, long(2001)),
            Some(("recommended_action", Code::TooLong)),
        ),
        (r#","observation":"x","attribute_ids":null"#.to_owned(), Some(("attribute_ids", Code::Required))),
        (
            r#","observation":"x","attribute_ids":["a","a"]"#.to_owned(),
            Some(("attribute_ids", Code::InvalidFormat)),
        ),
        (
            format!(
                r#","observation":"x","attribute_ids":[{}]"#,
                (0..13).map(|number| format!("\"{number}\"")).collect::<Vec<_>>().join(",")
            ),
            Some(("attribute_ids", Code::TooLong)),
        ),
        (r#","observation":"x","observation_date":"2023-11-14""#.to_owned(), None),
        // The day has begun in the east.
        (r#","observation":"x","observation_date":"2023-11-15""#.to_owned(), None),
        (
            r#","observation":"x","observation_date":"2023-11-16""#.to_owned(),
            Some(("observation_date", Code::OutOfRange)),
        ),
        (r#","observation":"x","observation_date":null"#.to_owned(), Some(("observation_date", Code::Required))),
        (r#","observation":"x","archived_at":null"#.to_owned(), Some(("archived_at", Code::ReadOnly))),
    ] {
        let expected_codes = code.map(|(field, code)| vec![(field.to_owned(), code)]);
        assert_eq!(parse(&body(&more)).err(), expected_codes, "{more:.60}");
    }
}

#[test]
fn subject_must_have_accepted_the_invitation() {
    let draft = parse(&body(r#","observation":"x""#)).unwrap();
    let about = |status: Option<Status>| {
        let people = status.map(|status| (EmployeeId::from_ulid(Ulid(2)), status)).into_iter().collect();
        let references = References { people, ..References::default() };
        Observation::create(ObservationId::from_ulid(Ulid(9)), draft.clone(), &references, NOW).map_err(
            |refusal| {
                let DomainError::Unprocessable(problems) = refusal else { panic!("{refusal:?}") };
                problems.as_slice()[0].code
            },
        )
    };
    assert!(about(Some(Status::Active)).is_ok());
    assert!(about(Some(Status::Deactivated)).is_ok());
    assert_eq!(about(Some(Status::PendingInvite)).unwrap_err(), Code::InvalidState);
    assert_eq!(about(None).unwrap_err(), Code::NotFoundInOrganization);
}

#[test]
fn archived_attribute_is_kept_but_not_added() {
    let attribute = AttributeId::from_ulid(Ulid(7));
    let references = References { attributes: [(attribute, true)].into(), ..References::default() };
    let expected_reference = Reference { text: attribute.to_string(), id: Some(attribute) };
    let patch = Patch { attributes: Some(vec![expected_reference]), ..Patch::default() };
    assert!(matches!(observation().update(&patch, &references, NOW), Err(DomainError::Unprocessable(_))));
    let tagged_observation = Observation { attribute_ids: vec![attribute], ..observation() };
    assert_eq!(tagged_observation.update(&patch, &references, NOW), Ok(None), "nothing changes");
}

#[test]
fn each_bad_attribute_is_a_problem_of_its_own() {
    let [good, archived, absent] = [1, 2, 3].map(|number| AttributeId::from_ulid(Ulid(number)));
    let reference = |id: AttributeId| Reference { text: id.to_string(), id: Some(id) };
    let nonsense = Reference { text: "nonsense".to_owned(), id: None };
    let references_in_body = vec![reference(absent), reference(good), nonsense, reference(archived)];
    let person = (EmployeeId::from_ulid(Ulid(2)), Status::Active);
    let references = References {
        people: [person].into(),
        attributes: [(good, false), (archived, true)].into(),
        ..References::default()
    };
    let problems_of = |refused: DomainError| {
        let DomainError::Unprocessable(problems) = refused else { panic!("{refused:?}") };
        problems.as_slice().iter().map(|one| (one.field.clone(), one.code, one.value.clone())).collect::<Vec<_>>()
    };
    let field = || "attribute_ids".to_owned();
    let expected_problems = vec![
        (field(), Code::NotFoundInOrganization, Some(absent.to_string())),
        (field(), Code::NotFoundInOrganization, Some("nonsense".to_owned())),
        (field(), Code::InvalidState, None),
    ];
    let patch = Patch { attributes: Some(references_in_body.clone()), ..Patch::default() };
    assert_eq!(problems_of(observation().update(&patch, &references, NOW).unwrap_err()), expected_problems);
    let draft = Draft { attributes: references_in_body, ..parse(&body(r#","observation":"x""#)).unwrap() };
    let id = ObservationId::from_ulid(Ulid(9));
    assert_eq!(problems_of(Observation::create(id, draft, &references, NOW).unwrap_err()), expected_problems);
}

#[test]
fn archived_observation_refuses_every_update() {
    let archived_observation = observation().archive(NOW).unwrap().state;
    assert!(matches!(
        archived_observation.update(&Patch::default(), &References::default(), NOW),
        Err(DomainError::Conflict(_))
    ));
    let Ok(Value::Object(wrong)) = serde_json::from_str(r#"{"observation":null,"whatever":1}"#) else { panic!() };
    assert_eq!(
        Patch::parse(wrong.clone()).resolve_with(&archived_observation),
        Ok(Patch::default()),
        "the content of the body is not checked"
    );
    assert!(Patch::parse(wrong).resolve_with(&observation()).is_err());
}

#[test]
fn only_real_changes_are_audited_and_emitted() {
    let patch = patch_of(ContentPatch { impact: Some(Some("More trust".to_owned())), ..ContentPatch::default() });
    let decision = observation().update(&patch, &References::default(), NOW).unwrap().unwrap();
    assert_eq!(decision.events, [EventType::ObservationUpdated]);
    assert_eq!(decision.audit.changes.keys().collect::<Vec<_>>(), ["impact"]);
    assert_eq!(decision.state.update(&patch, &References::default(), NOW), Ok(None));
}

#[test]
fn observation_visibility_is_person_unless_given() {
    let visibility =
        |more: &str| parse(&body(&format!(r#","observation":"x"{more}"#))).map(|draft| draft.content.visibility);
    assert_eq!(visibility(""), Ok(Visibility::Person));
    assert_eq!(visibility(r#","visibility":"managers""#), Ok(Visibility::Managers));
    let visibility_error = |code| Err(vec![("visibility".to_owned(), code)]);
    assert_eq!(visibility(r#","visibility":null"#), visibility_error(Code::Required));
    assert_eq!(visibility(r#","visibility":"everyone""#), visibility_error(Code::InvalidEnum));
}

#[test]
fn visibility_change_is_an_update_with_an_audit_entry() {
    let observation_before = observation();
    let patch = patch_of(ContentPatch { visibility: Some(Visibility::Managers), ..ContentPatch::default() });
    let decision = observation_before.update(&patch, &References::default(), NOW).unwrap().unwrap();
    assert_eq!(decision.events, [EventType::ObservationUpdated]);
    assert_eq!(decision.state.visibility, Visibility::Managers);
    assert_eq!(decision.audit.changes.keys().collect::<Vec<_>>(), ["visibility"]);
    assert_eq!(decision.state.update(&patch, &References::default(), NOW), Ok(None));
}

#[test]
fn metadata_is_merged_and_bounded_after_the_merge() {
    let metadata = |keys: std::ops::Range<usize>| keys.map(|key| (key.to_string(), "x".to_owned())).collect();
    let observation_before = Observation { metadata: Metadata(metadata(0..20)), ..observation() };
    let update = |text: &str| {
        let Ok(Value::Object(body)) = serde_json::from_str(text) else { panic!("{text}") };
        Patch::parse(body).resolve_with(&observation_before)
    };
    let patch = update(r#"{"metadata":{"0":null,"1":"y","new":""}}"#).unwrap();
    let observation_after = observation_before.update(&patch, &References::default(), NOW).unwrap().unwrap();
    let mut expected_metadata: std::collections::BTreeMap<_, _> = metadata(2..20);
    expected_metadata.extend([("1".to_owned(), "y".to_owned()), ("new".to_owned(), String::new())]);
    assert_eq!(
        (observation_after.state.metadata, observation_after.events),
        (Metadata(expected_metadata), vec![EventType::ObservationUpdated])
    );
    let error = update(r#"{"metadata":{"new":"x"}}"#).unwrap_err();
    assert_eq!((error.as_slice()[0].field.as_str(), error.as_slice()[0].code), ("metadata", Code::TooLong));
    let unchanged_patch = update(r#"{"metadata":{"1":"x","absent":null}}"#).unwrap();
    assert_eq!(observation_before.update(&unchanged_patch, &References::default(), NOW), Ok(None));
    assert!(update(r#"{"metadata":null}"#).is_err());
}

#[test]
fn external_id_of_another_observation_is_a_conflict() {
    let draft = parse(&body(r#","observation":"x","external_id":"crm-7","metadata":{"k":"v","n":null}"#)).unwrap();
    let people = [(EmployeeId::from_ulid(Ulid(2)), Status::Active)].into();
    let mut references = References { people, ..References::default() };
    let first_observation =
        Observation::create(ObservationId::from_ulid(Ulid(9)), draft.clone(), &references, NOW).unwrap().state;
    assert_eq!(first_observation.external_id.as_deref(), Some("crm-7"));
    assert_eq!(first_observation.metadata, Metadata([("k".to_owned(), "v".to_owned())].into()));
    references.external_ids.add("crm-7", first_observation.id, true);
    let conflict = DomainError::already_taken("external_id", "crm-7", Some(first_observation.id));
    let second_result = Observation::create(ObservationId::from_ulid(Ulid(10)), draft, &references, NOW);
    assert_eq!(second_result.unwrap_err(), conflict);
    let patch = |external_id: Option<&str>| {
        let external_id = Some(external_id.map(str::to_owned));
        patch_of(ContentPatch { external_id, ..ContentPatch::default() })
    };
    assert_eq!(observation().update(&patch(Some("crm-7")), &references, NOW).unwrap_err(), conflict);
    assert_eq!(first_observation.update(&patch(Some("crm-7")), &references, NOW), Ok(None), "it keeps its own");
    let without_external_id = first_observation.update(&patch(None), &references, NOW).unwrap().unwrap();
    assert_eq!(without_external_id.state.external_id, None);
}
