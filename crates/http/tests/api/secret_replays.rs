//! A response with a secret is sent again only to the secret that asked for it (decisions A13, B7).

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

/// Creates a person who has not accepted an invitation yet.
async fn invite(world: &TestApi) -> String {
    let person =
        json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Moreau", "send_invite": true});
    world.made("/v1/employees", person).await
}

/// Requests whose responses hold a secret, with the member that holds it. `other` is a key that is rotated.
fn ways_to_get_a_secret(other: &str, invited: &str, end: &Value) -> Vec<(String, Value, &'static str)> {
    let new_key = json!({"name": "New", "scopes": ["settings:read"], "expires_at": end});
    let url = "https://hooks.example.com/in";
    vec![
        ("/v1/api-keys".to_owned(), new_key, "key"),
        (format!("/v1/api-keys/{other}/rotate"), json!({}), "key"),
        ("/v1/portal-links".to_owned(), json!({"scopes": ["webhooks:read"]}), "url"),
        ("/v1/webhooks".to_owned(), json!({"url": url, "event_types": ["observation.created"]}), "secret"),
        (format!("/v1/employees/{invited}/invite"), json!({}), "accept_url"),
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
async fn secret_is_replayed_to_the_secret_that_asked_alone() {
    for shared in every_store().await {
        let world = &shared.world;
        let end = json!(world.clock.now().plus_seconds(3_600));
        let (asker_id, asker) = create_key(world, "Asker", end.clone()).await;
        let (_, equal) = create_key(world, "Equal", Value::Null).await;
        let (other, _) = create_key(world, "Other", json!(world.clock.now().plus_seconds(60))).await;
        let ways = ways_to_get_a_secret(&other, &invite(world).await, &end);
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
            let current = new_secret.as_str().unwrap();
            assert_conflict(&send_once(world, current, (path, body)).await, "the next secret of the key");
        }
        assert_conflict(&send_once(world, &asker, (&rotation, &json!({}))).await, "the rotation");
    }
}

#[tokio::test]
async fn previous_secret_gets_no_replay_of_an_earlier_secret() {
    for shared in every_store().await {
        let world = &shared.world;
        let (id, first) = create_key(world, "Asker", Value::Null).await;
        let (other, _) = create_key(world, "Other", json!(world.clock.now().plus_seconds(60))).await;
        let rotation = format!("/v1/api-keys/{id}/rotate");
        let rotate = async || {
            let rotated_key = world.post(&rotation, json!({})).await.json();
            rotated_key["key"].as_str().unwrap().to_owned()
        };
        let second = rotate().await;
        let ways =
            ways_to_get_a_secret(&other, &invite(world).await, &json!(world.clock.now().plus_seconds(3_000)));
        for (path, body, _) in &ways {
            let first_response = send_once(world, &first, (path, body)).await;
            assert!(
                [200, 201].contains(&first_response.status),
                "{} {path}: {}",
                shared.name,
                first_response.text()
            );
            let replay = send_once(world, &first, (path, body)).await;
            assert_eq!(replay.text(), first_response.text(), "{} {path}: the same previous secret", shared.name);
        }
        let third = rotate().await;
        for (path, body, _) in &ways {
            assert_conflict(&send_once(world, &second, (path, body)).await, "the next previous secret");
            assert_conflict(&send_once(world, &third, (path, body)).await, "the current secret");
        }
    }
}

/// Of equal requests at once, one rotates the key. The others began with the secret that is the previous one then.
#[tokio::test]
async fn rotation_is_replayed_to_no_request_that_began_before() {
    for shared in every_store().await {
        let world = &shared.world;
        for _ in 0..8 {
            let (id, key) = create_key(world, "Rotated", Value::Null).await;
            let (path, body) = (format!("/v1/api-keys/{id}/rotate"), json!({}));
            let same = || send_once(world, &key, (&path, &body));
            let responses: [TestResponse; 4] = tokio::join!(same(), same(), same(), same()).into();
            let statuses = responses.each_ref().map(|response| response.status);
            assert_eq!(
                statuses.iter().filter(|status| **status == 200).count(),
                1,
                "{}: {statuses:?}",
                shared.name
            );
            assert!(
                statuses.iter().all(|status| [200, 403, 409].contains(status)),
                "{}: {statuses:?}",
                shared.name
            );
        }
    }
}
