//! Checks of identity providers: what their documents, DNS records and tokens prove (decision B9).

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use candor_domain::access::{AccessLevel, Environment, Permission, Permissions};
use candor_domain::id::OrganizationId;
use candor_port_identity::{CodeExchange, FetchError, IdentityTransport, ProviderDocument};
use candor_service::usecases::operator;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};

use crate::resources::provider_body;
use crate::stores::every_store;
use crate::support::{START, TestApi};

const PATH: &str = "/v1/identity-providers";
pub(crate) const ISSUER: &str = "https://acme.okta.example";

/// Providers and name servers of the tests: documents by address, and TXT records by domain.
#[derive(Debug, Default)]
pub(crate) struct Providers {
    documents: Mutex<BTreeMap<String, String>>,
    records: Mutex<BTreeMap<String, Vec<String>>>,
    /// Response of the token endpoint.
    tokens: Mutex<Option<Value>>,
    /// Codes that were exchanged, with their verifier and secret.
    exchanges: Mutex<Vec<CodeExchange>>,
    /// Addresses of the fetched documents.
    fetches: Mutex<Vec<String>>,
}

impl Providers {
    /// Serves the discovery document and the key set of the test's provider.
    pub(crate) fn serve(&self) {
        self.serve_issuer(ISSUER, &[("1", signing_key())]);
    }

    /// Serves the discovery document and a key set with these keys at the addresses of an issuer.
    pub(crate) fn serve_issuer(&self, issuer: &str, keys: &[(&str, Ed25519KeyPair)]) {
        let discovery = json!({
            "issuer": issuer, "authorization_endpoint": format!("{issuer}/authorize"),
            "token_endpoint": format!("{issuer}/token"), "jwks_uri": format!("{issuer}/keys"),
            "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
            "id_token_signing_alg_values_supported": ["EdDSA", "RS256"], "subject_types_supported": ["public"],
        });
        let mut documents = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        documents.insert(format!("{issuer}/.well-known/openid-configuration"), discovery.to_string());
        documents.insert(format!("{issuer}/keys"), key_set(keys));
    }

    /// Serves a key set with these keys.
    pub(crate) fn serve_keys(&self, keys: &[(&str, Ed25519KeyPair)]) {
        let mut documents = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        documents.insert(format!("{ISSUER}/keys"), key_set(keys));
    }

    /// Serves a discovery document with these changes.
    pub(crate) fn serve_discovery(&self, changes: &Value) {
        let address = format!("{ISSUER}/.well-known/openid-configuration");
        let mut documents = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        let mut document: Value = serde_json::from_str(&documents[&address]).unwrap();
        for (name, value) in changes.as_object().unwrap() {
            document[name] = value.clone();
        }
        documents.insert(address, document.to_string());
    }

    /// Sets the response to the next exchange of a code.
    pub(crate) fn grant(&self, tokens: Value) {
        *self.tokens.lock().unwrap_or_else(PoisonError::into_inner) = Some(tokens);
    }

    /// Returns the exchanges since the last call.
    pub(crate) fn take_exchanges(&self) -> Vec<CodeExchange> {
        std::mem::take(&mut *self.exchanges.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes the provider answer 404 for all documents from now on.
    pub(crate) fn stop(&self) {
        self.documents.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Returns the number of fetches of the discovery document since the last call. A fetch of the key set begins
    /// with one.
    pub(crate) fn take_key_fetches(&self) -> usize {
        let fetches = std::mem::take(&mut *self.fetches.lock().unwrap_or_else(PoisonError::into_inner));
        fetches.iter().filter(|address| address.ends_with("/openid-configuration")).count()
    }

    pub(crate) fn publish(&self, domain: &str, record: &str) {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        records.insert(domain.to_owned(), vec!["v=spf1 -all".to_owned(), record.to_owned()]);
    }
}

#[async_trait]
impl IdentityTransport for Providers {
    fn has_trusted_network(&self, _: OrganizationId) -> bool {
        false
    }

    async fn fetch_document(&self, _: OrganizationId, address: &str) -> Result<ProviderDocument, FetchError> {
        self.fetches.lock().unwrap_or_else(PoisonError::into_inner).push(address.to_owned());
        let documents = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        let document = documents.get(address).ok_or(FetchError::Status(404))?;
        Ok(ProviderDocument { body: document.clone().into(), max_age: None })
    }

    async fn exchange_code(&self, exchange: CodeExchange) -> Result<ProviderDocument, FetchError> {
        self.exchanges.lock().unwrap_or_else(PoisonError::into_inner).push(exchange);
        // A code is exchanged once.
        let tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner).take();
        let tokens = tokens.ok_or_else(|| FetchError::Refused("invalid_grant".to_owned()))?;
        Ok(ProviderDocument { body: tokens.to_string().into(), max_age: None })
    }

    async fn read_text_records(&self, domain: &str) -> Result<Vec<String>, FetchError> {
        let records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(records.get(domain).cloned().unwrap_or_default())
    }
}

/// Returns a key set with these keys.
fn key_set(keys: &[(&str, Ed25519KeyPair)]) -> String {
    let keys = keys.iter().map(|(id, key)| {
        let bytes = URL_SAFE_NO_PAD.encode(key.public_key());
        json!({"kty": "OKP", "crv": "Ed25519", "kid": id, "x": bytes})
    });
    json!({"keys": keys.collect::<Vec<_>>()}).to_string()
}

pub(crate) fn signing_key() -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap()
}

/// Returns a token with this header and these claims, signed by a key.
pub(crate) fn sign(header: &str, claims: &str, key: &Ed25519KeyPair) -> String {
    let message = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part)).join(".");
    let signature = URL_SAFE_NO_PAD.encode(key.sign(message.as_bytes()));
    format!("{message}.{signature}")
}

/// Returns a signed token of the test's provider for an audience, which names the provider with this path: an ID token for the
/// client id, else an access token.
fn token(path: &str, audience: &str) -> String {
    let (_, provider) = path.rsplit_once('/').unwrap();
    let mut claims = json!({"aud": audience, "roles": ["reader", provider]});
    if audience != "0oa1" {
        claims["azp"] = json!("0oa1");
    }
    signed_token(claims)
}

/// Returns a signed token of the test's provider with these claims.
fn signed_token(mut claims: Value) -> String {
    let now = START.millis() / 1_000;
    for (name, value) in
        [("iss", json!(ISSUER)), ("sub", json!("00u1")), ("iat", json!(now)), ("exp", json!(now + 600))]
    {
        claims[name] = value;
    }
    sign(&json!({"alg": "EdDSA", "kid": "1"}).to_string(), &claims.to_string(), &signing_key())
}

async fn create(world: &TestApi, key: &str, secret: Option<&str>) -> (String, Value) {
    let mut body = provider_body();
    body["client_secret"] = json!(secret);
    let provider = world.bare("POST", PATH).key(key).json(&body).send().await.json();
    (format!("{PATH}/{}", provider["id"].as_str().unwrap()), provider)
}

#[tokio::test]
async fn unreachable_provider_is_a_problem_and_no_error() {
    let world = TestApi::new().await;
    let (path, provider) = create(&world, &world.admin, None).await;
    let check = world.post(&format!("{path}/check"), json!({"token": token(&path, "0oa1")})).await;
    assert_eq!(check.status, 200, "{}", check.text());
    let response = check.json();
    assert_eq!(
        (&response["ok"], &response["issuer"], &response["keys"]),
        (&json!(false), &Value::Null, &json!(0))
    );
    assert_eq!(response["proven"], json!([]));
    let record = provider["domains"][0]["txt_record"].as_str().unwrap();
    let problems = response["problems"].as_array().unwrap();
    assert!(problems.iter().any(|problem| problem.as_str().unwrap().contains("404")), "{problems:?}");
    assert!(problems.iter().any(|problem| problem.as_str().unwrap().contains(record)), "{problems:?}");
    assert_eq!(world.get(&path).await.json(), provider, "nothing is proven");
    let dry = world.post(&format!("{path}/check?dry_run=true"), json!({})).await;
    assert_eq!(dry.problems(), [("dry_run".to_owned(), "not_possible".to_owned())]);
}

#[tokio::test]
async fn check_proves_domains_by_records_and_audiences_by_tokens() {
    for shared in every_store().await {
        let world = &shared.world;
        world.providers.serve();
        let (path, provider) = create(world, &world.admin, None).await;
        world.providers.publish("acme.example", provider["domains"][0]["txt_record"].as_str().unwrap());
        let check = async |body: Value| {
            world.clock.advance_millis(1);
            let response = world.post(&format!("{path}/check"), body).await;
            assert_eq!(response.status, 200, "{}", response.text());
            response.json()
        };
        let by_records = check(json!({})).await;
        let expected_response = json!({
            "ok": true, "problems": [], "issuer": ISSUER, "keys": 1, "proven": ["acme.example"],
        });
        assert_eq!(by_records, expected_response, "{}", shared.name);
        assert_eq!(world.get(&path).await.json()["status"], "pending", "a domain proves no client");
        let foreign = check(json!({"token": token(&path, "api://foreign")})).await;
        assert_eq!((&foreign["ok"], &foreign["proven"]), (&json!(false), &json!(["acme.example"])));
        let by_id_token = check(json!({"token": token(&path, "0oa1")})).await;
        assert_eq!((&by_id_token["ok"], &by_id_token["proven"]), (&json!(false), &json!(["acme.example"])));
        let by_token = check(json!({"token": token(&path, "api://candor")})).await;
        assert_eq!(by_token["proven"], json!(["acme.example", "api://candor"]), "{by_token}");
        let active = world.get(&path).await.json();
        assert_eq!((&active["status"], &active["domains"][0]["proven"]), (&json!("active"), &json!(true)));
        let log = world.get("/v1/audit-log?filter[action]=identity_provider.prove").await;
        assert_eq!(log.json()["data"].as_array().unwrap().len(), 2);
        assert!(!log.text().contains(&token(&path, "api://candor")), "{}", log.text());
    }
}

#[tokio::test]
async fn check_by_a_key_with_less_access_proves_nothing() {
    for shared in every_store().await {
        let world = &shared.world;
        world.providers.serve();
        let (path, provider) = create(world, &world.admin, None).await;
        let settings = Permissions::NONE.with(Permission::SettingsRead).with(Permission::SettingsWrite);
        let fewer = world.key(settings, AccessLevel::Admin, Environment::Live).await;
        let end = world.services.clock.now().plus_seconds(86_400).to_string();
        let body = json!({"name": "Ends", "scopes": ["*"], "access_level": "admin", "expires_at": end});
        let ends = world.post("/v1/api-keys", body).await.json()["key"].as_str().unwrap().to_owned();
        let check = async |key: &str, body: Value| {
            world.clock.advance_millis(1);
            world.bare("POST", &format!("{path}/check")).key(key).json(&body).send().await
        };
        for key in [&fewer, &ends] {
            let problems = check(key, json!({})).await;
            assert_eq!((problems.status, &problems.json()["proven"]), (200, &json!([])), "{}", problems.text());
        }
        world.providers.publish("acme.example", provider["domains"][0]["txt_record"].as_str().unwrap());
        for key in [&fewer, &ends] {
            for body in [json!({}), json!({"token": token(&path, "api://candor")})] {
                let proof = check(key, body).await;
                assert_eq!(proof.refusal(), (403, "permission_denied".to_owned()), "{}", shared.name);
            }
            assert_eq!(world.get(&path).await.json(), provider, "nothing is recorded");
        }
        assert_eq!(check(&world.admin, json!({"token": token(&path, "api://candor")})).await.status, 200);
        assert_eq!(world.get(&path).await.json()["status"], "active");
        let later_check = check(&fewer, json!({"token": token(&path, "api://candor")})).await;
        let proven = json!(["acme.example", "api://candor"]);
        assert_eq!(
            (later_check.status, &later_check.json()["proven"]),
            (200, &proven),
            "nothing is left to prove"
        );
    }
}

#[tokio::test]
async fn id_token_proves_no_client_id() {
    for secret in [None, Some("8nFq")] {
        let world = TestApi::new().await;
        world.providers.serve();
        let (path, provider) = create(&world, &world.admin, secret).await;
        world.providers.publish("acme.example", provider["domains"][0]["txt_record"].as_str().unwrap());
        // Another program's client id, as an audience of the provider: its users have ID tokens for it.
        let audiences = json!({"audiences": ["api://candor", "0oa2", "0oa1"]});
        assert_eq!(world.patch(&path, audiences).await.status, 200);
        let now = START.millis() / 1_000;
        for audience in ["0oa1", "0oa2"] {
            for azp in [Value::Null, json!(audience)] {
                let mut claims = json!({"iss": ISSUER, "sub": "00u1", "aud": audience, "iat": now, "exp": now + 600,
                           "roles": [path.rsplit_once('/').unwrap().1]});
                if !azp.is_null() {
                    claims["azp"] = azp;
                }
                let header = json!({"alg": "EdDSA", "kid": "1"}).to_string();
                let id_token = sign(&header, &claims.to_string(), &signing_key());
                let response = world.post(&format!("{path}/check"), json!({"token": id_token})).await.json();
                assert_eq!(
                    (&response["ok"], &response["proven"]),
                    (&json!(false), &json!(["acme.example"])),
                    "{claims}"
                );
            }
        }
        assert_eq!(world.get(&path).await.json()["status"], "pending");
    }
}

#[tokio::test]
async fn token_without_a_proven_domain_proves_nothing() {
    let world = TestApi::new().await;
    world.providers.serve();
    let (path, _) = create(&world, &world.admin, None).await;
    let response =
        world.post(&format!("{path}/check"), json!({"token": token(&path, "api://candor")})).await.json();
    let problem = "token: a token proves nothing before a domain of email_domains is proven";
    assert_eq!(response["proven"], json!([]));
    assert!(response["problems"].as_array().unwrap().contains(&json!(problem)), "{response}");
}

#[tokio::test]
async fn token_that_does_not_name_the_provider_proves_nothing() {
    for shared in every_store().await {
        let world = &shared.world;
        world.providers.serve();
        let (path, provider) = create(world, &world.admin, None).await;
        world.providers.publish("acme.example", provider["domains"][0]["txt_record"].as_str().unwrap());
        let id = provider["id"].as_str().unwrap();
        // Each user of a company has such tokens, also one with an organization and a domain of their own.
        for mut claims in [
            json!({}),
            json!({"email": "ada@acme.example", "email_verified": true}),
            json!({"roles": ["idp_01ARZ3NDEKTSV4RRFFQ69G5FAV"]}),
            // Scopes that a user requests. Some issuers write unknown ones into tokens.
            json!({"scope": format!("openid {id}")}),
            json!({"scp": [id]}),
        ] {
            claims["aud"] = json!("api://candor");
            claims["azp"] = json!("0oa1");
            let response =
                world.post(&format!("{path}/check"), json!({"token": signed_token(claims)})).await.json();
            let problems = response["problems"].to_string();
            assert!(problems.contains("does not name this identity provider"), "{}: {problems}", shared.name);
            assert_eq!(response["proven"], json!(["acme.example"]), "{}", shared.name);
            world.clock.advance_millis(1);
        }
    }
}

#[tokio::test]
async fn value_of_another_organization_is_409_at_the_check() {
    for shared in every_store().await {
        let world = &shared.world;
        world.providers.serve();
        let (path, provider) = create(world, &world.admin, None).await;
        world.providers.publish("acme.example", provider["domains"][0]["txt_record"].as_str().unwrap());
        let first_check =
            world.post(&format!("{path}/check"), json!({"token": token(&path, "api://candor")})).await;
        assert_eq!(first_check.status, 200, "{}", first_check.text());
        let foreign = operator::create_organization(&world.services, "Another").await.unwrap();
        let key = world.key_of(foreign, Permissions::ALL, AccessLevel::Admin, Environment::Live).await;
        let (foreign_path, _) = create(world, &key, None).await;
        let domain = json!({"email_domains": ["foreign.example"]});
        let provider = world.bare("PATCH", &foreign_path).key(&key).json(&domain).send().await.json();
        world.providers.publish("foreign.example", provider["domains"][0]["txt_record"].as_str().unwrap());
        let body = json!({"token": token(&foreign_path, "api://candor")});
        let refused_check =
            world.bare("POST", &format!("{foreign_path}/check")).key(&key).json(&body).send().await;
        let details = json!([{"field": "audiences", "current": "api://candor"}]);
        assert_eq!(refused_check.refusal(), (409, "conflict".to_owned()), "{}", shared.name);
        assert_eq!(refused_check.json()["error"]["details"], details, "without the id of the other provider");
        let provider_after = world.bare("GET", &foreign_path).key(&key).send().await.json();
        assert_eq!(provider_after, provider);
        assert_eq!(world.ask("DELETE", &path).send().await.status, 204);
        let check_after_deletion =
            world.bare("POST", &format!("{foreign_path}/check")).key(&key).json(&body).send().await;
        assert_eq!(
            check_after_deletion.json()["proven"],
            json!(["foreign.example", "api://candor"]),
            "{}",
            check_after_deletion.text()
        );
    }
}
