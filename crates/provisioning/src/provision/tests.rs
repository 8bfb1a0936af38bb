mod confirmation;

use candor_domain::event::EventType;
use candor_domain::id::ConnectorId;
use candor_domain::json::Object;
use candor_domain::people::Role;
use candor_scim::CustomMapping;
use ulid::Ulid;

use super::*;
use crate::connector;
use crate::{Candidates, admit_match, is_visible, remove, resolve_manager};
use candor_test_fixtures::employee;

const AT: Timestamp = Timestamp::from_millis(9_000);

fn hr(number: u128) -> Connector {
    let body = serde_json::from_str(r#"{"type":"csv_feed","hris_source":"okta"}"#).unwrap();
    Connector::create(ConnectorId::from_ulid(Ulid(number)), connector::Draft::parse(body).unwrap(), AT).state
}

fn user(members: &str) -> ScimUser {
    read(members, &[])
}

fn read(members: &str, mappings: &[CustomMapping]) -> ScimUser {
    let body = format!(
        r#"{{"userName":"person1@example.com","name":{{"givenName":"Ada","familyName":"Example"}}{members}}}"#
    );
    let document = UserDocument::from_body(serde_json::from_str::<Object>(&body).unwrap()).unwrap();
    ScimUser::read(&document, mappings, None).unwrap()
}

fn input<'a>(connector: &'a Connector, user: &'a ScimUser, person: Option<&'a Employee>) -> ProvisioningInput<'a> {
    ProvisioningInput {
        kind: WriteKind::Create,
        connector,
        user,
        id: EmployeeId::from_ulid(Ulid(1)),
        person,
        link: None,
        manager: ManagerTarget::Absent,
        department: DepartmentTarget::Absent,
        email_holder: None,
        external_id_holder: None,
        user_name_link: None,
        external_id_link: None,
        has_other_admin: false,
        issues: &[],
        at: AT,
    }
}

fn events(changed: &ProvisionedUser) -> Vec<EventType> {
    changed.decisions.iter().flat_map(|decision| decision.events.clone()).collect()
}

fn kinds(changed: &ProvisionedUser) -> Vec<IssueKind> {
    changed.issues.iter().map(|issue| issue.kind).collect()
}

#[test]
fn created_person_is_active_managed_and_linked() {
    let hr = hr(5);
    let user = user(r#","externalId":"00u1","nickName":"Adi","title":"Analyst""#);
    let creation = input(&hr, &user, None).decide().unwrap();
    assert_eq!(events(&creation), [EventType::EmployeeCreated]);
    let person = creation.person(None).unwrap();
    assert_eq!((person.status, person.connector_id), (Status::Active, Some(hr.id)));
    assert_eq!((person.external_id.as_deref(), person.job_title.as_deref()), (Some("00u1"), Some("Analyst")));
    assert_eq!(creation.link.external_id.as_deref(), Some("00u1"));
    assert_eq!(serde_json::to_string(&creation.link.extra).unwrap(), r#"{"nickName":"Adi"}"#);
    assert!(creation.is_link_changed && creation.issues.is_empty());
}

#[test]
fn person_created_inactive_is_deactivated() {
    let (hr, user) = (hr(5), user(r#","active":false"#));
    let creation = input(&hr, &user, None).decide().unwrap();
    assert_eq!(events(&creation), [EventType::EmployeeCreated, EventType::EmployeeDeactivated]);
    assert_eq!(creation.link.deactivated_at, None, "the brake counts only stored people");
}

#[test]
fn status_follows_the_request_and_the_kind_of_write() {
    use EventType::{EmployeeDeactivated, EmployeeReactivated, EmployeeRehired, EmployeeUpdated};
    use Status::{Active, Deactivated, PendingInvite};
    use WriteKind::{Change, Create};
    let hr = hr(5);
    let table: [(Status, WriteKind, &str, Vec<EventType>, Status); 11] = [
        (Active, Change, "", vec![], Active),
        (Active, Change, r#","active":true"#, vec![], Active),
        (Active, Change, r#","active":"False""#, vec![EmployeeDeactivated], Deactivated),
        (Deactivated, Change, "", vec![], Deactivated),
        (Deactivated, Change, r#","active":false"#, vec![], Deactivated),
        (Deactivated, Change, r#","active":true"#, vec![EmployeeReactivated], Active),
        (Deactivated, Create, "", vec![EmployeeRehired], Active),
        (Deactivated, Create, r#","active":true"#, vec![EmployeeRehired], Active),
        (Deactivated, Create, r#","active":false"#, vec![], Deactivated),
        (PendingInvite, Create, r#","active":true"#, vec![EmployeeUpdated], Active),
        (PendingInvite, Change, r#","active":false"#, vec![EmployeeDeactivated], Deactivated),
    ];
    for (status, kind, members, wanted, then) in table {
        let deactivated_at = (status == Deactivated).then_some(Timestamp::from_millis(1_500));
        let person = hr.in_charge_of(Employee { status, deactivated_at, ..employee(1) });
        let user = user(members);
        let change = ProvisioningInput { kind, ..input(&hr, &user, Some(&person)) }.decide().unwrap();
        assert_eq!(events(&change), wanted, "{status:?} {kind:?} {members}");
        assert_eq!(change.person(Some(&person)).unwrap().status, then, "{status:?} {kind:?} {members}");
        let has_departed = then == Deactivated && status != Deactivated;
        assert_eq!(change.link.deactivated_at.is_some(), has_departed, "{status:?} {kind:?} {members}");
        assert_eq!(change.deactivates(&person), has_departed);
    }
}

#[test]
fn equal_request_changes_nothing() {
    let hr = hr(5);
    let user = user(r#","nickName":"Adi","urn:x:User":{"b":1,"a":2}"#);
    let creation = input(&hr, &user, None).decide().unwrap();
    let person = creation.person(None).unwrap();
    let change = ProvisioningInput {
        kind: WriteKind::Change,
        link: Some(&creation.link),
        at: Timestamp::from_millis(20_000),
        ..input(&hr, &user, Some(person))
    };
    let second_change = change.decide().unwrap();
    assert!(second_change.is_unchanged(), "{second_change:?}");
    assert_eq!(second_change.link, creation.link);
}

#[test]
fn adopted_person_keeps_values_that_the_request_omits() {
    let (hr, user) = (hr(5), user(""));
    let boss = EmployeeId::from_ulid(Ulid(9));
    let person = Employee { job_title: Some("Lead".to_owned()), manager_id: Some(boss), ..employee(1) };
    let adoption = input(&hr, &user, Some(&person)).decide().unwrap();
    let adoptee = adoption.person(Some(&person)).unwrap();
    assert_eq!((adoptee.job_title.as_deref(), adoptee.manager_id), (Some("Lead"), Some(boss)));
    assert_eq!(events(&adoption), [EventType::EmployeeUpdated]);
    let replacement =
        ProvisioningInput { kind: WriteKind::Change, ..input(&hr, &user, Some(adoptee)) }.decide().unwrap();
    let replaced_person = replacement.person(Some(adoptee)).unwrap();
    assert_eq!((replaced_person.job_title.as_deref(), replaced_person.manager_id), (None, None));
}

#[test]
fn replacement_clears_only_people_that_the_connector_created() {
    let (hr, other, user) = (hr(5), hr(6), user(""));
    let person = hr.in_charge_of(Employee { job_title: Some("Lead".to_owned()), ..employee(1) });
    let link = input(&hr, &user, None).decide().unwrap().link;
    let own_link = ScimLink { linked_at: person.created_at, ..link.clone() };
    let later_time = person.created_at.plus_seconds(1);
    let table = [
        (Some(own_link.clone()), None),
        (Some(ScimLink { linked_at: later_time, ..own_link.clone() }), Some("Lead")),
        (Some(ScimLink { removed_at: Some(later_time), ..own_link.clone() }), Some("Lead")),
        (Some(ScimLink { connector_id: other.id, ..own_link }), Some("Lead")),
        (None, Some("Lead")),
    ];
    for (link, title) in table {
        let base = input(&hr, &user, Some(&person));
        let put = ProvisioningInput { kind: WriteKind::Replace, link: link.as_ref(), ..base };
        let put = put.decide().unwrap();
        assert_eq!(put.person(Some(&person)).unwrap().job_title.as_deref(), title, "{link:?}");
    }
}

#[test]
fn link_of_another_connector_is_replaced_as_a_whole() {
    let (hr, other, user) = (hr(5), hr(6), user(r#","externalId":"b-1""#));
    let foreign = ScimLink {
        connector_id: other.id,
        external_id: Some("a-1".to_owned()),
        deactivated_at: Some(AT),
        ..input(&other, &user, None).decide().unwrap().link.end(AT)
    };
    let person = Employee { external_id: Some("a-1".to_owned()), ..employee(1) };
    let adoption =
        ProvisioningInput { link: Some(&foreign), ..input(&hr, &user, Some(&person)) }.decide().unwrap();
    assert_eq!(adoption.person(Some(&person)).unwrap().external_id.as_deref(), Some("a-1"));
    let link = adoption.link;
    assert_eq!((link.connector_id, link.external_id.as_deref()), (hr.id, Some("b-1")));
    assert_eq!((link.removed_at, link.deactivated_at), (None, None));
}

#[test]
fn reference_that_cannot_be_applied_is_an_issue() {
    let hr = hr(5);
    let enterprise = candor_scim::ENTERPRISE;
    let user = user(&format!(r#","{enterprise}":{{"department":"Care","manager":{{"value":"boss-1"}}}}"#));
    let (old, wanted) = (EmployeeId::from_ulid(Ulid(8)), EmployeeId::from_ulid(Ulid(9)));
    let department = DepartmentId::from_ulid(Ulid(3));
    let person = hr.in_charge_of(Employee { manager_id: Some(old), ..employee(1) });
    let archived_department = DepartmentTarget::Known { id: department, is_archived: true };
    let open_department = DepartmentTarget::Known { id: department, is_archived: false };
    let manager_target = |is_below| ManagerTarget::Known { id: wanted, is_below, depth: 1 };
    let table = [
        (
            ManagerTarget::Unknown,
            archived_department,
            vec![IssueKind::ManagerPending, IssueKind::DepartmentArchived],
        ),
        (manager_target(true), open_department.clone(), vec![IssueKind::ReportingCycle]),
        (manager_target(false), open_department, vec![]),
    ];
    for (manager, department, issues) in table {
        let is_pending = manager == ManagerTarget::Unknown;
        let change =
            ProvisioningInput { kind: WriteKind::Change, manager, department, ..input(&hr, &user, Some(&person)) };
        let provision = change.decide().unwrap();
        let person_after = provision.person(Some(&person)).unwrap();
        assert_eq!(kinds(&provision), issues);
        let is_applied = issues.is_empty();
        assert_eq!(person_after.manager_id, Some(if is_applied { wanted } else { old }));
        assert_eq!(provision.link.manager_ref.as_deref(), is_pending.then_some("boss-1"));
        let extra = serde_json::to_string(&provision.link.extra).unwrap();
        assert_eq!(extra.contains("boss-1"), !is_applied, "an attribute that is not applied is returned: {extra}");
        assert_eq!(extra.contains("Care"), issues.contains(&IssueKind::DepartmentArchived), "{extra}");
    }
}

#[test]
fn department_of_a_member_may_be_archived() {
    let hr = hr(5);
    let user = user(r#","department":"Care""#);
    let id = DepartmentId::from_ulid(Ulid(3));
    let person = hr.in_charge_of(Employee { department_id: Some(id), ..employee(1) });
    let department = DepartmentTarget::Known { id, is_archived: true };
    let change = ProvisioningInput { kind: WriteKind::Change, department, ..input(&hr, &user, Some(&person)) };
    let provision = change.decide().unwrap();
    assert!(provision.decisions.is_empty() && provision.issues.is_empty(), "{provision:?}");
}

#[test]
fn last_active_org_admin_is_not_deactivated() {
    let (hr, user) = (hr(5), user(r#","active":false"#));
    let person = hr.in_charge_of(Employee { role: Role::OrgAdmin, ..employee(1) });
    let change = |has_other_admin| ProvisioningInput {
        kind: WriteKind::Change,
        has_other_admin,
        ..input(&hr, &user, Some(&person))
    };
    let refusal = change(false).decide().unwrap_err();
    assert_eq!(refusal.error.kind, Some(ScimErrorType::Uniqueness));
    assert_eq!(refusal.issue.map(|issue| issue.kind), Some(IssueKind::LastAdmin));
    assert!(change(true).decide().is_ok());
    let link = change(true).decide().unwrap().link;
    assert!(remove(&person, &link, false, AT).is_err());
    let removal = remove(&person, &link, true, AT).unwrap();
    assert_eq!(removal.decision.unwrap().events, [EventType::EmployeeDeactivated]);
    assert!(removal.link.removed_at.is_some() && removal.link.deactivated_at.is_some());
}

#[test]
fn identifier_of_another_person_is_refused_with_an_issue() {
    let (hr, user) = (hr(5), user(r#","externalId":"00u1""#));
    let other = Some(EmployeeId::from_ulid(Ulid(2)));
    let person = hr.in_charge_of(employee(1));
    let base = input(&hr, &user, Some(&person));
    for taken in [
        ProvisioningInput { email_holder: other, ..base.clone() },
        ProvisioningInput { user_name_link: other, ..base.clone() },
        ProvisioningInput { external_id_link: other, ..base.clone() },
    ] {
        // The address of the person is unchanged, so its holder matters only for a new person.
        let conflict = ProvisioningInput { person: taken.email_holder.is_none().then_some(&person), ..taken };
        let refusal = conflict.decide().unwrap_err();
        assert_eq!(refusal.error.status, 409);
        assert_eq!(refusal.issue.map(|issue| issue.kind), Some(IssueKind::IdentityConflict));
    }
    let provision = ProvisioningInput { external_id_holder: other, ..base }.decide().unwrap();
    assert_eq!(
        provision.person(Some(&person)).unwrap().external_id,
        None,
        "the other person keeps the external id"
    );
    assert_eq!(provision.link.external_id.as_deref(), Some("00u1"));
}

#[test]
fn identifiers_of_a_creation_name_one_person_or_are_refused() {
    let user = user(r#","externalId":"00u1""#);
    let [one, two] = [1, 2].map(|number| Some(EmployeeId::from_ulid(Ulid(number))));
    let none = Candidates::default();
    let table = [
        (none, Ok(None)),
        (Candidates { linked_external_id: one, ..none }, Ok(one)),
        (Candidates { external_id: one, email: one, ..none }, Ok(one)),
        (Candidates { user_name: two, ..none }, Ok(two)),
        (Candidates { email: two, ..none }, Ok(two)),
        (Candidates { linked_external_id: one, user_name: two, ..none }, Err(())),
        (Candidates { external_id: one, email: two, ..none }, Err(())),
        (Candidates { user_name: one, email: two, ..none }, Err(())),
    ];
    for (candidates, wanted) in table {
        let match_result = candidates.person(&user);
        assert_eq!(match_result.as_ref().ok(), wanted.as_ref().ok(), "{candidates:?}");
        let kind = match_result.err().and_then(|refused| refused.issue).map(|issue| issue.kind);
        assert_eq!(kind, wanted.err().map(|()| IssueKind::IdentityConflict));
    }
}

#[test]
fn creation_takes_inactive_and_unmanaged_people_only() {
    let (own, other, user) = (hr(5), hr(6), user(""));
    let link = input(&own, &user, None).decide().unwrap().link;
    let removed_link = link.end(AT);
    let active = own.in_charge_of(employee(1));
    let former_employee = active.deactivate(AT).unwrap().state;
    let foreign = other.in_charge_of(employee(1));
    let table = [
        // person, link, taken, visible
        (&employee(1), None, true, true),
        (&active, Some(&link), false, true),
        (&active, Some(&removed_link), true, false),
        (&former_employee, Some(&link), true, true),
        (&former_employee, Some(&removed_link), true, false),
        (&foreign, None, false, false),
    ];
    for (at, (person, link, is_taken, is_seen)) in table.into_iter().enumerate() {
        assert_eq!(admit_match(&user, person, link, own.id).is_ok(), is_taken, "{at}");
        assert_eq!(is_visible(person, link, own.id), is_seen, "{at}");
    }
    let refusal_of = |user: &ScimUser, link: &ScimLink| {
        let refusal = admit_match(user, &active, Some(link), own.id).unwrap_err();
        refusal.error.detail
    };
    let exists = |what: &str| format!("A user with this {what} exists already: {}.", active.id);
    assert_eq!(refusal_of(&user, &link), exists("userName and e-mail address"));
    let mut renamed_user = user;
    renamed_user.user_name = "new".to_owned();
    renamed_user.email = "new@example.com".to_owned();
    renamed_user.external_id = Some("00u1".to_owned());
    let known_link = ScimLink { external_id: Some("00u1".to_owned()), ..link };
    assert_eq!(refusal_of(&renamed_user, &known_link), exists("externalId"));
    let user = renamed_user;
    let refusal = admit_match(&user, &foreign, None, own.id).unwrap_err();
    assert_eq!(refusal.issue.map(|issue| issue.kind), Some(IssueKind::ManagedElsewhere));
}

#[test]
fn arriving_manager_is_set_unless_they_report_to_the_person() {
    let hr = hr(5);
    let user = user(r#","manager":"boss-1""#);
    let waiting = ProvisioningInput { manager: ManagerTarget::Unknown, ..input(&hr, &user, None) };
    let waiting = waiting.decide().unwrap();
    let (person, boss) = (waiting.person(None).unwrap(), EmployeeId::from_ulid(Ulid(9)));
    let set = resolve_manager(person, &waiting.link, boss, false, 1, AT);
    assert_eq!(set.decision.unwrap().state.manager_id, Some(boss));
    assert_eq!((set.link.manager_ref, set.link.extra, set.issue), (None, UserDocument::default().into(), None));
    let cycle = resolve_manager(person, &waiting.link, boss, true, 1, AT);
    assert_eq!((cycle.decision, cycle.link.manager_ref), (None, None));
    assert_eq!(cycle.issue.map(|issue| issue.kind), Some(IssueKind::ReportingCycle));
    assert_eq!(cycle.link.extra, waiting.link.extra, "the manager that was sent is returned");
}

#[test]
fn mapped_attribute_is_a_custom_field() {
    let hr = hr(5);
    let path = format!("{}:employeeNumber", candor_scim::ENTERPRISE);
    let mappings = [CustomMapping::parse("badge", &path).unwrap()];
    let user = read(r#","employeeNumber":4711"#, &mappings);
    let creation = input(&hr, &user, None).decide().unwrap();
    let person = creation.person(None).unwrap();
    assert_eq!(serde_json::to_string(&person.custom_fields).unwrap(), r#"{"badge":4711}"#);
    assert!(creation.link.extra == UserDocument::default().into());
    let user_without_field = read("", &mappings);
    let change = ProvisioningInput { kind: WriteKind::Change, ..input(&hr, &user_without_field, Some(person)) };
    assert!(change.decide().unwrap().person(Some(person)).unwrap().custom_fields.0.is_empty());
}
