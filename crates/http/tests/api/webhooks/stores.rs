//! Life cycle of a webhook subscription, on every store.

use candor_service::runtime::sweep;
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{path, subscribed, text};
use crate::stores::every_store;
use crate::support::TestApi;

async fn log(world: &TestApi, webhook: &Value) -> Vec<(String, String, i64)> {
    let entries = world.get(&format!("{}/deliveries", path(webhook))).await.json();
    let shown = |item: &Value| (text(item, "event_type"), text(item, "status"), item["attempt"].as_i64().unwrap());
    entries["data"].as_array().unwrap().iter().map(shown).collect()
}

#[tokio::test]
async fn subscription_behaves_alike_on_every_store() {
    for shared in every_store().await {
        let (world, store) = (&shared.world, shared.name);
        sweep::prune_log(&world.services).await.unwrap();
        let webhook = subscribed(world, &["employee.created"]).await;
        let change = async |body: Value| world.patch(&path(&webhook), body).await.json();
        let act = async |name: &str, body: Value| world.post(&format!("{}/{name}", path(&webhook)), body).await;
        world.employee("ada@example.com").await;
        let failed = world.attempt_all(500).await[0].id;
        let before = world.get(&path(&webhook)).await;
        assert_eq!(before.json()["last_delivery_status"], "failed", "{store}");
        let again = format!("deliveries/{failed}/redeliver");
        let promised = act(&again, json!({})).await;
        assert_eq!(promised.status, 202, "{store}: {}", promised.text());
        let made = world.attempt_all(500).await;
        assert_eq!((made.len(), json!(made[0].id)), (1, promised.json()["delivery_id"].clone()), "{store}");
        world.clock.advance_seconds(5);
        let replayed = act("replay", json!({"since": "2026-03-02T09:00:00Z"})).await;
        assert_eq!(replayed.json()["enqueued"], 1, "{store}");
        assert_eq!(world.attempt_all(200).await.len(), 1, "{store}");
        let known = world.ask("GET", &path(&webhook)).header("if-none-match", before.header("etag").unwrap());
        assert_eq!(known.send().await.status, 200, "{store}: last_delivery_at has changed");
        world.clock.advance_seconds(1);
        let promised = act(&again, json!({})).await;
        assert_eq!(promised.status, 202, "{store}: {}", promised.text());
        let made = world.attempt_all(200).await;
        assert_eq!(json!(made[0].id), promised.json()["delivery_id"], "{store}");
        world.clock.advance_seconds(1);
        assert_eq!(act("test", json!({})).await.status, 200, "{store}");
        assert_eq!(world.attempt_all(200).await.len(), 1, "{store}");
        let since = "2026-03-02T09:00:00Z";
        for (body, wanted) in [
            (json!({"since": since}), 0),
            (json!({"since": since, "only": "all", "until": since}), 0),
            (json!({"since": since, "only": "all"}), 1),
            (json!({"since": since, "only": "all"}), 0),
        ] {
            let replayed = act("replay", body.clone()).await;
            let answer = json!({"enqueued": wanted, "continue_since": null});
            assert_eq!((replayed.status, replayed.json()), (202, answer), "{store}: {body}");
        }
        world.clock.advance_seconds(1);
        assert_eq!(world.attempt_all(200).await.len(), 1, "{store}");
        let entry = |kind: &str, status: &str, attempt| (kind.to_owned(), status.to_owned(), attempt);
        let wanted = [
            entry("employee.created", "success", 1),
            entry("test.ping", "success", 1),
            entry("employee.created", "success", 1),
            entry("employee.created", "success", 3),
            entry("employee.created", "failed", 2),
            entry("employee.created", "failed", 1),
        ];
        assert_eq!(log(world, &webhook).await, wanted, "{store}");
        let rotated = change(json!({"rotate_secret": true, "active": false})).await;
        assert_ne!(rotated["secret"], webhook["secret"], "{store}");
        assert_eq!(change(json!({"active": true})).await["active"], true, "{store}");
        let deleted = world.ask("DELETE", &path(&webhook)).send().await;
        assert_eq!((deleted.status, world.get(&path(&webhook)).await.status), (204, 404), "{store}");
    }
}

#[tokio::test]
async fn one_of_concurrent_hundredth_subscriptions_wins() {
    for shared in every_store().await {
        let (world, store) = (&shared.world, shared.name);
        let mut webhook = Value::Null;
        for _ in 0..99 {
            webhook = subscribed(world, &["employee.created"]).await;
        }
        world.patch(&path(&webhook), json!({"active": false})).await;
        let body = json!({"url": "https://receiver.example/hooks", "event_types": ["*"]});
        let made = join_all((0..4).map(|_| world.post("/v1/webhooks", body.clone()))).await;
        let (made, refused): (Vec<_>, Vec<_>) = made.iter().partition(|answer| answer.status == 201);
        assert_eq!((made.len(), refused.len()), (1, 3), "{store}");
        for it in refused {
            assert_eq!(it.refusal(), (422, "unprocessable".to_owned()), "{store}");
            assert_eq!(it.problems(), [("webhooks".to_owned(), "limit_reached".to_owned())], "{store}");
        }
        assert_eq!(world.patch(&path(&webhook), json!({"active": true})).await.status, 200, "{store}");
        assert_eq!(world.ask("DELETE", &path(&webhook)).send().await.status, 204, "{store}");
        assert_eq!(world.post("/v1/webhooks", body.clone()).await.status, 201, "{store}: there is room again");
        assert_eq!(world.post("/v1/webhooks", body).await.status, 422, "{store}");
    }
}
