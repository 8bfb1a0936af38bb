//! Creating, reading, changing and deleting subscriptions.

use candor_domain::access::{AccessLevel, Environment, Permissions};
use candor_port_storage::StorageExt;
use candor_subscriptions::{Streak, Subscription};
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{path, subscribe, text};
use crate::support::{PUBLIC_URL, TestApi};

/// Reads a subscription from the store.
pub(super) async fn stored(world: &TestApi, webhook: &Value) -> Subscription {
    let tenant = candor_domain::access::Tenant::live(world.organization);
    let id = text(webhook, "id").parse().unwrap();
    world.services.store.row::<Subscription>(tenant, id).await.unwrap().unwrap().value
}

#[tokio::test]
async fn new_subscription_is_active_and_shows_its_secret_once() {
    let world = TestApi::new().await;
    let body = json!({"url": "https://receiver.example/hooks?x=1", "event_types": ["objective.created", "*"],
                      "description": "Payroll"});
    let creation = world.post("/v1/webhooks", body).await;
    let webhook = creation.json();
    let id = text(&webhook, "id");
    let location = format!("{PUBLIC_URL}/v1/webhooks/{id}");
    assert_eq!((creation.status, creation.header("location")), (201, Some(location.as_str())));
    let secret = text(&webhook, "secret");
    let expected_webhook = json!({
        "id": id, "url": "https://receiver.example/hooks?x=1", "event_types": ["objective.created", "*"],
        "effective_event_types": ["objective.created", "*"], "active": true, "description": "Payroll", "payload": "full", "headers": {}, "filter": null,
        "max_per_second": null, "last_delivery_at": null, "last_delivery_status": null,
        "created_at": "2026-03-02T09:00:00.000Z", "updated_at": "2026-03-02T09:00:00.000Z", "secret": secret,
    });
    assert_eq!(webhook, expected_webhook);
    assert!(id.starts_with("whk_"));
    let mut webhook_without_secret = expected_webhook;
    webhook_without_secret.as_object_mut().unwrap().remove("secret");
    let read = world.get(&path(&webhook)).await;
    assert_eq!(
        (read.status, read.json(), read.header("etag")),
        (200, webhook_without_secret.clone(), creation.header("etag"))
    );
    let list = json!({"data": [webhook_without_secret], "next_cursor": null, "has_more": false});
    assert_eq!(world.get("/v1/webhooks").await.json(), list);
    let patch_response = world.patch(&path(&webhook), json!({"description": "HR"})).await;
    assert_eq!((patch_response.status, patch_response.json().get("secret")), (200, None));
}

#[tokio::test]
async fn invalid_subscription_fields_are_named_before_any_lookup() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["*"]).await;
    world.receivers.judged_urls();
    let long = "é".repeat(201);
    let topics = |value: Value| json!({"url": "https://receiver.example/", "event_types": value});
    let with = |name: &str, value: Value| {
        let mut body = topics(json!(["*"]));
        body[name] = value;
        body
    };
    let table = [
        ("POST", json!({}), vec![("url", "required"), ("event_types", "required")]),
        ("POST", with("url", Value::Null), vec![("url", "required")]),
        ("POST", topics(Value::Null), vec![("event_types", "required")]),
        ("POST", topics(json!([])), vec![("event_types", "too_short")]),
        ("POST", topics(json!(["employee.hired"])), vec![("event_types", "invalid_enum")]),
        ("POST", topics(json!("*")), vec![("event_types", "invalid_format")]),
        ("POST", topics(json!([1])), vec![("event_types", "invalid_format")]),
        ("POST", topics(json!(vec!["*"; 101])), vec![("event_types", "too_long")]),
        ("POST", with("description", json!(long)), vec![("description", "too_long")]),
        ("POST", with("description", json!(5)), vec![("description", "invalid_format")]),
        ("POST", with("description", json!("\u{0}")), vec![("description", "invalid_format")]),
        ("POST", with("secret", json!("whsec_x")), vec![("secret", "read_only")]),
        ("POST", with("last_delivery_at", Value::Null), vec![("last_delivery_at", "read_only")]),
        ("POST", with("active", json!(false)), vec![("active", "unknown_field")]),
        ("POST", with("rotate_secret", json!(true)), vec![("rotate_secret", "unknown_field")]),
        ("PATCH", json!({"url": null}), vec![("url", "required")]),
        ("PATCH", json!({"event_types": []}), vec![("event_types", "too_short")]),
        ("PATCH", json!({"event_types": ["x"]}), vec![("event_types", "invalid_enum")]),
        ("PATCH", json!({"active": "false"}), vec![("active", "invalid_format")]),
        ("PATCH", json!({"active": null}), vec![("active", "required")]),
        ("PATCH", json!({"rotate_secret": "yes"}), vec![("rotate_secret", "invalid_format")]),
        ("PATCH", json!({"description": long}), vec![("description", "too_long")]),
        ("PATCH", json!({"secret": "whsec_x"}), vec![("secret", "read_only")]),
        (
            "PATCH",
            json!({"id": "whk_1", "created_at": null}),
            vec![("id", "read_only"), ("created_at", "read_only")],
        ),
        ("PATCH", json!({"last_delivery_status": "success"}), vec![("last_delivery_status", "read_only")]),
        ("PATCH", json!({"url": "https://other.example/", "colour": 1}), vec![("colour", "unknown_field")]),
    ];
    for (method, body, wanted) in table {
        let to = if method == "POST" { "/v1/webhooks".to_owned() } else { path(&webhook) };
        let response = world.ask(method, &to).json(&body).send().await;
        assert_eq!(response.refusal(), (400, "validation_error".to_owned()), "{method} {body}");
        let expected_problems: Vec<_> =
            wanted.into_iter().map(|(field, code)| (field.to_owned(), code.to_owned())).collect();
        assert_eq!(response.problems(), expected_problems, "{method} {body}");
    }
    assert_eq!(world.receivers.judged_urls(), [""; 0], "no URL was looked up");
    assert_eq!(world.get("/v1/webhooks").await.json()["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn event_types_keep_their_order_without_duplicates() {
    let world = TestApi::new().await;
    let event_types = ["test.ping", "employee.created", "test.ping", "*", "employee.created"];
    let webhook = subscribe(&world, &event_types).await;
    assert_eq!(webhook["event_types"], json!(["test.ping", "employee.created", "*"]));
    let patch_response = world.patch(&path(&webhook), json!({"event_types": ["*", "*"]})).await;
    assert_eq!(patch_response.json()["event_types"], json!(["*"]));
}

#[tokio::test]
async fn subscription_read_back_as_patch_writes_nothing() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["*"]).await;
    let read = world.get(&path(&webhook)).await;
    world.clock.advance_seconds(1);
    world.receivers.judged_urls();
    for body in [read.json(), json!({}), json!({"rotate_secret": false, "active": true})] {
        let patch_response = world.patch(&path(&webhook), body).await;
        assert_eq!((patch_response.status, &patch_response.body), (200, &read.body));
        assert_eq!(patch_response.header("etag"), read.header("etag"));
    }
    assert_eq!(world.receivers.judged_urls(), [""; 0]);
    let actions = format!("/v1/audit-log?filter[target_id]={}", text(&webhook, "id"));
    assert_eq!(world.get(&actions).await.json()["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn subscription_change_is_audited_without_secrets() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["*"]).await;
    world.clock.advance_seconds(1);
    let body = json!({"url": "https://other.example/hunter2?x=1", "event_types": ["test.ping"], "active": false,
                      "description": "x", "rotate_secret": true});
    let webhook_json = world.patch(&path(&webhook), body).await.json();
    assert_eq!(webhook_json["updated_at"], "2026-03-02T09:00:01.001Z");
    assert_eq!(
        (text(&webhook_json, "url"), &webhook_json["active"]),
        ("https://other.example/hunter2?x=1".into(), &json!(false))
    );
    world.patch(&path(&webhook), json!({"description": null})).await;
    world.ask("DELETE", &path(&webhook)).send().await;
    let log = world.get(&format!("/v1/audit-log?filter[target_id]={}", text(&webhook, "id"))).await;
    let entries = log.json()["data"].as_array().unwrap().clone();
    let actions: Vec<_> = entries.iter().map(|entry| text(entry, "action")).collect();
    assert_eq!(actions, ["webhook.delete", "webhook.update", "webhook.rotate", "webhook.create"]);
    let expected_changes = json!({
        "url": {"from": "https://receiver.example/…", "to": "https://other.example/…"},
        "event_types": {"from": ["*"], "to": ["test.ping"]},
        "effective_event_types": {"from": ["*"], "to": ["test.ping"]},
        "active": {"from": true, "to": false},
        "description": {"from": null, "to": "x"},
    });
    assert_eq!(entries[2]["changes"], expected_changes);
    for secret in ["hunter2", "whsec_", &text(&webhook, "secret")[6..], &text(&webhook_json, "secret")[6..]] {
        assert!(!log.text().contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn subscriptions_are_listed_newest_first_or_by_change() {
    let world = TestApi::new().await;
    let mut ids = vec![];
    for _ in 0..5 {
        ids.push(subscribe(&world, &["*"]).await);
    }
    world.clock.advance_seconds(1);
    world.patch(&path(&ids[1]), json!({"description": "changed"})).await;
    let list = async |query: &str| {
        let page = world.get(&format!("/v1/webhooks{query}")).await.json();
        let data: Vec<_> = page["data"].as_array().unwrap().iter().map(|item| text(item, "id")).collect();
        let place_of = |id: &String| ids.iter().position(|item| text(item, "id") == *id).unwrap();
        (data.iter().map(place_of).collect::<Vec<_>>(), page["next_cursor"].as_str().map(str::to_owned))
    };
    assert_eq!(list("").await, (vec![4, 3, 2, 1, 0], None));
    assert_eq!(list("?sort=created_at").await.0, [0, 1, 2, 3, 4]);
    assert_eq!(list("?sort=-updated_at").await.0, [1, 4, 3, 2, 0]);
    assert_eq!(list("?filter[updated_at][gte]=2026-03-02T09:00:01Z").await.0, [1]);
    assert_eq!(list("?filter[updated_at][lte]=2026-03-02T09:00:00.003Z").await.0, [2, 0]);
    let (first, cursor) = list("?limit=2").await;
    assert_eq!((first, cursor.is_some()), (vec![4, 3], true));
    subscribe(&world, &["*"]).await;
    assert_eq!(list(&format!("?limit=100&cursor={}", cursor.unwrap())).await, (vec![2, 1, 0], None));
}

#[tokio::test]
async fn deleted_subscription_loses_its_log_and_queue() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["employee.created"]).await;
    world.employee("ada@example.com").await;
    assert_eq!(world.attempt_all(500).await.len(), 1);
    world.employee("grace@example.com").await;
    let removal = world.ask("DELETE", &path(&webhook)).send().await;
    assert_eq!((removal.status, removal.body.len(), removal.header("content-type")), (204, 0, None));
    assert_eq!(removal.header("etag"), None);
    assert!(removal.header("x-request-id").is_some() && removal.header("x-ratelimit-limit").is_some());
    for (method, path) in [
        ("GET", path(&webhook)),
        ("GET", format!("{}/deliveries", path(&webhook))),
        ("DELETE", path(&webhook)),
        ("PATCH", path(&webhook)),
        ("POST", format!("{}/test", path(&webhook))),
    ] {
        let body = json!({});
        let request = world.ask(method, &path);
        let response = if method == "PATCH" { request.json(&body) } else { request }.send().await;
        assert_eq!(response.refusal(), (404, "not_found".to_owned()), "{method} {path}");
    }
    world.clock.advance_seconds(60);
    assert_eq!(world.attempt_all(200).await, [], "queued deliveries are discarded");
    world.employee("alan@example.com").await;
    assert_eq!(world.attempt_all(200).await, [], "no further deliveries are queued");
    assert_eq!(world.get("/v1/webhooks").await.json()["data"], json!([]));
}

#[tokio::test]
async fn subscription_deletion_takes_no_body_and_counts_as_a_write() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["*"]).await;
    let error_response = world.ask("DELETE", &path(&webhook)).json(&json!({"force": true})).send().await;
    assert_eq!(error_response.problems(), [("force".to_owned(), "unknown_field".to_owned())]);
    let key = world.ordinary_key().await;
    let removal = world.bare("DELETE", &path(&webhook)).key(&key).json(&json!({})).send().await;
    assert_eq!((removal.status, removal.header("x-ratelimit-limit")), (204, Some("100")));
    assert_eq!(removal.header("x-ratelimit-remaining"), Some("99"));
}

#[tokio::test]
async fn delivery_changes_the_etag_but_not_the_version() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["employee.created"]).await;
    let tag = async || world.get(&path(&webhook)).await.header("etag").unwrap().to_owned();
    let is_current_tag = async |tag: &str| {
        world.ask("GET", &path(&webhook)).header("if-none-match", tag).send().await.status == 304
    };
    let tag_before = tag().await;
    assert!(is_current_tag(&tag_before).await);
    world.employee("ada@example.com").await;
    assert_eq!(world.attempt_all(500).await.len(), 1);
    let tag_after = tag().await;
    assert_ne!(tag_before, tag_after);
    assert!(!is_current_tag(&tag_before).await, "last_delivery_at has changed");
    assert!(is_current_tag(&tag_after).await && is_current_tag(&format!("{tag_before}, W/{tag_after}")).await);
    let change = async |tag: &str, description: &str| {
        let request = world.ask("PATCH", &path(&webhook)).header("if-match", tag);
        request.json(&json!({"description": description})).send().await
    };
    let response = change(&tag_before, "one").await;
    assert_eq!(response.status, 200, "a delivery is no change of the subscription");
    assert_eq!(response.header("etag"), Some(tag().await.as_str()));
    for stale in [&tag_before, &tag_after] {
        assert_eq!(change(stale, "two").await.refusal(), (412, "conflict".to_owned()));
        let request = world.ask("DELETE", &path(&webhook)).header("if-match", stale);
        assert_eq!(request.send().await.refusal(), (412, "conflict".to_owned()));
    }
    let current = tag().await;
    assert_eq!(world.ask("DELETE", &path(&webhook)).header("if-match", &current).send().await.status, 204);
}

#[tokio::test]
async fn reactivated_subscription_resets_its_failures() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["employee.created"]).await;
    world.employee("ada@example.com").await;
    world.attempt_all(500).await;
    assert_eq!(stored(&world, &webhook).await.streak.failures, 1);
    let set = async |active: bool| world.patch(&path(&webhook), json!({"active": active})).await.json();
    assert_eq!(set(true).await["active"], true);
    assert_eq!(stored(&world, &webhook).await.streak.failures, 1, "an active subscription keeps its count");
    let paused_webhook = set(false).await;
    assert_eq!(
        (&paused_webhook["active"], &paused_webhook["last_delivery_status"]),
        (&json!(false), &json!("failed"))
    );
    assert_eq!(stored(&world, &webhook).await.streak.failures, 1);
    world.employee("grace@example.com").await;
    assert_eq!(set(true).await["active"], true);
    assert_eq!(stored(&world, &webhook).await.streak, Streak::default());
    world.clock.advance_seconds(30);
    let attempt_numbers: Vec<_> = world.attempt_all(200).await.iter().map(|delivery| delivery.attempt).collect();
    assert_eq!(attempt_numbers, [2], "the retry is sent, but no event from the pause");
}

#[tokio::test]
async fn retried_subscription_creation_replays_the_same_secret() {
    let world = TestApi::new().await;
    let body = json!({"url": "https://receiver.example/", "event_types": ["*"]});
    let create = || world.ask("POST", "/v1/webhooks").header("idempotency-key", "k").json(&body).send();
    let responses = join_all((0..10).map(|_| create())).await;
    for answered in &responses {
        assert_eq!((answered.status, &answered.body), (201, &responses[0].body));
        assert_eq!(answered.header("etag"), responses[0].header("etag"));
        assert_eq!(answered.header("location"), responses[0].header("location"));
    }
    assert_eq!(responses.iter().filter(|response| response.header("idempotent-replayed").is_some()).count(), 9);
    assert_eq!(world.get("/v1/webhooks").await.json()["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn test_data_set_has_its_own_subscriptions() {
    let world = TestApi::new().await;
    let live = subscribe(&world, &["*"]).await;
    let key = world.key(Permissions::ALL, AccessLevel::Standard, Environment::Test).await;
    let body = json!({"url": "https://receiver.example/", "event_types": ["employee.created"]});
    let creation = world.bare("POST", "/v1/webhooks").key(&key).json(&body).send().await;
    assert_eq!(creation.status, 201);
    assert_eq!(world.bare("GET", &path(&live)).key(&key).send().await.status, 404);
    assert_eq!(world.get(&path(&creation.json())).await.status, 404);
    world.employee("ada@example.com").await;
    let attempts = world.attempt_all(200).await;
    let subscription_ids: Vec<_> = attempts.iter().map(|attempt| attempt.subscription_id.to_string()).collect();
    assert_eq!(subscription_ids, [text(&live, "id")], "live events are for live subscriptions");
}
