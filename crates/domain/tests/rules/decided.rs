//! Decisions that depend on one member of the state beside what a request names.

use super::round_trip::{AT, LATER, id, plain_employee, plain_objective, plain_summary};
use candor_domain::fields::StringEnum;
use candor_domain::json::Object;
use candor_domain::objective::{self, Action, Objective, Scope, Verb, key_result};
use candor_domain::organization::Review;
use candor_domain::people::{self, Custom, CustomFields, Employee};
use candor_domain::summary::{self, Summary};

fn object(text: &str) -> Object {
    serde_json::from_str(text).unwrap()
}

#[test]
fn changed_objective_is_approved_again_unless_finished() {
    let approve = |status| {
        let objective =
            Objective { status, changed_since_approval: true, approved_at: Some(AT), ..plain_objective() };
        let decision = objective.apply(Action::Approve { comment: None }, Review::Required, LATER).ok()?;
        Some((decision.state.status, decision.state.changed_since_approval))
    };
    use objective::Status::{Approved, Archived, Completed, InProgress, Missed, Proposed};
    for status in [Proposed, Approved, InProgress] {
        assert_eq!(approve(status), Some((status, false)), "{status:?}");
    }
    for status in [Completed, Missed, Archived] {
        assert_eq!(approve(status), None, "{status:?}");
    }
}

#[test]
fn action_has_the_text_of_its_body() {
    let text = || Some("Done".to_owned());
    for (verb, body, action) in [
        (Verb::Submit, "{}", Action::Submit),
        (Verb::Approve, r#"{"comment":"Done"}"#, Action::Approve { comment: text() }),
        (Verb::Reject, r#"{"reason":"Done"}"#, Action::Reject { reason: "Done".to_owned() }),
        (Verb::Complete, r#"{"outcome":"Done"}"#, Action::Complete { outcome: text() }),
        (Verb::Miss, r#"{"reason":"Done"}"#, Action::Miss { reason: text() }),
        (Verb::Archive, "{}", Action::Archive),
    ] {
        assert_eq!(Action::parse(verb, object(body)), Ok(action), "{verb:?}");
    }
}

#[test]
fn first_submission_records_key_results_and_tells_the_manager() {
    let results = r#"[{"id":"kr_00000000000000000000000001","title":"a","metric":"number","start":1,"target":9,"weight":1}]"#;
    let key_results = key_result::parse(results).unwrap();
    for (key_results, is_recorded) in [(key_results, true), (vec![], false)] {
        let objective = Objective { key_results, changed_since_approval: false, ..plain_objective() };
        let submission = objective.apply(Action::Submit, Review::Required, LATER).unwrap();
        assert_eq!(submission.audit.changes.contains_key("key_results"), is_recorded);
        assert_eq!(submission.notices.len(), 1);
    }
    assert_eq!(objective::Filter::of_everyone(&[]).scopes, Scope::ALL, "objectives of both families");
}

#[test]
fn managed_member_is_changed_by_its_connector_only() {
    let managed_person = Employee { is_hris_managed: true, connector_id: Some(id(5)), ..plain_employee() };
    let body = r#"{"first_name":"Eva"}"#;
    let rename = |person: &Employee, acting| {
        let patch = people::Patch::parse(object(body)).resolve_with(person);
        let references = people::References { acting, ..people::References::default() };
        person.update(&patch.ok()?, &references, LATER).ok()
    };
    assert!(rename(&managed_person, Some(id(5))).is_some_and(|decision| decision.is_some()));
    assert_eq!((rename(&managed_person, Some(id(6))), rename(&managed_person, None)), (None, None));
}

#[test]
fn named_department_replaces_the_stored_one() {
    let person = Employee { department_id: Some(id(3)), ..plain_employee() };
    for (number, is_archived, is_accepted) in [(4, false, true), (4, true, false), (3, true, true)] {
        let patch = people::Patch { department: Some(Some(id(number).into())), ..people::Patch::default() };
        let references =
            people::References { department_archived: Some(is_archived), ..people::References::default() };
        let update = person.update(&patch, &references, LATER);
        assert_eq!(update.is_ok(), is_accepted, "{number} {is_archived}");
        let department = update.ok().flatten().map(|decision| decision.state.department_id);
        assert_eq!(department, (number == 4 && is_accepted).then_some(Some(id(4))), "{number}");
    }
}

#[test]
fn custom_field_has_a_length_and_one_of_three_types() {
    let fields = [("team", Custom::Text("abc".to_owned())), ("n", Custom::Flag(true))];
    let fields = CustomFields(fields.map(|(key, value)| (key.to_owned(), value)).into());
    assert_eq!(fields.json_bytes(), 4 + 3 + 1);
    let error = serde_json::from_str::<Custom>("null").unwrap_err().to_string();
    assert!(error.contains("a string, number or boolean"), "{error}");
}

#[test]
fn editor_of_a_summary_is_noted_once_for_each_kind_of_content() {
    let summary = Summary {
        included_objective_ids: vec![id(3)],
        included_observation_ids: vec![id(4)],
        editor_ids: vec![id(5)],
        ..plain_summary()
    };
    let edit = |body: &str, editor: u128| {
        let patch = summary::Patch::parse(object(body)).resolve_with(&summary).unwrap();
        let references = summary::References::default();
        let update =
            summary.update(&summary, patch, &references, Some(id(editor)), false, LATER).unwrap().unwrap();
        (update.state.edited_by, update.state.editor_ids)
    };
    for body in [r#"{"title":"Other"}"#, r#"{"included_objective_ids":[]}"#, r#"{"included_observation_ids":[]}"#]
    {
        assert_eq!(edit(body, 5), (Some(id(5)), vec![id(5)]), "{body}");
        assert_eq!(edit(body, 6), (Some(id(6)), vec![id(5), id(6)]), "{body}");
    }
    assert_eq!(edit(r#"{"metadata":{"a":"b"}}"#, 6), (summary.edited_by, vec![id(5)]), "no content");
}

#[test]
fn action_of_a_summary_has_the_text_of_its_body() {
    use summary::{Action, ActionKind};
    let text = || "Done".to_owned();
    for (kind, body, action) in [
        (ActionKind::Submit, "{}", Action::Submit),
        (ActionKind::Approve, "{}", Action::Approve),
        (ActionKind::Return, r#"{"reason":"Done"}"#, Action::Return { reason: text() }),
        (ActionKind::Share, "{}", Action::Share),
        (
            ActionKind::Feedback,
            r#"{"comment":"Done"}"#,
            Action::Feedback { comment: Some(text()), acknowledged: false },
        ),
        (ActionKind::Archive, "{}", Action::Archive),
    ] {
        assert_eq!(Action::parse(kind, object(body)), Ok(action), "{kind:?}");
    }
}
