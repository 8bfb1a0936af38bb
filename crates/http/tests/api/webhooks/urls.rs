//! Allowed and refused receiver URLs (decision F1).

use serde_json::{Value, json};

use super::{path, subscribe};
use crate::support::TestApi;

/// Returns URLs with the status, code and field code of their refusal.
fn refused_urls() -> Vec<(Value, u16, &'static str, &'static str)> {
    let invalid = |url: &str, code| (json!(url), 400, "validation_error", code);
    let unprocessable = |url: &str, code| (json!(url), 422, "unprocessable", code);
    vec![
        (json!(5), 400, "validation_error", "invalid_format"),
        (json!(["https://receiver.example/"]), 400, "validation_error", "invalid_format"),
        invalid("", "invalid_format"),
        invalid("receiver.example", "invalid_format"),
        invalid("/hooks", "invalid_format"),
        invalid("https://", "invalid_format"),
        invalid("https:receiver.example", "invalid_format"),
        invalid("https://receiver.example:99999/", "invalid_format"),
        invalid("https://receiver .example/", "invalid_format"),
        invalid("https://ada:secret@receiver.example/", "invalid_format"),
        invalid("https://ada@receiver.example/", "invalid_format"),
        invalid(&format!("https://receiver.example/{}", "a".repeat(2048)), "too_long"),
        unprocessable("http://receiver.example/", "invalid_format"),
        unprocessable("ftp://receiver.example/", "invalid_format"),
        unprocessable("https://private.example/", "invalid_state"),
        unprocessable("https://unknown.example/", "invalid_state"),
    ]
}

#[tokio::test]
async fn forbidden_url_is_refused_on_create_and_update() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["*"]).await;
    let list_before = world.get("/v1/webhooks").await;
    for (url, status, code, field_code) in refused_urls() {
        let create_response = world.post("/v1/webhooks", json!({"url": url, "event_types": ["*"]})).await;
        let patch_response = world.patch(&path(&webhook), json!({"url": url, "rotate_secret": true})).await;
        for answered in [create_response, patch_response] {
            assert_eq!(answered.refusal(), (status, code.to_owned()), "{url}");
            assert_eq!(answered.problems(), [("url".to_owned(), field_code.to_owned())], "{url}");
            assert!(!answered.text().contains("secret@"), "{url}");
        }
    }
    assert_eq!(world.get("/v1/webhooks").await.body, list_before.body, "nothing has changed");
}

#[tokio::test]
async fn private_and_unresolvable_hosts_get_equal_refusals() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["*"]).await;
    let refusals = async |url: &str| {
        let create_response = world.post("/v1/webhooks", json!({"url": url, "event_types": ["*"]})).await;
        let patch_response = world.patch(&path(&webhook), json!({"url": url})).await;
        [create_response.without_request_id(), patch_response.without_request_id()]
    };
    let private = refusals("https://private.example/").await;
    assert_eq!(private, refusals("https://unknown.example/").await);
    assert_eq!(private[0], private[1]);
}

#[tokio::test]
async fn webhook_url_is_stored_as_given() {
    let world = TestApi::new().await;
    for url in [
        "https://receiver.example",
        "https://RECEIVER.example:8443/a/../b?c=d&e#f",
        "https://203.0.113.7/",
        "https://[2001:db8::1]/",
        "https://bücher.example/ö",
    ] {
        let creation = world.post("/v1/webhooks", json!({"url": url, "event_types": ["*"]})).await;
        assert_eq!((creation.status, &creation.json()["url"]), (201, &json!(url)), "{}", creation.text());
    }
}

#[tokio::test]
async fn webhook_url_is_resolved_once_and_only_if_changed() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["*"]).await;
    assert_eq!(world.receivers.judged_urls(), ["https://receiver.example/hooks"]);
    world.patch(&path(&webhook), json!({"url": "https://receiver.example/hooks", "description": "x"})).await;
    world.patch(&path(&webhook), json!({"active": false})).await;
    world.patch(&path(&webhook), json!({"active": true})).await;
    assert_eq!(world.receivers.judged_urls(), [""; 0]);
    world.patch(&path(&webhook), json!({"url": "https://other.example/"})).await;
    assert_eq!(world.receivers.judged_urls(), ["https://other.example/"]);
    let absent = "/v1/webhooks/whk_00000000000000000000000001";
    assert_eq!(world.patch(absent, json!({"url": "https://other.example/"})).await.status, 404);
    let stale = world.ask("PATCH", &path(&webhook)).header("if-match", "\"0\"");
    assert_eq!(stale.json(&json!({"url": "https://new.example/"})).send().await.status, 412);
    assert_eq!(world.receivers.judged_urls(), [""; 0], "a refused request looks up no name");
}
