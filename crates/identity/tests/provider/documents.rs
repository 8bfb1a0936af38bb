//! Discovery, keys and their rotation: the way from an issuer to a verified token.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use candor_domain::time::Timestamp;
use candor_port_identity::IdentityTransport;
use candor_tokens::claims::TokenRules;
use candor_tokens::discovery::{DiscoveryError, ProviderMetadata, discovery_address};
use candor_tokens::flaw::TokenError;
use candor_tokens::key_cache::{KeyCache, KeyPlan};
use candor_tokens::key_set::{KeySet, KeySetError};
use candor_tokens::strict_json::DocumentError;
use candor_tokens::token::SignedToken;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};

use crate::server::{ORGANIZATION, Provider, ServerResponse, client};

const NOW: i64 = 1_800_000_000;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis((NOW + seconds) * 1000)
}

/// A signing key of the provider, with its number as the `kid`.
struct SigningKey(u8, Ed25519KeyPair);

impl SigningKey {
    fn new(number: u8) -> Self {
        Self(number, Ed25519KeyPair::from_seed_unchecked(&[number; 32]).unwrap())
    }

    fn to_jwk(&self) -> Value {
        let x = URL_SAFE_NO_PAD.encode(self.1.public_key().as_ref());
        json!({"kty": "OKP", "crv": "Ed25519", "kid": self.0.to_string(), "use": "sig", "alg": "EdDSA", "x": x})
    }

    fn sign(&self, claims: &Value) -> String {
        let header = json!({"alg": "EdDSA", "kid": self.0.to_string(), "typ": "at+jwt"});
        let encode = |part: &Value| URL_SAFE_NO_PAD.encode(part.to_string());
        let message = format!("{}.{}", encode(&header), encode(claims));
        let signature = URL_SAFE_NO_PAD.encode(self.1.sign(message.as_bytes()));
        format!("{message}.{signature}")
    }
}

/// Publishes a discovery document and these keys, and returns the issuer.
fn publish(provider: &Provider, keys: &[&SigningKey]) -> String {
    let issuer = provider.url("/tenant");
    let document = json!({
        "issuer": issuer,
        "authorization_endpoint": provider.url("/authorize"),
        "token_endpoint": provider.url("/token"),
        "jwks_uri": provider.url("/keys"),
    });
    provider.set("/tenant/.well-known/openid-configuration", ServerResponse::json(document));
    let keys: Vec<Value> = keys.iter().map(|key| key.to_jwk()).collect();
    let (headers, body) = ("cache-control: public, max-age=120\r\nage: 20\r\n", json!({"keys": keys}).to_string());
    provider.set("/keys", ServerResponse::with_headers("200 OK", headers, &body));
    issuer
}

fn claims(issuer: &str) -> Value {
    json!({"iss": issuer, "sub": "ada", "aud": "candor", "iat": NOW, "exp": NOW + 3600})
}

fn rules(issuer: &str) -> TokenRules {
    TokenRules {
        issuer: issuer.to_owned(),
        client_id: "console".to_owned(),
        audiences: vec!["candor".to_owned()],
        authorized_parties: vec![],
        required_acr: None,
        subject_claim: "sub".to_owned(),
        session_lifetime: 3600,
    }
}

#[tokio::test]
async fn token_is_verified_with_the_keys_of_its_issuer() {
    let (provider, key) = (Provider::start().await, SigningKey::new(1));
    let issuer = publish(&provider, &[&key]);
    let client = client();
    let document = client.fetch_document(ORGANIZATION, &discovery_address(&issuer)).await.unwrap();
    assert_eq!(document.max_age, None);
    let metadata = ProviderMetadata::parse(&document.body, &issuer).unwrap();
    let document = client.fetch_document(ORGANIZATION, &metadata.jwks_uri).await.unwrap();
    assert_eq!(document.max_age, Some(100));
    let keys = KeySet::parse(&document.body).unwrap();
    let token = key.sign(&claims(&issuer));
    let bearer =
        SignedToken::parse(&token).unwrap().verify(&keys).unwrap().to_bearer(&rules(&issuer), at(0)).unwrap();
    assert_eq!(bearer.subject.subject, "ada");
    let requests = provider.requests();
    let [discovery, _] = &requests[..] else { panic!("two requests") };
    assert!(discovery.starts_with("GET /tenant/.well-known/openid-configuration HTTP/1.1\r\n"), "{discovery}");
    assert!(discovery.contains("Accept: application/json\r\n") && !discovery.contains("Cookie"), "{discovery}");
}

async fn fetch_keys(provider: &Provider, cache: &mut KeyCache, now: Timestamp) {
    match client().fetch_document(ORGANIZATION, &provider.url("/keys")).await {
        Ok(document) => cache.store(KeySet::parse(&document.body).unwrap(), document.max_age, now),
        Err(_) => cache.fail(),
    }
}

/// Verifies a token as a service does: it follows the plan of the cache and fetches where the plan says so.
async fn verify(provider: &Provider, cache: &mut KeyCache, token: &str, now: Timestamp) -> Result<(), TokenError> {
    let token = SignedToken::parse(token)?;
    loop {
        match cache.plan(token.key_id(), now) {
            KeyPlan::Use(keys) => return token.verify(&keys).map(|_| ()),
            KeyPlan::Refresh(keys) => {
                fetch_keys(provider, cache, now).await;
                return token.verify(&keys).map(|_| ());
            }
            KeyPlan::Fetch => fetch_keys(provider, cache, now).await,
            KeyPlan::Wait | KeyPlan::Unavailable => return Err(TokenError::UnknownKey),
        }
    }
}

#[tokio::test]
async fn rotated_key_is_fetched_once_and_outage_is_survived() {
    let (provider, old, new, foreign) =
        (Provider::start().await, SigningKey::new(1), SigningKey::new(2), SigningKey::new(3));
    let issuer = publish(&provider, &[&old]);
    let mut cache = KeyCache::default();
    let token = |key: &SigningKey| key.sign(&claims(&issuer));
    assert_eq!(verify(&provider, &mut cache, &token(&old), at(0)).await, Ok(()));
    publish(&provider, &[&new]);
    assert_eq!(verify(&provider, &mut cache, &token(&new), at(59)).await, Err(TokenError::UnknownKey));
    assert_eq!(verify(&provider, &mut cache, &token(&old), at(59)).await, Ok(()));
    assert_eq!(verify(&provider, &mut cache, &token(&new), at(60)).await, Ok(()));
    assert_eq!(verify(&provider, &mut cache, &token(&old), at(60)).await, Err(TokenError::UnknownKey));
    for second in 60..120 {
        assert_eq!(verify(&provider, &mut cache, &token(&foreign), at(second)).await, Err(TokenError::UnknownKey));
    }
    assert_eq!(provider.requests().len(), 2);
    provider.set("/keys", ServerResponse::with_headers("503 Service Unavailable", "", ""));
    assert_eq!(verify(&provider, &mut cache, &token(&new), at(86_000)).await, Ok(()));
    assert_eq!(provider.requests().len(), 3);
}

#[tokio::test]
async fn malformed_document_is_refused_with_its_flaw() {
    let provider = Provider::start().await;
    for (body, flaw) in [
        ("<html>Sign in</html>", DocumentError::NotAnObject),
        ("", DocumentError::NotAnObject),
        ("{\"issuer\": \"a\", \"issuer\": \"b\"}", DocumentError::RepeatedMember),
    ] {
        provider.set("/page", ServerResponse::json(body));
        let document = client().fetch_document(ORGANIZATION, &provider.url("/page")).await.unwrap();
        let discovery = ProviderMetadata::parse(&document.body, "https://id.example.com");
        assert_eq!(discovery, Err(vec![DiscoveryError::Document(flaw)]), "{body}");
        assert_eq!(KeySet::parse(&document.body), Err(KeySetError::Document(flaw)), "{body}");
    }
}
