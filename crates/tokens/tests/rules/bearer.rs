//! Claims of bearer tokens, and the provider that follows from them.

use candor_forms::time::Timestamp;
use candor_tokens::claims::{TokenRules, find_provider};
use candor_tokens::flaw::TokenError::{
    self, Audience, AuthenticationContext, AuthenticationTime, AuthorizedParty, Confirmation, Event, Expired,
    Issuer, Malformed, NotYetValid, Subject, Time,
};
use candor_tokens::token::SignedToken;
use serde_json::{Value, json};

use super::mint::Mint;
use super::samples::{
    AUDIENCE, CLIENT, ISSUER, NOW, SUBJECT, bearer_claims, id_claims, judge, logout_claims, now, rules, verify,
    with, without,
};

fn hostile_claims() -> Vec<(&'static str, Value, TokenError)> {
    let base = bearer_claims;
    vec![
        ("no issuer", without(base(), "iss"), Issuer),
        ("issuer with a slash", with(base(), "iss", format!("{ISSUER}/")), Issuer),
        ("issuer in capitals", with(base(), "iss", ISSUER.to_uppercase()), Issuer),
        ("issuer that is a list", with(base(), "iss", json!([ISSUER])), Issuer),
        ("no audience", without(base(), "aud"), Audience),
        ("empty audience", with(base(), "aud", ""), Audience),
        ("no audience in the list", with(base(), "aud", json!([])), Audience),
        ("foreign audience", with(base(), "aud", "https://other.example"), Audience),
        ("audience that contains ours", with(base(), "aud", format!("{AUDIENCE}/v1")), Audience),
        ("audience beside a number", with(base(), "aud", json!([AUDIENCE, 1])), Audience),
        ("audience that is an object", with(base(), "aud", json!({AUDIENCE: true})), Audience),
        ("ID token", id_claims(), Audience),
        ("no subject", without(base(), "sub"), Subject),
        ("empty subject", with(base(), "sub", ""), Subject),
        ("subject that is a number", with(base(), "sub", 7), Subject),
        ("subject that is too long", with(base(), "sub", "a".repeat(256)), Subject),
        ("subject with a control character", with(base(), "sub", "a\u{0}"), Subject),
        ("no exp", without(base(), "exp"), Time),
        ("no iat", without(base(), "iat"), Time),
        ("exp with a fraction", with(base(), "exp", 1_800_000_300.5), Time),
        ("exp in floating point", with(base(), "exp", 1_800_000_300.0), Time),
        ("exp that is a text", with(base(), "exp", "1800000300"), Time),
        ("exp that is null", with(base(), "exp", Value::Null), Time),
        ("exp beyond 64 bits", with(base(), "exp", u64::MAX), Time),
        ("iat in floating point", with(base(), "iat", 1e9), Time),
        ("nbf that is a text", with(base(), "nbf", "0"), Time),
        ("auth_time that is a text", with(base(), "auth_time", "0"), Time),
        ("exp in the past", with(base(), "exp", NOW - 60), Expired),
        ("exp before the epoch", with(base(), "exp", i64::MIN), Expired),
        ("exp in milliseconds of the past", with(base(), "exp", -NOW * 1000), Expired),
        ("iat in the future", with(base(), "iat", NOW + 61), NotYetValid),
        ("iat at the end of time", with(base(), "iat", i64::MAX), NotYetValid),
        ("nbf in the future", with(base(), "nbf", NOW + 61), NotYetValid),
        ("bound to a certificate", with(base(), "cnf", json!({"x5t#S256": "bwcK"})), Confirmation),
        ("bound to nothing", with(base(), "cnf", Value::Null), Confirmation),
        ("logout token", logout_claims(), Event),
        ("logout token for our audience", with(logout_claims(), "aud", AUDIENCE), Event),
        ("scope that is a number", with(base(), "scope", 1), Malformed),
        ("scp with a number", with(base(), "scp", json!(["objectives:read", 1])), Malformed),
        ("azp that is a number", with(base(), "azp", 1), Malformed),
    ]
}

#[test]
fn hostile_claim_is_refused_with_its_cause() {
    let mint = Mint::new();
    for (name, claims, flaw) in hostile_claims() {
        assert_eq!(judge(&mint, &mint.token("EdDSA", &claims)).map(|_| ()), Err(flaw), "{name}");
    }
}

#[test]
fn accepted_token_tells_account_and_times() {
    let mint = Mint::new();
    let claims = with(with(bearer_claims(), "oid", "7d0f"), "email", "ada@example.com");
    let bearer = judge(&mint, &mint.token("ES256", &claims)).unwrap();
    assert_eq!(bearer.subject.subject, SUBJECT);
    assert_eq!((bearer.subject.external_id.as_deref(), bearer.subject.verified_email), (Some("7d0f"), None));
    assert_eq!(bearer.audiences, [AUDIENCE]);
    let time = |seconds: i64| Timestamp::from_millis(seconds * 1000);
    assert_eq!((bearer.issued_at, bearer.expires_at), (time(NOW - 10), time(NOW + 300)));
}

#[test]
fn clocks_may_differ_by_a_minute() {
    let mint = Mint::new();
    for (name, value) in [("exp", NOW - 59), ("iat", NOW + 60), ("nbf", NOW + 60), ("nbf", 0), ("exp", i64::MAX)] {
        let token = mint.token("EdDSA", &with(bearer_claims(), name, value));
        assert!(judge(&mint, &token).is_ok(), "{name} {value}");
    }
}

#[test]
fn unverified_address_does_not_count() {
    let mint = Mint::new();
    let claims = with(bearer_claims(), "email", "ada@example.com");
    for (flag, wanted) in [
        (json!(true), Some("ada@example.com")),
        (json!(false), None),
        (json!("true"), None),
        (json!(1), None),
        (Value::Null, None),
    ] {
        let token = mint.token("EdDSA", &with(claims.clone(), "email_verified", flag.clone()));
        assert_eq!(judge(&mint, &token).unwrap().subject.verified_email.as_deref(), wanted, "{flag}");
    }
}

#[test]
fn client_of_a_token_is_its_azp_or_client_id() {
    let mint = Mint::new();
    let rules = TokenRules { authorized_parties: vec!["app".to_owned(), "cli".to_owned()], ..rules() };
    for (azp, client_id, wanted) in [
        (None, Some("app"), Ok(())),
        (Some("cli"), Some("other"), Ok(())),
        (Some("other"), Some("app"), Err(AuthorizedParty)),
        (Some(""), Some("app"), Err(AuthorizedParty)),
        (None, Some("APP"), Err(AuthorizedParty)),
        (None, None, Err(AuthorizedParty)),
    ] {
        let mut claims = without(bearer_claims(), "client_id");
        for (name, value) in [("azp", azp), ("client_id", client_id)] {
            if let Some(value) = value {
                claims = with(claims, name, value);
            }
        }
        let token = verify(&mint, &mint.token("EdDSA", &claims)).unwrap();
        assert_eq!(token.to_bearer(&rules, now()).map(|_| ()), wanted, "{azp:?} {client_id:?}");
    }
}

#[test]
fn required_class_of_authentication_is_checked_with_its_time() {
    let mint = Mint::new();
    let rules = TokenRules { required_acr: Some("mfa".to_owned()), ..rules() };
    let strong = with(bearer_claims(), "acr", "mfa");
    for (claims, wanted) in [
        (strong.clone(), Ok(())),
        (with(strong.clone(), "auth_time", NOW - 3660), Ok(())),
        (with(strong.clone(), "auth_time", NOW - 3661), Err(AuthenticationTime)),
        (with(strong.clone(), "auth_time", NOW + 61), Err(AuthenticationTime)),
        (bearer_claims(), Err(AuthenticationContext)),
        (with(strong.clone(), "acr", "MFA"), Err(AuthenticationContext)),
        (with(strong, "acr", json!(["mfa"])), Err(AuthenticationContext)),
    ] {
        let token = verify(&mint, &mint.token("EdDSA", &claims)).unwrap();
        assert_eq!(token.to_bearer(&rules, now()).map(|_| ()), wanted, "{claims}");
    }
}

#[test]
fn provider_is_the_one_of_audience_and_issuer() {
    let mint = Mint::new();
    let provider = |issuer: &str, audience: &str| TokenRules {
        issuer: issuer.to_owned(),
        audiences: vec![audience.to_owned()],
        ..rules()
    };
    let providers = [provider(ISSUER, "one"), provider(ISSUER, "two"), provider("https://other.example", "three")];
    for (audience, wanted) in [
        (json!("one"), Ok(0)),
        (json!(["elsewhere", "two"]), Ok(1)),
        (json!(["one", "one"]), Ok(0)),
        (json!(["one", "two"]), Err(Audience)),
        (json!(["one", "three"]), Err(Audience)),
        (json!("three"), Err(Issuer)),
        (json!(CLIENT), Err(Audience)),
        (json!([]), Err(Audience)),
    ] {
        let text = mint.token("EdDSA", &with(bearer_claims(), "aud", audience.clone()));
        let token = SignedToken::parse(&text).unwrap();
        assert_eq!(find_provider(&token, providers.iter().enumerate()), wanted, "{audience}");
    }
}

#[test]
fn scopes_of_a_token_are_the_words_of_both_claims() {
    let mint = Mint::new();
    let mut all_scopes = bearer_claims();
    all_scopes["scope"] = json!("openid objectives:read");
    all_scopes["scp"] = json!(["employees:read", "*"]);
    for (claims, wanted) in [
        (bearer_claims(), vec![]),
        (with(bearer_claims(), "scope", "openid profile"), vec!["openid", "profile"]),
        (with(bearer_claims(), "scp", "objectives:read"), vec!["objectives:read"]),
        (all_scopes, vec!["openid", "objectives:read", "employees:read", "*"]),
    ] {
        assert_eq!(judge(&mint, &mint.token("EdDSA", &claims)).unwrap().named_scopes, wanted, "{claims}");
    }
}
