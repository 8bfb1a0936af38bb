use serde_json::{Value as Json, json};

use super::super::tests::{NOON, objective};
use super::super::{Draft, Family, Objective, Patch, References, Status, StoredOwner};
use super::*;
use crate::id::ObjectiveId;
use crate::json::{self, Object, Value};
use crate::people::Role;
use crate::refusal::DomainError;
use ulid::Ulid;

fn object(body: &str) -> Object {
    let Ok(Value::Object(members)) = json::parse(body.as_bytes()) else { panic!("{body}") };
    members
}

fn ids(count: u128) -> Vec<KeyResultId> {
    (1..=count).map(|number| KeyResultId::from_ulid(Ulid(number))).collect()
}

fn codes(problems: &ValidationErrors) -> Vec<(&str, Code)> {
    problems.as_slice().iter().map(|problem| (problem.field.as_str(), problem.code)).collect()
}

/// Creates an objective with these key results.
fn create(key_results: &str) -> Result<Objective, ValidationErrors> {
    let owner = EMPLOYEE;
    let body = format!(
        r#"{{"owner_id":"{owner}","title":"x","period_start":"2026-01-01","period_end":"2026-12-31",
             "status":"approved","key_results":{key_results}}}"#
    );
    let draft = Draft::parse(Family::Employees, object(&body))?;
    let references = References {
        owner: Some(StoredOwner { role: Role::Employee, in_reach: true }),
        key_result_ids: ids(u128::try_from(draft.new_key_results()).unwrap()),
        ..References::default()
    };
    Ok(Objective::create(ObjectiveId::from_ulid(Ulid(1)), draft, &references, NOON).unwrap().state)
}

const EMPLOYEE: &str = "emp_00000000000000000000000002";

/// Updates the key results. Returns the new list as JSON, or the status and the problems: 400 for problems of the
/// body, 422 for problems that only the stored key results show.
fn patch(stored: &Objective, key_results: &str) -> Result<Json, (u16, Vec<(String, Code)>)> {
    let codes_of = |problems: &ValidationErrors| {
        codes(problems).into_iter().map(|(field, code)| (field.to_owned(), code)).collect::<Vec<_>>()
    };
    let update = Patch::parse(object(&format!(r#"{{"key_results":{key_results}}}"#)));
    let patch = update.resolve_with(stored).map_err(|problems| (400, codes_of(&problems)))?;
    let new_count = u128::try_from(patch.new_key_results()).unwrap();
    let new_ids = (0..new_count).map(|number| KeyResultId::from_ulid(Ulid(100 + number))).collect();
    let references = References { key_result_ids: new_ids, ..References::default() };
    match stored.update(&patch, &references, false, NOON) {
        Ok(decision) => {
            let state = decision.map_or_else(|| stored.clone(), |decision| decision.state);
            Ok(serde_json::to_value(&state.key_results).unwrap())
        }
        Err(DomainError::Unprocessable(problems)) => Err((422, codes_of(&problems))),
        Err(other) => panic!("{other}"),
    }
}

fn kr(number: u128) -> String {
    KeyResultId::from_ulid(Ulid(number)).to_string()
}

#[test]
fn new_key_results_have_the_defaults_of_their_metric() {
    let objective_after = create(
        r#"[{"title":"Revenue","unit":"EUR","target":1e3},{"title":"Share","metric":"percent","weight":3},
            {"title":"Done","metric":"boolean"},{"title":"Errors","start":10.50,"target":-0.1}]"#,
    )
    .unwrap();
    let expected_results = json!([
        {"id": kr(1), "title": "Revenue", "metric": "number", "unit": "EUR", "start": 0, "target": 1000, "current": 0,
         "weight": 1, "progress": 0},
        {"id": kr(2), "title": "Share", "metric": "percent", "unit": null, "start": 0, "target": 100, "current": 0,
         "weight": 3, "progress": 0},
        {"id": kr(3), "title": "Done", "metric": "boolean", "unit": null, "start": 0, "target": 1, "current": 0,
         "weight": 1, "progress": 0},
        {"id": kr(4), "title": "Errors", "metric": "number", "unit": null, "start": 10.5, "target": -0.1,
         "current": 10.5, "weight": 1, "progress": 0},
    ]);
    assert_eq!(serde_json::to_value(&objective_after.key_results).unwrap(), expected_results);
    assert_eq!(objective_after.progress, Some(0));
    assert_eq!(create("[]").unwrap().progress, None);
}

#[test]
fn key_results_at_their_bounds_are_accepted() {
    let (title, unit) = ("é".repeat(KEY_RESULT_TITLE_CHARS), "€".repeat(UNIT_CHARS));
    let widest = format!(
        r#"{{"title":"{title}","unit":"{unit}","start":-1e12,"target":1000000000000.0000,"weight":100,"metric":"number"}}"#
    );
    let all = [widest.as_str(); MAX_KEY_RESULTS].join(",");
    let key_results = create(&format!("[{all}]")).unwrap().key_results;
    assert_eq!(key_results.len(), 10);
    assert!(
        key_results.iter().all(|result| result.title == title && result.unit.as_deref() == Some(unit.as_str()))
    );
    let nothing = r#"[{"title":"x","metric":"boolean","unit":null},{"title":"y","metric":"percent","unit":null}]"#;
    assert!(create(nothing).is_ok(), "null is no unit");
}

#[test]
fn wrong_key_result_of_a_creation_names_its_place() {
    let eleven = format!("[{}]", [r#"{"title":"x","target":1}"#; 11].join(","));
    let blank_unit = r#"[{"title":"x","target":1,"unit":""}]"#;
    let long_title = format!(r#"[{{"title":"{}","target":1}}]"#, "x".repeat(KEY_RESULT_TITLE_CHARS + 1));
    let long_unit = format!(r#"[{{"title":"x","target":1,"unit":"{}"}}]"#, "x".repeat(UNIT_CHARS + 1));
    let both = r#"[{"title":"x","target":1},{"title":"y","start":7,"target":7.0}]"#;
    for (body, wanted) in [
        ("null", vec![("key_results", Code::Required)]),
        ("{}", vec![("key_results", Code::InvalidFormat)]),
        (eleven.as_str(), vec![("key_results", Code::TooLong)]),
        (r#"[1]"#, vec![("key_results[0]", Code::InvalidFormat)]),
        (r#"[{"target":1}]"#, vec![("key_results[0].title", Code::Required)]),
        (r#"[{"title":" ","target":1}]"#, vec![("key_results[0].title", Code::TooShort)]),
        (r#"[{"title":"x"}]"#, vec![("key_results[0].target", Code::Required)]),
        (r#"[{"title":"x","target":null}]"#, vec![("key_results[0].target", Code::Required)]),
        (r#"[{"title":"x","target":"1"}]"#, vec![("key_results[0].target", Code::InvalidFormat)]),
        (r#"[{"title":"x","target":1.00001}]"#, vec![("key_results[0].target", Code::InvalidFormat)]),
        (r#"[{"title":"x","target":1e13}]"#, vec![("key_results[0].target", Code::OutOfRange)]),
        (both, vec![("key_results[1].target", Code::OutOfRange)]),
        (r#"[{"title":"x","target":-0}]"#, vec![("key_results[0].target", Code::OutOfRange)]),
        (r#"[{"title":"x","metric":"percent","start":1e2}]"#, vec![("key_results[0].target", Code::OutOfRange)]),
        (blank_unit, vec![("key_results[0].unit", Code::TooShort)]),
        (long_title.as_str(), vec![("key_results[0].title", Code::TooLong)]),
        (long_unit.as_str(), vec![("key_results[0].unit", Code::TooLong)]),
        (r#"[{"title":"x","metric":"boolean","unit":"EUR"}]"#, vec![("key_results[0].unit", Code::NotPossible)]),
        (r#"[{"title":"x","start":1e13,"target":1}]"#, vec![("key_results[0].start", Code::OutOfRange)]),
        (r#"[{"title":"x","start":true,"target":1}]"#, vec![("key_results[0].start", Code::InvalidFormat)]),
        (r#"[{"title":"x","target":1,"weight":101}]"#, vec![("key_results[0].weight", Code::OutOfRange)]),
        (r#"[{"title":"x","metric":"percent","unit":"EUR"}]"#, vec![("key_results[0].unit", Code::NotPossible)]),
        (
            r#"[{"title":"x","metric":"boolean","start":0,"target":1}]"#,
            vec![("key_results[0].start", Code::NotPossible), ("key_results[0].target", Code::NotPossible)],
        ),
        (r#"[{"title":"x","metric":"money","target":1}]"#, vec![("key_results[0].metric", Code::InvalidEnum)]),
        (r#"[{"title":"x","target":1,"weight":0}]"#, vec![("key_results[0].weight", Code::OutOfRange)]),
        (r#"[{"title":"x","target":1,"weight":1.5}]"#, vec![("key_results[0].weight", Code::InvalidFormat)]),
        (
            r#"[{"title":"x","target":1,"id":"kr_1","current":2,"progress":3,"wight":4}]"#,
            vec![
                ("key_results[0].id", Code::ReadOnly),
                ("key_results[0].current", Code::ReadOnly),
                ("key_results[0].progress", Code::ReadOnly),
                ("key_results[0].wight", Code::UnknownField),
            ],
        ),
    ] {
        assert_eq!(codes(&create(body).unwrap_err()), wanted, "{body}");
    }
}

#[test]
fn list_of_an_update_keeps_adds_reorders_and_removes() {
    let objective_before = create(
        r#"[{"title":"a","target":10,"unit":"EUR"},{"title":"b","metric":"percent"},{"title":"c","metric":"boolean"}]"#,
    )
    .unwrap();
    let body = format!(
        r#"[{{"id":"{}"}},{{"title":"new","target":2}},{{"id":"{}","title":"A","unit":null,"start":1,"weight":5}}]"#,
        kr(2),
        kr(1)
    );
    let expected_results = json!([
        {"id": kr(2), "title": "b", "metric": "percent", "unit": null, "start": 0, "target": 100, "current": 0,
         "weight": 1, "progress": 0},
        {"id": kr(100), "title": "new", "metric": "number", "unit": null, "start": 0, "target": 2, "current": 0,
         "weight": 1, "progress": 0},
        {"id": kr(1), "title": "A", "metric": "number", "unit": null, "start": 1, "target": 10, "current": 1,
         "weight": 5, "progress": 0},
    ]);
    assert_eq!(patch(&objective_before, &body), Ok(expected_results));
    assert_eq!(patch(&objective_before, "[]"), Ok(json!([])));
    // A list as GET shows it changes nothing.
    let results_before = serde_json::to_string(&objective_before.key_results).unwrap();
    let update = Patch::parse(object(&format!(r#"{{"key_results":{results_before}}}"#)));
    let unchanged_patch = update.resolve_with(&objective_before).unwrap();
    assert_eq!(objective_before.update(&unchanged_patch, &References::default(), false, NOON), Ok(None));
}

#[test]
fn wrong_key_result_of_an_update_names_its_place() {
    let objective_before = create(
        r#"[{"title":"a","target":10,"unit":"EUR"},{"title":"b","metric":"percent"},{"title":"c","metric":"boolean"}]"#,
    )
    .unwrap();
    let (number, percent, boolean) = (kr(1), kr(2), kr(3));
    let one = |id: &str, members: &str| format!(r#"[{{"id":"{id}",{members}}}]"#);
    let place = |member: &str| format!("key_results[0].{member}");
    for (body, status, member, code) in [
        (one(&number, r#""target":0"#), 400, "target", Code::OutOfRange),
        (one(&number, r#""start":10"#), 400, "target", Code::OutOfRange),
        (one(&number, r#""start":3,"target":3"#), 400, "target", Code::OutOfRange),
        (one(&number, r#""metric":"percent""#), 400, "metric", Code::ReadOnly),
        (one(&number, r#""current":1"#), 400, "current", Code::ReadOnly),
        (one(&number, r#""progress":1"#), 400, "progress", Code::ReadOnly),
        (one(&number, r#""title":null"#), 400, "title", Code::Required),
        (one(&percent, r#""unit":"EUR""#), 422, "unit", Code::NotPossible),
        (one(&boolean, r#""start":1"#), 422, "start", Code::NotPossible),
        (one(&boolean, r#""target":2"#), 422, "target", Code::NotPossible),
        (one(&boolean, r#""unit":"EUR""#), 422, "unit", Code::NotPossible),
        (one(&number, r#""weight":101"#), 400, "weight", Code::OutOfRange),
        (one(&number, r#""target":null"#), 400, "target", Code::Required),
        (one(&number, r#""metric":null"#), 400, "metric", Code::Required),
        (one(&kr(9), r#""title":"x""#), 422, "id", Code::NotFoundInOrganization),
        (one("7", r#""title":"x""#), 422, "id", Code::NotFoundInOrganization),
        (r#"[{"title":"x","target":1,"current":0}]"#.to_owned(), 400, "current", Code::ReadOnly),
        (r#"[{"target":1}]"#.to_owned(), 400, "title", Code::Required),
    ] {
        assert_eq!(patch(&objective_before, &body), Err((status, vec![(place(member), code)])), "{body}");
    }
    let duplicate_ids = format!(r#"[{{"id":"{number}"}},{{"id":"{number}"}}]"#);
    let expected_codes = vec![("key_results[1].id".to_owned(), Code::InvalidFormat)];
    assert_eq!(patch(&objective_before, &duplicate_ids), Err((400, expected_codes)));
    assert_eq!(patch(&objective_before, "null"), Err((400, vec![("key_results".to_owned(), Code::Required)])));
}

#[test]
fn key_results_are_approved_content() {
    let objective_before = create(r#"[{"title":"a","target":10}]"#).unwrap();
    assert_eq!(objective_before.status, Status::Approved);
    let patch = Patch::parse(object(r#"{"key_results":[]}"#)).resolve_with(&objective_before).unwrap();
    let other_members = Patch::parse(object(r#"{"metadata":{"a":"b"}}"#)).resolve_with(&objective_before).unwrap();
    assert_eq!((patch.new_key_results(), other_members.new_key_results()), (0, 0));
    for stored in [&objective_before, &objective(Status::Proposed, true)] {
        let update = stored.update(&other_members, &References::default(), true, NOON).unwrap().unwrap();
        assert_eq!((update.state.changed_since_approval, update.notices.len()), (false, 0), "no content");
    }
    for needs_approval in [true, false] {
        let update =
            objective_before.update(&patch, &References::default(), needs_approval, NOON).unwrap().unwrap();
        assert_eq!(update.events, [crate::event::EventType::ObjectiveUpdated]);
        assert!(update.audit.changes.contains_key("key_results"));
        assert_eq!(
            (update.state.changed_since_approval, update.notices.len()),
            (needs_approval, needs_approval.into())
        );
    }
    let completed_objective = Objective { status: Status::Completed, ..objective(Status::Completed, false) };
    let error = completed_objective.update(&Patch::default(), &References::default(), false, NOON);
    assert!(matches!(error, Err(DomainError::Conflict(_))));
}

#[test]
fn stored_key_results_survive_a_round_trip() {
    let mut objective_before =
        create(r#"[{"title":"a","target":10.0001,"unit":"EUR"},{"title":"c","metric":"boolean"}]"#).unwrap();
    objective_before.key_results[0].checked = Some(Decimal::parse("999999999999.9998").unwrap());
    let stored_results: Vec<_> = objective_before.key_results.into_iter().map(KeyResult::with_figures).collect();
    let text = super::super::key_result::text(&stored_results);
    assert_eq!(super::super::key_result::parse(&text), Some(stored_results));
    assert_eq!(super::super::key_result::parse("{}"), None);
}
