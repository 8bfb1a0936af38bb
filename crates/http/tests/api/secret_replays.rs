//! A response with a secret is sent again only to the key that asked for it (decisions A13, B7).

use candor_port_clock::Clock;
use serde_json::{Value, json};

use crate::stores::every_store;
use crate::support::{TestApi, TestResponse};

async fn create_key(world: &TestApi, name: &str, end: Value) -> (String, String) {
    let body = json!({"name": name, "scopes": ["*"], "access_level": "admin", "expires_at": end});
    let key = world.post("/v1/api-keys", body).await.json();
    let member = |name: &str| key[name].as_str().unwrap().to_owned();
    (member("id"), member("key"))
}

/// Requests whose responses hold a secret, with the member that holds it. `other` is a key that is rotated.
fn ways_to_get_a_secret(other: &str, end: &Value) -> Vec<(String, Value, &'static str)> {
    let new_key = json!({"name": "New", "scopes": ["settings:read"], "expires_at": end});
    let url = "https://hooks.example.com/in";
    vec![
        ("/v1/api-keys".to_owned(), new_key, "key"),
        (format!("/v1/api-keys/{other}/rotate"), json!({}), "key"),
        ("/v1/portal-links".to_owned(), json!({"scopes": ["webhooks:read"]}), "url"),
        ("/v1/webhooks".to_owned(), json!({"url": url, "event_types": ["observation.created"]}), "secret"),
    ]
}

async fn send_once(world: &TestApi, key: &str, (path, body): (&str, &Value)) -> TestResponse {
    let request = world.bare("POST", path).key(key).header("idempotency-key", path);
    request.json(body).send().await
}

fn assert_conflict(response: &TestResponse, what: &str) {
    assert_eq!(response.refusal(), (409, "idempotency_conflict".to_owned()), "{what}: {}", response.text());
}

#[tokio::test]
async fn secret_is_replayed_to_the_key_that_asked_alone() {
    for shared in every_store().await {
        let world = &shared.world;
        let end = json!(world.clock.now().plus_seconds(3_600));
        let (asker_id, asker) = create_key(world, "Asker", end.clone()).await;
        let (_, equal) = create_key(world, "Equal", Value::Null).await;
        let (other, _) = create_key(world, "Other", json!(world.clock.now().plus_seconds(60))).await;
        let ways = ways_to_get_a_secret(&other, &end);
        for (path, body, member) in &ways {
            let first = send_once(world, &asker, (path, body)).await;
            assert!([200, 201].contains(&first.status), "{} {path}: {}", shared.name, first.text());
            assert!(first.json()[member].is_string(), "{} {path}: {}", shared.name, first.text());
            let replay = send_once(world, &asker, (path, body)).await;
            assert_eq!((replay.status, replay.text()), (first.status, first.text()), "{} {path}", shared.name);
            assert_conflict(&send_once(world, &equal, (path, body)).await, "a key with more access");
        }
        // After the rotation, the end of the key is moved beyond that of the previous secret.
        let rotation = format!("/v1/api-keys/{asker_id}/rotate");
        let new_secret = send_once(world, &asker, (&rotation, &json!({}))).await.json()["key"].clone();
        let own_path = format!("/v1/api-keys/{asker_id}");
        assert_eq!(world.patch(&own_path, json!({"expires_at": null})).await.status, 200, "{}", shared.name);
        for (path, body, _) in &ways {
            assert_conflict(&send_once(world, &asker, (path, body)).await, "the previous secret");
            let current = send_once(world, new_secret.as_str().unwrap(), (path, body)).await;
            assert_eq!(current.header("idempotent-replayed"), Some("true"), "{} {path}", shared.name);
        }
        assert_conflict(&send_once(world, &asker, (&rotation, &json!({}))).await, "the rotation");
    }
}
