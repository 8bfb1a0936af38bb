//! Round trips: a complete GET response that is sent back with PATCH changes nothing (decisions A7, A8).

pub(crate) mod keys;

use candor_domain::access::{AccessLevel, Caller, Permission, Permissions};
use candor_domain::catalog::{Attribute, Department, Tone, attribute};
use candor_domain::conversation::{self, About, Conversation, Joins};
use candor_domain::external_id::ExternalIdHolders;
use candor_domain::id::{AttributeId, Id, Kind};
use candor_domain::json::{Object, Value};
use candor_domain::keyed::Metadata;
use candor_domain::objective::{self, Objective};
use candor_domain::observation::{self, Observation};
use candor_domain::organization::{self, Organization, Review};
use candor_domain::people::{self, Custom, CustomFields, Employee, Role, Status};
use candor_domain::summary::{self, Summary};
use candor_domain::time::Timestamp;
use candor_test_fixtures::{employee, unbound};
use serde::Serialize;
use ulid::Ulid;

pub(crate) const AT: Timestamp = Timestamp::from_millis(1_700_000_000_123);
pub(crate) const LATER: Timestamp = Timestamp::from_millis(1_700_000_999_000);

pub(crate) fn id<K: Kind>(number: u128) -> Id<K> {
    Id::from_ulid(Ulid(number))
}

/// Returns the body of a response as a client sends it back.
fn response_body<T: Serialize>(resource: &T) -> Object {
    let text = serde_json::to_string(resource).unwrap();
    match serde_json::from_str(&text) {
        Ok(Value::Object(members)) => members,
        other => panic!("{other:?}"),
    }
}

/// A person without optional members.
pub(crate) fn plain_employee() -> Employee {
    Employee {
        email: "Ada@Example.com".to_owned(),
        first_name: " Ada ".to_owned(),
        last_name: "Lovelace".to_owned(),
        created_at: AT,
        updated_at: AT,
        ..employee(1)
    }
}

/// Returns metadata of the maximum size.
fn full_metadata() -> Metadata {
    Metadata((0..20).map(|number| (format!("key {number:036}"), "漢".repeat(500))).collect())
}

#[test]
fn employee_sent_back_changes_nothing() {
    let number = |text: &str| Custom::Number(serde_json::from_str(text).unwrap());
    let fields = [
        ("flag", Custom::Flag(false)),
        ("text", Custom::Text("é\n\"\\".to_owned())),
        ("date", Custom::Text("2026-02-28".to_owned())),
        ("whole", number("-7")),
        ("half", number("1.50")),
        ("large", number("18446744073709551615")),
        ("huge", number("1e300")),
    ];
    let full = Employee {
        external_id: Some("hr-1".to_owned()),
        job_title: Some("Engineer".to_owned()),
        role: Role::OrgAdmin,
        manager_id: Some(id(2)),
        department_id: Some(id(3)),
        custom_fields: CustomFields(fields.map(|(key, value)| (key.to_owned(), value)).into()),
        ..plain_employee()
    };
    let leaver =
        Employee { status: Status::Deactivated, deactivated_at: Some(AT), returned_at: Some(AT), ..full.clone() };
    let managed_one = Employee {
        is_hris_managed: true,
        hris_source: "acme-hr".to_owned(),
        connector_id: Some(id(4)),
        ..full.clone()
    };
    let invited_employee = Employee { status: Status::PendingInvite, ..plain_employee() };
    for employee in [plain_employee(), full, leaver, managed_one, invited_employee] {
        let patch = people::Patch::parse(response_body(&employee)).resolve_with(&employee).unwrap();
        // No manager and no department is loaded here: an update looks up only changed references. The stored ones
        // may have been deleted.
        let mut references = people::References {
            email_holder: Some(employee.id),
            managed: people::ManagedFields { keys: vec!["text".to_owned(), "whole".to_owned()], job_title: true },
            ..people::References::default()
        };
        references.external_ids.add("hr-1", employee.id, true);
        assert_eq!(employee.update(&patch, &references, LATER), Ok(None), "{employee:?}");
    }
}

/// An observation without optional members.
pub(crate) fn plain_observation() -> Observation {
    Observation {
        id: id(1),
        employee_id: id(2),
        author_id: None,
        kind: observation::Type::Opportunity,
        observation: "\tListen\nmore".to_owned(),
        impact: None,
        recommended_action: None,
        attribute_ids: vec![],
        observation_date: AT.date(),
        visibility: observation::Visibility::Person,
        requester_id: None,
        created_at: AT,
        updated_at: AT,
        archived_at: None,
        metadata: Metadata::default(),
        external_id: None,
    }
}

#[test]
fn observation_sent_back_changes_nothing() {
    let plain = plain_observation();
    let tags: Vec<AttributeId> = (1..=12).rev().map(id).collect();
    let full = Observation {
        author_id: Some(id(3)),
        impact: Some(String::new()),
        recommended_action: Some("é".repeat(2000)),
        observation: "漢".repeat(4000),
        attribute_ids: tags.clone(),
        visibility: observation::Visibility::Managers,
        metadata: full_metadata(),
        external_id: Some("crm-1".to_owned()),
        ..plain.clone()
    };
    // Half of the attributes have been archived since the observation got them.
    let mut references = observation::References {
        attributes: tags.into_iter().map(|tag| (tag, tag.ulid().0 % 2 == 0)).collect(),
        ..observation::References::default()
    };
    references.external_ids.add("crm-1", full.id, true);
    for observation in [plain, full] {
        let patch = observation::Patch::parse(response_body(&observation)).resolve_with(&observation).unwrap();
        assert_eq!(observation.update(&patch, &references, LATER), Ok(None), "{observation:?}");
    }
}

/// A proposed objective without key results.
pub(crate) fn plain_objective() -> Objective {
    Objective {
        id: id(1),
        scope: objective::Scope::Employee,
        owner_id: id(2),
        title: "Listen".to_owned(),
        description: None,
        status: objective::Status::Proposed,
        period_start: AT.date(),
        period_end: AT.date(),
        key_results: vec![],
        progress: None,
        confidence: None,
        last_check_in_at: None,
        parent_id: None,
        linked_summary_ids: vec![],
        created_at: AT,
        updated_at: AT,
        submitted_at: None,
        approved_at: None,
        changed_since_approval: true,
        completed_at: None,
        reviewed: None,
        held_back: false,
        stated_progress: None,
        metadata: Metadata::default(),
        external_id: None,
    }
}

#[test]
fn objective_sent_back_changes_nothing() {
    let plain = plain_objective();
    let in_review = Objective {
        submitted_at: Some(AT),
        description: Some(String::new()),
        metadata: full_metadata(),
        external_id: Some("crm-1".to_owned()),
        ..plain.clone()
    };
    let mut holders = ExternalIdHolders::default();
    holders.add("crm-1", plain.id, true);
    let references = objective::References { external_ids: holders, ..Default::default() };
    let key_results_text = r#"[{"id":"kr_00000000000000000000000001","title":"a","metric":"number","unit":"EUR","start":1,
        "target":9999999999999998,"checked":-2,"weight":3}]"#;
    let active = Objective {
        scope: objective::Scope::Manager,
        approved_at: Some(AT),
        key_results: objective::key_result::parse(key_results_text).unwrap(),
        confidence: Some(objective::Confidence::AtRisk),
        last_check_in_at: Some(AT),
        parent_id: Some(id(9)),
        ..in_review.clone()
    }
    .with_figures();
    let approved_one = Objective { status: objective::Status::Approved, held_back: true, ..active.clone() };
    let in_progress =
        Objective { status: objective::Status::InProgress, linked_summary_ids: vec![id(3), id(4)], ..active };
    for objective in [plain, in_review, approved_one, in_progress] {
        let patch = objective::Patch::parse(response_body(&objective)).resolve_with(&objective).unwrap();
        assert_eq!(objective.update(&patch, &references, true, LATER), Ok(None), "{objective:?}");
    }
}

/// Returns an admin-level key of the organization that may change settings, and nothing else.
pub(crate) fn organization_key() -> Caller {
    let scopes = Permissions::NONE.with(Permission::SettingsWrite);
    Caller { key: id(3), name: "Settings".to_owned(), scopes, ..unbound(AccessLevel::Admin) }
}

/// A conversation of two people without messages.
pub(crate) fn plain_conversation() -> Conversation {
    Conversation {
        id: id(1),
        title: "Listen".to_owned(),
        about: None,
        participant_ids: vec![id(3), id(2)],
        last_message_at: None,
        created_at: AT,
        updated_at: AT,
        archived_at: None,
        joins: Joins::default(),
    }
}

#[test]
fn conversation_sent_back_changes_nothing() {
    let plain = plain_conversation();
    let about = Some(About::Objective(id(9)));
    let full = Conversation { about, last_message_at: Some(LATER), ..plain.clone() };
    let people = conversation::References { people: [id(2), id(3)].into(), about: None };
    for conversation in [plain, full] {
        let patch = conversation::Patch::parse(response_body(&conversation)).resolve_with(&conversation).unwrap();
        assert_eq!(conversation.update(&organization_key(), &patch, &people, LATER), Ok(None), "{conversation:?}");
    }
}

/// A draft without included resources.
pub(crate) fn plain_summary() -> Summary {
    Summary {
        id: id(1),
        employee_id: id(2),
        author_id: None,
        edited_by: Some(id(2)),
        editor_ids: vec![id(2)],
        past_editor_ids: vec![id(3)],
        title: "First half".to_owned(),
        body: String::new(),
        period_start: None,
        period_end: None,
        status: summary::Status::Draft,
        included_objective_ids: vec![],
        included_observation_ids: vec![],
        employee_feedback: None,
        submitted_at: None,
        approved_at: None,
        shared_at: None,
        archived_at: None,
        created_at: AT,
        updated_at: AT,
        archived_observation_ids: vec![],
        kept_archived_ids: vec![],
        metadata: Metadata::default(),
        external_id: None,
    }
}

#[test]
fn summary_sent_back_changes_nothing() {
    let plain = plain_summary();
    let full = Summary {
        author_id: Some(id(3)),
        body: "漢".repeat(20_000),
        period_start: Some(AT.date()),
        period_end: Some(AT.date()),
        status: summary::Status::PendingReview,
        included_objective_ids: (1..=100).rev().map(id).collect(),
        included_observation_ids: (1..=200).rev().map(id).collect(),
        submitted_at: Some(AT),
        // Archived observations are not shown, but must not be lost.
        archived_observation_ids: vec![id(201)],
        metadata: full_metadata(),
        external_id: Some("crm-1".to_owned()),
        ..plain.clone()
    };
    let mut references = summary::References::default();
    references.external_ids.add("crm-1", full.id, true);
    for summary in [plain, full] {
        let patch = summary::Patch::parse(response_body(&summary)).resolve_with(&summary).unwrap();
        assert_eq!(summary.update(&summary, patch, &references, None, false, LATER), Ok(None), "{summary:?}");
    }
}

#[test]
fn library_entry_sent_back_changes_nothing() {
    let department = Department {
        id: id(1),
        name: "Care".to_owned(),
        created_at: AT,
        updated_at: AT,
        archived_at: None,
        is_twin: false,
    };
    let name = candor_domain::catalog::department::parse_patch(response_body(&department))
        .resolve_with(&department)
        .unwrap();
    assert_eq!(department.rename(name, Some(department.id), LATER), Ok(None));
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
    let patch = attribute::Patch::parse(response_body(&attribute)).resolve_with(&attribute).unwrap();
    assert_eq!(attribute.update(patch, Some(attribute.id), LATER), Ok(None));
}

#[test]
fn organization_sent_back_changes_nothing() {
    let plain = Organization::new(id(1), "Acme".to_owned(), AT);
    let set = Organization {
        objective_review: Review::Required,
        summary_review: Review::Disabled,
        visible_custom_fields: None,
        ..plain.clone()
    };
    for organization in [plain, set] {
        let patch = organization::Patch::parse(response_body(&organization)).finish(&organization).unwrap();
        assert_eq!(organization.update(&patch, LATER), None, "{organization:?}");
    }
}
