use serde_json::json;

use super::super::tests::{NOON, objective};
use super::super::{Patch, References};
use super::*;
use crate::access::AccessLevel;
use crate::access::tests::{bound_caller, unbound};
use crate::event::EventType;
use crate::json;
use crate::json::Object;
use ulid::Ulid;

fn object(body: &str) -> Object {
    let Ok(Value::Object(members)) = json::parse(body.as_bytes()) else { panic!("{body}") };
    members
}

fn draft(body: &str) -> CheckInDraft {
    CheckInDraft::parse(object(body)).unwrap()
}

fn id(number: u128) -> CheckInId {
    CheckInId::from_ulid(Ulid(number))
}

fn kr(number: u128) -> KeyResultId {
    KeyResultId::from_ulid(Ulid(number))
}

/// Returns an objective in progress with three key results: a number that rises, a number that falls, and a
/// boolean.
fn measured() -> Objective {
    let plain_objective = Objective { key_results: vec![], ..objective(Status::InProgress, false) };
    let body = r#"{"key_results":[{"title":"a","target":10},{"title":"b","start":100,"target":0,"weight":2},
                                  {"title":"c","metric":"boolean"}]}"#;
    let patch = Patch::parse(object(body)).resolve_with(&plain_objective).unwrap();
    let references = References { key_result_ids: vec![kr(1), kr(2), kr(3)], ..References::default() };
    plain_objective.update(&patch, &references, false, NOON).unwrap().unwrap().state
}

fn codes(result: Result<(Objective, Decision<CheckIn>), DomainError>) -> Vec<(String, Code)> {
    match result {
        Err(DomainError::Unprocessable(problems)) => {
            problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn check_in_sets_the_figures_of_the_objective() {
    let objective_before = measured();
    let body = format!(
        r#"{{"confidence":"at_risk","note":"Slow.","key_results":[{{"id":"{}","current":2.5}},
            {{"id":"{}","current":100}},{{"id":"{}","current":true}}]}}"#,
        kr(1),
        kr(2),
        kr(3)
    );
    let (state, decision) = objective_before.check_in(id(1), draft(&body), true, NOON).unwrap();
    // (0.25 × 1 + 0 × 2 + 1 × 1) / 4
    assert_eq!(state.progress, Some(31));
    assert_eq!((state.confidence, state.last_check_in_at), (Some(Confidence::AtRisk), Some(state.updated_at)));
    assert!(state.updated_at > objective_before.updated_at);
    let check_in = decision.state;
    let expected_json = json!({
        "id": id(1), "objective_id": objective_before.id, "owner_id": objective_before.owner_id, "author_id": null, "progress": 31, "confidence": "at_risk",
        "note": "Slow.", "created_at": state.updated_at,
        "key_results": [
            {"id": kr(1), "title": "a", "from": 0, "to": 2.5},
            {"id": kr(3), "title": "c", "from": 0, "to": 1},
        ],
    });
    assert_eq!(serde_json::to_value(&check_in).unwrap(), expected_json, "the second value did not change");
    assert_eq!(decision.audit.action, "objective.check_in");
    let changed_members: Vec<_> = decision.audit.changes.keys().map(String::as_str).collect();
    assert_eq!(changed_members, ["confidence", "key_results", "last_check_in_at", "progress"]);
    assert_eq!(decision.notices, []);
    assert_eq!(parse_checked(&checked_text(&check_in.key_results)), Some(check_in.key_results));
}

#[test]
fn progress_of_key_results_rounds_down_and_is_kept() {
    let one = |state: &Objective, number: u128, current: &str| {
        let body = format!(r#"{{"key_results":[{{"id":"{}","current":{current}}}]}}"#, kr(number));
        state.check_in(id(1), draft(&body), true, NOON).unwrap().0
    };
    let first = one(&measured(), 1, "9.9999");
    assert_eq!((first.key_results[0].progress, first.progress), (99, Some(24)));
    let second = one(&first, 2, "-5");
    assert_eq!((second.key_results[1].progress, second.progress), (100, Some(74)));
    assert_eq!(second.key_results[0].current.to_string(), "9.9999");
    let third = second.check_in(id(2), draft(r#"{"note":"No news."}"#), true, NOON).unwrap();
    assert_eq!((third.0.progress, third.1.state.progress), (Some(74), Some(74)));
    assert_eq!(third.0.confidence, None);
}

#[test]
fn last_stated_confidence_stays_and_each_check_in_has_its_own() {
    let apply = |state: &Objective, body: &str| state.check_in(id(1), draft(body), true, NOON).unwrap();
    let (first, _) = apply(&objective(Status::InProgress, false), r#"{"confidence":"off_track"}"#);
    let (second, silent) = apply(&first, r#"{"note":"No news.","confidence":null}"#);
    assert_eq!((second.confidence, silent.state.confidence), (Some(Confidence::OffTrack), None));
    assert_eq!(second.last_check_in_at, Some(silent.state.created_at));
    let (third, _) = apply(&second, r#"{"confidence":"on_track"}"#);
    assert_eq!(third.confidence, Some(Confidence::OnTrack));
}

#[test]
fn later_change_of_a_key_result_keeps_earlier_check_ins() {
    let five = format!(r#"{{"key_results":[{{"id":"{}","current":5}}]}}"#, kr(1));
    let (state, first) = measured().check_in(id(1), draft(&five), true, NOON).unwrap();
    assert_eq!((state.key_results[0].progress, state.progress), (50, Some(12)));
    let body = format!(r#"{{"key_results":[{{"id":"{}","title":"A","start":4,"target":6}}]}}"#, kr(1));
    let patch = Patch::parse(object(&body)).resolve_with(&state).unwrap();
    let state_after = state.update(&patch, &References::default(), false, NOON).unwrap().unwrap().state;
    assert_eq!(
        (state_after.key_results[0].progress, state_after.progress),
        (50, Some(50)),
        "removed ones do not count"
    );
    assert_eq!(state_after.last_check_in_at, state.last_check_in_at);
    let (_, second) = state_after.check_in(id(2), draft(&five.replace('5', "6")), true, NOON).unwrap();
    let titles = [&first, &second].map(|decision| decision.state.key_results[0].title.as_str());
    assert_eq!(titles, ["a", "A"], "the title of that time");
}

#[test]
fn stated_progress_counts_only_without_key_results() {
    let plain_objective = objective(Status::Approved, false);
    assert_eq!(plain_objective.progress, None);
    let (stated, _) = plain_objective.check_in(id(1), draft(r#"{"progress":40}"#), true, NOON).unwrap();
    let (quiet, _) = stated.check_in(id(2), draft(r#"{"confidence":"on_track"}"#), true, NOON).unwrap();
    assert_eq!((stated.progress, quiet.progress), (Some(40), Some(40)));
    let body = r#"{"key_results":[{"title":"a","target":10}]}"#;
    let patch = Patch::parse(object(body)).resolve_with(&quiet).unwrap();
    let references = References { key_result_ids: vec![kr(1)], ..References::default() };
    let with = quiet.update(&patch, &references, false, NOON).unwrap().unwrap().state;
    assert_eq!(with.progress, Some(0));
    let error = with.check_in(id(3), draft(r#"{"progress":50}"#), true, NOON);
    assert_eq!(codes(error), [("progress".to_owned(), Code::NotPossible)]);
    let none = Patch::parse(object(r#"{"key_results":[]}"#)).resolve_with(&with).unwrap();
    let plain_again = with.update(&none, &References::default(), false, NOON).unwrap().unwrap().state;
    assert_eq!(plain_again.progress, Some(40), "as stated last");
}

#[test]
fn current_value_stays_when_other_members_change() {
    let body = format!(r#"{{"key_results":[{{"id":"{}","current":5}}]}}"#, kr(1));
    let (stored, _) = measured().check_in(id(1), draft(&body), true, NOON).unwrap();
    let body = format!(
        r#"{{"key_results":[{{"id":"{}","target":20,"current":5}},{{"id":"{}","start":50}}]}}"#,
        kr(1),
        kr(2)
    );
    let patch = Patch::parse(object(&body)).resolve_with(&stored).unwrap();
    let state = stored.update(&patch, &References::default(), false, NOON).unwrap().unwrap().state;
    assert_eq!((state.key_results[0].current.to_string(), state.key_results[0].progress), ("5".to_owned(), 25));
    assert_eq!(state.key_results[1].current.to_string(), "50", "the start, as no check-in named it");
}

#[test]
fn check_in_is_possible_while_approved_or_in_progress() {
    for status in Status::ALL.iter().copied() {
        let result = objective(status, false).check_in(id(1), draft(r#"{"progress":1}"#), true, NOON);
        if matches!(status, Status::Approved | Status::InProgress) {
            assert!(result.is_ok(), "{status:?}");
        } else {
            let expected_error = DomainError::transition("status", status.word(), "check_in");
            assert_eq!(result.unwrap_err(), expected_error, "{status:?}");
        }
    }
}

#[test]
fn wrong_body_of_a_check_in_names_its_place() {
    let long = format!(r#"{{"note":"{}"}}"#, "x".repeat(REMARK_CHARS + 1));
    let eleven = format!(
        r#"{{"key_results":[{}]}}"#,
        (1..=11).map(|number| format!(r#"{{"id":"{}","current":1}}"#, kr(number))).collect::<Vec<_>>().join(",")
    );
    let duplicate_ids =
        format!(r#"{{"key_results":[{{"id":"{0}","current":1}},{{"id":"{0}","current":2}}]}}"#, kr(1));
    for (body, field, code) in [
        ("{}", "progress", Code::Required),
        (r#"{"author_id":null,"key_results":[]}"#, "progress", Code::Required),
        (r#"{"progress":null,"note":null}"#, "progress", Code::Required),
        (r#"{"progress":101}"#, "progress", Code::OutOfRange),
        (r#"{"progress":1.5}"#, "progress", Code::InvalidFormat),
        (r#"{"progress":-1}"#, "progress", Code::OutOfRange),
        (r#"{"progress":"40"}"#, "progress", Code::InvalidFormat),
        (r#"{"confidence":"sure"}"#, "confidence", Code::InvalidEnum),
        (r#"{"confidence":"none"}"#, "confidence", Code::InvalidEnum),
        (r#"{"note":""}"#, "note", Code::TooShort),
        (r#"{"note":" \n "}"#, "note", Code::TooShort),
        (long.as_str(), "note", Code::TooLong),
        (eleven.as_str(), "key_results", Code::TooLong),
        (duplicate_ids.as_str(), "key_results[1].id", Code::InvalidFormat),
        (r#"{"key_results":null}"#, "key_results", Code::Required),
        (r#"{"key_results":[{"id":"kr_1"}]}"#, "key_results[0].current", Code::Required),
        (r#"{"key_results":[{"current":1}]}"#, "key_results[0].id", Code::Required),
        (r#"{"key_results":[{"id":"kr_1","current":"1"}]}"#, "key_results[0].current", Code::InvalidFormat),
        (r#"{"key_results":[{"id":"kr_1","current":0.00001}]}"#, "key_results[0].current", Code::InvalidFormat),
        (r#"{"key_results":[{"id":"kr_1","current":1e13}]}"#, "key_results[0].current", Code::OutOfRange),
        (r#"{"key_results":[{"id":"kr_1","current":null}]}"#, "key_results[0].current", Code::Required),
        (r#"{"key_results":[{"id":"kr_1","current":1,"to":2}]}"#, "key_results[0].to", Code::UnknownField),
        (r#"{"progress":1,"created_at":"x"}"#, "created_at", Code::ReadOnly),
        (r#"{"progress":1,"id":"chk_1"}"#, "id", Code::ReadOnly),
        (r#"{"progress":1,"objective_id":"obj_1"}"#, "objective_id", Code::ReadOnly),
        (r#"{"progress":1,"owner_id":"emp_1"}"#, "owner_id", Code::ReadOnly),
        (r#"{"progress":1,"mood":"x"}"#, "mood", Code::UnknownField),
    ] {
        let problems = CheckInDraft::parse(object(body)).unwrap_err();
        let codes: Vec<_> = problems.as_slice().iter().map(|problem| (&*problem.field, problem.code)).collect();
        assert_eq!(codes, [(field, code)], "{body}");
    }
}

#[test]
fn check_in_at_its_bounds_is_accepted() {
    let ten = (1..=10).map(|number| format!(r#"{{"id":"{}","current":1e12}}"#, kr(number))).collect::<Vec<_>>();
    for body in [
        r#"{"progress":0}"#.to_owned(),
        r#"{"progress":100}"#.to_owned(),
        r#"{"note":"x"}"#.to_owned(),
        format!(r#"{{"note":"{}"}}"#, "é".repeat(REMARK_CHARS)),
        r#"{"confidence":"off_track","key_results":[]}"#.to_owned(),
        format!(r#"{{"key_results":[{}]}}"#, ten.join(",")),
        format!(r#"{{"key_results":[{{"id":"{}","current":-0.0001}}]}}"#, kr(1)),
    ] {
        assert!(CheckInDraft::parse(object(&body)).is_ok(), "{body}");
    }
}

#[test]
fn key_result_value_outside_its_metric_is_refused() {
    let objective_before = measured();
    for (number, current, member, code) in [
        (1, "true", "current", Code::InvalidFormat),
        (2, "false", "current", Code::InvalidFormat),
        (3, "2", "current", Code::OutOfRange),
        (3, "0.5", "current", Code::OutOfRange),
        (9, "1", "id", Code::NotFoundInOrganization),
    ] {
        let body = format!(r#"{{"key_results":[{{"id":"{}","current":{current}}}]}}"#, kr(number));
        let result = objective_before.check_in(id(1), draft(&body), true, NOON);
        assert_eq!(codes(result), [(format!("key_results[0].{member}"), code)], "{body}");
    }
    for current in ["0", "1", "false", "true", "1.0"] {
        let body = format!(r#"{{"key_results":[{{"id":"{}","current":{current}}}]}}"#, kr(3));
        let (state, _) = objective_before.check_in(id(1), draft(&body), true, NOON).unwrap();
        let expected_value = if matches!(current, "0" | "false") { "0" } else { "1" };
        assert_eq!(state.key_results[2].current.to_string(), expected_value, "{current}");
    }
}

#[test]
fn author_is_a_known_person_and_that_of_a_bound_key() {
    let author = EmployeeId::from_ulid(Ulid(7));
    let draft_with_author = draft(&format!(r#"{{"progress":1,"author_id":"{author}"}}"#));
    let objective_before = objective(Status::Approved, false);
    let (_, decision) = objective_before.check_in(id(1), draft_with_author.clone(), true, NOON).unwrap();
    assert_eq!(decision.state.author_id, Some(author));
    let error = objective_before.check_in(id(1), draft_with_author.clone(), false, NOON);
    assert_eq!(codes(error), [("author_id".to_owned(), Code::NotFoundInOrganization)]);
    let other = bound_caller(EmployeeId::from_ulid(Ulid(8)), false);
    assert_eq!(draft_with_author.clone().written_by(&other), Err(PermissionError::OtherPerson));
    assert_eq!(
        draft_with_author.clone().written_by(&bound_caller(author, false)).as_ref(),
        Ok(&draft_with_author)
    );
    let silent = draft(r#"{"progress":1}"#);
    let own = silent.clone().written_by(&bound_caller(author, false)).unwrap();
    assert_eq!(own.author().and_then(|author| author.id), Some(author));
    let none = silent.written_by(&unbound(AccessLevel::Standard)).unwrap();
    assert_eq!(none.author(), None);
}

#[test]
fn event_has_the_objective_and_its_check_in() {
    let (state, decision) = measured().check_in(id(1), draft(r#"{"note":"x"}"#), true, NOON).unwrap();
    let data =
        serde_json::to_string(&CheckedInObjective { objective: &state, check_in: &decision.state }).unwrap();
    let data: serde_json::Value = serde_json::from_str(&data).unwrap();
    let mut expected_data = serde_json::to_value(&state).unwrap();
    expected_data["check_in"] = serde_json::to_value(&decision.state).unwrap();
    assert_eq!(data, expected_data);
    assert!(decision.events.is_empty(), "the objective fires {:?}", EventType::ObjectiveCheckedIn);
}
