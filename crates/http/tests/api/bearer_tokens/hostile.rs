//! Tokens that must not be accepted. Each is refused with the text of an unknown key.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::hmac;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};

use super::{AUDIENCE, TokenStage, claims, token};
use crate::identity_check::{ISSUER, sign, signing_key};
use crate::stores::every_store;
use crate::support::TestApi;

const HEADER: &str = r#"{"alg": "EdDSA", "kid": "1"}"#;

fn other_key() -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[8; 32]).unwrap()
}

/// Returns tokens whose claims are wrong, with the changes of a valid token.
fn wrong_claims(now: i64) -> Vec<(&'static str, Value)> {
    vec![
        ("expired", json!({"iat": now - 7_200, "exp": now - 60})),
        ("without exp", json!({"exp": null})),
        ("exp is a text", json!({"exp": (now + 600).to_string()})),
        ("exp has a fraction", json!({"exp": 1_999_999_999.5})),
        ("without iat", json!({"iat": null})),
        ("iat is a text", json!({"iat": now.to_string()})),
        ("issued in the future", json!({"iat": now + 600})),
        ("not yet valid", json!({"nbf": now + 600})),
        ("nbf is a text", json!({"nbf": "0"})),
        ("foreign issuer", json!({"iss": "https://other.okta.example"})),
        ("issuer with a slash", json!({"iss": format!("{ISSUER}/")})),
        ("issuer in capitals", json!({"iss": ISSUER.to_uppercase()})),
        ("without issuer", json!({"iss": null})),
        ("issuer is a list", json!({"iss": [ISSUER]})),
        ("foreign audience", json!({"aud": "api://other"})),
        ("client id as the audience", json!({"aud": "0oa1"})),
        ("audience that is not proven", json!({"aud": "api://unproven"})),
        ("audience in capitals", json!({"aud": AUDIENCE.to_uppercase()})),
        ("without audience", json!({"aud": null})),
        ("empty list of audiences", json!({"aud": []})),
        ("audience is an object", json!({"aud": {"0": AUDIENCE}})),
        ("list with a number", json!({"aud": [AUDIENCE, 7]})),
        ("too many audiences", json!({"aud": [AUDIENCE, "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]})),
        ("audiences of two providers", json!({"aud": [AUDIENCE, "api://second"]})),
        ("without subject", json!({"sub": null})),
        ("empty subject", json!({"sub": ""})),
        ("subject is a number", json!({"sub": 1})),
        ("subject with a line break", json!({"sub": "00u1\n"})),
        ("long subject", json!({"sub": "u".repeat(256)})),
        ("subject in capitals", json!({"sub": "00U1"})),
        ("subject without a link", json!({"sub": "stranger"})),
        ("bound to a key", json!({"cnf": {"jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}})),
        ("logout token", json!({"events": {"http://schemas.openid.net/event/backchannel-logout": {}}})),
        ("foreign client", json!({"azp": "mobile"})),
        ("foreign client_id", json!({"azp": null, "client_id": "mobile"})),
        ("without client", json!({"azp": null})),
        ("without acr", json!({"acr": null})),
        ("other acr", json!({"acr": "pwd"})),
        ("acr is a list", json!({"acr": ["mfa"]})),
        ("old authentication", json!({"auth_time": now - 50_000})),
        ("authentication in the future", json!({"auth_time": now + 600})),
        ("auth_time is a text", json!({"auth_time": "0"})),
        ("scope is a number", json!({"scope": 7})),
    ]
}

/// Returns tokens whose header, form or signature is wrong.
fn wrong_forms(claims: &str) -> Vec<(&'static str, String)> {
    let sign_header = |header: &str| sign(header, claims, &signing_key());
    let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let good = sign_header(HEADER);
    let parts: Vec<_> = good.split('.').collect();
    let own_jwk = URL_SAFE_NO_PAD.encode(other_key().public_key());
    let with_jwk = format!(
        r#"{{"alg": "EdDSA", "kid": "2", "jwk": {{"kty": "OKP", "crv": "Ed25519", "kid": "2", "x": "{own_jwk}"}}}}"#
    );
    let with_address = r#"{"alg": "EdDSA", "kid": "2", "jku": "https://evil.example/keys"}"#;
    let message = format!("{}.{}", encode(r#"{"alg": "HS256", "kid": "1"}"#), encode(claims));
    let secret = hmac::Key::new(hmac::HMAC_SHA256, signing_key().public_key().as_ref());
    let symmetric = URL_SAFE_NO_PAD.encode(hmac::sign(&secret, message.as_bytes()));
    let other_claims = encode(&claims.replace("00u1", "00u2"));
    let repeated_claims = claims.replacen('{', r#"{"sub": "00u9", "#, 1);
    let padded_claims = STANDARD.encode(claims);
    vec![
        ("signed by another key", sign(HEADER, claims, &other_key())),
        ("key in the token", sign(&with_jwk, claims, &other_key())),
        ("address of a key in the token", sign(with_address, claims, &other_key())),
        ("algorithm none", format!("{}.{}.", encode(r#"{"alg": "none"}"#), encode(claims))),
        ("algorithm None", format!("{}.{}.", encode(r#"{"alg": "None", "kid": "1"}"#), encode(claims))),
        ("symmetric algorithm with the public key", format!("{message}.{symmetric}")),
        ("algorithm of another type of key", sign_header(r#"{"alg": "RS256", "kid": "1"}"#)),
        ("unknown algorithm", sign_header(r#"{"alg": "ES256K", "kid": "1"}"#)),
        ("without algorithm", sign_header(r#"{"kid": "1"}"#)),
        ("unknown kid", sign_header(r#"{"alg": "EdDSA", "kid": "9"}"#)),
        ("kid is a number", sign_header(r#"{"alg": "EdDSA", "kid": 1}"#)),
        ("kid is a path", sign_header(r#"{"alg": "EdDSA", "kid": "../../1"}"#)),
        ("typ of a logout token", sign_header(r#"{"alg": "EdDSA", "kid": "1", "typ": "logout+jwt"}"#)),
        ("typ of a proof of possession", sign_header(r#"{"alg": "EdDSA", "kid": "1", "typ": "dpop+jwt"}"#)),
        ("critical extension", sign_header(r#"{"alg": "EdDSA", "kid": "1", "crit": ["exp"]}"#)),
        ("unencoded payload", sign_header(r#"{"alg": "EdDSA", "kid": "1", "b64": false}"#)),
        ("encrypted", sign_header(r#"{"alg": "EdDSA", "kid": "1", "enc": "A256GCM"}"#)),
        ("compressed", sign_header(r#"{"alg": "EdDSA", "kid": "1", "zip": "DEF"}"#)),
        ("repeated member of the header", sign_header(r#"{"alg": "EdDSA", "alg": "EdDSA", "kid": "1"}"#)),
        ("repeated claim", sign(HEADER, &repeated_claims, &signing_key())),
        ("other claims", format!("{}.{other_claims}.{}", parts[0], parts[2])),
        ("without signature", format!("{}.{}.", parts[0], parts[1])),
        ("two parts", format!("{}.{}", parts[0], parts[1])),
        ("four parts", format!("{good}.x")),
        ("five parts", format!("{good}.x.y")),
        ("dots alone", "..".to_owned()),
        ("cut", good[..good.len() - 4].to_owned()),
        ("padded", format!("{}.{padded_claims}=.{}", parts[0], parts[2])),
        ("claims are a list", sign(HEADER, "[]", &signing_key())),
        ("claims are no JSON", sign(HEADER, "exp", &signing_key())),
        (
            "too large",
            sign(
                HEADER,
                &claims.replacen('{', &format!(r#"{{"x": "{}", "#, "y".repeat(16_384)), 1),
                &signing_key(),
            ),
        ),
    ]
}

/// Creates a second provider of the issuer, which has proven an audience of its own.
async fn add_second_provider(world: &TestApi) {
    let body = json!({"name": "Second", "issuer": ISSUER, "client_id": "0oa2", "audiences": ["api://second"],
                      "link_by": "scim_external_id", "email_domains": ["second.example"]});
    let id = world.made(super::PATH, body).await;
    let provider = world.get(&format!("{}/{id}", super::PATH)).await.json();
    world.providers.publish("second.example", provider["domains"][0]["txt_record"].as_str().unwrap());
    let token = token(world, json!({"aud": "api://second", "candor_provider": id}));
    let check = world.post(&format!("{}/{id}/check", super::PATH), json!({"token": token})).await;
    assert_eq!(check.json()["proven"], json!(["second.example", "api://second"]), "{}", check.text());
}

#[tokio::test]
async fn hostile_token_gets_the_answer_of_an_unknown_key() {
    for shared in every_store().await {
        let world = &shared.world;
        let settings = json!({
            "required_acr": "mfa", "authorized_parties": ["web"], "audiences": [AUDIENCE, "api://unproven"],
        });
        TokenStage::begin(world, settings).await;
        add_second_provider(world).await;
        let good_claims = json!({"acr": "mfa", "azp": "web"});
        let unknown_key = world.bare("GET", "/v1/me").key("cdr_live_guess").send().await.without_request_id();
        let now = super::seconds(candor_port_clock::Clock::now(&*world.clock));
        let mut rows = vec![];
        for (name, changes) in wrong_claims(now) {
            let mut changed_claims = good_claims.clone();
            for (member, value) in changes.as_object().unwrap() {
                changed_claims[member] = value.clone();
            }
            rows.push((name, token(world, changed_claims)));
        }
        rows.extend(wrong_forms(&claims(world, &good_claims).to_string()));
        assert!(rows.len() >= 40, "{}", rows.len());
        for (name, text) in &rows {
            // Stays below the limit on failed authentications.
            world.clock.advance_millis(1_100);
            let response = world.bare("GET", "/v1/me").key(text).send().await;
            assert_eq!(response.status, 401, "{}: {name}: {}", shared.name, response.text());
            assert_eq!(response.without_request_id(), unknown_key, "{}: {name}", shared.name);
        }
        let good = world.bare("GET", "/v1/me").key(&token(world, good_claims)).send().await;
        assert_eq!(good.status, 200, "{}", good.text());
    }
}
