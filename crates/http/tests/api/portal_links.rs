//! Portal links: a key whose secret is handed out once, for the code of a link (decision B8).

use candor_domain::access::{AccessLevel, Environment, Permissions};
use candor_service::ServiceSettings;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::objectives::{key_for, person};
use crate::snapshots::shown;
use crate::stores::{every_store, usual};
use crate::support::{PUBLIC_URL, TestApi, TestResponse};

async fn link_by(world: &TestApi, key: &str, body: Value) -> TestResponse {
    world.bare("POST", "/v1/portal-links").key(key).json(&body).send().await
}

async fn exchanged(world: &TestApi, code: &str) -> TestResponse {
    world.bare("POST", "/v1/portal-links/exchange").json(&json!({"code": code})).send().await
}

fn code(link: &Value) -> String {
    link["url"].as_str().unwrap().split_once("#code=").unwrap().1.to_owned()
}

async fn status(world: &TestApi, key: &str, path: &str) -> u16 {
    world.bare("GET", path).key(key).send().await.status
}

#[tokio::test]
async fn portal_link_lifecycle_matches_snapshots() {
    let world = TestApi::new().await;
    let body = json!({"scopes": ["webhooks:read", "webhooks:write"], "read_only": true, "start": "/webhooks?view=deliveries"});
    let creation = world.post("/v1/portal-links", body).await;
    insta::assert_snapshot!("portal_link_created", shown(&creation));
    world.clock.advance_seconds(1);
    insta::assert_snapshot!("portal_link_exchanged", shown(&exchanged(&world, &code(&creation.json())).await));
    insta::assert_snapshot!("portal_link_audited", shown(&world.get("/v1/audit-log?limit=2").await));
}

#[tokio::test]
async fn code_is_exchanged_once_for_a_key_with_the_scopes() {
    for shared in every_store().await {
        let (world, what) = (&shared.world, shared.name);
        let creation =
            world.post("/v1/portal-links", json!({"scopes": ["webhooks:read"], "start": "/webhooks"})).await;
        assert_eq!(creation.status, 201, "{what}: {}", creation.text());
        let link = creation.json();
        assert!(
            link["url"].as_str().unwrap().starts_with("https://candor.example/console/webhooks#code=cdr_link_")
        );
        let path = format!("/v1/api-keys/{}", link["id"].as_str().unwrap());
        assert_eq!(creation.header("location"), Some(format!("{PUBLIC_URL}{path}").as_str()), "{what}");
        let stored_link = world.get(&path).await.json();
        assert_eq!(
            (&stored_link["link_expires_at"], &stored_link["url"]),
            (&link["link_expires_at"], &Value::Null),
            "{what}"
        );
        let code = code(&link);
        assert_eq!(status(world, &code, "/v1/me").await, 401, "{what}: a code is no key");
        let exchange = exchanged(world, &code).await;
        assert_eq!(exchange.status, 200, "{what}: {}", exchange.text());
        assert_eq!(exchanged(world, &code).await.refusal(), (404, "not_found".to_owned()), "{what}: used");
        let key = exchange.json()["key"].as_str().unwrap().to_owned();
        assert_eq!(status(world, &key, "/v1/webhooks").await, 200, "{what}");
        assert_eq!(status(world, &key, "/v1/employees").await, 403, "{what}");
        assert_eq!(world.get(&path).await.json()["link_expires_at"], Value::Null, "{what}");
        assert_eq!(world.post(&format!("{path}/revoke"), json!({})).await.status, 200, "{what}");
        assert_eq!(status(world, &key, "/v1/webhooks").await, 401, "{what}");
    }
}

#[tokio::test]
async fn concurrent_exchanges_of_a_code_make_one_key() {
    for shared in every_store().await {
        let world = &shared.world;
        let code = code(&world.post("/v1/portal-links", json!({"scopes": ["*"]})).await.json());
        let responses = join_all((0..8).map(|_| exchanged(world, &code))).await;
        let mut statuses: Vec<_> = responses.iter().map(|answered| answered.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 404, 404, 404, 404, 404, 404, 404], "{}", shared.name);
    }
}

#[tokio::test]
async fn unknown_revoked_or_expired_code_is_not_found() {
    let world = TestApi::new().await;
    let make = async || world.post("/v1/portal-links", json!({"scopes": ["*"], "expires_in": 7200})).await.json();
    let (revoked, expired) = (make().await, make().await);
    let path = format!("/v1/api-keys/{}/revoke", revoked["id"].as_str().unwrap());
    assert_eq!(world.post(&path, json!({})).await.status, 200);
    let session_key = exchanged(&world, &code(&make().await)).await.json()["key"].as_str().unwrap().to_owned();
    let unknown = candor_domain::access::api_key::generate_code([1; 32]).reveal().to_owned();
    for code in ["x", &unknown, &code(&revoked)] {
        assert_eq!(exchanged(&world, code).await.refusal(), (404, "not_found".to_owned()), "{code}");
    }
    world.clock.advance_seconds(1800);
    assert_eq!(exchanged(&world, &code(&expired)).await.refusal(), (404, "not_found".to_owned()));
    assert_eq!(status(&world, &session_key, "/v1/me").await, 200);
    world.clock.advance_seconds(5400);
    assert_eq!(status(&world, &session_key, "/v1/me").await, 401, "the key ends with its lifetime");
}

#[tokio::test]
async fn link_of_a_bound_or_test_key_has_its_person_and_environment() {
    for shared in every_store().await {
        let (world, what) = (&shared.world, shared.name);
        let joe = person(world, "joe", "employee", None).await;
        let bound_key = key_for(world, &joe, AccessLevel::Admin).await;
        let test = world.key(Permissions::ALL, AccessLevel::Admin, Environment::Test).await;
        let table =
            [(&bound_key, json!(joe), "live"), (&test, Value::Null, "test"), (&world.admin, Value::Null, "live")];
        for (key, person, environment) in table {
            let creation = link_by(world, key, json!({"scopes": ["*"], "access_level": "admin"})).await;
            assert_eq!(creation.status, 201, "{what}: {}", creation.text());
            let exchange = exchanged(world, &code(&creation.json())).await.json();
            assert_eq!((&exchange["employee_id"], exchange["environment"].as_str()), (&person, Some(environment)));
            let me = world.bare("GET", "/v1/me").key(exchange["key"].as_str().unwrap()).send().await.json();
            assert_eq!((&me["employee_id"], me["environment"].as_str()), (&person, Some(environment)), "{what}");
            let id = exchange["id"].as_str().unwrap();
            assert_eq!(world.get(&format!("/v1/api-keys/{id}")).await.status, 200, "{what}: the key is shown");
        }
    }
}

#[tokio::test]
async fn link_beyond_the_access_of_its_key_is_refused() {
    let world = TestApi::new().await;
    let admin = |scopes| world.key(scopes, AccessLevel::Admin, Environment::Live);
    let some = Permissions::from_words(["settings:write", "webhooks:read"]).unwrap();
    let key = admin(some).await;
    for body in [json!({"scopes": ["*"]}), json!({"scopes": ["webhooks:read", "events:read"]})] {
        assert_eq!(link_by(&world, &key, body).await.refusal(), (403, "permission_denied".to_owned()));
    }
    let standard = world.key(Permissions::ALL, AccessLevel::Standard, Environment::Live).await;
    let body = json!({"scopes": ["webhooks:read"]});
    assert_eq!(link_by(&world, &standard, body.clone()).await.refusal(), (403, "permission_denied".to_owned()));
    assert_eq!(link_by(&world, &key, body).await.status, 201);
}

#[tokio::test]
async fn stored_link_is_replayed_only_within_its_environment() {
    for shared in every_store().await {
        let (world, what) = (&shared.world, shared.name);
        let test = world.key(Permissions::ALL, AccessLevel::Admin, Environment::Test).await;
        let send = async |key: &str| {
            let request = world.bare("POST", "/v1/portal-links").key(key).header("idempotency-key", "k-1");
            request.json(&json!({"scopes": ["*"]})).send().await
        };
        let first = send(&world.admin).await;
        assert_eq!(first.status, 201, "{what}: {}", first.text());
        let second_response = send(&world.admin).await;
        assert_eq!(
            (second_response.json(), second_response.header("idempotent-replayed")),
            (first.json(), Some("true")),
            "{what}"
        );
        assert_eq!(second_response.header("location"), first.header("location"), "{what}");
        assert_eq!(send(&test).await.refusal(), (409, "idempotency_conflict".to_owned()), "{what}");
    }
}

#[tokio::test]
async fn link_without_a_console_is_a_conflict() {
    let (store, _database) = usual().await;
    let settings = ServiceSettings::with_public_url(PUBLIC_URL.to_owned());
    let world = TestApi::create(store, crate::support::patient_settings(), settings).await;
    let response = world.post("/v1/portal-links", json!({"scopes": ["*"]})).await;
    assert_eq!(response.refusal(), (409, "conflict".to_owned()));
    let details = json!([{"field": "console", "current": "off", "attempted_transition": "open"}]);
    assert_eq!(response.json()["error"]["details"], details);
}

#[tokio::test]
async fn exchange_is_limited_to_20_per_address() {
    let world = TestApi::new().await;
    for _ in 0..20 {
        assert_eq!(exchanged(&world, "guess").await.status, 404);
    }
    let response = exchanged(&world, "guess").await;
    assert_eq!(response.refusal(), (429, "rate_limited".to_owned()));
    let details = json!([{"quota": "portal_exchange", "limit": 20, "window_seconds": 60}]);
    assert_eq!(response.json()["error"]["details"], details);
    let accept_response =
        world.bare("POST", "/v1/invitations/accept").json(&json!({"token": "guess"})).send().await;
    assert_eq!(accept_response.status, 404, "invitations have their own quota");
}
