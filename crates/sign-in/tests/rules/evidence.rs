//! Evidence of the check of an identity provider: good responses add findings, bad ones add problems.

use candor_domain::attempt_failure::{FailureReason, TlsFailure};
use candor_domain::id::IdentityProviderId;
use candor_sign_in::evidence::ProviderEvidence;
use candor_sign_in::fetch_failure::{FetchError, max_age};
use candor_tokens::discovery::DiscoveryError;
use candor_tokens::key_set::{KeySet, KeySetError};
use serde_json::json;

use super::mint::Mint;
use super::samples::{AUDIENCE, ISSUER, NOW, bearer_claims, id_claims, now, rules, with};

const PROVIDER: IdentityProviderId = IdentityProviderId::from_bytes([1; 16]);
const KEYS: &str = "https://id.example.com/keys";

#[test]
fn good_responses_are_findings() {
    let mint = Mint::new();
    let document = json!({
        "issuer": ISSUER, "authorization_endpoint": "https://id.example.com/authorize",
        "token_endpoint": "https://id.example.com/token", "jwks_uri": KEYS,
    });
    let mut evidence = ProviderEvidence::default();
    let metadata = evidence.add_discovery(ISSUER, Ok(document.to_string().as_bytes())).unwrap();
    let keys = evidence.add_keys(&metadata.jwks_uri, Ok(mint.key_set().as_bytes()));
    evidence.add_records("example.com", Ok(vec!["candor-verification=1".to_owned()]));
    let claims = with(bearer_claims(), "roles", json!([PROVIDER.to_string()]));
    evidence.add_token(&mint.token("ES256", &claims), keys.as_ref(), &rules(), PROVIDER, now());
    assert!(evidence.is_ok(), "{evidence:?}");
    assert_eq!((evidence.issuer.as_deref(), evidence.keys), (Some(ISSUER), 4));
    assert_eq!(evidence.records, [("example.com".to_owned(), vec!["candor-verification=1".to_owned()])]);
    assert_eq!(evidence.audiences, [AUDIENCE]);
}

#[test]
fn bad_responses_are_problems_with_their_subject() {
    let mint = Mint::new();
    let keys = KeySet::parse(mint.key_set().as_bytes()).unwrap();
    let mut evidence = ProviderEvidence::default();
    assert_eq!(evidence.add_discovery(ISSUER, Ok(b"{}")), None);
    assert_eq!(evidence.add_keys(KEYS, Ok(b"{}")), None);
    assert_eq!(evidence.add_keys(KEYS, Err(FetchError::NotPublic)), None);
    assert!(evidence.add_keys(KEYS, Ok(br#"{"keys":[]}"#)).is_some());
    evidence.add_records("example.com", Err(FetchError::NoNameServer));
    let old_token = mint.token("RS256", &with(bearer_claims(), "exp", NOW - 60));
    evidence.add_token(&old_token, Some(&keys), &rules(), PROVIDER, now());
    evidence.add_token(&mint.token("RS256", &id_claims()), Some(&keys), &rules(), PROVIDER, now());
    evidence.add_token("a.b.c", None, &rules(), PROVIDER, now());
    let discovery = format!("{ISSUER}/.well-known/openid-configuration");
    let problems = [
        format!("{discovery}: {}", DiscoveryError::Issuer),
        format!("{discovery}: {}", DiscoveryError::NoAddress("authorization_endpoint")),
        format!("{discovery}: {}", DiscoveryError::NoAddress("token_endpoint")),
        format!("{discovery}: {}", DiscoveryError::NoAddress("jwks_uri")),
        format!("{KEYS}: {}", KeySetError::NoList),
        format!("{KEYS}: the host has no address that is public"),
        format!("{KEYS}: the key set has no key that can verify tokens"),
        "example.com: no name server has answered".to_owned(),
        "token: the token has expired".to_owned(),
        "token: the token proves nothing: a sign-in proves the client id, and an access token that was issued to a client \
         proves another audience"
            .to_owned(),
    ];
    assert_eq!(evidence.problems, problems);
    assert!(!evidence.is_ok() && evidence.issuer.is_none() && evidence.audiences.is_empty());
}

#[test]
fn private_and_unresolvable_hosts_give_equal_failures() {
    let failure = |reason| FetchError::from_attempt(reason, None);
    assert_eq!(failure(FailureReason::Forbidden), failure(FailureReason::Unresolvable));
    let tls = FetchError::from_attempt(FailureReason::Tls, Some("unknown_issuer"));
    assert_eq!(tls, FetchError::Tls(TlsFailure::UnknownIssuer));
}

#[test]
fn lifetime_of_a_response_is_its_max_age_without_its_age() {
    for (cache_control, age, wanted) in [
        (None, None, None),
        (Some("public"), None, None),
        (Some("max-age=60"), None, Some(60)),
        (Some("public, Max-Age=\"60\""), None, Some(60)),
        (Some("max-age=60"), Some("70"), Some(0)),
        (Some("max-age=60"), Some("x"), Some(60)),
        (Some("max-age=-1"), None, None),
        (Some("max-age=99999999999999999999"), None, Some(i64::MAX)),
        (Some("no-cache, max-age=60"), None, Some(0)),
        (Some("NO-STORE"), None, Some(0)),
    ] {
        assert_eq!(max_age(cache_control, age), wanted, "{cache_control:?} {age:?}");
    }
}
