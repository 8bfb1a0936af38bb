//! No credential gives access beyond its own end (decision B7).

use candor_domain::time::Timestamp;
use candor_port_clock::Clock;
use serde_json::{Value, json};

use crate::resources::provider_body;
use crate::sign_in::ends::admin_stage;
use crate::stores::every_store;
use crate::support::{TestApi, TestResponse};

/// Overlap of a rotation, in seconds.
const OVERLAP: i64 = 600;

/// A way of authentication: a credential of the admin level and its end.
struct Way {
    name: &'static str,
    secret: String,
    end: Option<String>,
}

/// Ways to give access.
#[derive(Debug, Clone, Copy)]
enum Grant {
    EndlessKey,
    LastingKey,
    PortalLink,
    LaterEnd,
    OtherSecret,
    Provider,
    Link,
    /// The secret of the credential itself.
    OwnSecret,
}

const GRANTS: [Grant; 8] = [
    Grant::EndlessKey,
    Grant::LastingKey,
    Grant::PortalLink,
    Grant::LaterEnd,
    Grant::OtherSecret,
    Grant::Provider,
    Grant::Link,
    Grant::OwnSecret,
];

async fn key(world: &TestApi, end: Option<String>) -> Value {
    let body = json!({"name": "Root", "scopes": ["*"], "access_level": "admin", "expires_at": end});
    let response = world.post("/v1/api-keys", body).await;
    assert_eq!(response.status, 201, "{}", response.text());
    response.json()
}

/// Rotates a key, and returns its previous secret.
async fn rotate(world: &TestApi, key: &Value) -> String {
    let path = format!("/v1/api-keys/{}/rotate", key["id"].as_str().unwrap());
    let response = world.post(&path, json!({"overlap_seconds": OVERLAP})).await;
    assert_eq!(response.status, 200, "{}", response.text());
    key["key"].as_str().unwrap().to_owned()
}

/// Returns a credential of each way, and the person of the session.
async fn ways(world: &TestApi) -> (Vec<Way>, String) {
    let (stage, session) = admin_stage(world).await;
    let time = |seconds| world.clock.now().plus_seconds(seconds).to_string();
    let secret = |key: &Value| key["key"].as_str().unwrap().to_owned();
    let of_session = json!({"name": "Child", "scopes": ["*"], "access_level": "admin", "employee_id": stage.person,
                            "expires_at": session["expires_at"]});
    let of_session = world.bare("POST", "/v1/api-keys").key(&secret(&session)).json(&of_session).send().await;
    // A session grants no more scopes than the provider gives.
    let of_session = if of_session.status == 201 { of_session.json() } else { session.clone() };
    let link = world.post("/v1/portal-links", json!({"scopes": ["*"], "access_level": "admin"})).await.json();
    let code = link["url"].as_str().unwrap().split_once("#code=").unwrap().1;
    let opened_link = world.bare("POST", "/v1/portal-links/exchange").json(&json!({"code": code})).send().await;
    assert_eq!(opened_link.status, 200, "{}", opened_link.text());
    let (lasting, ending) = (key(world, None).await, key(world, Some(time(60))).await);
    let replaced_secret = rotate(world, &lasting).await;
    let ending_secret = rotate(world, &ending).await;
    let session_end = session["expires_at"].as_str().map(str::to_owned);
    let link_end = opened_link.json()["expires_at"].as_str().map(str::to_owned);
    assert!(session_end.is_some() && link_end.is_some());
    // The previous secret ends before its key.
    let before_end = Timestamp::from_millis(world.clock.now().plus_seconds(60).millis() - 1).to_string();
    let way = |name, secret, end| Way { name, secret, end };
    let ways = vec![
        way("key", secret(&key(world, None).await), None),
        way("key with an end", secret(&key(world, Some(time(90))).await), Some(time(90))),
        way("previous secret", replaced_secret, Some(time(OVERLAP))),
        way("previous secret of a key that ends earlier", ending_secret, Some(before_end)),
        way("portal link", secret(&opened_link.json()), link_end),
        way("session", secret(&session), session_end.clone()),
        way("key of a session", secret(&of_session), session_end),
    ];
    (ways, stage.person)
}

async fn grant(world: &TestApi, grant: Grant, way: &Way, person: &str, number: usize) -> TestResponse {
    let new = |end: Value| json!({"name": "New", "scopes": ["employees:read"], "employee_id": person, "expires_at": end});
    let later_end = json!(world.clock.now().plus_seconds(30 * 86_400));
    let send = async |method: &str, path: &str, body: &Value| {
        world.bare(method, path).key(&way.secret).json(body).send().await
    };
    match grant {
        Grant::EndlessKey => send("POST", "/v1/api-keys", &new(Value::Null)).await,
        Grant::LastingKey => send("POST", "/v1/api-keys", &new(later_end)).await,
        Grant::PortalLink => send("POST", "/v1/portal-links", &json!({"scopes": ["employees:read"]})).await,
        Grant::LaterEnd => {
            let other = world.made("/v1/api-keys", new(json!(world.clock.now().plus_seconds(30)))).await;
            send("PATCH", &format!("/v1/api-keys/{other}"), &json!({"expires_at": later_end})).await
        }
        Grant::OtherSecret => {
            let other = world.made("/v1/api-keys", new(Value::Null)).await;
            send("POST", &format!("/v1/api-keys/{other}/rotate"), &json!({})).await
        }
        Grant::Provider => {
            let mut body = provider_body();
            body["client_id"] = json!(format!("client-{number}"));
            body["email_domains"] = json!([format!("d{number}.example")]);
            body["audiences"] = json!([format!("api://{number}")]);
            send("POST", "/v1/identity-providers", &body).await
        }
        Grant::Link => {
            let list = world.get("/v1/identity-providers").await.json();
            let path = format!("/v1/identity-providers/{}/links", list["data"][0]["id"].as_str().unwrap());
            send("POST", &path, &json!({"employee_id": person, "subject": format!("sub-{number}")})).await
        }
        Grant::OwnSecret => {
            let me = world.bare("GET", "/v1/me").key(&way.secret).send().await.json();
            send("POST", &format!("/v1/api-keys/{}/rotate", me["key_id"].as_str().unwrap()), &json!({})).await
        }
    }
}

#[tokio::test]
async fn credential_gives_no_access_beyond_its_own_end() {
    for shared in every_store().await {
        let world = &shared.world;
        let (ways, person) = ways(world).await;
        for (number, way) in ways.iter().enumerate() {
            let me = world.bare("GET", "/v1/me").key(&way.secret).send().await;
            assert_eq!(me.status, 200, "{} {}: {}", shared.name, way.name, me.text());
            assert_eq!(me.json()["expires_at"], json!(way.end), "{} {}", shared.name, way.name);
            for kind in GRANTS {
                let what = format!("{} {} {kind:?}", shared.name, way.name);
                let response = grant(world, kind, way, &person, number).await;
                let is_granted = matches!(response.status, 200 | 201);
                let Some(end) = &way.end else {
                    assert!(is_granted, "{what}: {}", response.text());
                    continue;
                };
                let granted_end = response.json()["expires_at"].as_str().map(str::to_owned);
                assert!(
                    !is_granted || granted_end.is_some_and(|granted| granted <= *end),
                    "{what}: {}",
                    response.text()
                );
            }
        }
    }
}

#[tokio::test]
async fn previous_secret_neither_rotates_nor_prolongs_its_key() {
    for shared in every_store().await {
        let world = &shared.world;
        let root = key(world, None).await;
        let (id, previous) = (root["id"].as_str().unwrap().to_owned(), rotate(world, &root).await);
        let path = format!("/v1/api-keys/{id}");
        let send = async |method: &str, path: &str, body: Value| {
            world.bare(method, path).key(&previous).json(&body).send().await
        };
        let rotation = send("POST", &format!("{path}/rotate"), json!({"overlap_seconds": 0})).await;
        assert_eq!(rotation.refusal(), (403, "permission_denied".to_owned()), "{}", shared.name);
        let rename = send("PATCH", &path, json!({"name": "Renamed"})).await;
        assert_eq!(rename.status, 200, "{}: {}", shared.name, rename.text());
        // The secret does not set an earlier end, and one that another key sets gives it no more than the overlap did.
        let early_end = json!({"expires_at": world.clock.now().plus_seconds(OVERLAP - 10)});
        let refusal = send("PATCH", &path, early_end.clone()).await.refusal();
        assert_eq!(refusal, (403, "permission_denied".to_owned()), "{}", shared.name);
        assert_eq!(world.patch(&path, early_end).await.status, 200, "{}", shared.name);
        let rotation = send("POST", &format!("{path}/rotate"), json!({"overlap_seconds": 0})).await;
        assert_eq!(rotation.refusal(), (403, "permission_denied".to_owned()), "{}", shared.name);
        assert_eq!(world.patch(&path, json!({"expires_at": null})).await.status, 200, "{}", shared.name);
        world.clock.advance_seconds(OVERLAP);
        assert_eq!(send("PATCH", &path, json!({"name": "Late"})).await.status, 401, "{}", shared.name);
    }
}

#[tokio::test]
async fn previous_secret_gets_no_stored_response() {
    for shared in every_store().await {
        let world = &shared.world;
        let owner = key(world, None).await;
        let send = |secret: &str, path: &str, body: Value| {
            world.bare("POST", path).key(secret).header("idempotency-key", "once").json(&body).send()
        };
        let previous_secret = owner["key"].as_str().unwrap().to_owned();
        let rotation = format!("/v1/api-keys/{}/rotate", owner["id"].as_str().unwrap());
        let overlap = json!({"overlap_seconds": OVERLAP});
        let rotation_response = send(&previous_secret, &rotation, overlap.clone()).await;
        assert_eq!(rotation_response.status, 200, "{}", rotation_response.text());
        let secret = rotation_response.json()["key"].as_str().unwrap().to_owned();

        // The previous secret, which sent the rotation, would learn the new one; the new one did not send it.
        for repeating_secret in [&secret, &previous_secret] {
            let refusal = send(repeating_secret, &rotation, overlap.clone()).await.refusal();
            assert_eq!(refusal, (409, "idempotency_conflict".to_owned()), "on {}", shared.name);
        }

        let create = async |secret: &str| {
            let body = json!({"name": "Endless", "scopes": ["*"], "access_level": "admin"});
            world
                .bare("POST", "/v1/api-keys")
                .key(secret)
                .header("idempotency-key", "made")
                .json(&body)
                .send()
                .await
        };
        assert_eq!(create(&secret).await.status, 201);
        assert_eq!(create(&secret).await.header("idempotent-replayed"), Some("true"));
        let refusal = create(&previous_secret).await.refusal();
        assert_eq!(refusal, (409, "idempotency_conflict".to_owned()), "on {}", shared.name);
    }
}
