//! Creation, update and deletion of identity providers.

use candor_domain::access::{AccessLevel, AllowedNetworks, Caller, Permission, PermissionError};
use candor_domain::decision::Decision;
use candor_domain::event::EventType;
use candor_domain::id::KeyId;
use candor_domain::json::Object;
use candor_domain::problem::{Code, ValidationErrors};
use candor_domain::refusal::DomainError;
use ulid::Ulid;

use super::*;
use candor_test_fixtures::unbound;

pub(super) const AT: Timestamp = Timestamp::from_millis(1_700_000_000_000);
pub(super) const LATER: Timestamp = Timestamp::from_millis(1_700_000_100_000);
const ID: IdentityProviderId = IdentityProviderId::from_ulid(Ulid(9));
const DRAFT: &str = r#""name": "Okta", "issuer": "https://acme.okta.example", "client_id": "0oa1""#;

fn body(text: &str) -> Object {
    serde_json::from_str(text).unwrap()
}

pub(super) fn admin() -> Caller {
    unbound(AccessLevel::Admin)
}

fn draft(rest: &str) -> Result<Draft, ValidationErrors> {
    Draft::parse(body(&format!("{{{DRAFT}, {rest}}}")))
}

pub(super) fn provider(rest: &str) -> IdentityProvider {
    IdentityProvider::create(ID, draft(rest).unwrap(), None, &admin(), AT).unwrap().state
}

/// Returns an active provider with two domains and an audience, all of which are proven.
fn active_provider() -> IdentityProvider {
    let provider = provider(
        r#""link_by": "verified_email", "email_domains": ["a.example", "b.example"], "audiences": ["api://candor"]"#,
    );
    let domains = provider.domains.iter().cloned().map(|domain| EmailDomain { is_proven: true, ..domain });
    IdentityProvider {
        domains: domains.collect(),
        proven_audiences: vec!["0oa1".to_owned(), "api://candor".to_owned()],
        client_secret: Some(vec![1, 2, 3]),
        status: Status::Active,
        ..provider
    }
}

fn flaws(problems: &ValidationErrors) -> Vec<(&str, Code)> {
    problems.as_slice().iter().map(|problem| (problem.field.as_str(), problem.code)).collect()
}

fn update_as(
    caller: &Caller,
    stored_provider: &IdentityProvider,
    text: &str,
) -> Result<Option<Decision<IdentityProvider>>, DomainError> {
    let patch = Patch::resolve(&Patch::parse(body(text)), stored_provider)?;
    let sealed_secret =
        patch.client_secret.as_ref().map(|secret| secret.as_ref().map(|secret| secret.reveal().into()));
    stored_provider.update(patch, sealed_secret, caller, LATER)
}

fn updated(stored_provider: &IdentityProvider, text: &str) -> IdentityProvider {
    update_as(&admin(), stored_provider, text).unwrap().unwrap().state
}

#[test]
fn creation_has_the_documented_defaults() {
    let decision =
        IdentityProvider::create(ID, draft(r#""link_by": "scim_external_id""#).unwrap(), None, &admin(), AT)
            .unwrap();
    assert_eq!(decision.events, [EventType::IdentityProviderCreated]);
    let json = serde_json::to_value(&decision.state).unwrap();
    for (name, wanted) in [
        ("id", serde_json::json!("idp_00000000000000000000000009")),
        ("client_secret_set", false.into()),
        ("subject_claim", "sub".into()),
        ("session_lifetime", 43_200.into()),
        ("scopes_from_token", false.into()),
        ("admin_sessions", false.into()),
        ("status", "pending".into()),
        ("audiences", serde_json::json!([])),
        ("domains", serde_json::json!([])),
    ] {
        assert_eq!(json[name], wanted, "{name}");
    }
    assert_eq!(json.get("client_secret"), None);
    assert_eq!(json["scopes"].as_array().unwrap().len(), 13);
}

#[test]
fn invalid_member_is_refused_at_its_field() {
    let long = "a".repeat(256);
    let domains: Vec<_> = (0..21).map(|number| format!("\"d{number}.example\"")).collect();
    for (rest, wanted) in [
        (r#""link_by": "sms""#.to_owned(), vec![("link_by", Code::InvalidEnum)]),
        (r#""link_by": "verified_email""#.to_owned(), vec![("email_domains", Code::Required)]),
        (
            r#""link_by": "verified_email", "email_domains": ["gmail.com"]"#.to_owned(),
            vec![("email_domains", Code::InvalidFormat)],
        ),
        (
            r#""link_by": "scim_external_id", "email_domains": ["a.example", "A.example"]"#.to_owned(),
            vec![("email_domains", Code::InvalidFormat)],
        ),
        (
            format!(r#""link_by": "scim_external_id", "email_domains": [{}]"#, domains.join(",")),
            vec![("email_domains", Code::TooLong)],
        ),
        (
            format!(r#""link_by": "scim_external_id", "audiences": ["{long}"], "required_acr": "{long}""#),
            vec![("audiences", Code::TooLong), ("required_acr", Code::TooLong)],
        ),
        (
            r#""link_by": "scim_external_id", "session_lifetime": 299, "scopes": ["scim"]"#.to_owned(),
            vec![("scopes", Code::InvalidFormat), ("session_lifetime", Code::OutOfRange)],
        ),
        (
            r#""link_by": "scim_external_id", "client_secret": "", "subject_claim": "a\nb""#.to_owned(),
            vec![("subject_claim", Code::InvalidFormat), ("client_secret", Code::TooShort)],
        ),
        (
            r#""link_by": "scim_external_id", "status": "active", "proven_audiences": []"#.to_owned(),
            vec![("proven_audiences", Code::ReadOnly), ("status", Code::ReadOnly)],
        ),
    ] {
        assert_eq!(flaws(&draft(&rest).unwrap_err()), wanted, "{rest}");
    }
}

#[test]
fn issuer_is_an_https_url_without_query_and_fragment() {
    let long = format!("https://a.example/{}", "b".repeat(2_000));
    for (issuer, wanted) in [
        ("https://acme.okta.example", None),
        ("https://login.example:8443/tenants/7/v2.0/", None),
        ("http://acme.okta.example", Some(Code::InvalidFormat)),
        ("ftp://acme.okta.example", Some(Code::InvalidFormat)),
        ("https://a.example/?x=1", Some(Code::InvalidFormat)),
        ("https://a.example/#x", Some(Code::InvalidFormat)),
        ("https://a.example?", Some(Code::InvalidFormat)),
        ("https://ada@a.example", Some(Code::InvalidFormat)),
        ("acme.okta.example", Some(Code::InvalidFormat)),
        ("", Some(Code::InvalidFormat)),
        (&long, Some(Code::TooLong)),
    ] {
        let text = format!(
            r#"{{"name": "Okta", "issuer": "{issuer}", "client_id": "0oa1", "link_by": "scim_external_id"}}"#
        );
        let result = Draft::parse(body(&text)).map_err(DomainError::Invalid);
        let refusal = result.and_then(|draft| draft.require_https(false)).err();
        let code = refusal.map(|error| {
            let DomainError::Invalid(problems) = error else { panic!("{error:?}") };
            problems.as_slice()[0].code
        });
        assert_eq!(code, wanted, "{issuer}");
    }
}

#[test]
fn plain_issuer_needs_a_trusted_network() {
    let text = r#"{"name": "Dex", "issuer": "http://127.0.0.1:5556/dex", "client_id": "a", "link_by": "scim_external_id"}"#;
    let draft = Draft::parse(body(text)).unwrap();
    assert_eq!(draft.require_https(true), Ok(()));
    assert!(matches!(draft.require_https(false), Err(DomainError::Invalid(_))));
}

#[test]
fn resource_that_is_sent_back_changes_nothing() {
    let stored_provider = active_provider();
    let text = serde_json::to_string(&stored_provider).unwrap();
    assert_eq!(update_as(&admin(), &stored_provider, &text), Ok(None));
    for (text, field) in [
        (r#"{"issuer": "https://b.example"}"#, "issuer"),
        (r#"{"domains": []}"#, "domains"),
        (r#"{"client_secret_set": false}"#, "client_secret_set"),
    ] {
        let problems = Patch::resolve(&Patch::parse(body(text)), &stored_provider).unwrap_err();
        assert_eq!(flaws(&problems), [(field, Code::ReadOnly)]);
    }
}

#[test]
fn proof_lasts_as_long_as_its_value() {
    let stored_provider = active_provider();
    let without_a = updated(&stored_provider, r#"{"email_domains": ["b.example", "c.example"]}"#);
    let domains: Vec<_> = without_a.domains.iter().map(|entry| (entry.domain.as_str(), entry.is_proven)).collect();
    assert_eq!(domains, [("b.example", true), ("c.example", false)]);
    let with_a = updated(&without_a, r#"{"email_domains": ["a.example"]}"#);
    assert_eq!(
        with_a.domains,
        [EmailDomain::new(admin().tenant.organization, "a.example".to_owned())],
        "a removed domain is proven again"
    );
    let other_audience = updated(&stored_provider, r#"{"audiences": ["api://other"]}"#);
    assert_eq!(
        (other_audience.proven_audiences, other_audience.status),
        (vec!["0oa1".to_owned()], Status::Active)
    );
    let other_client = updated(&stored_provider, r#"{"client_id": "0oa2", "client_secret": "s"}"#);
    assert_eq!((other_client.proven_audiences, other_client.status), (vec![], Status::Pending));
}

#[test]
fn another_client_id_needs_its_own_secret() {
    let stored_provider = active_provider();
    let refused_field = |stored_provider: &IdentityProvider, text: &str| {
        Patch::resolve(&Patch::parse(body(text)), stored_provider)
            .err()
            .map(|problems| flaws(&problems)[0].0.to_owned())
    };
    assert_eq!(refused_field(&stored_provider, r#"{"client_id": "0oa2"}"#).as_deref(), Some("client_secret"));
    for text in [r#"{"client_id": "0oa2", "client_secret": null}"#, r#"{"client_id": "0oa1"}"#] {
        assert_eq!(refused_field(&stored_provider, text), None, "{text}");
    }
    let public = IdentityProvider { client_secret: None, ..stored_provider };
    assert_eq!(refused_field(&public, r#"{"client_id": "0oa2"}"#), None);
}

#[test]
fn status_follows_the_transitions() {
    let active = active_provider();
    let pending = provider(r#""link_by": "scim_external_id""#);
    let disabled_provider = IdentityProvider { status: Status::Disabled, disabled_at: Some(AT), ..active.clone() };
    let unproven = IdentityProvider { proven_audiences: vec![], ..disabled_provider.clone() };
    let conflict = Err(());
    for (stored_provider, wanted, after) in [
        (&active, "disabled", Ok(Status::Disabled)),
        (&pending, "disabled", Ok(Status::Disabled)),
        (&disabled_provider, "disabled", Ok(Status::Disabled)),
        (&disabled_provider, "active", Ok(Status::Active)),
        (&unproven, "active", Ok(Status::Pending)),
        (&active, "active", Ok(Status::Active)),
        (&pending, "pending", Ok(Status::Pending)),
        (&pending, "active", conflict),
        (&active, "pending", conflict),
        (&disabled_provider, "pending", conflict),
    ] {
        let result = update_as(&admin(), stored_provider, &format!(r#"{{"status": "{wanted}"}}"#));
        let status = match result {
            Ok(decision) => Ok(decision.map_or(stored_provider.status, |decision| decision.state.status)),
            Err(DomainError::Conflict(_)) => Err(()),
            Err(other) => panic!("{other:?}"),
        };
        assert_eq!(status, after, "{:?} to {wanted}", stored_provider.status);
    }
    assert_eq!(updated(&active, r#"{"status": "disabled"}"#).disabled_at, Some(LATER));
    assert_eq!(updated(&disabled_provider, r#"{"status": "active"}"#).disabled_at, Some(AT));
}

#[test]
fn provider_gives_no_more_access_than_its_writer_has() {
    let scopes = Permissions::NONE.with(Permission::SettingsWrite).with(Permission::ObservationsRead);
    let few = Caller { scopes, ..admin() };
    let expected_refusal = Err(DomainError::Denied(PermissionError::CannotGrant));
    let create = |caller: &Caller, rest: &str| {
        let draft = draft(&format!(r#""link_by": "scim_external_id", {rest}"#)).unwrap();
        IdentityProvider::create(ID, draft, None, caller, AT).map(drop)
    };
    let few_scopes = r#""scopes": ["observations:read"]"#;
    assert_eq!(create(&few, few_scopes), Ok(()));
    assert_eq!(create(&few, r#""scopes": ["observations:read", "observations:write"]"#), expected_refusal);
    let with_admin_sessions = format!(r#"{few_scopes}, "admin_sessions": true"#);
    assert_eq!(create(&few, &with_admin_sessions), expected_refusal);
    assert_eq!(create(&admin(), &with_admin_sessions), Ok(()));
    let ending = Caller { expires_at: Some(LATER), ..admin() };
    assert_eq!(create(&ending, few_scopes), expected_refusal, "a provider has no end");
}

/// Changes of an active provider that each admin-level key may make.
const FREE: [&str; 3] =
    [r#"{"name": "Entra"}"#, r#"{"status": "disabled"}"#, r#"{"status": "disabled", "name": "Entra"}"#];
/// Changes that leave the provider less access than it gives.
const NARROWING: [&str; 6] = [
    r#"{"scopes": ["employees:read"]}"#,
    r#"{"admin_sessions": false}"#,
    r#"{"session_lifetime": 300}"#,
    r#"{"scopes_from_token": true}"#,
    r#"{"scopes": ["summaries:read"], "admin_sessions": false}"#,
    r#"{"status": "disabled", "scopes": ["summaries:read"]}"#,
];
/// Changes that let others use the access of the provider, also beside a narrowing.
const OTHER: [&str; 8] = [
    r#"{"scopes": ["settings:write"]}"#,
    r#"{"scopes": ["summaries:read"], "admin_sessions": false, "subject_claim": "nick"}"#,
    r#"{"scopes": ["summaries:read"], "admin_sessions": false, "client_secret": "other"}"#,
    r#"{"session_lifetime": 86400}"#,
    r#"{"audiences": []}"#,
    r#"{"client_secret": "other"}"#,
    r#"{"link_by": "scim_external_id"}"#,
    r#"{"status": "disabled", "audiences": ["b"]}"#,
];
/// Changes of a disabled provider that put it into effect, or that serve when it is in effect again.
const WAYS_TO_ENABLE: [&str; 2] = [r#"{"status": "active"}"#, r#"{"email_domains": ["c.example"]}"#];

/// A caller with less access may stop a provider at once, but may not lower what the provider gives: the caller could then link an
/// account of its own, whose link lasts when an admin gives the access back.
#[test]
fn caller_with_less_access_renames_and_disables_only() {
    let weak = Caller { scopes: Permissions::NONE.with(Permission::SettingsWrite), ..admin() };
    let networks = AllowedNetworks::from_texts(["192.0.2.0/24"]).unwrap();
    let session =
        Caller { session: Some(KeyId::from_ulid(Ulid(9))), expires_at: Some(LATER.plus_seconds(60)), ..admin() };
    let weak_session = Caller { scopes: weak.scopes, ..session.clone() };
    let limited_callers = [
        weak,
        weak_session,
        Caller { expires_at: Some(LATER.plus_seconds(60)), ..admin() },
        Caller { allowed_networks: networks, ..admin() },
    ];
    let stored_provider = IdentityProvider { admin_sessions: true, ..active_provider() };
    let disabled_provider =
        IdentityProvider { status: Status::Disabled, disabled_at: Some(AT), ..stored_provider.clone() };
    let is_allowed = |result: Result<(), DomainError>| match result {
        Ok(()) => true,
        Err(DomainError::Denied(PermissionError::CannotGrant)) => false,
        Err(other) => panic!("{other:?}"),
    };
    let changes = [
        (&stored_provider, &FREE[..], true, true),
        (&stored_provider, &NARROWING, false, true),
        (&stored_provider, &OTHER, false, false),
        (&disabled_provider, &WAYS_TO_ENABLE, false, false),
    ];
    for (stored_provider, texts, is_free, may_session) in changes {
        for text in texts {
            let update_by = |caller: &Caller| is_allowed(update_as(caller, stored_provider, text).map(drop));
            for caller in &limited_callers {
                assert_eq!(update_by(caller), is_free, "{text} by {caller:?}");
            }
            assert_eq!((update_by(&session), update_by(&admin())), (may_session, true), "{text}");
        }
    }
    for caller in &limited_callers {
        assert!(!is_allowed(stored_provider.delete(caller, LATER).map(drop).map_err(DomainError::from)));
    }
    for caller in [admin(), session] {
        assert!(stored_provider.delete(&caller, LATER).is_ok());
    }
}

#[test]
fn audit_entry_tells_that_the_secret_changed_and_not_the_secret() {
    let stored_provider = active_provider();
    let decision = update_as(&admin(), &stored_provider, r#"{"client_secret": "hush"}"#).unwrap().unwrap();
    assert_eq!(decision.events, [EventType::IdentityProviderUpdated]);
    assert_eq!(decision.audit.changes.keys().collect::<Vec<_>>(), ["client_secret_set"]);
    let deletion = stored_provider.delete(&admin(), LATER).unwrap();
    assert_eq!(
        (deletion.events, deletion.audit.action),
        (vec![EventType::IdentityProviderDeleted], "identity_provider.delete")
    );
    assert!(
        deletion.audit.changes.contains_key("issuer") && !deletion.audit.changes.contains_key("client_secret")
    );
}

#[test]
fn provider_beyond_the_limit_is_refused() {
    assert_eq!([4, 5, 6].map(|count| IdentityProvider::admit(count).is_ok()), [true, false, false]);
}
