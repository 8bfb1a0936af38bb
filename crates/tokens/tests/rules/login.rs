//! Claims of ID tokens and of logout tokens.

use candor_forms::time::Timestamp;
use candor_tokens::claims::{IdExpectation, SUBJECT_CHARS, TokenRules};
use candor_tokens::flaw::TokenError::{
    self, AccessTokenHash, Audience, AuthenticationContext, AuthenticationTime, AuthorizedParty, Event, Expired,
    Issuer, Kind, Logout, Malformed, Nonce, NotYetValid, Subject, Time, TooOld,
};
use serde_json::{Value, json};

use super::mint::Mint;
use super::samples::{
    AUDIENCE, CLIENT, LOGOUT_EVENT, NOW, SUBJECT, bearer_claims, id_claims, logout_claims, now, rules, verify,
    with, without,
};

const EXPECTATION: IdExpectation<'_> =
    IdExpectation { nonce: Some("n-0S6"), access_token: Some("jHkWEdUXMU1BwAsC4vtU") };

fn judge_id(mint: &Mint, token: &str, rules: &TokenRules) -> Result<(), TokenError> {
    verify(mint, token)?.to_id(rules, EXPECTATION, now()).map(|_| ())
}

#[test]
fn hostile_id_token_is_refused_with_its_cause() {
    let mint = Mint::new();
    let base = id_claims;
    let table: Vec<(&str, Value, TokenError)> = vec![
        ("foreign issuer", with(base(), "iss", "https://other.example"), Issuer),
        ("foreign audience", with(base(), "aud", AUDIENCE), Audience),
        ("no audience", without(base(), "aud"), Audience),
        ("several audiences", with(base(), "aud", json!([CLIENT, "other"])), AuthorizedParty),
        ("foreign azp", with(base(), "azp", "other"), AuthorizedParty),
        ("no nonce", without(base(), "nonce"), Nonce),
        ("foreign nonce", with(base(), "nonce", "other"), Nonce),
        ("nonce that is a number", with(base(), "nonce", 1), Malformed),
        ("no exp", without(base(), "exp"), Time),
        ("expired", with(base(), "exp", NOW - 60), Expired),
        ("from the future", with(base(), "iat", NOW + 61), NotYetValid),
        ("session_expiry in floating point", with(base(), "session_expiry", 1.5), Time),
        ("session that has ended", with(base(), "session_expiry", NOW), Expired),
        ("foreign access token", with(base(), "at_hash", "77QmUPtjPfzWtF2AnpK9RQ"), AccessTokenHash),
        ("empty at_hash", with(base(), "at_hash", ""), AccessTokenHash),
        ("logout token", with(logout_claims(), "nonce", "n-0S6"), Event),
        ("bearer token", bearer_claims(), Audience),
    ];
    for (name, claims, flaw) in table {
        assert_eq!(judge_id(&mint, &mint.token("RS256", &claims), &rules()), Err(flaw), "{name}");
    }
    let access_header = r#"{"alg":"EdDSA","kid":"ed","typ":"at+jwt"}"#;
    let access_token = mint.sign("EdDSA", access_header, &id_claims().to_string());
    assert_eq!(judge_id(&mint, &access_token, &rules()), Err(Kind));
}

#[test]
fn good_id_token_is_accepted_in_each_form() {
    let mint = Mint::new();
    for claims in [
        id_claims(),
        with(id_claims(), "aud", json!([CLIENT])),
        with(id_claims(), "azp", CLIENT),
        with(with(id_claims(), "aud", json!([CLIENT, "other"])), "azp", CLIENT),
    ] {
        assert_eq!(judge_id(&mint, &mint.token("RS256", &claims), &rules()), Ok(()), "{claims}");
    }
}

#[test]
fn access_token_is_compared_by_the_hash_of_the_algorithm() {
    // The value of RS256 is that of the example in OpenID Connect Core, section A.3.
    let mint = Mint::new();
    let table = [
        ("RS256", "77QmUPtjPfzWtF2AnpK9RQ"),
        ("ES384", "jtAeDp945y1dDqU3nkIVGNZP1HjH_MFs"),
        ("EdDSA", "q7nS86GgvvFaZkzALLWqJYaJIKw2wCDAVfCAsm5CrBM"),
    ];
    for (algorithm, hash) in table {
        let token = verify(&mint, &mint.token(algorithm, &with(id_claims(), "at_hash", hash))).unwrap();
        let judge = |access_token| {
            let expectation = IdExpectation { nonce: None, access_token };
            token.to_id(&rules(), expectation, now()).map(|_| ())
        };
        assert_eq!(judge(Some("jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y")), Ok(()), "{algorithm}");
        assert_eq!(judge(Some("other")), Err(AccessTokenHash), "{algorithm}");
        assert_eq!(judge(None), Ok(()), "{algorithm}");
    }
}

#[test]
fn required_class_of_a_sign_in_needs_its_time() {
    let mint = Mint::new();
    let rules = TokenRules { required_acr: Some("mfa".to_owned()), ..rules() };
    let strong = with(id_claims(), "acr", "mfa");
    for (claims, wanted) in [
        (with(strong.clone(), "auth_time", NOW - 3660), Ok(())),
        (with(strong.clone(), "auth_time", NOW - 3661), Err(AuthenticationTime)),
        (strong, Err(AuthenticationTime)),
        (with(id_claims(), "auth_time", NOW), Err(AuthenticationContext)),
    ] {
        assert_eq!(judge_id(&mint, &mint.token("PS256", &claims), &rules), wanted, "{claims}");
    }
}

#[test]
fn id_token_tells_the_session_of_the_provider() {
    let mint = Mint::new();
    let claims = with(with(id_claims(), "sid", "08a5"), "session_expiry", NOW + 900);
    let token = verify(&mint, &mint.token("ES384", &claims)).unwrap();
    let login = token.to_id(&rules(), EXPECTATION, now()).unwrap();
    assert_eq!((login.subject.subject.as_str(), login.session_id.as_deref()), (SUBJECT, Some("08a5")));
    assert_eq!(login.session_ends_at, Some(Timestamp::from_millis((NOW + 900) * 1000)));
}

/// Texts that no store keeps, or that are too long for an index.
fn unstorable_texts() -> [Value; 5] {
    [json!("a\u{0}b"), json!("a\nb"), json!("\u{85}"), json!(""), json!("é".repeat(SUBJECT_CHARS + 1))]
}

#[test]
fn texts_of_a_token_that_are_stored_have_bounds() {
    let mint = Mint::new();
    for text in unstorable_texts() {
        let judge = |claims| {
            let token = verify(&mint, &mint.token("RS256", &claims)).unwrap();
            (
                token.to_id(&rules(), EXPECTATION, now()),
                token.to_logout(&rules(), now()),
                token.to_bearer(&rules(), now()),
            )
        };
        let bearer = |name: &str| judge(with(bearer_claims(), name, text.clone())).2;
        let id = |name: &str| judge(with(id_claims(), name, text.clone())).0;
        let logout = |name: &str| judge(with(logout_claims(), name, text.clone())).1;
        for flaw in [bearer("sub").map(drop), id("sub").map(drop), logout("sub").map(drop)] {
            assert_eq!(flaw, Err(Subject), "{text}");
        }
        assert_eq!((id("sid").map(drop), logout("sid").map(drop)), (Err(Malformed), Err(Malformed)), "{text}");
        assert_eq!(logout("jti").map(drop), Err(Logout), "{text}");
        assert_eq!(bearer("oid").unwrap().subject.external_id, None, "{text}");
        let claims = with(with(bearer_claims(), "email_verified", true), "email", text.clone());
        assert_eq!(judge(claims).2.unwrap().subject.verified_email, None, "{text}");
    }
    let longest = "é".repeat(SUBJECT_CHARS);
    let token = verify(&mint, &mint.token("RS256", &with(id_claims(), "sid", longest.clone()))).unwrap();
    assert_eq!(token.to_id(&rules(), EXPECTATION, now()).unwrap().session_id, Some(longest));
}

#[test]
fn end_of_the_session_is_in_a_year_of_four_digits() {
    let mint = Mint::new();
    let end_of_9999 = 253_402_300_799_i64;
    for time in [-1, end_of_9999 + 1, i64::MAX, i64::MIN, -1_000_000_000_000_000_000] {
        let token = mint.token("RS256", &with(id_claims(), "session_expiry", time));
        assert_eq!(judge_id(&mint, &token, &rules()), Err(Time), "{time}");
    }
    let token = mint.token("RS256", &with(id_claims(), "session_expiry", end_of_9999));
    assert_eq!(judge_id(&mint, &token, &rules()), Ok(()));
}

#[test]
fn hostile_logout_token_is_refused_with_its_cause() {
    let mint = Mint::new();
    let base = logout_claims;
    let neither_subject_nor_session = without(without(base(), "sub"), "sid");
    let table: Vec<(&str, Value, TokenError)> = vec![
        ("foreign issuer", with(base(), "iss", "https://other.example"), Issuer),
        ("foreign audience", with(base(), "aud", "other"), Audience),
        ("no iat", without(base(), "iat"), Time),
        ("old", with(base(), "iat", NOW - 301), TooOld),
        ("from the future", with(base(), "iat", NOW + 61), NotYetValid),
        ("expired", with(base(), "exp", NOW - 60), Expired),
        ("no jti", without(base(), "jti"), Logout),
        ("empty jti", with(base(), "jti", ""), Logout),
        ("jti that is a number", with(base(), "jti", 1), Logout),
        ("nonce", with(base(), "nonce", "n-0S6"), Logout),
        ("no events", without(base(), "events"), Logout),
        ("other event", with(base(), "events", json!({"other": {}})), Logout),
        ("event that is true", with(base(), "events", json!({LOGOUT_EVENT: true})), Logout),
        ("neither subject nor session", neither_subject_nor_session, Logout),
        ("ID token", id_claims(), Logout),
    ];
    for (name, claims, flaw) in table {
        let token = mint.token("RS256", &claims);
        // The last row has the same cause as a missing event or jti, because an ID token has neither.
        assert_eq!(verify(&mint, &token).unwrap().to_logout(&rules(), now()).map(|_| ()), Err(flaw), "{name}");
    }
    let access_header = r#"{"alg":"EdDSA","kid":"ed","typ":"at+jwt"}"#;
    let access_token = mint.sign("EdDSA", access_header, &logout_claims().to_string());
    assert_eq!(verify(&mint, &access_token).unwrap().to_logout(&rules(), now()).map(|_| ()), Err(Kind));
}

#[test]
fn logout_token_names_a_session_or_an_account() {
    let mint = Mint::new();
    for claims in [
        logout_claims(),
        without(logout_claims(), "sub"),
        without(logout_claims(), "sid"),
        without(logout_claims(), "exp"),
        with(logout_claims(), "iat", NOW - 300),
    ] {
        let header = r#"{"alg":"EdDSA","kid":"ed","typ":"logout+jwt"}"#;
        let token = verify(&mint, &mint.sign("EdDSA", header, &claims.to_string())).unwrap();
        let logout = token.to_logout(&rules(), now()).unwrap();
        let as_text = |name: &str| claims[name].as_str().map(str::to_owned);
        assert_eq!((logout.subject, logout.session_id), (as_text("sub"), as_text("sid")), "{claims}");
        assert_eq!(logout.token_id, "bWJq");
    }
}
