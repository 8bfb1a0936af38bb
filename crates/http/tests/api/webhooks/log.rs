//! The delivery log (§2.5, §6.4, decision F2).

use serde_json::{Value, json};

use super::{path, subscribe, text};
use crate::support::TestApi;

async fn entries(world: &TestApi, webhook: &Value, query: &str) -> Vec<Value> {
    let response = world.get(&format!("{}/deliveries{query}", path(webhook))).await;
    assert_eq!(response.status, 200, "{query}: {}", response.text());
    response.json()["data"].as_array().unwrap().clone()
}

#[tokio::test]
async fn delivery_is_attempted_seven_times_and_then_dropped() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["employee.created"]).await;
    world.employee("ada@example.com").await;
    let mut expected_entries = vec![];
    let mut event = String::new();
    for (attempt, delay) in [(1, 30), (2, 120), (3, 600), (4, 3_600), (5, 21_600), (6, 86_400), (7, 0)] {
        let attempts = world.attempt_all(503).await;
        assert_eq!(attempts.len(), 1, "attempt {attempt}");
        event = attempts[0].event_id.to_string();
        let next = attempts[0].attempted_at.plus_seconds(delay).to_string();
        let (status, next) = if attempt == 7 { ("dropped", Value::Null) } else { ("failed", json!(next)) };
        expected_entries.insert(
            0,
            json!({
                "id": attempts[0].id, "subscription_id": webhook["id"], "event_id": event,
                "event_type": "employee.created", "attempt": attempt, "status": status,
                "request_url": "https://receiver.example/hooks", "response_status": 503, "response_duration_ms": 7,
                "next_attempt_at": next, "delivered_at": null,
                "attempted_at": attempts[0].attempted_at.to_string(), "failure": "status",
                "failure_detail": null, "request_id": null,
            }),
        );
        let webhook_json = world.get(&path(&webhook)).await.json();
        assert_eq!(webhook_json["last_delivery_status"], status);
        assert_eq!(text(&webhook_json, "last_delivery_at"), attempts[0].attempted_at.to_string());
        world.clock.advance_seconds(delay - 1);
        assert_eq!(world.attempt_all(503).await, [], "the next attempt is not due yet");
        world.clock.advance_seconds(1);
    }
    assert_eq!(entries(&world, &webhook, "").await, expected_entries);
    world.clock.advance_seconds(100_000);
    assert_eq!(world.attempt_all(200).await, []);
    assert_eq!(
        entries(&world, &webhook, &format!("?filter[event_id]={event}&limit=3")).await,
        expected_entries[..3]
    );
}

#[tokio::test]
async fn delivery_log_shows_duration_and_status_0_for_no_answer() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["employee.created"]).await;
    world.employee("ada@example.com").await;
    world.attempt_all(0).await;
    world.clock.advance_seconds(30);
    world.attempt_all(204).await;
    let [good, bad] = &entries(&world, &webhook, "").await[..] else { panic!("two attempts") };
    let why = |item: &Value| (item["attempted_at"].clone(), item["failure"].clone());
    assert_eq!(why(bad), (json!("2026-03-02T09:00:00.002Z"), json!("status")));
    assert_eq!(why(good), (json!("2026-03-02T09:00:30.002Z"), Value::Null));
    let figures =
        |item: &Value| (item["status"].clone(), item["response_status"].clone(), item["delivered_at"].clone());
    assert_eq!(figures(bad), (json!("failed"), json!(0), Value::Null));
    assert_eq!(figures(good), (json!("success"), json!(204), json!("2026-03-02T09:00:30.002Z")));
    assert_ne!((&good["id"], &good["next_attempt_at"]), (&bad["id"], &bad["next_attempt_at"]));
    assert_eq!(good["event_id"], bad["event_id"], "both attempts are of the same event");
}

#[tokio::test]
async fn delivery_log_is_filtered_and_paged_in_both_orders() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["employee.created", "employee.deactivated"]).await;
    let ada = world.employee("ada@example.com").await;
    world.attempt_all(500).await;
    world.clock.advance_seconds(1);
    world.post(&format!("/v1/employees/{ada}/deactivate"), json!({})).await;
    world.attempt_all(200).await;
    world.clock.advance_seconds(30);
    world.attempt_all(200).await;
    world.post(&format!("{}/test", path(&webhook)), json!({})).await;
    world.clock.advance_seconds(1);
    let ping = text(&json!({"id": world.attempt_all(400).await[0].public_event_id()}), "id");
    let all = entries(&world, &webhook, "").await;
    let places_with = async |query: &str| {
        let entry_ids = entries(&world, &webhook, query).await;
        entry_ids.iter().map(|id| all.iter().position(|other| other == id).unwrap()).collect::<Vec<_>>()
    };
    let event_id = text(&all[3], "event_id");
    for (query, wanted) in [
        ("", vec![0, 1, 2, 3]),
        ("?sort=-created_at", vec![0, 1, 2, 3]),
        ("?sort=created_at", vec![3, 2, 1, 0]),
        ("?filter[status]=success", vec![1, 2]),
        ("?filter[status]=failed", vec![0, 3]),
        ("?filter[status]=dropped", vec![]),
        ("?filter[event_type]=employee.created", vec![1, 3]),
        ("?filter[event_type]=test.ping", vec![0]),
        ("?filter[event_type]=summary.shared", vec![]),
        (&format!("?filter[event_id]={event_id}"), vec![1, 3]),
        (&format!("?filter[event_id]={event_id}&filter[status]=success"), vec![1]),
        (&format!("?filter[event_id]={ping}"), vec![0]),
        ("?filter[event_id]=nonsense", vec![]),
    ] {
        assert_eq!(places_with(query).await, wanted, "{query}");
    }
    let page = world.get(&format!("{}/deliveries?limit=3", path(&webhook))).await.json();
    assert_eq!((page["data"].as_array().unwrap().len(), &page["has_more"]), (3, &json!(true)));
    let cursor = text(&page, "next_cursor");
    assert_eq!(places_with(&format!("?cursor={cursor}")).await, [3]);
    let other = subscribe(&world, &["*"]).await;
    for elsewhere in
        [format!("{}/deliveries", path(&other)), format!("{}/deliveries?filter[status]=failed", path(&webhook))]
    {
        let and = if elsewhere.contains('?') { '&' } else { '?' };
        let response = world.get(&format!("{elsewhere}{and}cursor={cursor}")).await;
        assert_eq!(response.problems(), [("cursor".to_owned(), "invalid_format".to_owned())], "{elsewhere}");
    }
}

#[tokio::test]
async fn invalid_delivery_log_parameters_are_named() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["*"]).await;
    for (query, field, code) in [
        ("filter[status]=pending", "filter[status]", "invalid_enum"),
        ("filter[event_type]=*", "filter[event_type]", "invalid_enum"),
        ("filter[attempt]=1", "filter[attempt]", "unknown_field"),
        ("filter[status]=failed&filter[status]=failed", "filter[status]", "invalid_format"),
        ("sort=attempt", "sort", "invalid_enum"),
        ("limit=0", "limit", "out_of_range"),
    ] {
        let response = world.get(&format!("{}/deliveries?{query}", path(&webhook))).await;
        assert_eq!(response.refusal(), (400, "validation_error".to_owned()), "{query}");
        assert_eq!(response.problems(), [(field.to_owned(), code.to_owned())], "{query}");
    }
    let absent = "/v1/webhooks/whk_00000000000000000000000001/deliveries?filter[status]=pending";
    assert_eq!(
        world.get(absent).await.status,
        404,
        "an absent subscription is reported before invalid parameters"
    );
}

#[tokio::test]
async fn delivery_attempt_is_read_by_id_and_so_is_its_event() {
    let world = TestApi::new().await;
    let (webhook, other) = (subscribe(&world, &["employee.created"]).await, subscribe(&world, &["*"]).await);
    world.employee("ada@example.com").await;
    world.attempt_all(500).await;
    let [listed] = &entries(&world, &webhook, "").await[..] else { panic!("one attempt") };
    let one = format!("{}/deliveries/{}", path(&webhook), text(listed, "id"));
    assert_eq!((world.get(&one).await.status, &world.get(&one).await.json()), (200, listed));
    let event = world.get(&format!("/v1/events/{}", text(listed, "event_id"))).await;
    assert_eq!((event.status, event.json()), (200, world.get("/v1/events").await.json()["data"][0].clone()));
    let elsewhere = format!("{}/deliveries/{}", path(&other), text(listed, "id"));
    let absent = format!("{}/deliveries/del_00000000000000000000000001", path(&webhook));
    for path in [elsewhere, absent, "/v1/events/evt_00000000000000000000000001".to_owned()] {
        assert_eq!(world.get(&path).await.refusal(), (404, "not_found".to_owned()), "{path}");
    }
    world.clock.advance_seconds(30 * 86_400 + 1);
    let event = format!("/v1/events/{}", text(listed, "event_id"));
    assert_eq!(world.get(&event).await.status, 404, "the feed shows the events of 30 days");
}

#[tokio::test]
async fn test_delivery_is_not_in_the_event_feed() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["*"]).await;
    let test_json = world.post(&format!("{}/test", path(&webhook)), json!({})).await.json();
    world.attempt_all(200).await;
    assert_eq!(world.get(&format!("/v1/events/{}", text(&test_json, "event_id"))).await.status, 404);
    let attempt = world.get(&format!("{}/deliveries/{}", path(&webhook), text(&test_json, "delivery_id"))).await;
    assert_eq!((attempt.status, &attempt.json()["event_type"]), (200, &json!("test.ping")));
}
