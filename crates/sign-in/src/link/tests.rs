use candor_domain::access::{AccessLevel, AllowedNetworks, Permission, PermissionError};

use super::super::tests::{AT, LATER, admin, provider};
use super::*;
use candor_test_fixtures::employee;

const SUBJECT_TEXT: &str = "00u1";

fn draft(person: &Employee) -> IdentityLinkDraft {
    let body = format!(r#"{{"employee_id": "{}", "subject": "{SUBJECT_TEXT}"}}"#, person.id);
    IdentityLinkDraft::parse(serde_json::from_str(&body).unwrap()).unwrap()
}

fn link(
    person: &Employee,
    first_link: StoredLinks<'_>,
    caller: &Caller,
) -> Result<Option<(IdentityLink, AuditDraft)>, DomainError> {
    let provider = provider(r#""link_by": "scim_external_id""#);
    IdentityLink::create(&provider, &draft(person), Some(person), first_link, caller, LATER)
}

fn linked(person: &Employee) -> IdentityLink {
    let (link, audit) = link(person, StoredLinks::default(), &admin()).unwrap().unwrap();
    assert_eq!((audit.action, audit.target.id), ("employee.link_identity", person.id.to_string()));
    assert_eq!(audit.changes.keys().collect::<Vec<_>>(), ["identity_provider_id", "subject"]);
    link
}

#[test]
fn logout_of_a_session_leaves_the_other_sessions() {
    let person = employee(1);
    let link = linked(&person);
    let logout = |session: Option<&str>, issued_at| LogoutClaims {
        subject: Some(SUBJECT_TEXT.to_owned()),
        session_id: session.map(str::to_owned),
        token_id: "1".to_owned(),
        issued_at,
    };
    let (of_session, audit) = link.log_out(&person, &logout(Some("s"), LATER), LATER).unwrap();
    let end_of_second = |at: Timestamp| Some(Timestamp::from_millis(at.millis() + 999));
    assert_eq!((of_session.tokens_after, of_session.bearer_tokens_after), (None, end_of_second(LATER)));
    assert_eq!((audit.action, audit.target.id), ("employee.log_out_identity", person.id.to_string()));
    assert_eq!(of_session.log_out(&person, &logout(Some("s"), AT), LATER), None, "an older logout");
    let (of_all, _) = of_session.log_out(&person, &logout(None, AT), LATER).unwrap();
    assert_eq!((of_all.tokens_after, of_all.bearer_tokens_after), (end_of_second(AT), end_of_second(LATER)));
    assert!(of_all.updated_at > of_session.updated_at);
}

#[test]
fn link_that_serves_is_left_alone() {
    let person = Employee { returned_at: Some(AT), ..employee(1) };
    let first_link = linked(&person);
    let second_result =
        link(&person, StoredLinks { of_account: Some(&first_link), of_person: Some(&first_link) }, &admin());
    assert_eq!(second_result, Ok(None));
}

#[test]
fn link_of_a_returned_person_serves_when_confirmed() {
    let first_link = linked(&employee(1));
    let person = Employee { returned_at: Some(LATER.plus_seconds(5)), ..employee(1) };
    assert!(first_link.needs_confirmation(person.returned_at) && !first_link.needs_confirmation(Some(AT)));
    let links = StoredLinks { of_account: Some(&first_link), of_person: Some(&first_link) };
    let provider = provider(r#""link_by": "scim_external_id""#);
    let now = LATER.plus_seconds(9);
    let (confirmed_link, audit) =
        IdentityLink::create(&provider, &draft(&person), Some(&person), links, &admin(), now).unwrap().unwrap();
    assert_eq!((audit.action, confirmed_link.confirmed_at), ("employee.confirm_identity", Some(now)));
    assert_eq!(confirmed_link.created_at, first_link.created_at);
    assert!(!confirmed_link.needs_confirmation(person.returned_at));
    assert!(confirmed_link.needs_confirmation(Some(now.plus_seconds(1))), "the person left and came back again");
}

#[test]
fn removed_link_keeps_refusing_older_tokens() {
    let person = employee(1);
    let now = LATER.plus_seconds(9);
    let (removed_link, audit) = linked(&person).remove(&person, now);
    let last_issue_time = Some(now.plus_seconds(60));
    assert_eq!((removed_link.removed_at, removed_link.tokens_after), (Some(now), last_issue_time));
    assert_eq!(audit.action, "employee.unlink_identity");
    let other = employee(2);
    let (second_result, _) =
        link(&other, StoredLinks { of_account: Some(&removed_link), of_person: None }, &admin()).unwrap().unwrap();
    assert_eq!(
        (second_result.id, second_result.employee_id, second_result.removed_at),
        (removed_link.id, other.id, None)
    );
    assert_eq!(second_result.tokens_after, last_issue_time, "also for another person");
    assert!(second_result.created_at > removed_link.updated_at);
}

#[test]
fn account_of_another_person_and_second_account_are_conflicts() {
    let (ada, bo) = (employee(1), employee(2));
    let of_ada = linked(&ada);
    let conflict = |result: Result<_, DomainError>| match result {
        Err(DomainError::Conflict(conflict)) => (conflict.field, conflict.conflicting_id),
        other => panic!("{other:?}"),
    };
    let foreign = link(&bo, StoredLinks { of_account: Some(&of_ada), of_person: None }, &admin()).map(drop);
    assert_eq!(conflict(foreign), ("subject".to_owned(), Some(ada.id.to_string())));
    let second = IdentityLink { subject: "00u2".to_owned(), ..of_ada };
    let second = link(&ada, StoredLinks { of_account: None, of_person: Some(&second) }, &admin()).map(drop);
    assert_eq!(conflict(second), ("subject".to_owned(), Some(ada.id.to_string())));
}

#[test]
fn link_needs_a_present_person_and_all_access() {
    let code = |result: Result<_, DomainError>| match result {
        Err(DomainError::Unprocessable(problems)) => problems.as_slice()[0].code,
        other => panic!("{other:?}"),
    };
    let former = Employee { status: Status::Deactivated, ..employee(1) };
    assert_eq!(code(link(&former, StoredLinks::default(), &admin()).map(drop)), Code::InvalidState);
    let provider = provider(r#""link_by": "scim_external_id""#);
    let none = StoredLinks::default();
    let absent = IdentityLink::create(&provider, &draft(&former), None, none, &admin(), LATER).map(drop);
    assert_eq!(code(absent), Code::NotFoundInOrganization);
    let invited_person = Employee { status: Status::PendingInvite, ..employee(1) };
    assert!(link(&invited_person, none, &admin()).is_ok());
    // The link lasts when the provider gives more and the person becomes an org admin.
    let expected_refusal = Err(DomainError::Denied(PermissionError::CannotGrant));
    for weak in [
        Caller { scopes: provider.scopes.with(Permission::SettingsWrite), ..admin() },
        Caller { level: AccessLevel::Standard, ..admin() },
        Caller { expires_at: Some(LATER.plus_seconds(60)), ..admin() },
        Caller { allowed_networks: AllowedNetworks::from_texts(["192.0.2.0/24"]).unwrap(), ..admin() },
    ] {
        assert_eq!(link(&invited_person, none, &weak), expected_refusal, "{weak:?}");
    }
}

#[test]
fn id_depends_on_provider_and_subject() {
    let id = |provider: u128, subject: &str| {
        IdentityLink::id_of(IdentityProviderId::from_ulid(ulid::Ulid(provider)), subject)
    };
    assert_eq!(id(1, "a"), id(1, "a"));
    assert!(id(1, "a") != id(2, "a") && id(1, "a") != id(1, "A"));
}
