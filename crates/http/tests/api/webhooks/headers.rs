//! Custom headers and the payload form of subscriptions.

use serde_json::{Value, json};

use super::{path, subscribe, text};
use crate::support::TestApi;

const BEARER: &str = "Bearer 0123456789";

/// Creates a subscription with one custom header.
async fn with_header(world: &TestApi) -> Value {
    let body = json!({"url": "https://receiver.example/hooks", "event_types": ["*"],
                      "headers": {"Authorization": BEARER}, "payload": "thin"});
    let creation = world.post("/v1/webhooks", body).await;
    assert_eq!(creation.status, 201, "{}", creation.text());
    creation.json()
}

#[tokio::test]
async fn custom_header_is_shown_masked_everywhere() {
    let world = TestApi::new().await;
    let webhook = with_header(&world).await;
    assert_eq!((&webhook["headers"], &webhook["payload"]), (&json!({"authorization": "…6789"}), &json!("thin")));
    world.clock.advance_seconds(1);
    let patch_response = world.patch(&path(&webhook), json!({"headers": {"X-Key": "Bearer 9876543210"}})).await;
    let masked_headers = json!({"authorization": "…6789", "x-key": "…3210"});
    assert_eq!(patch_response.json()["headers"], masked_headers);
    assert_eq!(world.get(&path(&webhook)).await.json()["headers"], masked_headers);
    for read in ["/v1/webhooks".to_owned(), path(&webhook), "/v1/audit-log".to_owned()] {
        let response = world.get(&read).await.text().to_owned();
        assert!(response.contains("…6789"), "{read}: {response}");
        assert!(!response.contains("0123456789") && !response.contains("9876543210"), "{read}: {response}");
    }
}

#[tokio::test]
async fn masked_header_of_an_answer_keeps_its_value() {
    let world = TestApi::new().await;
    let webhook = with_header(&world).await;
    let read = world.get(&path(&webhook)).await;
    world.clock.advance_seconds(1);
    let patch_response = world.patch(&path(&webhook), read.json()).await;
    assert_eq!((patch_response.status, &patch_response.body), (200, &read.body));
    let other = world.patch(&path(&webhook), json!({"headers": {"authorization": "…0000"}})).await;
    assert_eq!(other.refusal(), (400, "validation_error".to_owned()));
    assert_eq!(other.problems(), [("headers.authorization".to_owned(), "invalid_format".to_owned())]);
}

#[tokio::test]
async fn change_behind_an_equal_mask_is_audited() {
    let world = TestApi::new().await;
    let webhook = with_header(&world).await;
    world.clock.advance_seconds(1);
    let change = json!({"headers": {"authorization": "Bearer 999 6789"}});
    assert_eq!(world.patch(&path(&webhook), change).await.status, 200);
    let entries = format!("/v1/audit-log?filter[target_id]={}", text(&webhook, "id"));
    let entry = world.get(&entries).await.json()["data"][0].clone();
    let masked_headers = json!({"authorization": "…6789"});
    assert_eq!(entry["changes"]["headers"], json!({"from": masked_headers, "to": masked_headers}), "{entry}");
}

#[tokio::test]
async fn headers_are_merged_per_name_up_to_ten() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["*"]).await;
    let names = |range: std::ops::Range<usize>, value: Value| -> Value {
        range.map(|number| (format!("x-{number}"), value.clone())).collect::<serde_json::Map<_, _>>().into()
    };
    let patch = async |headers: Value| world.patch(&path(&webhook), json!({"headers": headers})).await;
    assert_eq!(patch(names(0..10, json!("value"))).await.status, 200);
    let eleventh = patch(names(10..11, json!("value"))).await;
    assert_eq!(eleventh.problems(), [("headers".to_owned(), "too_long".to_owned())]);
    assert_eq!(patch(names(0..10, Value::Null)).await.json()["headers"], json!({}));
    let body = json!({"url": "https://receiver.example/", "event_types": ["*"],
                      "headers": names(0..11, json!("value"))});
    assert_eq!(world.post("/v1/webhooks", body).await.problems(), [("headers".to_owned(), "too_long".to_owned())]);
}

#[tokio::test]
async fn invalid_header_or_payload_is_refused() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["*"]).await;
    for (body, field, code) in [
        (json!({"headers": {"Host": "x"}}), "headers.Host", "read_only"),
        (json!({"headers": {"X-Service-Signature": "x"}}), "headers.X-Service-Signature", "read_only"),
        (json!({"headers": {"a": "b\r\nc: d"}}), "headers.a", "invalid_format"),
        (json!({"headers": null}), "headers", "required"),
        (json!({"payload": "tiny"}), "payload", "invalid_enum"),
    ] {
        let response = world.patch(&path(&webhook), body.clone()).await;
        assert_eq!(response.problems(), [(field.to_owned(), code.to_owned())], "{body}");
        assert_eq!(response.status, 400);
    }
}

#[tokio::test]
async fn dry_run_shows_masked_headers_only() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["*"]).await;
    let to = format!("{}?dry_run=true", path(&webhook));
    let dry_run = world.patch(&to, json!({"headers": {"authorization": BEARER}})).await;
    let masked_headers = json!({"authorization": "…6789"});
    assert_eq!(
        dry_run.json()["changes"]["headers"],
        json!({"from": {}, "to": masked_headers}),
        "{}",
        dry_run.text()
    );
    assert!(!dry_run.text().contains("0123456789"));
    assert_eq!(world.get(&path(&webhook)).await.json()["headers"], json!({}));
}
