//! Replays of the events of a period (decision F9).

use std::fmt::Write;

use serde_json::{Value, json};

use super::{conflict, path, subscribe, text};
use crate::support::{TestApi, TestResponse};

async fn replay(world: &TestApi, webhook: &Value, body: Value) -> TestResponse {
    world.post(&format!("{}/replay", path(webhook)), body).await
}

/// Runs a replay and returns the number of queued events. Asserts that no further events are left to queue.
async fn run_replay(world: &TestApi, webhook: &Value, body: Value) -> u64 {
    let response = replay(world, webhook, body).await;
    assert_eq!(response.status, 202, "{}", response.text());
    let body = response.json();
    assert_eq!((body.as_object().unwrap().len(), &body["continue_since"]), (2, &Value::Null), "{body}");
    body["enqueued"].as_u64().unwrap()
}

const SINCE: &str = "2026-03-02T09:00:00Z";

/// Creates three events a second apart: the first acknowledged, the second dropped, the third never attempted
/// because the subscription was inactive.
async fn history(world: &TestApi) -> Value {
    let webhook = subscribe(world, &["employee.created", "observation.created"]).await;
    world.clock.advance_millis(998);
    world.employee("good@example.com").await;
    assert_eq!(world.attempt_all(200).await.len(), 1);
    world.clock.advance_millis(999);
    world.employee("bad@example.com").await;
    world.attempt_all(500).await;
    world.patch(&path(&webhook), json!({"active": false})).await;
    world.clock.advance_millis(999);
    world.employee("missed@example.com").await;
    world.patch(&path(&webhook), json!({"active": true})).await;
    for delay in [30, 120, 600, 3_600, 21_600, 86_400] {
        world.clock.advance_seconds(delay);
        assert_eq!(world.attempt_all(500).await.len(), 1);
    }
    webhook
}

#[tokio::test]
async fn replay_sends_failed_deliveries_unless_all_is_requested() {
    for (body, wanted) in [
        (json!({"since": SINCE}), 1),
        (json!({"since": SINCE, "only": "failed"}), 1),
        (json!({"since": SINCE, "only": "all"}), 3),
        (json!({"since": "2026-03-02T09:00:01.000Z", "only": "all"}), 3),
        (json!({"since": "2026-03-02T09:00:01.001Z", "only": "all"}), 2),
        (json!({"since": SINCE, "until": "2026-03-02T09:00:03.000Z", "only": "all"}), 2),
        (json!({"since": SINCE, "until": "2026-03-02T09:00:03.001Z", "only": "all"}), 3),
        (json!({"since": SINCE, "until": SINCE, "only": "all"}), 0),
        (json!({"since": SINCE, "only": "all", "event_types": ["employee.created"]}), 3),
        (json!({"since": SINCE, "only": "all", "event_types": ["*"]}), 3),
        (json!({"since": SINCE, "only": "all", "event_types": ["observation.created"]}), 0),
        (json!({"since": SINCE, "only": "all", "event_types": ["employee.updated"]}), 0),
        (json!({"since": SINCE, "event_types": ["test.ping"]}), 0),
    ] {
        let world = TestApi::new().await;
        let webhook = history(&world).await;
        assert_eq!(run_replay(&world, &webhook, body.clone()).await, wanted, "{body}");
        let attempts = world.attempt_all(204).await;
        assert_eq!(attempts.len() as u64, wanted, "{body}");
        assert!(attempts.iter().all(|attempt| attempt.attempt == 1), "a replay starts with the first attempt");
    }
}

#[tokio::test]
async fn replay_skips_queued_deliveries_and_counts_failures_only() {
    let world = TestApi::new().await;
    let webhook = history(&world).await;
    let body = json!({"since": SINCE, "only": "all"});
    assert_eq!(run_replay(&world, &webhook, body.clone()).await, 3);
    assert_eq!(run_replay(&world, &webhook, body.clone()).await, 0, "all of them are queued");
    assert_eq!(world.attempt_all(204).await.len(), 3);
    assert_eq!(
        run_replay(&world, &webhook, json!({"since": SINCE})).await,
        0,
        "all of them are acknowledged by now"
    );
    assert_eq!(run_replay(&world, &webhook, body).await, 3);
    let log = world.get(&format!("/v1/audit-log?filter[target_id]={}", text(&webhook, "id"))).await.json();
    assert_eq!(log["data"][0]["action"], "webhook.replay");
}

#[tokio::test]
async fn replay_expedites_and_counts_waiting_failures() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["employee.created"]).await;
    for number in 0..3 {
        world.employee(&format!("p{number}@example.com")).await;
    }
    assert_eq!(world.attempt_all(500).await.len(), 3);
    world.clock.advance_seconds(1);
    world.employee("new@example.com").await;
    let replay_body = json!({"since": SINCE, "only": "failed"});
    assert_eq!(run_replay(&world, &webhook, replay_body.clone()).await, 3);
    assert_eq!(run_replay(&world, &webhook, replay_body).await, 0, "all of them are due");
    let attempts = |made: Vec<candor_subscriptions::Delivery>| {
        let mut attempts: Vec<_> = made.iter().map(|delivery| delivery.attempt).collect();
        attempts.sort_unstable();
        attempts
    };
    assert_eq!(attempts(world.attempt_all(500).await), [1, 2, 2, 2], "each delivery has its next attempt");
    world.clock.advance_seconds(1);
    assert_eq!(run_replay(&world, &webhook, json!({"since": SINCE, "only": "all"})).await, 4);
    assert_eq!(attempts(world.attempt_all(200).await), [2, 3, 3, 3]);
    world.clock.advance_seconds(200_000);
    assert_eq!(world.attempt_all(200).await, []);
}

#[tokio::test]
async fn retried_replay_is_made_once_and_replays_the_answer() {
    let world = TestApi::new().await;
    let webhook = history(&world).await;
    let path = format!("{}/replay", path(&webhook));
    let body = json!({"since": SINCE, "only": "all"});
    let repeat = || world.ask("POST", &path).header("idempotency-key", "k").json(&body).send();
    let one = repeat().await;
    assert_eq!(world.attempt_all(204).await.len(), 3);
    let other = repeat().await;
    assert_eq!((one.status, other.status, &one.body), (202, 202, &other.body));
    assert_eq!(other.header("idempotent-replayed"), Some("true"));
    assert_eq!(world.attempt_all(204).await, []);
    let different =
        world.ask("POST", &path).header("idempotency-key", "k").json(&json!({"since": SINCE})).send().await;
    assert_eq!(different.refusal(), (409, "idempotency_conflict".to_owned()));
}

#[tokio::test]
async fn replay_of_an_inactive_subscription_is_409() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["*"]).await;
    world.patch(&path(&webhook), json!({"active": false})).await;
    let response = replay(&world, &webhook, json!({"since": SINCE})).await;
    assert_eq!(response.refusal(), (409, "conflict".to_owned()));
    assert_eq!(response.json()["error"]["details"], conflict("active", false, "replay"));
    let invalid = replay(&world, &webhook, json!({"since": "x"})).await;
    assert_eq!(invalid.status, 400, "fields are checked before the state");
}

#[tokio::test]
async fn invalid_replay_fields_are_named() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["*"]).await;
    for (body, field, code) in [
        (json!({}), "since", "required"),
        (json!({"since": null}), "since", "required"),
        (json!({"since": 1}), "since", "invalid_format"),
        (json!({"since": "2026-03-02"}), "since", "invalid_format"),
        (json!({"since": "2026-01-31T09:00:00.000Z"}), "since", "out_of_range"),
        (json!({"since": "2026-03-03T09:00:00Z"}), "since", "out_of_range"),
        (json!({"since": SINCE, "until": "2026-03-02T08:59:59.999Z"}), "until", "out_of_range"),
        (json!({"since": SINCE, "until": "later"}), "until", "invalid_format"),
        (json!({"since": SINCE, "event_types": []}), "event_types", "too_short"),
        (json!({"since": SINCE, "event_types": ["x"]}), "event_types", "invalid_enum"),
        (json!({"since": SINCE, "event_types": "*"}), "event_types", "invalid_format"),
        (json!({"since": SINCE, "only": "dropped"}), "only", "invalid_enum"),
        (json!({"since": SINCE, "only": true}), "only", "invalid_format"),
        (json!({"since": SINCE, "limit": 5}), "limit", "unknown_field"),
    ] {
        let response = replay(&world, &webhook, body.clone()).await;
        assert_eq!(response.refusal(), (400, "validation_error".to_owned()), "{body}");
        assert_eq!(response.problems(), [(field.to_owned(), code.to_owned())], "{body}");
    }
    assert_eq!(
        run_replay(&world, &webhook, json!({"since": "2026-01-31T09:00:00.001Z"})).await,
        0,
        "a replay goes back 30 days"
    );
    let missing = world.ask("POST", &format!("{}/replay", path(&webhook))).send().await;
    assert_eq!(missing.refusal(), (400, "bad_request".to_owned()));
}

#[tokio::test]
async fn replay_over_several_commits_queues_each_event_once() {
    const PEOPLE: usize = 1_250;
    let world = TestApi::new().await;
    let mut file = "email,first_name,last_name\n".to_owned();
    for number in 0..PEOPLE {
        let _ = writeln!(file, "p{number}@example.com,P,{number}");
    }
    let upload = world.ask("POST", "/v1/employees/csv").header("content-type", "text/csv").body(file).send().await;
    assert_eq!(upload.status, 200, "{}", upload.text());
    let webhook = subscribe(&world, &["employee.created"]).await;
    assert_eq!(run_replay(&world, &webhook, json!({"since": SINCE})).await, 0, "no delivery was attempted");
    assert_eq!(run_replay(&world, &webhook, json!({"since": SINCE, "only": "all"})).await, PEOPLE as u64);
    let mut events = std::collections::BTreeSet::new();
    for _ in 0..2 {
        events.extend(world.attempt_all(200).await.iter().map(|delivery| delivery.event_id.to_bytes()));
    }
    assert_eq!(events.len(), PEOPLE);
    assert_eq!(world.attempt_all(200).await, []);
}
