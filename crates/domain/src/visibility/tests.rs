use ulid::Ulid;

use super::*;
use crate::access::{
    AccessLevel, AllowedNetworks, BoundPerson, Environment, PermissionError, Permissions, Quotas, Tenant,
};
use crate::assignment::{Assignment, tests::assignment};
use crate::conversation::{Conversation, tests::conversation};
use crate::fields::Reference;
use crate::id::{KeyId, OrganizationId};
use crate::objective::{Objective, Scope, Status as ObjectiveStatus, tests::objective};
use crate::observation::{Observation, Visibility, tests::observation};
use crate::summary::{Status, Summary, tests::summary};

const AUTHOR: EmployeeId = person(3);
const SUBJECT: EmployeeId = person(2);
const ABOVE: EmployeeId = person(4);
const BESIDE: EmployeeId = person(5);
const STRANGER: EmployeeId = person(6);

const fn person(number: u128) -> EmployeeId {
    EmployeeId::from_ulid(Ulid(number))
}

fn caller(bound_to: Option<(EmployeeId, bool)>) -> Caller {
    Caller {
        tenant: Tenant { organization: OrganizationId::from_ulid(Ulid(1)), environment: Environment::Live },
        key: KeyId::from_ulid(Ulid(1)),
        name: "Key".to_owned(),
        scopes: Permissions::ALL,
        level: AccessLevel::Admin,
        person: bound_to.map(|(id, is_org_admin)| BoundPerson { id, is_org_admin }),
        expires_at: None,
        connector: None,
        identity_provider: None,
        session: None,
        secret: None,
        has_previous_secret: false,
        quotas: Quotas::DEFAULT,
        allowed_networks: AllowedNetworks::EVERYWHERE,
    }
}

/// Returns `true` for each of these who sees the resource: its author, the person it is about, a manager above
/// that person, a person who is not above that person, an org admin, an unrelated person, and a key of the
/// organization. All keys are admin-level, because the level opens no data.
fn seen_by(resource: &impl RestrictedResource) -> [bool; 7] {
    let keys = [
        (Some((AUTHOR, false)), false),
        (Some((SUBJECT, false)), false),
        (Some((ABOVE, false)), true),
        (Some((BESIDE, false)), false),
        (Some((STRANGER, true)), false),
        (Some((STRANGER, false)), false),
        (None, false),
    ];
    keys.map(|(bound_to, is_below)| resource.is_visible_to(caller(bound_to).viewer(), is_below))
}

#[test]
fn observation_readers_follow_its_visibility() {
    let observation_by_author = Observation { author_id: Some(AUTHOR), ..observation() };
    let for_managers = Observation { visibility: Visibility::Managers, ..observation_by_author.clone() };
    let with_requester = Observation { requester_id: Some(BESIDE), ..observation_by_author.clone() };
    let table = [
        (&observation(), [false, true, true, false, true, false, true]),
        (&observation_by_author, [true, true, true, false, true, false, true]),
        (&for_managers, [true, false, true, false, true, false, true]),
        (&with_requester, [true, true, true, true, true, false, true]),
    ];
    for (stored, seen) in table {
        assert_eq!(seen_by(stored), seen, "{stored:?}");
    }
    let about_oneself = Observation { author_id: Some(SUBJECT), ..for_managers };
    assert_eq!(seen_by(&about_oneself), [false, true, true, false, true, false, true]);
}

#[test]
fn observation_for_managers_is_seen_from_above_or_by_author() {
    let people = [AUTHOR, SUBJECT, ABOVE, BESIDE, STRANGER];
    let roles = || people.map(Some).into_iter().chain([None]);
    for (author_id, requester_id) in roles().flat_map(|author| roles().map(move |requester| (author, requester))) {
        let for_subject = Observation { author_id, requester_id, ..observation() };
        let for_managers = Observation { visibility: Visibility::Managers, ..for_subject.clone() };
        for viewer in people {
            let is_above = viewer == ABOVE;
            let wrote_or_manages = is_above || author_id == Some(viewer);
            let takes_part = viewer == SUBJECT || requester_id == Some(viewer);
            let case = format!("{viewer} reads {author_id:?} for {requester_id:?}");
            assert_eq!(for_managers.is_visible_to(Viewer::Person(viewer), is_above), wrote_or_manages, "{case}");
            assert_eq!(
                for_subject.is_visible_to(Viewer::Person(viewer), is_above),
                wrote_or_manages || takes_part,
                "{case}"
            );
        }
    }
}

#[test]
fn objective_is_seen_by_owner_and_managers_or_by_all() {
    let personal = objective(ObjectiveStatus::Proposed, false);
    assert_eq!(personal.owner_id, SUBJECT);
    for scope in [Scope::Employee, Scope::Manager] {
        let scoped_objective = Objective { scope, ..personal.clone() };
        assert_eq!(seen_by(&scoped_objective), [false, true, true, false, true, false, true], "{scope:?}");
    }
    assert_eq!(seen_by(&Objective { scope: Scope::Org, ..personal }), [true; 7]);
}

#[test]
fn summary_is_seen_by_its_person_once_shared() {
    let never_shared = Summary { shared_at: None, ..summary(Status::Archived) };
    let table = [
        (summary(Status::Draft), false),
        (summary(Status::PendingReview), false),
        (summary(Status::Approved), false),
        (summary(Status::Shared), true),
        (summary(Status::Archived), true),
        (never_shared, false),
    ];
    for (stored, by_subject) in table {
        assert_eq!((stored.author_id, stored.employee_id), (Some(AUTHOR), SUBJECT));
        assert_eq!(seen_by(&stored), [true, by_subject, true, false, true, false, true], "{:?}", stored.status);
    }
    let about_oneself = Summary { author_id: Some(SUBJECT), ..summary(Status::Draft) };
    assert_eq!(seen_by(&about_oneself), [false, true, true, false, true, false, true]);
}

#[test]
fn conversation_is_seen_by_its_participants() {
    let talk = Conversation { participant_ids: vec![AUTHOR, BESIDE], ..conversation() };
    assert_eq!(seen_by(&talk), [true, false, false, true, true, false, true]);
}

#[test]
fn assignment_is_seen_by_requester_and_reviewers() {
    let requested_assignment =
        Assignment { requester_id: Some(BESIDE), reviewer_ids: vec![AUTHOR], ..assignment() };
    assert_eq!(requested_assignment.employee_id, SUBJECT);
    assert_eq!(seen_by(&requested_assignment), [true, false, false, true, true, false, true]);
}

#[test]
fn observation_is_changed_by_its_author_and_org_admins() {
    let observation_by_author = Observation { author_id: Some(AUTHOR), ..observation() };
    let table = [
        (Some((AUTHOR, false)), Ok(())),
        (Some((SUBJECT, false)), Err(PermissionError::AuthorOnly)),
        (Some((ABOVE, false)), Err(PermissionError::AuthorOnly)),
        (Some((STRANGER, true)), Ok(())),
        (None, Ok(())),
    ];
    for (bound_to, wanted) in table {
        assert_eq!(observation_by_author.may_be_changed_by(&caller(bound_to)), wanted, "{bound_to:?}");
    }
}

#[test]
fn bound_key_speaks_for_its_person_only() {
    let author_named = |person: EmployeeId| Some(Some(Reference::from(person)));
    let own = Ok(Some(Reference::from(AUTHOR)));
    for is_org_admin in [false, true] {
        let bound_caller = caller(Some((AUTHOR, is_org_admin)));
        assert_eq!(bound_caller.speaker(None), own);
        assert_eq!(bound_caller.speaker(author_named(AUTHOR)), own);
        assert_eq!(bound_caller.speaker(author_named(SUBJECT)), Err(PermissionError::OtherPerson));
        assert_eq!(
            bound_caller.speaker(Some(None)),
            Err(PermissionError::OtherPerson),
            "null is not the person of the key"
        );
    }
    let organization = caller(None);
    assert_eq!(organization.speaker(None), Ok(None));
    assert_eq!(organization.speaker(Some(None)), Ok(None));
    assert_eq!(organization.speaker(author_named(SUBJECT)), Ok(Some(Reference::from(SUBJECT))));
}

#[test]
fn viewer_reaches_themselves_and_people_below() {
    let table = [
        (Viewer::Everything, false, true),
        (Viewer::Person(SUBJECT), false, true),
        (Viewer::Person(ABOVE), true, true),
        (Viewer::Person(BESIDE), false, false),
    ];
    for (viewer, is_below, reached) in table {
        assert_eq!(viewer.reaches(SUBJECT, is_below), reached, "{viewer:?}");
    }
}
