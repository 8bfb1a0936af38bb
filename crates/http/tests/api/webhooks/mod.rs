//! Webhook subscriptions as clients see them, with receivers that nothing is sent to (§2.4, §2.5, §4.4, decisions F).

mod live;
mod log;
mod redelivery;
mod replays;
mod rotation;
mod stores;
mod subscriptions;
mod urls;

use serde_json::{Value, json};

use crate::support::World;

/// A subscription to these events, as its creation answered it; a millisecond passes.
async fn subscribed(world: &World, topics: &[&str]) -> Value {
    world.clock.advance_millis(1);
    let body = json!({"url": "https://receiver.example/hooks", "event_types": topics});
    let created = world.post("/v1/webhooks", body).await;
    assert_eq!(created.status, 201, "{}", created.text());
    created.json()
}

/// The path of a subscription.
fn path(webhook: &Value) -> String {
    format!("/v1/webhooks/{}", text(webhook, "id"))
}

/// A member of a JSON object.
fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("no text {name} in {value}")).to_owned()
}

/// The one detail of a conflict.
fn conflict(field: &str, current: impl Into<Value>, attempted: &str) -> Value {
    json!([{"field": field, "current": current.into(), "attempted_transition": attempted}])
}
