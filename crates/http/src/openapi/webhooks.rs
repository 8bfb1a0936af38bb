//! Requests that webhook receivers get.

use candor_domain::event::EventType;
use candor_domain::fields::StringEnum;
use candor_domain::id::DeliveryKind;
use candor_subscriptions::USER_AGENT;
use serde_json::{Value, json};

use super::events::THIN;
use crate::contract::schema::shapes::{id, reference_to};
use crate::contract::schema::words::open;
use crate::routes::events::{EVENT, event_id};

fn header(name: &str, schema: &Value, what: &str, required: bool) -> Value {
    json!({"name": name, "in": "header", "required": required, "schema": schema, "description": what})
}

/// Returns the headers of a delivery. Only `X-Service-Replay` is optional.
fn headers() -> Vec<Value> {
    let always = |name: &str, schema: Value, what: &str| header(name, &schema, what, true);
    let (whole, unix) =
        (json!({"type": "string", "pattern": "^[0-9]+$"}), "Unix time of the signature in seconds.");
    let signature = json!({"type": "string", "pattern": "^t=[0-9]+(,v1=[0-9a-f]{64})+$"});
    let standard = json!({"type": "string", "pattern": "^v1,[^ ]+( v1,[^ ]+)*$"});
    vec![
        always("User-Agent", json!({"type": "string", "const": USER_AGENT}), "Name of the sender."),
        always("X-Service-Event", open(EventType::NAME), "Type of the event."),
        always("X-Service-Event-Id", event_id(), "The `id` in the body."),
        always("X-Service-Delivery-Id", id::<DeliveryKind>(), "Id of this attempt. Each attempt has its own id."),
        always("X-Service-Timestamp", whole.clone(), unix),
        always(
            "X-Service-Signature",
            signature,
            "Time `t` and signature: the HMAC-SHA256 of `<t>.<raw body>` with the whole secret as key, in \
             hexadecimal. During a rotation there are several signatures, the older secret's first. Reject a \
             `t` that differs from now by more than 5 minutes.",
        ),
        header(
            "X-Service-Replay",
            &json!({"type": "string", "const": "true"}),
            "Present if a client requested this redelivery.",
            false,
        ),
        always("webhook-id", event_id(), "As defined by Standard Webhooks."),
        always("webhook-timestamp", whole, unix),
        always(
            "webhook-signature",
            standard,
            "As defined by Standard Webhooks. The key is the base64-decoded secret.",
        ),
    ]
}

/// Returns the `webhooks` section: the service's requests, described as operations of the receiver.
pub(super) fn section() -> Value {
    // A thin event of a type that a reader does not know fits `OtherEvent` as well, so this is not `oneOf`.
    let schema = json!({"anyOf": [reference_to(EVENT.name), reference_to(THIN)]});
    let content = json!({"application/json": {"schema": schema}});
    let operation = json!({
        "operationId": "receiveEvent",
        "summary": "Delivery of an event",
        "description": "Sent to the `url` of every active subscription whose `event_types` contain the event. \
                        Candor retries until the receiver acknowledges: at most seven attempts over about 31 \
                        hours. An event may arrive more than once. The order of events is not guaranteed. A \
                        subscription whose `payload` is `thin` gets a `ThinEvent`, except for a test. \
                        `docs/webhooks.md` shows how to verify the signature.",
        "tags": ["Webhooks"],
        "security": [],
        "parameters": headers(),
        "requestBody": {"required": true, "content": content},
        "responses": {
            "2XX": {"description": "Any 2xx status within 15 seconds acknowledges the delivery. The body is \
                                    ignored."},
            "default": {"description": "Any other status, including redirects, is a failure. Candor retries the \
                                        delivery."},
        },
    });
    json!({"event": {"post": operation}})
}
