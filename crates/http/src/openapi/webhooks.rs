//! The requests that receivers of webhooks get.

use candor_domain::event::EventType;
use candor_domain::fields::Word;
use candor_domain::id::DeliveryKind;
use candor_domain::webhook::USER_AGENT;
use serde_json::{Value, json};

use crate::routes::events::event_id;
use crate::schema::shapes::{id, named};
use crate::schema::words::open;

fn header(name: &str, schema: &Value, what: &str, required: bool) -> Value {
    json!({"name": name, "in": "header", "required": required, "schema": schema, "description": what})
}

/// The headers of a delivery, with an example of each that always comes.
fn headers() -> Vec<Value> {
    let always = |name: &str, schema: Value, what: &str| header(name, &schema, what, true);
    let (whole, unix) = (json!({"type": "string", "pattern": "^[0-9]+$"}), "Unix seconds of the signature.");
    let signature = json!({"type": "string", "pattern": "^t=[0-9]+(,v1=[0-9a-f]{64})+$"});
    let standard = json!({"type": "string", "pattern": "^v1,[^ ]+( v1,[^ ]+)*$"});
    vec![
        always("User-Agent", json!({"type": "string", "const": USER_AGENT}), "Who calls."),
        always("X-Service-Event", open(EventType::NAME), "The event's type."),
        always("X-Service-Event-Id", event_id(), "The `id` of the body."),
        always("X-Service-Delivery-Id", id::<DeliveryKind>(), "The id of this attempt; another one for each."),
        always("X-Service-Timestamp", whole.clone(), unix),
        always(
            "X-Service-Signature",
            signature,
            "`t` and, in hexadecimal, the HMAC-SHA256 of `<t>.<raw body>` keyed by the whole secret; several while a \
             secret is rotated, the older one's first. Reject a `t` that is more than 5 minutes off.",
        ),
        header("X-Service-Replay", &json!({"type": "string", "const": "true"}), "Somebody asked for it again.", false),
        always("webhook-id", event_id(), "As Standard Webhooks has it."),
        always("webhook-timestamp", whole, unix),
        always(
            "webhook-signature",
            standard,
            "As Standard Webhooks has it, keyed by the bytes of the secret's base64.",
        ),
    ]
}

/// The requests that the service makes, which the document describes like operations of the receiver.
pub(super) fn section() -> Value {
    let content = json!({"application/json": {"schema": named("Event")}});
    let operation = json!({
        "operationId": "receiveEvent",
        "summary": "An event that a subscription wants",
        "description": "Sent to the `url` of every active subscription whose `event_types` name the event, until it is \
                        acknowledged: seven times at most, over about 31 hours. The same event may come more than once, \
                        and events come in no particular order. `docs/webhooks.md` shows how to check the signature.",
        "tags": ["Webhooks"],
        "security": [],
        "parameters": headers(),
        "requestBody": {"required": true, "content": content},
        "responses": {
            "2XX": {"description": "Any of them within 15 seconds acknowledges; the body is ignored."},
            "default": {"description": "Anything else is a failure, redirects included; it is tried again."},
        },
    });
    json!({"event": {"post": operation}})
}
