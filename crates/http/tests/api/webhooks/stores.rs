//! Life cycle of a webhook subscription, on every store.

use candor_service::runtime::sweep;
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{path, subscribe, text};
use crate::stores::every_store;
use crate::support::TestApi;

async fn log(world: &TestApi, webhook: &Value) -> Vec<(String, String, i64)> {
    let entries = world.get(&format!("{}/deliveries", path(webhook))).await.json();
    let figures =
        |item: &Value| (text(item, "event_type"), text(item, "status"), item["attempt"].as_i64().unwrap());
    entries["data"].as_array().unwrap().iter().map(figures).collect()
}

#[tokio::test]
async fn subscription_behaves_alike_on_every_store() {
    for shared in every_store().await {
        let (world, store) = (&shared.world, shared.name);
        sweep::prune_log(&world.services).await.unwrap();
        let webhook = subscribe(world, &["employee.created"]).await;
        let change = async |body: Value| world.patch(&path(&webhook), body).await.json();
        let act = async |name: &str, body: Value| world.post(&format!("{}/{name}", path(&webhook)), body).await;
        world.employee("ada@example.com").await;
        let failure = world.attempt_all(500).await[0].id;
        let first = world.get(&path(&webhook)).await;
        assert_eq!(first.json()["last_delivery_status"], "failed", "{store}");
        let redeliver_path = format!("deliveries/{failure}/redeliver");
        let redelivery = act(&redeliver_path, json!({})).await;
        assert_eq!(redelivery.status, 202, "{store}: {}", redelivery.text());
        let attempts: Vec<_> = world.attempt_all(500).await.iter().map(|entry| json!(entry.id)).collect();
        assert_eq!(attempts, [redelivery.json()["delivery_id"].clone()], "{store}");
        world.clock.advance_seconds(5);
        let replay = act("replay", json!({"since": "2026-03-02T09:00:00Z"})).await;
        assert_eq!(replay.json()["enqueued"], 1, "{store}");
        assert_eq!(world.attempt_all(200).await.len(), 1, "{store}");
        let probe = world.ask("GET", &path(&webhook)).header("if-none-match", first.header("etag").unwrap());
        assert_eq!(probe.send().await.status, 200, "{store}: last_delivery_at has changed");
        world.clock.advance_seconds(1);
        let repeat = act(&redeliver_path, json!({})).await;
        assert_eq!(repeat.status, 202, "{store}: {}", repeat.text());
        let later_attempts = world.attempt_all(200).await;
        assert_eq!(json!(later_attempts[0].id), repeat.json()["delivery_id"], "{store}");
        world.clock.advance_seconds(1);
        assert_eq!(act("test", json!({})).await.status, 200, "{store}");
        assert_eq!(world.attempt_all(200).await.len(), 1, "{store}");
        let start = "2026-03-02T09:00:00Z";
        for (body, wanted) in [
            (json!({"since": start}), 0),
            (json!({"since": start, "only": "all", "until": start}), 0),
            (json!({"since": start, "only": "all"}), 1),
            (json!({"since": start, "only": "all"}), 0),
        ] {
            let second_replay = act("replay", body.clone()).await;
            let response = json!({"enqueued": wanted, "continue_since": null});
            assert_eq!((second_replay.status, second_replay.json()), (202, response), "{store}: {body}");
        }
        world.clock.advance_seconds(1);
        assert_eq!(world.attempt_all(200).await.len(), 1, "{store}");
        let entry = |kind: &str, status: &str, attempt| (kind.to_owned(), status.to_owned(), attempt);
        let expected_log = [
            entry("employee.created", "success", 1),
            entry("test.ping", "success", 1),
            entry("employee.created", "success", 1),
            entry("employee.created", "success", 3),
            entry("employee.created", "failed", 2),
            entry("employee.created", "failed", 1),
        ];
        assert_eq!(log(world, &webhook).await, expected_log, "{store}");
        let rotation = change(json!({"rotate_secret": true, "active": false})).await;
        assert_ne!(rotation["secret"], webhook["secret"], "{store}");
        assert_eq!(change(json!({"active": true})).await["active"], true, "{store}");
        let removal = world.ask("DELETE", &path(&webhook)).send().await;
        assert_eq!((removal.status, world.get(&path(&webhook)).await.status), (204, 404), "{store}");
    }
}

#[tokio::test]
async fn one_of_concurrent_hundredth_subscriptions_wins() {
    for shared in every_store().await {
        let (world, store) = (&shared.world, shared.name);
        let mut webhook = Value::Null;
        for _ in 0..99 {
            webhook = subscribe(world, &["employee.created"]).await;
        }
        world.patch(&path(&webhook), json!({"active": false})).await;
        let body = json!({"url": "https://receiver.example/hooks", "event_types": ["*"]});
        let responses = join_all((0..4).map(|_| world.post("/v1/webhooks", body.clone()))).await;
        let (created, refused): (Vec<_>, Vec<_>) = responses.iter().partition(|response| response.status == 201);
        assert_eq!((created.len(), refused.len()), (1, 3), "{store}");
        for it in refused {
            assert_eq!(it.refusal(), (422, "unprocessable".to_owned()), "{store}");
            assert_eq!(it.problems(), [("webhooks".to_owned(), "limit_reached".to_owned())], "{store}");
        }
        assert_eq!(world.patch(&path(&webhook), json!({"active": true})).await.status, 200, "{store}");
        assert_eq!(world.ask("DELETE", &path(&webhook)).send().await.status, 204, "{store}");
        assert_eq!(world.post("/v1/webhooks", body.clone()).await.status, 201, "{store}: a deletion makes room");
        assert_eq!(world.post("/v1/webhooks", body).await.status, 422, "{store}");
    }
}
