//! Test deliveries, and redelivery of single deliveries (§4.4, §8, decisions F7, F9).

use candor_service::runtime::sweep;
use candor_subscriptions::Streak;
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::subscriptions::stored;
use super::{conflict, path, subscribe, text};
use crate::support::{TestApi, TestResponse};

async fn log(world: &TestApi, webhook: &Value) -> Vec<Value> {
    world.get(&format!("{}/deliveries", path(webhook))).await.json()["data"].as_array().unwrap().clone()
}

async fn test(world: &TestApi, webhook: &Value) -> TestResponse {
    world.ask("POST", &format!("{}/test", path(webhook))).send().await
}

async fn redeliver(world: &TestApi, webhook: &Value, delivery: &str) -> TestResponse {
    world.ask("POST", &format!("{}/deliveries/{delivery}/redeliver", path(webhook))).send().await
}

#[tokio::test]
async fn test_delivery_makes_one_attempt_under_the_announced_id() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["employee.created"]).await;
    for (status, shown) in [(500, "failed"), (200, "success")] {
        world.clock.advance_seconds(1);
        let test_response = test(&world, &webhook).await;
        assert_eq!(test_response.status, 200, "{}", test_response.text());
        let test_json = test_response.json();
        assert_eq!(test_json.as_object().unwrap().len(), 2, "{test_json}");
        assert!(text(&test_json, "event_id").starts_with("evt_test_"), "{test_json}");
        assert_eq!(world.attempt_all(status).await.len(), 1);
        let entry = log(&world, &webhook).await.remove(0);
        assert_eq!((&entry["id"], &entry["event_id"]), (&test_json["delivery_id"], &test_json["event_id"]));
        assert_eq!((&entry["event_type"], &entry["attempt"]), (&json!("test.ping"), &json!(1)));
        assert_eq!((&entry["status"], &entry["next_attempt_at"]), (&json!(shown), &Value::Null));
        assert_eq!(world.get(&path(&webhook)).await.json()["last_delivery_status"], shown);
        assert_eq!(stored(&world, &webhook).await.streak, Streak::default(), "test deliveries are no failures");
        world.clock.advance_seconds(200_000);
        assert_eq!(world.attempt_all(200).await, [], "test deliveries are not retried");
    }
    assert_eq!(world.get("/v1/events").await.json()["data"], json!([]), "the feed has no test events");
}

#[tokio::test]
async fn test_delivery_works_while_the_subscription_is_inactive() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["*"]).await;
    world.patch(&path(&webhook), json!({"active": false})).await;
    assert_eq!(test(&world, &webhook).await.status, 200);
    assert_eq!(world.attempt_all(204).await.len(), 1);
    assert_eq!(log(&world, &webhook).await[0]["status"], "success");
}

#[tokio::test]
async fn test_deliveries_have_their_own_quota() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["*"]).await;
    let key = world.ordinary_key().await;
    let test = || world.bare("POST", &format!("{}/test", path(&webhook))).key(&key).send();
    for left in (0..10).rev() {
        let response = test().await;
        assert_eq!((response.status, response.header("x-ratelimit-limit")), (200, Some("10")));
        assert_eq!(response.header("x-ratelimit-remaining"), Some(left.to_string().as_str()));
    }
    let limit_response = test().await;
    assert_eq!(limit_response.refusal(), (429, "rate_limited".to_owned()));
    let details = json!([{"quota": "webhook_test", "limit": 10, "window_seconds": 60}]);
    assert_eq!(
        (&limit_response.json()["error"]["details"], limit_response.header("retry-after")),
        (&details, Some("60"))
    );
    let write = world.bare("PATCH", &path(&webhook)).key(&key).json(&json!({})).send().await;
    assert_eq!(
        (write.status, write.header("x-ratelimit-remaining")),
        (200, Some("99")),
        "writes have another quota"
    );
    world.clock.advance_seconds(60);
    assert_eq!(test().await.status, 200);
}

#[tokio::test]
async fn retried_test_delivery_is_sent_once() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["*"]).await;
    let test = || world.ask("POST", &format!("{}/test", path(&webhook))).header("idempotency-key", "k").send();
    let (one, other) = (test().await, test().await);
    assert_eq!((one.status, other.status, &one.body), (200, 200, &other.body));
    assert_eq!(other.header("idempotent-replayed"), Some("true"));
    assert_eq!(world.attempt_all(200).await.len(), 1);
}

/// Creates a subscription with one attempted event, answered with this status.
async fn create_attempted(world: &TestApi, status: u16) -> (Value, String) {
    let webhook = subscribe(world, &["employee.created"]).await;
    world.employee("ada@example.com").await;
    let delivery = world.attempt_all(status).await[0].id.to_string();
    (webhook, delivery)
}

#[tokio::test]
async fn redelivery_uses_the_announced_id_and_the_original_event() {
    let world = TestApi::new().await;
    let (webhook, delivery) = create_attempted(&world, 200).await;
    world.clock.advance_seconds(60);
    let response = redeliver(&world, &webhook, &delivery).await;
    assert_eq!((response.status, response.header("location")), (202, None), "{}", response.text());
    let redelivery = response.json();
    assert_eq!(world.attempt_all(500).await.len(), 1);
    let entries = log(&world, &webhook).await;
    assert_eq!((&entries[0]["id"], &entries[0]["attempt"]), (&redelivery["delivery_id"], &json!(1)));
    assert_eq!(entries[0]["event_id"], redelivery["event_id"]);
    assert_eq!(entries[0]["event_id"], entries[1]["event_id"]);
    world.clock.advance_seconds(30);
    let attempts = world.attempt_all(200).await;
    assert_eq!((attempts.len(), attempts[0].attempt), (1, 2), "a redelivery is retried like other deliveries");
    assert_ne!(json!(attempts[0].id), redelivery["delivery_id"]);
    let second_response = redeliver(&world, &webhook, &text(&redelivery, "delivery_id")).await;
    assert_eq!(second_response.status, 202, "any attempt of the event can be redelivered");
}

#[tokio::test]
async fn impossible_redelivery_is_409_with_the_reason() {
    let world = TestApi::new().await;
    let (webhook, failed) = create_attempted(&world, 500).await;
    let expect_conflict = async |delivery: &str| {
        let response = redeliver(&world, &webhook, delivery).await;
        assert_eq!(response.refusal(), (409, "conflict".to_owned()), "{}", response.text());
        response.json()["error"]["details"].clone()
    };
    world.clock.advance_seconds(30);
    let attempt_id = world.attempt_all(200).await[0].id.to_string();
    test(&world, &webhook).await;
    let ping = world.attempt_all(200).await[0].id.to_string();
    assert_eq!(expect_conflict(&ping).await, conflict("event_type", "test.ping", "redeliver"));
    world.patch(&path(&webhook), json!({"active": false})).await;
    assert_eq!(expect_conflict(&failed).await, conflict("active", false, "redeliver"));
    world.patch(&path(&webhook), json!({"active": true})).await;
    world.clock.advance_seconds(30 * 86_400 - 60);
    sweep::run_once(&world.services).await.unwrap();
    assert_eq!(redeliver(&world, &webhook, &failed).await.status, 202, "an event is kept for 30 days");
    world.attempt_all(200).await;
    world.clock.advance_seconds(40);
    sweep::run_once(&world.services).await.unwrap();
    assert_eq!(redeliver(&world, &webhook, &failed).await.status, 404, "an attempt is kept for 30 days as well");
    assert_eq!(
        expect_conflict(&attempt_id).await,
        conflict("event", "removed", "redeliver"),
        "a later attempt is kept longer than its event"
    );
}

#[tokio::test]
async fn redelivery_finds_only_attempts_of_the_subscription() {
    let world = TestApi::new().await;
    let (webhook, delivery) = create_attempted(&world, 200).await;
    let other = subscribe(&world, &["*"]).await;
    for (webhook, delivery) in [
        (&webhook, "del_00000000000000000000000001"),
        (&webhook, "nonsense"),
        (&webhook, &text(&webhook, "id")),
        (&webhook, "%ff"),
        (&other, &delivery),
        (&json!({"id": "whk_00000000000000000000000001"}), &delivery),
        (&json!({"id": "nonsense"}), &delivery),
    ] {
        let response = redeliver(&world, webhook, delivery).await;
        assert_eq!(response.refusal(), (404, "not_found".to_owned()), "{webhook} {delivery}");
    }
}

#[tokio::test]
async fn retried_redelivery_is_made_once_and_replays_the_answer() {
    let world = TestApi::new().await;
    let (webhook, delivery) = create_attempted(&world, 200).await;
    let path = format!("{}/deliveries/{delivery}/redeliver", path(&webhook));
    let repeat = || world.ask("POST", &path).header("idempotency-key", "k").send();
    let one = repeat().await;
    world.attempt_all(200).await;
    let other = repeat().await;
    assert_eq!((one.status, other.status, &one.body), (202, 202, &other.body));
    assert_eq!(other.header("idempotent-replayed"), Some("true"));
    assert_eq!(world.attempt_all(200).await, []);
}

#[tokio::test]
async fn concurrent_redeliveries_announce_the_same_attempt() {
    let world = TestApi::new().await;
    let (webhook, delivery) = create_attempted(&world, 200).await;
    let responses = join_all((0..10).map(|_| redeliver(&world, &webhook, &delivery))).await;
    for answered in &responses {
        assert_eq!((answered.status, &answered.body), (202, &responses[0].body));
    }
    let attempts = world.attempt_all(200).await;
    assert_eq!(
        attempts.iter().map(|delivery| json!(delivery.id)).collect::<Vec<_>>(),
        [responses[0].json()["delivery_id"].clone()]
    );
}

#[tokio::test]
async fn redelivery_does_not_wait_for_the_next_scheduled_attempt() {
    let world = TestApi::new().await;
    let (webhook, failed) = create_attempted(&world, 500).await;
    for delay in [30, 120, 600, 3_600] {
        world.clock.advance_seconds(delay);
        assert_eq!(world.attempt_all(500).await.len(), 1);
    }
    world.clock.advance_seconds(60);
    assert_eq!(world.attempt_all(200).await, [], "the next attempt is due in six hours");
    let response = redeliver(&world, &webhook, &failed).await;
    assert_eq!(response.status, 202, "{}", response.text());
    let redelivery = response.json();
    let attempts = world.attempt_all(500).await;
    assert_eq!(
        (attempts.len(), attempts[0].attempt, json!(attempts[0].id)),
        (1, 6, redelivery["delivery_id"].clone())
    );
    assert_eq!(text(&redelivery, "event_id"), attempts[0].event_id.to_string());
    world.clock.advance_seconds(86_399);
    assert_eq!(world.attempt_all(500).await, []);
    world.clock.advance_seconds(1);
    let last = world.attempt_all(500).await;
    assert_eq!(
        (last.len(), last[0].attempt),
        (1, 7),
        "a redelivery has the attempts that are left in the schedule"
    );
    assert_eq!(log(&world, &webhook).await[0]["status"], "dropped");
    world.clock.advance_seconds(200_000);
    assert_eq!(world.attempt_all(200).await, []);
}

#[tokio::test]
async fn redelivering_a_due_delivery_makes_one_attempt() {
    let world = TestApi::new().await;
    let (webhook, failed) = create_attempted(&world, 500).await;
    world.clock.advance_seconds(30);
    let one = redeliver(&world, &webhook, &failed).await;
    let other = redeliver(&world, &webhook, &failed).await;
    assert_eq!((one.status, other.status, &one.body), (202, 202, &other.body), "the announced id is kept");
    let attempts = world.attempt_all(200).await;
    assert_eq!((attempts.len(), json!(attempts[0].id)), (1, one.json()["delivery_id"].clone()));
}
