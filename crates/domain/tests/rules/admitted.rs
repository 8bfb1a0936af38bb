//! Access and sight that other crates ask the domain for: events, the audit log, notifications, settings and approvals.

use super::round_trip::{
    AT, LATER, id, organization_key, plain_conversation, plain_employee, plain_objective, plain_summary,
};
use candor_domain::access::{Access, AccessLevel, BoundPerson, Caller, Permission, PermissionError, Permissions};
use candor_domain::audit::{Actor, ActorKind, AuditDraft, AuditEntry, Change, Origin, Target};
use candor_domain::conversation::{Conversation, Joins};
use candor_domain::event::EventType;
use candor_domain::id::{EmployeeId, NotificationId};
use candor_domain::json::Object;
use candor_domain::notification::{self, Notice, Recipients};
use candor_domain::objective::Objective;
use candor_domain::organization::{self, Organization, Review};
use candor_domain::params::Params;
use candor_domain::people::personal_data::PersonalAuditEntry;
use candor_domain::people::{self, Employee, Role};
use candor_domain::problem::Code;
use candor_domain::summary::Summary;
use candor_domain::visibility::{LinkedId, Viewer};
use std::collections::BTreeMap;

fn object(text: &str) -> Object {
    serde_json::from_str(text).unwrap()
}

fn key_with(scopes: &[Permission], level: AccessLevel) -> Caller {
    let scopes = scopes.iter().fold(Permissions::NONE, |set, scope| set.with(*scope));
    Caller { scopes, level, ..organization_key() }
}

/// Returns a caller with all scopes that acts for this person.
fn bound_key(person: EmployeeId) -> Caller {
    let person = Some(BoundPerson { id: person, is_org_admin: false });
    Caller { scopes: Permissions::ALL, level: AccessLevel::Standard, person, ..organization_key() }
}

#[test]
fn event_needs_the_access_of_its_resource() {
    use AccessLevel::{Admin, Standard};
    use EventType as Type;
    let scope = |scope| Err(PermissionError::MissingScope(scope));
    let no_admin = Err(PermissionError::AdminKeyRequired);
    let no_organization = Err(PermissionError::OrganizationKeyRequired);
    let standard_key = |scopes| key_with(scopes, Standard);
    let admin_key = |scopes| key_with(scopes, Admin);
    let none: &[Permission] = &[];
    // The key, the type, the access to the resource, and the access to the event without it.
    for (caller, kind, reads, hears) in [
        (standard_key(&[Permission::ObservationsRead]), Type::ObservationCreated, Ok(()), Ok(())),
        (standard_key(none), Type::ObservationCreated, scope(Permission::ObservationsRead), Ok(())),
        (standard_key(none), Type::TestPing, Ok(()), Ok(())),
        (standard_key(&[Permission::SettingsRead]), Type::ConnectorCreated, no_admin, no_admin),
        (admin_key(none), Type::ConnectorCreated, scope(Permission::SettingsRead), Ok(())),
        (admin_key(&[Permission::SettingsRead]), Type::ConnectorCreated, Ok(()), Ok(())),
        // An export contains observations, and no settings.
        (admin_key(&[Permission::ExportsRead]), Type::ObservationCreated, Ok(()), Ok(())),
        (admin_key(&[Permission::ExportsRead]), Type::ConnectorCreated, scope(Permission::SettingsRead), Ok(())),
        (
            standard_key(&[Permission::ExportsRead]),
            Type::ObservationCreated,
            scope(Permission::ObservationsRead),
            Ok(()),
        ),
        // Types that the delivery log hides tell as much as their resource.
        (standard_key(&[Permission::EmployeesErase]), Type::ErasureCompleted, no_organization, no_organization),
        (
            admin_key(none),
            Type::ErasureCompleted,
            scope(Permission::EmployeesErase),
            scope(Permission::EmployeesErase),
        ),
        (admin_key(&[Permission::EmployeesErase]), Type::ErasureCompleted, Ok(()), Ok(())),
    ] {
        assert_eq!((caller.may_read_events_of(kind), caller.may_hear_of(kind)), (reads, hears), "{kind:?}");
        let is_hidden = kind == Type::ErasureCompleted;
        assert_eq!(kind.is_hidden_in_log(), is_hidden, "{kind:?}");
        assert_eq!(caller.may_see_deliveries_of(kind), !is_hidden || reads.is_ok(), "{kind:?}");
    }
    let of_erasures = [Type::EmployeeHoldChanged, Type::ErasureCompleted, Type::RetentionCompleted];
    let of_providers =
        [Type::IdentityProviderCreated, Type::IdentityProviderUpdated, Type::IdentityProviderDeleted];
    let hidden_types = |scopes| admin_key(scopes).types_hidden_in_log();
    assert_eq!(hidden_types(none), [of_erasures, of_providers].concat());
    assert_eq!(hidden_types(&[Permission::EmployeesErase]), of_providers);
    assert_eq!(hidden_types(&[Permission::EmployeesErase, Permission::SettingsRead]), []);
}

#[test]
fn audit_entry_needs_the_access_of_its_resource() {
    let settings_key = Access::settings_admin(Permission::SettingsRead);
    let erasure_key = Access::organization_admin(Permission::EmployeesErase);
    let provider_key = Access::organization_admin(Permission::SettingsRead);
    for (kinds, access) in [
        ("employee department invitation", Access::scope(Permission::EmployeesRead)),
        ("observation attribute", Access::scope(Permission::ObservationsRead)),
        ("objective check_in", Access::scope(Permission::ObjectivesRead)),
        ("summary", Access::scope(Permission::SummariesRead)),
        ("conversation message", Access::scope(Permission::ConversationsRead)),
        ("assignment", Access::scope(Permission::AssignmentsRead)),
        ("notification", Access::scope(Permission::NotificationsRead)),
        ("webhook", Access::scope(Permission::WebhooksRead).full_sight()),
        ("organization", Access::scope(Permission::SettingsRead)),
        ("api_key connector", settings_key),
        ("sync_issue", settings_key.full_sight()),
        (
            "personal_data",
            Access::organization_admin(Permission::EmployeesRead).or_scope(Permission::EmployeesErase),
        ),
        ("erasure legal_hold retention_run", erasure_key),
        ("identity_link identity_provider unknown", provider_key),
    ] {
        for kind in kinds.split(' ') {
            let target = Target { kind: kind.to_owned(), id: "x".to_owned() };
            assert_eq!(target.read_access(), access, "{kind}");
            let quote_access = if kind == "connector" { settings_key.full_sight() } else { access };
            assert_eq!(target.quote_access(), quote_access, "{kind}");
        }
    }
}

#[test]
fn bound_key_sees_and_reads_its_own_notifications() {
    let notice = Notice {
        kind: notification::Type::ConnectorSyncFailed,
        to: Recipients::OrgAdmins,
        title: "A change was refused".to_owned(),
        body: String::new(),
        target: Target { kind: "connector".to_owned(), id: "x".to_owned() },
    };
    let notification = notice.for_recipient(NotificationId::from_ulid(candor_domain::ulid::Ulid(5)), id(2), AT);
    for (caller, is_seen) in [(bound_key(id(2)), true), (bound_key(id(3)), false), (organization_key(), true)] {
        assert_eq!(notification.is_seen_by(&caller), is_seen);
        let recipient =
            notification::parse_read_all(object(r#"{"recipient_id": "emp_00000000000000000000000002"}"#), &caller);
        let refusal = if is_seen { Ok(()) } else { Err(PermissionError::OtherPerson) };
        assert_eq!(notification::may_read_all(&recipient.unwrap(), &caller), refusal);
    }
    assert!(notification::parse_read_all(Object::new(), &bound_key(id(2))).is_ok());
    assert!(notification::parse_read_all(Object::new(), &organization_key()).is_err());
}

#[test]
fn retention_needs_the_access_of_an_erasure() {
    let parse = |text| {
        organization::Patch::parse(object(text)).finish(&Organization::new(id(1), "Acme".to_owned(), AT)).unwrap()
    };
    let (name, retention) = (parse(r#"{"name": "B"}"#), parse(r#"{"retention": {"archived_summaries": "P1Y"}}"#));
    let erasing_key = |level| key_with(&[Permission::EmployeesErase], level);
    for (caller, access) in [
        (key_with(&[], AccessLevel::Admin), Err(PermissionError::MissingScope(Permission::EmployeesErase))),
        (erasing_key(AccessLevel::Standard), Err(PermissionError::OrganizationKeyRequired)),
        (erasing_key(AccessLevel::Admin), Ok(())),
    ] {
        assert_eq!((name.authorize(&caller), retention.authorize(&caller)), (Ok(()), access));
    }
}

#[test]
fn hidden_custom_field_is_no_filter_for_bound_keys() {
    let every_field =
        Organization { visible_custom_fields: None, ..Organization::new(id(1), "Acme".to_owned(), AT) };
    let one_field = Organization { visible_custom_fields: Some(vec!["team".to_owned()]), ..every_field.clone() };
    let fields = ["team", "shirt"];
    assert_eq!(fields.map(|key| every_field.shows_custom_field(key)), [true, true]);
    assert_eq!(fields.map(|key| one_field.shows_custom_field(key)), [true, false]);
    let pairs = fields.map(|key| (format!("filter[custom_fields.{key}]"), "x".to_owned())).into();
    let filter = Params::new(pairs).parse(people::Filter::read).unwrap().filter;
    assert_eq!(filter.check_sight(Viewer::Everything, &one_field), Ok(()));
    assert_eq!(filter.check_sight(Viewer::Person(id(2)), &every_field), Ok(()));
    let problems = filter.check_sight(Viewer::Person(id(2)), &one_field).unwrap_err();
    let codes: Vec<_> = problems.as_slice().iter().map(|problem| (&*problem.field, problem.code)).collect();
    assert_eq!(codes, [("filter[custom_fields.shirt]", Code::NotPossible)]);
}

#[test]
fn caller_keeps_its_secret_unless_the_end_is_earlier() {
    let key_until = |expires_at| Caller { expires_at, ..organization_key() };
    for (now, earlier, is_kept) in [
        (None, None, true),
        (None, Some(AT), true),
        (Some(AT), None, false),
        (Some(AT), Some(AT), true),
        (Some(AT), Some(LATER), false),
        (Some(LATER), Some(AT), true),
    ] {
        assert_eq!(key_until(now).has_kept_secret_of(&key_until(earlier)), is_kept, "{now:?} {earlier:?}");
    }
}

#[test]
fn change_needs_an_approval_unless_its_author_may_approve() {
    let (owner, other) = (bound_key(id(2)), bound_key(id(9)));
    let objective: Objective = plain_objective();
    assert!(objective.needs_approval_from_others(&owner, Review::Required));
    assert!(!objective.needs_approval_from_others(&organization_key(), Review::Required));
    let summary = Summary { author_id: Some(id(3)), editor_ids: vec![id(3), id(4)], ..plain_summary() };
    for (person, review, is_needed) in [
        (2, Review::Optional, true),
        (3, Review::Required, true),
        (3, Review::Optional, false),
        (4, Review::Required, true),
        (4, Review::Optional, false),
        (9, Review::Required, false),
    ] {
        let caller = bound_key(id(person));
        assert_eq!(summary.needs_approval_from_others(&caller, review), is_needed, "{person} {review:?}");
    }
    assert!(!summary.needs_approval_from_others(&other, Review::Required));
}

#[test]
fn summary_is_shared_with_readers_but_not_authors() {
    let shared_summary = Summary { shared_at: Some(AT), author_id: Some(id(3)), ..plain_summary() };
    assert!(shared_summary.is_shared_with_reader());
    assert!(!Summary { shared_at: None, ..shared_summary.clone() }.is_shared_with_reader());
    assert!(!Summary { author_id: Some(id(2)), ..shared_summary.clone() }.is_shared_with_reader());
    assert!(!Summary { shared_at: None, author_id: Some(id(2)), ..shared_summary }.is_shared_with_reader());
}

#[test]
fn invitation_of_an_org_admin_needs_admin_context() {
    let admin = Employee { role: Role::OrgAdmin, ..plain_employee() };
    assert_eq!(admin.authorize_invitation(false), Err(PermissionError::AdminRequired));
    assert_eq!(admin.authorize_invitation(true), Ok(()));
    assert_eq!(plain_employee().authorize_invitation(false), Ok(()));
    assert_eq!(plain_employee().authorize_invitation(true), Ok(()));
}

#[test]
fn participant_sees_messages_from_the_join_on() {
    let joins = Joins::parse("emp_00000000000000000000000002=1700000000123").unwrap();
    let conversation = Conversation { joins, ..plain_conversation() };
    let time_before = candor_domain::time::Timestamp::from_millis(AT.millis() - 1);
    for (caller, at, is_shown) in [
        (bound_key(id(2)), time_before, false),
        (bound_key(id(2)), AT, true),
        (bound_key(id(2)), LATER, true),
        (bound_key(id(3)), time_before, true),
        (organization_key(), time_before, true),
    ] {
        assert_eq!(conversation.shows(&caller, at), is_shown, "{at}");
    }
}

/// Returns the entry of a change by an API key.
fn entry_of(action: &'static str) -> AuditEntry {
    let actor = Actor { kind: ActorKind::ApiKey, id: Some("key_1".to_owned()), name: "Import".to_owned() };
    AuditDraft::new(&plain_employee(), action).into_entry(id(7), AT, actor, None, Origin::default())
}

#[test]
fn audit_entry_needs_the_access_of_the_shown_kind() {
    let (update, hold) = (entry_of("employee.update"), entry_of("employee.hold"));
    assert_eq!(update.read_access(), Access::scope(Permission::EmployeesRead));
    assert_eq!(hold.read_access(), Access::organization_admin(Permission::EmployeesErase));
    let reader = key_with(&[Permission::EmployeesRead], AccessLevel::Standard);
    assert_eq!([&update, &hold].map(|entry| entry.shows_values_to(&reader)), [true, false]);
    assert!(PersonalAuditEntry::from_entry(&hold, true, true).is_none());
    let personal_entry = PersonalAuditEntry::from_entry(&update, true, false).unwrap();
    assert_eq!(personal_entry.target.id, Some(&*update.target.id));
}

#[test]
fn connector_is_the_actor_and_its_key_is_in_the_context() {
    let mut entry = entry_of("employee.update");
    entry.act_as(id(8), "acme-hr");
    assert_eq!((entry.actor.kind, &*entry.actor.name), (ActorKind::Connector, "acme-hr"));
    let key = entry.context.api_key.as_ref().map(|key| (key.id.clone(), key.name.clone()));
    assert_eq!(key, Some(("key_1".to_owned(), "Import".to_owned())));
    entry.act_as(id(8), "acme-hr");
    assert_eq!(entry.context.api_key, None, "the actor was no key");
}

#[test]
fn change_that_differs_in_hidden_ids_alone_is_omitted() {
    let (hidden, shown) = ("obs_00000000000000000000000005", "obs_00000000000000000000000006");
    let mut entry = entry_of("employee.update");
    let no_ids: [&str; 0] = [];
    entry.changes = [
        ("listed".to_owned(), Change::new(&[hidden, shown], &[shown])),
        ("nested".to_owned(), Change::new(&[[hidden]], &[no_ids])),
        ("object".to_owned(), Change::new(&BTreeMap::from([("a", hidden)]), &BTreeMap::from([("a", ())]))),
        ("kept".to_owned(), Change::new(&[shown], &no_ids)),
    ]
    .into_iter()
    .collect();
    entry.retain_linked(&|linked| linked != LinkedId::Observation(id(5)));
    assert_eq!(entry.changes.keys().collect::<Vec<_>>(), ["kept"]);
}
