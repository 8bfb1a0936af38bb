//! Bearer tokens of identity providers (decision B11).

pub(crate) mod ends;
mod hostile;
mod keys;
mod links;

use candor_domain::access::{AccessLevel, Environment, Permissions};
use candor_domain::time::Timestamp;
use candor_service::usecases::operator;
use serde_json::{Value, json};

use crate::identity_check::{ISSUER, sign, signing_key};
use crate::resources::{Resources, absent, method, path, provider_body, routes_of_v1};
use crate::stores::every_store;
use crate::support::TestApi;

const PATH: &str = "/v1/identity-providers";
const AUDIENCE: &str = "api://candor";
const SUBJECT: &str = "00u1";

/// A provider whose audience is proven, with one linked account.
pub(crate) struct TokenStage {
    pub(crate) provider: String,
    pub(crate) person: String,
}

impl TokenStage {
    /// Creates the provider with these changes of its body, and links the account [`SUBJECT`] to the person.
    pub(crate) async fn begin(world: &TestApi, changes: Value) -> Self {
        let stage = Self::begin_unlinked(world, changes).await;
        stage.link(world, SUBJECT, &stage.person).await;
        stage
    }

    /// Creates the provider without links.
    pub(crate) async fn begin_unlinked(world: &TestApi, changes: Value) -> Self {
        world.providers.serve();
        let mut body = provider_body();
        body["client_secret"] = Value::Null;
        for (name, value) in changes.as_object().unwrap() {
            body[name] = value.clone();
        }
        let provider = world.made(PATH, body).await;
        let stage = Self { provider, person: world.employee("token@acme.example").await };
        let domains = world.get(&stage.path()).await.json()["domains"].clone();
        for domain in domains.as_array().unwrap() {
            world.providers.publish(domain["domain"].as_str().unwrap(), domain["txt_record"].as_str().unwrap());
        }
        let claims = json!({"acr": "mfa", "azp": "web", "candor_provider": stage.provider});
        let check = world.post(&format!("{}/check", stage.path()), json!({"token": token(world, claims)})).await;
        let proven = check.json()["proven"].clone();
        assert!(proven.as_array().unwrap().contains(&json!(AUDIENCE)), "{}", check.text());
        stage
    }

    pub(crate) fn path(&self) -> String {
        format!("{PATH}/{}", self.provider)
    }

    /// Links an account to a person.
    pub(crate) async fn link(&self, world: &TestApi, subject: &str, person: &str) {
        let body = json!({"employee_id": person, "subject": subject});
        let response = world.post(&format!("{}/links", self.path()), body).await;
        assert_eq!(response.status, 200, "{}", response.text());
    }
}

fn seconds(at: Timestamp) -> i64 {
    at.millis().div_euclid(1_000)
}

/// Returns the claims of a valid token with these changes; null removes a claim.
fn claims(world: &TestApi, changes: &Value) -> Value {
    let now = seconds(candor_port_clock::Clock::now(&*world.clock));
    let mut claims = json!({"iss": ISSUER, "sub": SUBJECT, "aud": AUDIENCE, "iat": now, "exp": now + 3_600});
    for (name, value) in changes.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    claims
}

/// Returns a valid token with these changes of its claims.
pub(crate) fn token(world: &TestApi, changes: Value) -> String {
    let header = json!({"alg": "EdDSA", "kid": "1", "typ": "at+jwt"});
    sign(&header.to_string(), &claims(world, &changes).to_string(), &signing_key())
}

/// Returns the status of a request with a token or a key.
async fn status_of(world: &TestApi, text: &str) -> u16 {
    world.bare("GET", "/v1/me").key(text).send().await.status
}

#[tokio::test]
async fn token_acts_as_its_person_with_the_scopes_of_the_provider() {
    for shared in every_store().await {
        let world = &shared.world;
        let scopes = ["observations:read", "observations:write", "employees:read"];
        let stage = TokenStage::begin(world, json!({"scopes": scopes})).await;
        let token = token(world, json!({}));
        let me = world.bare("GET", "/v1/me").key(&token).send().await;
        assert_eq!(me.status, 200, "{}: {}", shared.name, me.text());
        let me = me.json();
        assert_eq!(
            (&me["identity_provider_id"], &me["employee_id"]),
            (&json!(stage.provider), &json!(stage.person))
        );
        assert_eq!((&me["name"], &me["access_level"]), (&json!("Ada Example"), &json!("standard")));
        assert_eq!((&me["environment"], &me["scopes"]), (&json!("live"), &json!(scopes)));
        assert_eq!(me["expires_at"], "2026-03-02T10:01:00.000Z", "with the tolerance");
        let body = json!({"employee_id": stage.person, "type": "strength", "observation": "Listens."});
        let creation = world.bare("POST", "/v1/observations").key(&token).json(&body).send().await;
        assert_eq!(creation.status, 201, "{}", creation.text());
        let id = creation.json()["id"].clone();
        let log = world.get(&format!("/v1/audit-log?filter[target_id]={}", id.as_str().unwrap())).await.json();
        let entry = &log["data"][0];
        assert_eq!(entry["actor"], json!({"type": "employee", "id": stage.person, "name": "Ada Example"}));
        assert_eq!(entry["context"]["via"], json!({"identity_provider_id": stage.provider}));
        let refusal = world.bare("GET", "/v1/api-keys").key(&token).send().await;
        assert_eq!(refusal.refusal(), (403, "permission_denied".to_owned()));
    }
}

#[tokio::test]
async fn token_has_the_scopes_of_its_claim() {
    let world = TestApi::new().await;
    let stage = TokenStage::begin(&world, json!({"scopes": ["observations:read", "employees:read"]})).await;
    let scopes = async |changes: Value| {
        let me = world.bare("GET", "/v1/me").key(&token(&world, changes)).send().await;
        me.json()["scopes"].clone()
    };
    let (all, one) = (json!(["observations:read", "employees:read"]), json!(["employees:read"]));
    for (changes, wanted) in [
        (json!({}), &all),
        (json!({"scope": "openid profile"}), &all),
        (json!({"scope": "openid employees:read"}), &one),
        (json!({"scp": ["employees:read", "settings:write"]}), &one),
        (json!({"scp": "employees:read"}), &one),
        (json!({"scope": "settings:write"}), &json!([])),
    ] {
        assert_eq!(scopes(changes.clone()).await, *wanted, "{changes}");
    }
    world.patch(&stage.path(), json!({"scopes_from_token": true})).await;
    assert_eq!(scopes(json!({})).await, json!([]), "none named");
    assert_eq!(scopes(json!({"scope": "employees:read"})).await, one);
}

#[tokio::test]
async fn quotas_and_replays_belong_to_the_account() {
    let world = TestApi::new().await;
    let stage = TokenStage::begin(&world, json!({})).await;
    let other = world.employee("other@acme.example").await;
    stage.link(&world, "00u2", &other).await;
    let tokens = [token(&world, json!({})), token(&world, json!({"jti": "another"}))];
    let foreign = token(&world, json!({"sub": "00u2"}));
    let remaining = async |text: &str| {
        let response = world.bare("GET", "/v1/me").key(text).send().await;
        response.header("x-ratelimit-remaining").unwrap().parse::<u32>().unwrap()
    };
    let first = remaining(&tokens[0]).await;
    assert_eq!((remaining(&tokens[1]).await, remaining(&foreign).await), (first - 1, first));
    let body = json!({"employee_id": stage.person, "type": "strength", "observation": "Listens."});
    let create = async |text: &str| {
        let request = world.bare("POST", "/v1/observations").key(text).header("idempotency-key", "k1");
        request.json(&body).send().await
    };
    let creation = create(&tokens[0]).await;
    assert_eq!((creation.status, create(&tokens[1]).await.json()), (201, creation.json()));
    assert_eq!(create(&foreign).await.status, 409, "the replay of another account");
    world.patch(&stage.path(), json!({"scopes": ["webhooks:write", "observations:read"]})).await;
    world.patch(&format!("/v1/employees/{}", stage.person), json!({"role": "org_admin"})).await;
    let body = json!({"url": "https://hooks.example.com/in", "event_types": ["observation.created"]});
    let subscribe = async |text: &str| {
        let request = world.bare("POST", "/v1/webhooks").key(text).header("idempotency-key", "k2");
        request.json(&body).send().await
    };
    let subscription = subscribe(&tokens[0]).await;
    assert_eq!((subscription.status, subscribe(&tokens[0]).await.json()), (201, subscription.json()));
    assert_eq!(subscribe(&tokens[1]).await.status, 409, "the secret that another token asked for");
}

#[tokio::test]
async fn token_sees_nothing_of_another_organization() {
    let world = TestApi::new().await;
    TokenStage::begin(&world, json!({"scopes": ["*"]})).await;
    let other = operator::create_organization(&world.services, "Other").await.unwrap();
    let key = world.key_of(other, Permissions::ALL, AccessLevel::Admin, Environment::Live).await;
    let resources = Resources::make(&world, &key).await;
    let text = token(&world, json!({}));
    for route in routes_of_v1().filter(|route| route.path.contains("{id}")) {
        // Stays below the quotas of a token.
        world.clock.advance_seconds(2);
        let body = resources.body(route).unwrap_or_else(|| json!({}));
        let send = async |path: String| {
            let request = world.bare(method(route), &path).key(&text);
            if method(route) == "GET" { request } else { request.json(&body) }.send().await
        };
        let foreign = send(resources.path(route)).await;
        let nothing = send(path(route, absent(route), "del_00000000000000000000000001")).await;
        assert!(matches!(foreign.status, 403 | 404), "{}: {}", route.operation, foreign.text());
        assert_eq!(foreign.without_request_id(), nothing.without_request_id(), "{}", route.operation);
    }
}
