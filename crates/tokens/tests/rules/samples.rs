//! A provider's settings, and the claims of its good tokens. The tests sign them with the keys of a [`Mint`].

use candor_forms::time::Timestamp;
use candor_tokens::claims::{BearerClaims, TokenRules};
use candor_tokens::flaw::TokenError;
use candor_tokens::key_set::KeySet;
use candor_tokens::token::{SignedToken, VerifiedToken};
use serde_json::{Value, json};

use super::mint::Mint;

pub(super) const ISSUER: &str = "https://id.example.com";
pub(super) const AUDIENCE: &str = "https://candor.example.com";
pub(super) const CLIENT: &str = "candor-console";
pub(super) const SUBJECT: &str = "248289761001";
/// Time at which all tokens are checked, in Unix seconds.
pub(super) const NOW: i64 = 1_800_000_000;
/// Name of the event of a logout.
pub(super) const LOGOUT_EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";

pub(super) fn now() -> Timestamp {
    Timestamp::from_millis(NOW * 1000)
}

pub(super) fn rules() -> TokenRules {
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
pub(super) fn bearer_claims() -> Value {
    json!({"iss": ISSUER, "sub": SUBJECT, "aud": AUDIENCE, "iat": NOW - 10, "exp": NOW + 300, "client_id": "app"})
}

/// Returns the claims of a good ID token.
pub(super) fn id_claims() -> Value {
    json!({"iss": ISSUER, "sub": SUBJECT, "aud": CLIENT, "iat": NOW - 10, "exp": NOW + 300, "nonce": "n-0S6"})
}

/// Returns the claims of a good logout token.
pub(super) fn logout_claims() -> Value {
    json!({
        "iss": ISSUER, "sub": SUBJECT, "aud": CLIENT, "iat": NOW - 10, "exp": NOW + 110, "jti": "bWJq", "sid": "08a5",
        "events": {LOGOUT_EVENT: {}}
    })
}

/// Returns claims with another value of a member.
pub(super) fn with(mut claims: Value, name: &str, value: impl Into<Value>) -> Value {
    claims[name] = value.into();
    claims
}

/// Returns claims without a member.
pub(super) fn without(mut claims: Value, name: &str) -> Value {
    claims.as_object_mut().unwrap().remove(name).unwrap();
    claims
}

pub(super) fn verify(mint: &Mint, token: &str) -> Result<VerifiedToken, TokenError> {
    SignedToken::parse(token)?.verify(&KeySet::parse(mint.key_set().as_bytes()).unwrap())
}

pub(super) fn judge(mint: &Mint, token: &str) -> Result<BearerClaims, TokenError> {
    verify(mint, token)?.to_bearer(&rules(), now())
}
