//! The whole state after a change: each change moves the time of the last change, and nothing beside what it names.

use super::round_trip::keys::plain_key;
use super::round_trip::{
    AT, LATER, id, organization_key, plain_employee, plain_objective, plain_observation, plain_summary,
};
use super::shown::{plain_assignment, plain_department, plain_erasure};
use candor_domain::access::api_key::{ApiKey, ApiKeyKind, KeyHash};
use candor_domain::access::{AllowedNetworks, Caller, Permissions};
use candor_domain::assignment::{self, Assignment};
use candor_domain::catalog::{Attribute, Department, Tone, department};
use candor_domain::decision::Resource;
use candor_domain::erasure::{Erasure, ErasureDraft, ErasureStatus, Mentions, former_name};
use candor_domain::event::{EventType, FeedFilter, FeedStart};
use candor_domain::external_id::ExternallyIdentified;
use candor_domain::fields::StringEnum;
use candor_domain::id::RetentionRunId;
use candor_domain::json::Object;
use candor_domain::objective::{self, Family, Objective, Scope};
use candor_domain::observation::{self, Observation};
use candor_domain::params::Params;
use candor_domain::people::{self, Employee, Status};
use candor_domain::request_stats::StatsWindow;
use candor_domain::retention::{Period, RetentionRun};
use candor_domain::summary;
use candor_domain::time::Timestamp;
use candor_domain::ulid::Ulid;

fn object(text: &str) -> Object {
    serde_json::from_str(text).unwrap()
}

/// The time of a change at the time of the last one: a millisecond later.
const NEXT: Timestamp = Timestamp::from_millis(AT.millis() + 1);

#[test]
fn change_at_the_same_time_moves_the_version() {
    let canceled_assignment = plain_assignment().cancel(AT).unwrap().state;
    let status = assignment::Status::Canceled;
    assert_eq!(canceled_assignment, Assignment { status, updated_at: NEXT, ..plain_assignment() });

    let archived_observation = plain_observation().archive(AT).unwrap().state;
    let expected_state = Observation { archived_at: Some(NEXT), updated_at: NEXT, ..plain_observation() };
    assert_eq!(archived_observation, expected_state);
    let restored_observation = archived_observation.restore(NEXT).unwrap().state;
    let restored_at = NEXT.strictly_after(NEXT);
    assert_eq!(restored_observation, Observation { updated_at: restored_at, ..plain_observation() });

    let department = Department { is_twin: true, ..plain_department() };
    let renamed_department = department.rename(Some("Sales".to_owned()), None, AT).unwrap().unwrap().state;
    let name = "Sales".to_owned();
    assert_eq!(renamed_department, Department { name, updated_at: NEXT, is_twin: false, ..department.clone() });
    let archived_department = department.archive(false, AT).unwrap().state;
    assert_eq!(
        archived_department,
        Department { archived_at: Some(NEXT), updated_at: NEXT, ..department.clone() }
    );
    assert_eq!(
        archived_department.restore(NEXT).unwrap().state,
        Department { updated_at: restored_at, ..department }
    );

    let attribute = Attribute {
        id: id(1),
        name: "Clarity".to_owned(),
        category: "Communication".to_owned(),
        tone: Tone::Constructive,
        created_at: AT,
        updated_at: AT,
        archived_at: None,
        is_twin: false,
    };
    let archived_attribute = attribute.archive(AT).unwrap().state;
    assert_eq!(archived_attribute, Attribute { archived_at: Some(NEXT), updated_at: NEXT, ..attribute.clone() });
    assert_eq!(
        archived_attribute.restore(NEXT).unwrap().state,
        Attribute { updated_at: restored_at, ..attribute }
    );

    let leaver = plain_employee().deactivate(AT).unwrap().state;
    let (status, deactivated_at) = (Status::Deactivated, Some(NEXT));
    assert_eq!(leaver, Employee { status, deactivated_at, updated_at: NEXT, ..plain_employee() });
    let returned_employee = leaver.reactivate(NEXT).unwrap().state;
    let expected_state = Employee { returned_at: Some(restored_at), updated_at: restored_at, ..plain_employee() };
    assert_eq!(returned_employee, expected_state);

    let objective = Objective { status: objective::Status::Approved, held_back: true, ..plain_objective() };
    let completion = objective::Action::Complete { outcome: None };
    let completed_objective =
        objective.apply(completion, candor_domain::organization::Review::Optional, AT).unwrap().state;
    assert_eq!((completed_objective.updated_at, completed_objective.held_back), (NEXT, false));
}

#[test]
fn ended_key_has_no_due_events_and_no_second_secret() {
    let key = ApiKey {
        kind: ApiKeyKind::Session,
        expires_at: Some(LATER),
        link_expires_at: Some(LATER),
        previous: Some((KeyHash([2; 32]), LATER)),
        remind_at: Some(LATER),
        expiring_due: Some(LATER),
        previous_expiring_due: Some(LATER),
        identity_subject: Some("00u1".to_owned()),
        identity_sid: Some("102".to_owned()),
        allowed_networks: AllowedNetworks::from_texts(["192.0.2.0/24"]).unwrap(),
        ..plain_key()
    };
    let no_due = ApiKey {
        revoked_at: Some(NEXT),
        remind_at: None,
        expiring_due: None,
        previous_expiring_due: None,
        updated_at: NEXT,
        ..key.clone()
    };
    let revoked_key = ApiKey { link_expires_at: None, previous: None, ..no_due.clone() };
    assert_eq!(key.revoke(AT).unwrap().state, revoked_key);
    assert_eq!(key.end_session(AT).unwrap().state, revoked_key);
    assert!(plain_key().end_session(AT).is_err());
    let ends = [&key, &revoked_key, &ApiKey { kind: ApiKeyKind::Key, ..key.clone() }].map(ApiKey::session_end);
    assert_eq!(ends, [Some(LATER), None, None]);

    let closed_key = ApiKey {
        name: former_name(),
        allowed_networks: AllowedNetworks::EVERYWHERE,
        identity_subject: None,
        identity_sid: None,
        revoked_at: Some(AT),
        ..no_due
    };
    assert_eq!(former_name(), "Former employee");
    assert_eq!(key.closed_by_erasure(AT), closed_key);
    let was_revoked = ApiKey { revoked_at: Some(LATER), ..key };
    assert_eq!(was_revoked.closed_by_erasure(AT), ApiKey { revoked_at: Some(LATER), ..closed_key });
    let granter = Caller { scopes: Permissions::ALL, ..organization_key() };
    assert!(granter.has_kept_rights_of(&granter));
}

#[test]
fn completed_erasure_has_the_counts_of_its_end() {
    let state = plain_erasure().wait_for_holds(2, AT).complete([("message".to_owned(), 9)].into(), LATER).state;
    let expected_state = Erasure {
        status: ErasureStatus::Completed,
        completed_at: Some(LATER),
        counts: [("message".to_owned(), 9)].into(),
        kept_by_hold: 0,
        sealed_email: None,
        ..plain_erasure().wait_for_holds(2, AT)
    };
    assert_eq!(state, expected_state);
}

#[test]
fn names_of_an_erased_person_end_with_the_request() {
    let mentions = Mentions::new(id(2), [], None);
    assert!(mentions.clone().limit_names(None).own_names_at(LATER));
    let limited_mentions = mentions.clone().limit_names(Some(AT));
    assert_eq!([AT, NEXT].map(|at| limited_mentions.own_names_at(at)), [true, false]);
    let other_hold = mentions.except([plain_observation().id.to_bytes()]);
    assert!(other_hold.keeps(&plain_observation().id.to_string()) && !other_hold.keeps("obs_x"));
}

#[test]
fn body_is_read_with_its_only_member() {
    let reason = ErasureDraft::parse(object(r#"{"reason": "asked"}"#)).unwrap().reason;
    assert_eq!(reason.as_deref(), Some("asked"));
    assert_eq!(department::parse_new(object(r#"{"name": "Care"}"#)).unwrap(), "Care");
    assert!(department::parse_new(Object::new()).is_err());
    assert_eq!(people::invitation::parse_acceptance(object(r#"{"token": "abc"}"#)).unwrap(), "abc");
    let long_token = format!(r#"{{"token": "{}"}}"#, "a".repeat(201));
    assert!(people::invitation::parse_acceptance(object(&long_token)).is_err());
    let archived_department = Department { archived_at: Some(AT), ..plain_department() };
    let rename = department::parse_patch(object(r#"{"name": "Sales"}"#));
    assert_eq!(rename.resolve_with(&plain_department()), Ok(Some("Sales".to_owned())));
    assert_eq!(rename.resolve_with(&archived_department), Ok(None));
}

#[test]
fn window_of_statistics_ends_now() {
    let read = |text: &str| {
        let pairs = vec![("window".to_owned(), text.to_owned())];
        Params::new(pairs).parse(StatsWindow::read).unwrap().start(LATER)
    };
    for (text, hours) in [("1h", 1), ("24h", 24), ("7d", 168), ("30d", 720)] {
        assert_eq!(read(text), LATER.plus_seconds(-3600 * hours), "{text}");
    }
    let default_window = Params::new(vec![]).parse(StatsWindow::read).unwrap();
    assert_eq!(default_window.start(LATER), LATER.plus_seconds(-24 * 3600));
}

#[test]
fn objective_list_has_the_conditions_of_its_query() {
    let read = |family, query: &[(&str, &str)]| {
        let pairs = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Params::new(pairs).parse(|params| objective::Filter::read(family, params)).unwrap().filter
    };
    let all = read(Family::Managers, &[]);
    assert!(!all.statuses.contains(&objective::Status::Archived));
    assert_eq!(all.statuses.len(), 5);
    let [manager, organization] = Family::Managers.scopes() else { panic!("two scopes") };
    assert_eq!(read(Family::Managers, &[("filter[scope]", "manager")]).scopes, [*manager]);
    assert_eq!(all.scopes, [*manager, *organization]);
    assert_eq!(read(Family::Employees, &[("filter[scope]", "manager")]).scopes, [Scope::Employee]);
    assert_eq!(read(Family::Employees, &[("filter[in_review]", "true")]).statuses, [objective::Status::Proposed]);
    let none = read(Family::Employees, &[("filter[in_review]", "true"), ("filter[status]", "approved")]);
    assert!(none.scopes.is_empty(), "no objective is approved and in review");
    assert_eq!(read(Family::Employees, &[("filter[confidence]", "none")]).confidences.len(), 1);
    assert!(all.confidences.is_empty());
    let owned_filter = objective::Filter::owned_by(id(2), Family::Employees);
    assert_eq!((owned_filter.owner_id, owned_filter.statuses), (Some(id(2)), objective::Status::ALL.to_vec()));
    let archived_filter = objective::Filter::archived_until(AT, Family::Employees);
    assert_eq!(
        (archived_filter.updated_at.lte, archived_filter.statuses),
        (Some(AT), vec![objective::Status::Archived])
    );
}

#[test]
fn slow_conditions_of_the_feed_are_named() {
    let [all, few] = [vec![], vec![EventType::ObservationCreated]].map(|kinds| FeedFilter { kinds });
    assert!(all.conditions(&FeedStart::Oldest).is_empty());
    assert_eq!(few.conditions(&FeedStart::Now), ["filter[event]"]);
    assert_eq!(few.conditions(&FeedStart::Since(AT)), ["filter[event]", "since"]);
}

#[test]
fn retention_run_has_the_id_of_its_organization_and_time() {
    let organization = candor_domain::id::OrganizationId::from_ulid(Ulid(0x0123_4567 << 90 | 0xabcd << 64 | 77));
    let expected_id = Ulid(u128::from(1_700_000_000_123_u64) << 80 | 0xabcd << 64 | 77);
    assert_eq!(RetentionRun::id_of(organization, AT), RetentionRunId::from_ulid(expected_id));
    let schema = schemars::schema_for!(Period);
    assert_eq!(
        schema.get("pattern").and_then(|pattern| pattern.as_str()),
        Some(candor_domain::retention::PATTERN)
    );
    assert_eq!(plain_assignment().updated_at(), AT);
}

#[test]
fn external_id_of_a_body_is_that_of_the_member() {
    let person = plain_employee().id;
    let body = |members: &str| object(&format!(r#"{{{members}, "external_id": "crm-1"}}"#));
    let period = r#""period_start": "2026-01-01", "period_end": "2026-03-31""#;
    let objective = body(&format!(r#""owner_id": "{person}", "title": "Listen", {period}"#));
    let objective = objective::Draft::parse(Family::Employees, objective).unwrap();
    let assignment = body(&format!(r#""employee_id": "{person}", "title": "A", "reviewer_ids": ["{person}"]"#));
    let assignment = assignment::Draft::parse(assignment).unwrap();
    let summary = summary::Draft::parse(body(&format!(r#""employee_id": "{person}", "title": "A""#))).unwrap();
    let new_ids = [objective.external_id(), assignment.external_id(), summary.external_id()];
    assert_eq!(new_ids, [Some("crm-1"); 3]);
    let patch = || object(r#"{"external_id": "crm-1"}"#);
    let objective = objective::Patch::parse(patch()).resolve_with(&plain_objective()).unwrap();
    let observation = observation::Patch::parse(patch()).resolve_with(&plain_observation()).unwrap();
    let summary = summary::Patch::parse(patch()).resolve_with(&plain_summary()).unwrap();
    let patched_ids = [objective.external_id(), observation.external_id(), summary.external_id()];
    assert_eq!(patched_ids, [Some("crm-1"); 3]);
}

#[test]
fn new_organization_has_the_attributes_of_the_set() {
    let names: Vec<_> = candor_domain::catalog::starter_set().into_iter().map(|draft| draft.name).collect();
    assert_eq!(names.len(), 21);
    let hold = people::HoldDraft::parse(object(r#"{"reason": "lawsuit"}"#)).unwrap();
    assert_eq!(hold.reason, "lawsuit");
}
