use candor_domain::access::{Permission, Permissions};
use candor_domain::id::OrganizationId;
use candor_tokens::claims::TokenSubject;
use ulid::Ulid;

use super::super::tests::{AT, LATER, provider};
use super::*;
use candor_test_fixtures::employee;

const TENANT: Tenant = Tenant::live(OrganizationId::from_ulid(Ulid(1)));

fn claims(issued_at: Timestamp) -> BearerClaims {
    BearerClaims {
        subject: TokenSubject { subject: "00u1".to_owned(), external_id: None, verified_email: None },
        audiences: vec!["api://candor".to_owned()],
        named_scopes: vec![],
        issued_at,
        expires_at: issued_at.plus_seconds(600),
    }
}

fn link(person: &Employee) -> IdentityLink {
    let provider = provider(r#""link_by": "scim_external_id""#);
    IdentityLink {
        id: IdentityLink::id_of(provider.id, "00u1"),
        identity_provider_id: provider.id,
        employee_id: person.id,
        subject: "00u1".to_owned(),
        created_at: AT,
        confirmed_at: None,
        updated_at: AT,
        tokens_after: None,
        bearer_tokens_after: None,
        removed_at: None,
    }
}

/// Returns the caller of a token that was issued at `LATER`.
fn judge(link: Option<&IdentityLink>, person: Option<&Employee>) -> Result<Option<Caller>, BearerError> {
    let provider = provider(r#""link_by": "scim_external_id", "scopes": ["observations:read"]"#);
    BearerAccount { tenant: TENANT, provider: &provider, link, person }.authenticate(&claims(LATER))
}

#[test]
fn account_is_accepted_while_its_link_and_person_are() {
    let person = employee(1);
    let link = link(&person);
    let deactivated_person = Employee { status: people::Status::Deactivated, ..person.clone() };
    let returned_person = Employee { returned_at: Some(LATER), ..person.clone() };
    let with_end = |end| IdentityLink { tokens_after: Some(end), ..link.clone() };
    let time_before = Timestamp::from_millis(LATER.millis() - 1);
    let confirmed_link = IdentityLink { confirmed_at: Some(LATER), ..link.clone() };
    let of_session = IdentityLink { bearer_tokens_after: Some(LATER), ..link.clone() };
    let removed_link = IdentityLink { removed_at: Some(time_before), ..with_end(time_before) };
    let removed_later = IdentityLink { removed_at: Some(LATER), ..with_end(LATER) };
    let table = [
        ("linked", Some(&link), Some(&person), Ok(true)),
        ("without link", None, None, Ok(false)),
        ("without person", Some(&link), None, Err(LinkError::NoPerson.into())),
        ("deactivated", Some(&link), Some(&deactivated_person), Err(LinkError::Deactivated.into())),
        ("returned", Some(&link), Some(&returned_person), Err(LinkError::NeedsAdmin.into())),
        ("confirmed", Some(&confirmed_link), Some(&returned_person), Ok(true)),
        ("logged out before", Some(&with_end(time_before)), Some(&person), Ok(true)),
        ("logged out at its issue", Some(&with_end(LATER)), Some(&person), Err(BearerError::Ended)),
        ("logged out of a session", Some(&of_session), Some(&person), Err(BearerError::Ended)),
        ("unlinked before", Some(&removed_link), None, Ok(false)),
        ("unlinked at its issue", Some(&removed_later), None, Err(BearerError::Ended)),
    ];
    for (what, link, person, wanted) in table {
        assert_eq!(judge(link, person).map(|caller| caller.is_some()), wanted, "{what}");
    }
}

#[test]
fn caller_acts_as_the_person_with_the_scopes_of_the_provider() {
    let person = Employee { role: Role::OrgAdmin, ..employee(1) };
    let link = link(&person);
    let caller = judge(Some(&link), Some(&person)).unwrap().unwrap();
    let scopes = Permissions::NONE.with(Permission::ObservationsRead);
    assert_eq!((caller.scopes, caller.level, caller.key), (scopes, AccessLevel::Standard, link.caller_key()));
    assert_eq!(caller.person, Some(BoundPerson { id: person.id, is_org_admin: true }));
    assert_eq!(caller.identity_provider, Some(link.identity_provider_id));
    assert_eq!(caller.expires_at, Some(LATER.plus_seconds(660)));
}

#[test]
fn only_proven_audiences_of_an_active_provider_count() {
    let mut provider = provider(r#""link_by": "scim_external_id", "audiences": ["a", "b"]"#);
    assert_eq!(provider.require_active(), Err(BearerError::InactiveProvider));
    provider.proven_audiences = vec!["b".to_owned(), "0oa1".to_owned()];
    provider.status = Status::Active;
    assert_eq!((provider.require_active(), provider.bearer_rules().audiences), (Ok(()), vec!["b".to_owned()]));
}

#[test]
fn each_cause_has_a_name_of_its_own() {
    let mut words: Vec<_> = BearerError::all().map(BearerError::word).collect();
    let count = words.len();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), count);
}

#[test]
fn scopes_of_a_token_limit_those_of_the_provider() {
    let set = |words: &[&str]| Permissions::from_words(words.iter().copied()).unwrap();
    let of_provider = set(&["objectives:read", "objectives:write", "employees:read"]);
    let named_in_both: &[&str] = &["openid", "objectives:read", "settings:write", "employees:read", "*"];
    for (words, free, must_name) in [
        (&[][..], of_provider, Permissions::NONE),
        (&["openid", "profile"], of_provider, Permissions::NONE),
        (&["*"], of_provider, Permissions::NONE),
        (&["objectives:read"], set(&["objectives:read"]), set(&["objectives:read"])),
        (&["settings:write"], Permissions::NONE, Permissions::NONE),
        (named_in_both, set(&["objectives:read", "employees:read"]), set(&["objectives:read", "employees:read"])),
    ] {
        let scopes: Vec<String> = words.iter().copied().map(str::to_owned).collect();
        let effective = |must_name| effective_permissions(of_provider, &scopes, must_name);
        assert_eq!((effective(false), effective(true)), (free, must_name), "{words:?}");
    }
    assert!(!effective_permissions(Permissions::ALL, &[], true).has(Permission::ObjectivesRead));
    assert_eq!(effective_permissions(Permissions::ALL, &["scim".to_owned()], false), Permissions::NONE);
}
