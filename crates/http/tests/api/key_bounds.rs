//! The number of valid keys is limited, also for concurrent requests (decision B7).

use candor_domain::access::api_key::{MAX_OF_ORGANIZATION, MAX_OF_PERSON};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::stores::every_store;
use crate::support::{START, TestApi, TestResponse};

fn assert_full(answered: &TestResponse) {
    assert_eq!(answered.refusal(), (422, "unprocessable".to_owned()));
    assert_eq!(answered.problems(), [("api_keys".to_owned(), "limit_reached".to_owned())]);
}

/// Creates keys until one is refused. Returns the paths of the keys.
async fn fill(world: &TestApi, body: &Value) -> Vec<String> {
    let mut paths = vec![];
    loop {
        let response = world.post("/v1/api-keys", body.clone()).await;
        if response.status != 201 {
            assert_full(&response);
            return paths;
        }
        paths.push(format!("/v1/api-keys/{}", response.json()["id"].as_str().unwrap()));
    }
}

async fn revoke(world: &TestApi, path: &str) {
    assert_eq!(world.post(&format!("{path}/revoke"), json!({})).await.status, 200);
}

#[tokio::test]
async fn key_beyond_those_of_the_organization_is_refused() {
    for shared in every_store().await {
        let world = &shared.world;
        let body = json!({"name": "Own", "scopes": ["observations:read"]});
        let key_paths = fill(world, &body).await;
        // The admin key of the test counts too.
        assert_eq!(key_paths.len(), MAX_OF_ORGANIZATION as usize - 1, "{}", shared.name);
        assert_full(&world.post("/v1/portal-links", json!({"scopes": ["observations:read"]})).await);
        let person = world.employee("ada@example.com").await;
        let bound_body = json!({"name": "Hers", "scopes": ["observations:read"], "employee_id": person});
        assert_eq!(
            fill(world, &bound_body).await.len(),
            MAX_OF_PERSON as usize,
            "a person's keys have a limit of their own"
        );
        revoke(world, &key_paths[0]).await;
        let responses = join_all((0..4).map(|_| world.post("/v1/api-keys", body.clone()))).await;
        let (created, refused): (Vec<_>, Vec<_>) = responses.iter().partition(|response| response.status == 201);
        assert_eq!((created.len(), refused.len()), (1, 3), "{}: the limit allows one of four keys", shared.name);
        refused.into_iter().for_each(assert_full);
    }
}

#[tokio::test]
async fn ended_key_counts_again_from_a_later_end() {
    for shared in every_store().await {
        let world = &shared.world;
        let person = world.employee("ada@example.com").await;
        let mut body = json!({"name": "Hers", "scopes": ["observations:read"], "employee_id": person});
        let lasting = fill(world, &body).await;
        revoke(world, &lasting[0]).await;
        body["expires_at"] = json!(START.plus_seconds(3600));
        let [ending] = fill(world, &body).await.try_into().unwrap();
        let later_end = json!({"expires_at": START.plus_seconds(7200)});
        assert_eq!(world.patch(&ending, later_end.clone()).await.status, 200, "a valid key is counted already");
        world.clock.advance_seconds(7200);
        body["expires_at"] = Value::Null;
        assert_eq!(fill(world, &body).await.len(), 1, "an ended key does not count");
        let latest_end = json!({"expires_at": START.plus_seconds(9000)});
        assert_full(&world.patch(&ending, latest_end.clone()).await);
        assert_eq!(world.patch(&ending, json!({"name": "Over"})).await.status, 200, "an ended key can be renamed");
        revoke(world, &lasting[1]).await;
        assert_eq!(world.patch(&ending, latest_end).await.status, 200);
        assert_full(&world.post("/v1/api-keys", body).await);
    }
}
