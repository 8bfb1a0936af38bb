use super::super::Confidence;
use super::super::tests::{NOON, objective};
use super::*;
use crate::json::Value;
use Status::{Approved, Archived, Completed, InProgress, Missed, Proposed};

fn body(text: &str) -> Object {
    let Ok(Value::Object(members)) = serde_json::from_str(text) else { panic!("{text}") };
    members
}

fn owned_by(owner: Option<StoredOwner>) -> References {
    References { owner, ..References::default() }
}

#[test]
fn patched_status_moves_only_between_approved_and_in_progress() {
    let all = [Proposed, Approved, InProgress, Completed, Missed, Archived];
    for from in all {
        for to in all {
            let objective_before = objective(from, false);
            let patch = Patch { status: Some(to), ..Patch::default() };
            let result = objective_before
                .update(&patch, &References::default(), false, NOON)
                .map(|decision| decision.map(|decision| decision.state.status));
            let is_final = matches!(from, Completed | Missed | Archived);
            match (from, to) {
                (Approved, InProgress) | (InProgress, Approved) => assert_eq!(result, Ok(Some(to))),
                _ if from == to && !is_final => assert_eq!(result, Ok(None), "{from:?}"),
                _ => assert!(matches!(result, Err(DomainError::Conflict(_))), "{from:?} → {to:?}"),
            }
        }
    }
}

#[test]
fn patched_period_is_checked_with_its_stored_half() {
    let objective_before = objective(Proposed, false);
    let next_day = objective_before.period_end.next();
    let problems = Patch::parse(body(&format!(r#"{{"period_start":"{next_day}"}}"#)))
        .resolve_with(&objective_before)
        .unwrap_err();
    assert_eq!(
        (problems.as_slice()[0].field.as_str(), problems.as_slice()[0].code),
        ("period_end", Code::OutOfRange)
    );
    let both = format!(r#"{{"period_start":"{next_day}","period_end":"{next_day}"}}"#);
    assert!(Patch::parse(body(&both)).resolve_with(&objective_before).is_ok(), "one day is a period");
}

#[test]
fn patch_of_a_finished_objective_keeps_only_its_status() {
    let text = r#"{"title":null,"period_end":"0001-01-01","status":"approved","whatever":1}"#;
    for status in [Completed, Missed, Archived] {
        let objective_before = objective(status, false);
        let patch = Patch::parse(body(text)).resolve_with(&objective_before).unwrap();
        assert_eq!(patch, Patch { status: Some(Approved), ..Patch::default() });
        assert!(
            matches!(
                objective_before.update(&patch, &References::default(), false, NOON),
                Err(DomainError::Conflict(_))
            ),
            "{status:?}"
        );
    }
    assert!(Patch::parse(body(text)).resolve_with(&objective(InProgress, false)).is_err());
}

#[test]
fn metadata_and_external_id_are_edits_of_an_objective() {
    let objective_before = objective(Approved, false);
    let patch = |text: &str| Patch::parse(body(text)).resolve_with(&objective_before).unwrap();
    let mut holders = ExternalIdHolders::default();
    let other_objective = ObjectiveId::from_ulid(ulid::Ulid(9));
    holders.add("crm-7", other_objective, true);
    let references = References { external_ids: holders, ..References::default() };
    for text in [r#"{"metadata":{"cycle":"h1"}}"#, r#"{"external_id":"crm-8"}"#] {
        let objective_after = objective_before.update(&patch(text), &references, false, NOON).unwrap().unwrap();
        assert_eq!(objective_after.events, [EventType::ObjectiveUpdated], "{text}");
        assert!(objective_after.state.updated_at > objective_before.updated_at, "{text}");
    }
    assert_eq!(
        objective_before.update(&patch(r#"{"metadata":{"absent":null}}"#), &references, false, NOON),
        Ok(None)
    );
    let conflict = objective_before.update(&patch(r#"{"external_id":"crm-7"}"#), &references, false, NOON);
    assert_eq!(conflict, Err(DomainError::already_taken("external_id", "crm-7", Some(other_objective))));
    let full = Objective {
        metadata: Metadata((0..20).map(|key| (key.to_string(), String::new())).collect()),
        ..objective(Approved, false)
    };
    let error = Patch::parse(body(r#"{"metadata":{"one more":"x"}}"#)).resolve_with(&full).unwrap_err();
    assert_eq!((error.as_slice()[0].field.as_str(), error.as_slice()[0].code), ("metadata", Code::TooLong));
}

#[test]
fn org_objective_requires_an_org_admin_as_owner() {
    let text = r#"{"scope":"org","owner_id":"emp_00000000000000000000000002","title":"x","period_start":"2026-01-01","period_end":"2026-12-31"}"#;
    let draft = Draft::parse(Family::Managers, body(text)).unwrap();
    let create = |role: Option<Role>| {
        Objective::create(
            objective(Proposed, false).id,
            draft.clone(),
            &owned_by(role.map(|role| StoredOwner { role, in_reach: true })),
            NOON,
        )
    };
    assert!(create(Some(Role::OrgAdmin)).is_ok());
    assert_eq!(create(Some(Role::Manager)).unwrap_err(), PermissionError::OwnerNotAdmin.into());
    assert!(matches!(create(None), Err(DomainError::Unprocessable(_))));
    let outside_owner = Some(StoredOwner { role: Role::OrgAdmin, in_reach: false });
    let error = Objective::create(objective(Proposed, false).id, draft.clone(), &owned_by(outside_owner), NOON);
    assert_eq!(error.unwrap_err(), PermissionError::NotBelow.into());
}

#[test]
fn new_objective_may_be_approved_or_started_but_not_finished() {
    let with = |status: &str| {
        let text = format!(
            r#"{{"owner_id":"emp_00000000000000000000000002","title":"x","period_start":"2026-01-01","period_end":"2026-12-31","status":"{status}"}}"#
        );
        Draft::parse(Family::Employees, body(&text))
    };
    for status in ["approved", "in_progress"] {
        let owner = Some(StoredOwner { role: Role::Employee, in_reach: true });
        let new_objective =
            Objective::create(objective(Proposed, false).id, with(status).unwrap(), &owned_by(owner), NOON)
                .unwrap()
                .state;
        assert_eq!(new_objective.approved_at, Some(NOON));
    }
    for status in ["completed", "missed", "archived", "begun"] {
        assert_eq!(with(status).unwrap_err().as_slice()[0].code, Code::InvalidEnum);
    }
}

#[test]
fn figures_are_read_only_and_ignored_as_stored() {
    let figures = r#""progress":40,"confidence":"at_risk","last_check_in_at":"2026-03-01T12:00:00.000Z""#;
    let new_objective = format!(
        r#"{{"owner_id":"emp_00000000000000000000000002","title":"x","period_start":"2026-01-01","period_end":"2026-12-31",{figures}}}"#
    );
    let problems = Draft::parse(Family::Employees, body(&new_objective)).unwrap_err();
    let codes: Vec<_> = problems.as_slice().iter().map(|problem| (&*problem.field, problem.code)).collect();
    let expected_codes = ["progress", "confidence", "last_check_in_at"].map(|field| (field, Code::ReadOnly));
    assert_eq!(codes, expected_codes);
    let objective_before = Objective {
        progress: Some(40),
        stated_progress: Some(40),
        confidence: Some(Confidence::AtRisk),
        last_check_in_at: Some(NOON),
        ..objective(InProgress, false)
    };
    let unchanged_patch = Patch::parse(body(&format!("{{{figures}}}"))).resolve_with(&objective_before).unwrap();
    assert_eq!(objective_before.update(&unchanged_patch, &References::default(), false, NOON), Ok(None));
    for text in [r#"{"progress":41}"#, r#"{"confidence":null}"#, r#"{"last_check_in_at":null}"#] {
        let problems = Patch::parse(body(text)).resolve_with(&objective_before).unwrap_err();
        assert_eq!(problems.as_slice()[0].code, Code::ReadOnly, "{text}");
    }
}

#[test]
fn key_results_and_parent_change_until_the_end() {
    let parent_id = ObjectiveId::from_ulid(ulid::Ulid(9));
    let text = format!(r#"{{"key_results":[{{"title":"a","target":1}}],"parent_id":"{parent_id}"}}"#);
    let references = References {
        key_result_ids: vec![crate::id::KeyResultId::from_ulid(ulid::Ulid(1))],
        parent: Some(StoredParent { id: parent_id, scope: Scope::Org, status: Proposed }),
        ..References::default()
    };
    for status in [Proposed, Approved, InProgress, Completed, Missed, Archived] {
        let objective_before = objective(status, false);
        let patch = Patch::parse(body(&text)).resolve_with(&objective_before).unwrap();
        let result = objective_before.update(&patch, &references, false, NOON);
        if objective_before.is_finished() {
            assert_eq!(result, Err(DomainError::transition("status", status.word(), "update")));
            continue;
        }
        let decision = result.unwrap().unwrap();
        assert_eq!(decision.events, [EventType::ObjectiveUpdated], "{status:?}");
        assert_eq!((decision.state.key_results.len(), decision.state.parent_id), (1, Some(parent_id)));
        let clear = Patch::parse(body(r#"{"key_results":[],"parent_id":null}"#)).resolve_with(&decision.state);
        let clear_result = decision.state.update(&clear.unwrap(), &References::default(), false, NOON);
        assert_eq!(clear_result.unwrap().unwrap().events, [EventType::ObjectiveUpdated], "{status:?}");
    }
}

#[test]
fn parent_that_was_archived_since_is_ignored_as_stored() {
    let parent_id = ObjectiveId::from_ulid(ulid::Ulid(9));
    let child = Objective { parent_id: Some(parent_id), ..objective(Approved, false) };
    let patch = |text: &str| Patch::parse(body(text)).resolve_with(&child).unwrap();
    let archived_parent = StoredParent { id: parent_id, scope: Scope::Org, status: Archived };
    let references = References { parent: Some(archived_parent), ..References::default() };
    let unchanged_patch = patch(&format!(r#"{{"parent_id":"{parent_id}"}}"#));
    assert_eq!(child.update(&unchanged_patch, &references, false, NOON), Ok(None));
    let rename = patch(&format!(r#"{{"parent_id":"{parent_id}","title":"New"}}"#));
    assert_eq!(child.update(&rename, &references, false, NOON).unwrap().unwrap().state.parent_id, Some(parent_id));
}
