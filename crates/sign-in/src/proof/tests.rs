use candor_domain::access::{Permission, PermissionError, Permissions};
use candor_domain::id::OrganizationId;
use ulid::Ulid;

use super::super::tests::{AT, LATER, admin, provider};
use super::*;

const TENANT: Tenant = Tenant::live(OrganizationId::from_ulid(Ulid(1)));
const OTHER_TENANT: Tenant = Tenant::live(OrganizationId::from_ulid(Ulid(2)));
const OTHER: IdentityProviderId = IdentityProviderId::from_ulid(Ulid(77));

fn unproven_provider() -> IdentityProvider {
    provider(
        r#""link_by": "verified_email", "email_domains": ["a.example", "b.example"], "audiences": ["api://candor"]"#,
    )
}

fn values(domains: &[&str], audiences: &[&str]) -> ProvenValues {
    let set = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    ProvenValues { domains: set(domains), audiences: set(audiences) }
}

#[test]
fn proof_of_a_domain_leaves_the_status() {
    let provider = unproven_provider();
    let none = BTreeMap::new();
    let decision =
        provider.prove(TENANT, &values(&["a.example", "c.example"], &[]), &none, None, LATER).unwrap().unwrap();
    assert_eq!((decision.audit.action, decision.state.status), ("identity_provider.prove", Status::Pending));
    assert_eq!(decision.events, [EventType::IdentityProviderUpdated]);
    assert_eq!(decision.state.domains.iter().map(|entry| entry.is_proven).collect::<Vec<_>>(), [true, false]);
    let proof_ids = decision.state.proof_ids();
    assert_eq!(proof_ids.into_iter().collect::<Vec<_>>(), [ProvableValue::Domain("a.example").proof_id()]);
    assert_eq!(decision.state.prove(TENANT, &values(&["a.example"], &[]), &none, None, LATER), Ok(None));
}

#[test]
fn proven_audience_or_client_id_activates_a_pending_provider() {
    let none = BTreeMap::new();
    let pending = unproven_provider();
    let disabled_provider =
        IdentityProvider { status: Status::Disabled, disabled_at: Some(AT), ..pending.clone() };
    for (provider, audience, wanted) in [
        (&pending, "0oa1", Some(Status::Active)),
        (&pending, "api://candor", Some(Status::Active)),
        (&pending, "api://foreign", None),
        (&disabled_provider, "0oa1", Some(Status::Disabled)),
    ] {
        let decision = provider.prove(TENANT, &values(&[], &[audience]), &none, None, LATER).unwrap();
        assert_eq!(decision.as_ref().map(|decision| decision.state.status), wanted, "{audience}");
        if let Some(decision) = decision {
            assert_eq!(decision.state.proven_audiences, [audience]);
        }
    }
}

#[test]
fn proof_needs_the_access_that_the_provider_gives() {
    let none = BTreeMap::new();
    let pending = unproven_provider();
    let few = Caller { scopes: Permissions::NONE.with(Permission::SettingsWrite), ..admin() };
    let ending = Caller { expires_at: Some(LATER), ..admin() };
    for proven in [values(&["a.example"], &[]), values(&[], &["0oa1"])] {
        let prove = |caller: Option<&Caller>| pending.prove(TENANT, &proven, &none, caller, LATER);
        for caller in [&few, &ending] {
            assert_eq!(prove(Some(caller)), Err(DomainError::Denied(PermissionError::CannotGrant)), "{caller:?}");
        }
        assert!(prove(Some(&admin())).unwrap().is_some() && prove(None).unwrap().is_some());
    }
    assert_eq!(pending.prove(TENANT, &values(&[], &[]), &none, Some(&few), LATER), Ok(None), "nothing to prove");
}

#[test]
fn value_of_another_provider_is_a_conflict() {
    let provider = unproven_provider();
    let issuer = provider.issuer.clone();
    let audience = |audience| ProvableValue::Audience { issuer: &issuer, audience };
    for (value, values, field) in [
        (ProvableValue::Domain("a.example"), values(&["a.example", "b.example"], &[]), "email_domains"),
        (audience("0oa1"), values(&[], &["0oa1"]), "client_id"),
        (audience("api://candor"), values(&[], &["0oa1", "api://candor"]), "audiences"),
    ] {
        for (tenant, visible_id) in [(TENANT, Some(OTHER.to_string())), (OTHER_TENANT, None)] {
            let holders = BTreeMap::from([(value.proof_id(), (tenant, OTHER))]);
            let DomainError::Conflict(conflict) =
                provider.prove(TENANT, &values, &holders, None, LATER).unwrap_err()
            else {
                panic!("{field}");
            };
            assert_eq!((conflict.field.as_str(), conflict.conflicting_id), (field, visible_id));
        }
        let own = BTreeMap::from([(value.proof_id(), (TENANT, provider.id))]);
        assert!(provider.prove(TENANT, &values, &own, None, LATER).is_ok(), "a proof of its own");
    }
}

#[test]
fn audience_is_unique_for_its_issuer_alone() {
    let id = |issuer, audience| ProvableValue::Audience { issuer, audience }.proof_id();
    let ids = [id("https://a.example", "x"), id("https://b.example", "x"), id("https://a.example", "y")];
    assert_eq!(BTreeSet::from(ids).len(), 3);
    assert_ne!(ProvableValue::Domain("x").proof_id(), id("", "x"));
}

#[test]
fn operator_trusts_a_domain_of_exactly_one_provider() {
    let provider = unproven_provider();
    let one = [provider.clone(), IdentityProvider { email_domains: vec![], ..provider.clone() }];
    let named_provider =
        IdentityProvider::find_for_domain(&one, "A.Example").map(|(provider, domain)| (provider.id, domain));
    assert_eq!(named_provider, Ok((provider.id, "a.example".to_owned())));
    assert_eq!(IdentityProvider::find_for_domain(&one, "c.example").err(), Some(EmailDomainError::Unnamed));
    let several = [provider.clone(), provider.clone()];
    let refusal = IdentityProvider::find_for_domain(&several, "a.example").err();
    assert_eq!(refusal, Some(EmailDomainError::Ambiguous(vec![provider.id, provider.id])));
    let malformed_refusal = IdentityProvider::find_for_domain(&one, "gmail.com").err();
    assert!(matches!(malformed_refusal, Some(EmailDomainError::Malformed(_))), "{malformed_refusal:?}");
    assert_eq!(admin().tenant, TENANT);
}
