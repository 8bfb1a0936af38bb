//! Tokens of identity providers: the tests have a provider that signs good and hostile tokens. Each hostile token
//! is refused with its cause.

mod bearer;
mod discovery;
mod evidence;
mod keys;
mod login;
mod mint;
mod proof;
mod structure;

use candor_domain::identity::claims::{BearerClaims, TokenRules};
use candor_domain::identity::flaw::TokenFlaw;
use candor_domain::identity::key_set::KeySet;
use candor_domain::identity::token::{SignedToken, VerifiedToken};
use candor_domain::time::Timestamp;
use serde_json::{Value, json};

use mint::Mint;

const ISSUER: &str = "https://id.example.com";
const AUDIENCE: &str = "https://candor.example.com";
const CLIENT: &str = "candor-console";
const SUBJECT: &str = "248289761001";
/// Time at which all tokens are checked, in Unix seconds.
const NOW: i64 = 1_800_000_000;
/// Name of the event of a logout.
const LOGOUT_EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";

fn now() -> Timestamp {
    Timestamp::from_millis(NOW * 1000)
}

fn rules() -> TokenRules {
    TokenRules {
        issuer: ISSUER.to_owned(),
        client_id: CLIENT.to_owned(),
        audiences: vec![AUDIENCE.to_owned(), "api://candor".to_owned()],
        authorized_parties: vec![],
        required_acr: None,
        subject_claim: "oid".to_owned(),
        session_lifetime: 3600,
    }
}

/// Returns the claims of a good bearer token.
fn bearer_claims() -> Value {
    json!({"iss": ISSUER, "sub": SUBJECT, "aud": AUDIENCE, "iat": NOW - 10, "exp": NOW + 300, "client_id": "app"})
}

/// Returns the claims of a good ID token.
fn id_claims() -> Value {
    json!({"iss": ISSUER, "sub": SUBJECT, "aud": CLIENT, "iat": NOW - 10, "exp": NOW + 300, "nonce": "n-0S6"})
}

/// Returns the claims of a good logout token.
fn logout_claims() -> Value {
    json!({
        "iss": ISSUER, "sub": SUBJECT, "aud": CLIENT, "iat": NOW - 10, "exp": NOW + 110, "jti": "bWJq", "sid": "08a5",
        "events": {LOGOUT_EVENT: {}}
    })
}

/// Returns claims with another value of a member.
fn with(mut claims: Value, name: &str, value: impl Into<Value>) -> Value {
    claims[name] = value.into();
    claims
}

/// Returns claims without a member.
fn without(mut claims: Value, name: &str) -> Value {
    claims.as_object_mut().unwrap().remove(name).unwrap();
    claims
}

fn verify(mint: &Mint, token: &str) -> Result<VerifiedToken, TokenFlaw> {
    SignedToken::parse(token)?.verify(&KeySet::parse(mint.key_set().as_bytes()).unwrap())
}

fn judge(mint: &Mint, token: &str) -> Result<BearerClaims, TokenFlaw> {
    verify(mint, token)?.to_bearer(&rules(), now())
}
