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
    let other = ObjectiveId::from_ulid(ulid::Ulid(9));
    holders.add("crm-7", other, true);
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
    assert_eq!(conflict, Err(DomainError::already_taken("external_id", "crm-7", Some(other))));
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
    assert_eq!(create(Some(Role::Manager)).unwrap_err(), PermissionDenied::OwnerNotAdmin.into());
    assert!(matches!(create(None), Err(DomainError::Unprocessable(_))));
    let outside_owner = Some(StoredOwner { role: Role::OrgAdmin, in_reach: false });
    let error = Objective::create(objective(Proposed, false).id, draft.clone(), &owned_by(outside_owner), NOON);
    assert_eq!(error.unwrap_err(), PermissionDenied::NotBelow.into());
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
