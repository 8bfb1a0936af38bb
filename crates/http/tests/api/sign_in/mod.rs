//! Sign-in of people at their identity provider (decision B10).

pub(crate) mod ends;
mod external_ids;
mod hostile;
mod logout;
mod logouts;
mod mix_up;

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use candor_port_clock::Clock;
use ring::digest::{SHA256, digest};
use ring::signature::Ed25519KeyPair;
use serde_json::{Value, json};

use crate::identity_check::{ISSUER, sign, signing_key};
use crate::resources::provider_body;
use crate::stores::every_store;
use crate::support::{TestApi, TestResponse};

const PATH: &str = "/v1/identity-providers";
const EMAIL: &str = "ada@acme.example";

/// A provider that links by address, with its proven domain and an invited person.
pub(crate) struct Stage {
    pub(crate) provider: String,
    pub(crate) person: String,
}

/// A sign-in that waits at the provider.
pub(crate) struct Begun {
    pub(crate) query: BTreeMap<String, String>,
    pub(crate) cookie: String,
}

impl Stage {
    pub(crate) async fn begin(world: &TestApi, changes: Value) -> Self {
        world.providers.serve();
        let mut body = provider_body();
        body["link_by"] = json!("verified_email");
        for (name, value) in changes.as_object().unwrap() {
            body[name] = value.clone();
        }
        let provider = world.made(PATH, body).await;
        let stage = Self { provider, person: world.employee(EMAIL).await };
        for domain in world.get(&stage.path()).await.json()["domains"].as_array().unwrap() {
            world.providers.publish(domain["domain"].as_str().unwrap(), domain["txt_record"].as_str().unwrap());
        }
        world.post(&format!("{}/check", stage.path()), json!({})).await;
        stage
    }

    pub(crate) fn path(&self) -> String {
        format!("{PATH}/{}", self.provider)
    }

    fn callback(&self) -> String {
        format!("/v1/sign-in/callback/{}", self.provider)
    }

    /// Comes back from the provider with these parameters, in the browser with this cookie. Returns the address to
    /// which the service redirects the browser.
    pub(crate) async fn come_back(&self, world: &TestApi, params: &[(&str, &str)], cookie: &str) -> String {
        let query = url_query(params);
        let request = world.bare("GET", &format!("{}?{query}", self.callback()));
        let response = request.header("cookie", &format!("a=b; {cookie}")).send().await;
        assert_eq!(response.status, 303, "{}", response.text());
        response.header("location").unwrap().to_owned()
    }

    /// Signs in with an ID token with these changes of its claims. Returns the address of the console and the cookie.
    pub(crate) async fn sign_in(&self, world: &TestApi, changes: Value) -> (String, String) {
        let begun_sign_in = begin(world, json!({"email": EMAIL}), None).await;
        grant(world, &begun_sign_in, &changes);
        let params = [("state", begun_sign_in.query["state"].as_str()), ("code", "c0de")];
        (self.come_back(world, &params, &begun_sign_in.cookie).await, begun_sign_in.cookie)
    }

    /// Signs in and exchanges the code. Returns the key of the session.
    pub(crate) async fn session(&self, world: &TestApi) -> Value {
        self.session_of(world, json!({})).await
    }

    /// Signs in with an ID token with these changes of its claims. Returns the key of the session.
    pub(crate) async fn session_of(&self, world: &TestApi, changes: Value) -> Value {
        let (address, cookie) = self.sign_in(world, changes).await;
        let response = exchange(world, &address, &cookie).await;
        assert_eq!(response.status, 200, "{address}: {}", response.text());
        response.json()
    }
}

fn url_query(params: &[(&str, &str)]) -> String {
    let encode = |text: &str| {
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
        text.bytes()
            .map(|byte| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
            .collect::<String>()
    };
    params.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect::<Vec<_>>().join("&")
}

fn decode(text: &str) -> String {
    let url = format!("http://a/?{text}");
    let query = actix_web::http::Uri::try_from(url).unwrap().query().unwrap().to_owned();
    let (mut bytes, mut rest) = (vec![], query.bytes());
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// Begins a sign-in.
pub(crate) async fn begin(world: &TestApi, body: Value, cookie: Option<&str>) -> Begun {
    let request = world.bare("POST", "/v1/sign-in").json(&body);
    let request = if let Some(cookie) = cookie { request.header("cookie", cookie) } else { request };
    let response = request.send().await;
    assert_eq!(response.status, 200, "{}", response.text());
    let url = response.json()["url"].as_str().unwrap().to_owned();
    let (_, query) = url.split_once('?').unwrap();
    let query = query.split('&').filter_map(|pair| pair.split_once('='));
    let query = query.map(|(name, value)| (name.to_owned(), decode(value))).collect();
    let new_cookie = response.header("set-cookie").map(|line| line.split(';').next().unwrap().to_owned());
    Begun { query, cookie: new_cookie.or(cookie.map(str::to_owned)).unwrap() }
}

/// Lets the provider answer the next exchange with an ID token for a sign-in.
pub(crate) fn grant(world: &TestApi, begun: &Begun, changes: &Value) {
    let token = id_token(world, begun, changes);
    world.providers.grant(json!({"id_token": token, "access_token": "at", "token_type": "Bearer"}));
}

fn id_token(world: &TestApi, begun: &Begun, changes: &Value) -> String {
    id_token_by(world, begun, changes, &signing_key())
}

/// Returns an ID token for a sign-in with these changes of its claims, signed by a key.
fn id_token_by(world: &TestApi, begun: &Begun, changes: &Value, key: &Ed25519KeyPair) -> String {
    let now = world.clock.now().millis().div_euclid(1_000);
    let mut claims = json!({
        "iss": ISSUER, "sub": "00u1", "aud": "0oa1", "iat": now, "exp": now + 600, "nonce": begun.query["nonce"],
        "email": EMAIL, "email_verified": true, "sid": "s1",
    });
    for (name, value) in changes.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    sign(&json!({"alg": "EdDSA", "kid": "1"}).to_string(), &claims.to_string(), key)
}

/// Exchanges the code of an address in the browser with this cookie.
pub(crate) async fn exchange(world: &TestApi, address: &str, cookie: &str) -> TestResponse {
    let code = address.split_once("#code=").map_or("none", |(_, code)| code);
    let request = world.bare("POST", "/v1/portal-links/exchange").header("cookie", cookie);
    request.json(&json!({"code": code})).send().await
}

async fn audit(world: &TestApi, action: &str) -> Vec<Value> {
    let log = world.get(&format!("/v1/audit-log?filter[action]={action}")).await.json();
    log["data"].as_array().unwrap().clone()
}

#[tokio::test]
async fn sign_in_begins_a_session_of_the_person() {
    for shared in every_store().await {
        let (world, what) = (&shared.world, shared.name);
        let stage = Stage::begin(world, json!({})).await;
        let begun_sign_in = begin(world, json!({"email": EMAIL, "start": "/objectives"}), None).await;
        let redirect_uri = format!("https://candor.example/v1/sign-in/callback/{}", stage.provider);
        assert_eq!(
            (
                &*begun_sign_in.query["redirect_uri"],
                &*begun_sign_in.query["scope"],
                &*begun_sign_in.query["login_hint"]
            ),
            (&*redirect_uri, "openid email profile", EMAIL)
        );
        assert!(begun_sign_in.cookie.starts_with("__Host-candor_signin="), "{what}: {}", begun_sign_in.cookie);
        grant(world, &begun_sign_in, &json!({}));
        let params = [("state", begun_sign_in.query["state"].as_str()), ("code", "c0de")];
        let address = stage.come_back(world, &params, &begun_sign_in.cookie).await;
        assert!(
            address.starts_with("https://candor.example/console/objectives#code=cdr_link_"),
            "{what}: {address}"
        );
        let exchanges = world.providers.take_exchanges();
        let [sent] = exchanges.as_slice() else { panic!("{exchanges:?}") };
        let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, sent.code_verifier.reveal().as_bytes()));
        assert_eq!(challenge, begun_sign_in.query["code_challenge"], "{what}");
        assert_eq!((sent.code.reveal(), &*sent.redirect_uri), ("c0de", &*redirect_uri), "{what}");
        assert_eq!(sent.client_secret.as_ref().map(|secret| secret.reveal()), Some("8nFq"), "{what}");

        let response = exchange(world, &address, &begun_sign_in.cookie).await;
        assert_eq!(response.status, 200, "{what}: {}", response.text());
        let session = response.json();
        assert_eq!(session["kind"], "session");
        assert_eq!(
            (&session["name"], &session["employee_id"]),
            (&json!("Session of Ada Example"), &json!(stage.person))
        );
        assert_eq!(session["identity_provider_id"], stage.provider);
        let me = world.bare("GET", "/v1/me").key(session["key"].as_str().unwrap()).send().await;
        assert_eq!((me.status, &me.json()["access_level"]), (200, &json!("standard")), "{what}");
        let provider = world.get(&stage.path()).await.json();
        assert_eq!((&provider["status"], &provider["proven_audiences"]), (&json!("active"), &json!(["0oa1"])));
        assert!(provider["last_sign_in_at"].is_string(), "{what}");
        let person = world.get(&format!("/v1/employees/{}", stage.person)).await.json();
        assert_eq!(person["status"], "active", "{what}: the invitation is accepted");
        let entries = audit(world, "session.begin").await;
        assert_eq!(entries[0]["actor"]["id"], stage.person, "{what}");
        let list = world.get("/v1/api-keys?filter[kind]=session").await.json();
        assert_eq!(
            (list["data"].as_array().unwrap().len(), &list["data"][0]["id"]),
            (1, &session["id"]),
            "{what}"
        );
    }
}

#[tokio::test]
async fn provider_is_found_by_domain_id_or_organization() {
    let world = TestApi::new().await;
    let stage = Stage::begin(&world, json!({})).await;
    let organization = world.organization.to_string();
    for body in [
        json!({"email": "someone@ACME.example"}),
        json!({"organization_id": organization}),
        json!({"identity_provider_id": stage.provider}),
        json!({"email": "ada@other.example", "organization_id": organization}),
    ] {
        begin(&world, body, None).await;
    }
    let unknown = "org_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    for body in [
        json!({"email": "ada@other.example"}),
        json!({"email": "ada"}),
        json!({"organization_id": unknown}),
        json!({"organization_id": "x"}),
        json!({"identity_provider_id": "idp_01ARZ3NDEKTSV4RRFFQ69G5FAV"}),
        json!({"email": EMAIL, "organization_id": unknown}),
        json!({"identity_provider_id": stage.provider, "organization_id": unknown}),
    ] {
        let response = world.bare("POST", "/v1/sign-in").json(&body).send().await;
        assert_eq!(response.refusal(), (404, "not_found".to_owned()), "{body}");
    }
    world.patch(&stage.path(), json!({"status": "disabled"})).await;
    let response = world.bare("POST", "/v1/sign-in").json(&json!({"email": EMAIL})).send().await;
    assert_eq!(response.refusal(), (404, "not_found".to_owned()));
    let response = world.bare("POST", "/v1/sign-in").json(&json!({"start": "//evil.example"})).send().await;
    assert_eq!(
        response.problems(),
        [("start".to_owned(), "invalid_format".to_owned()), ("email".to_owned(), "required".to_owned())]
    );
}
