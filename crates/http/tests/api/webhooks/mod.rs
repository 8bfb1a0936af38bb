//! Webhook subscriptions from the client's side, with fake receivers (§2.4, §2.5, §4.4, decisions F).

mod filters;
mod headers;
mod live;
mod log;
mod log_of_all;
mod operational;
mod rates;
mod redelivery;
mod replays;
mod rotation;
mod stores;
mod subscriptions;
mod urls;

use serde_json::{Value, json};

use crate::support::TestApi;

/// Advances the clock by a millisecond and creates a subscription to these events. Returns the answer.
async fn subscribe(world: &TestApi, topics: &[&str]) -> Value {
    world.clock.advance_millis(1);
    let body = json!({"url": "https://receiver.example/hooks", "event_types": topics});
    let creation = world.post("/v1/webhooks", body).await;
    assert_eq!(creation.status, 201, "{}", creation.text());
    creation.json()
}

/// Returns the path of a subscription.
fn path(webhook: &Value) -> String {
    format!("/v1/webhooks/{}", text(webhook, "id"))
}

/// Returns a string member of a JSON object.
fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("no text {name} in {value}")).to_owned()
}

/// Returns the expected details of a conflict.
fn conflict(field: &str, current: impl Into<Value>, attempted: &str) -> Value {
    json!([{"field": field, "current": current.into(), "attempted_transition": attempted}])
}
