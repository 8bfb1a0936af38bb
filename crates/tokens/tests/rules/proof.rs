//! Proof of audiences by a posted token.

use candor_forms::id::IdentityProviderId;
use candor_tokens::claims::TokenRules;
use candor_tokens::flaw::TokenError;
use serde_json::{Value, json};

use super::mint::Mint;
use super::samples::{AUDIENCE, CLIENT, NOW, bearer_claims, id_claims, logout_claims, now, rules, verify, with};

const PROVIDER: IdentityProviderId = IdentityProviderId::from_bytes([1; 16]);

/// Returns claims that name the provider.
fn named(claims: Value) -> Value {
    with(claims, "candor_provider", PROVIDER.to_string())
}

#[test]
fn token_of_an_ordinary_user_proves_nothing() {
    let mint = Mint::new();
    let (id, other) = (PROVIDER.to_string(), IdentityProviderId::from_bytes([2; 16]).to_string());
    for (name, claim, value, proves) in [
        ("confirmed address", "email_verified", json!(true), false),
        ("another provider", "candor_provider", json!(other), false),
        ("part of a word", "roles", json!(format!("x{id}")), false),
        ("list with another type", "roles", json!([id, 1]), false),
        ("claim of a user", "name", json!(id), false),
        ("nonce, which a client chooses", "nonce", json!(id), false),
        ("claim", "candor_provider", json!(id), true),
        ("one of the roles", "roles", json!(["reader", id]), true),
        ("scope, which a user requests", "scope", json!(format!("openid {id}")), false),
        ("scopes of Entra ID", "scp", json!(id), false),
        ("list of scopes", "scp", json!([id]), false),
    ] {
        let claims = with(with(bearer_claims(), "email", "eve@example.com"), claim, value);
        let proof = verify(&mint, &mint.token("RS256", &claims)).unwrap().to_proof(&rules(), PROVIDER, now());
        let expected_proof = if proves { Ok(vec![AUDIENCE.to_owned()]) } else { Err(TokenError::UnnamedProvider) };
        assert_eq!(proof, expected_proof, "{name}");
    }
}

#[test]
fn posted_token_proves_its_audiences_and_no_client_id() {
    let mint = Mint::new();
    let rules_with_client = TokenRules { audiences: vec![CLIENT.to_owned(), AUDIENCE.to_owned()], ..rules() };
    let bearer_claims = || named(bearer_claims());
    let both = with(bearer_claims(), "aud", json!(["api://candor", AUDIENCE]));
    let table = [
        ("bearer token", bearer_claims(), rules(), Ok(vec![AUDIENCE])),
        ("bearer token for two", both, rules(), Ok(vec![AUDIENCE, "api://candor"])),
        ("ID token", id_claims(), rules(), Ok(vec![])),
        ("ID token, client id listed", id_claims(), rules_with_client, Ok(vec![])),
        ("logout token", logout_claims(), rules(), Err(TokenError::Event)),
        ("foreign audience", with(id_claims(), "aud", "other"), rules(), Err(TokenError::Audience)),
        ("expired ID token", with(id_claims(), "exp", NOW - 60), rules(), Err(TokenError::Expired)),
        ("expired bearer token", with(bearer_claims(), "exp", NOW - 60), rules(), Err(TokenError::Expired)),
    ];
    for (name, claims, rules, expected_proof) in table {
        let token = verify(&mint, &mint.token("RS256", &claims)).unwrap();
        let expected_proof =
            expected_proof.map(|audiences: Vec<&str>| audiences.into_iter().map(str::to_owned).collect());
        assert_eq!(token.to_proof(&rules, PROVIDER, now()), expected_proof, "{name}");
    }
}

#[test]
fn token_that_was_issued_to_its_audience_proves_nothing() {
    let mint = Mint::new();
    // An ID token for the program of another organization, which names the program as its audience.
    let foreign_claims = |changes: Value| {
        let names = ["azp", "client_id", "cid", "appid"];
        let claims = names
            .into_iter()
            .fold(with(named(id_claims()), "aud", AUDIENCE), |claims, name| with(claims, name, Value::Null));
        let mut claims = claims.as_object().unwrap().clone();
        claims.retain(|_, value| !value.is_null());
        claims.extend(changes.as_object().unwrap().clone());
        Value::Object(claims)
    };
    for (changes, proves) in [
        (json!({}), false),
        (json!({"azp": AUDIENCE}), false),
        (json!({"client_id": AUDIENCE}), false),
        (json!({"cid": AUDIENCE}), false),
        (json!({"appid": AUDIENCE}), false),
        (json!({"azp": AUDIENCE, "cid": "web"}), false),
        (json!({"azp": "web"}), true),
        (json!({"client_id": "web"}), true),
        (json!({"cid": "web"}), true),
        (json!({"appid": "web"}), true),
    ] {
        let token = verify(&mint, &mint.token("RS256", &foreign_claims(changes.clone()))).unwrap();
        let expected_proof: Vec<String> = if proves { vec![AUDIENCE.to_owned()] } else { vec![] };
        assert_eq!(token.to_proof(&rules(), PROVIDER, now()), Ok(expected_proof), "{changes}");
    }
}
