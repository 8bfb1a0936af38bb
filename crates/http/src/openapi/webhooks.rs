//! Webhooks in the document: subscriptions, their log, and the requests that receivers get.

use candor_domain::event::EventType;
use candor_domain::fields::Word;
use candor_domain::id::{DeliveryKind, WebhookKind};
use candor_domain::signature::PREFIX;
use candor_domain::webhook::{DESCRIPTION_CHARS, FailureReason, MAX_REPLAYED, Status, USER_AGENT};
use serde_json::{Value, json};

use super::answers::event_id;
use super::shapes::{Member, about, answer, array, count, datetime, field, flag, id, named, nullable, plain};
use super::vocabulary::{TOPICS, open};

const AT: &str = "2026-03-02T09:00:00.000Z";
const WEBHOOK: &str = "whk_01KJPWD6M24DF9HWRAYHFSFV52";
const DELIVERY: &str = "del_01KJPWD6M2M41901DYSMMVJQDV";
const EVENT: &str = "evt_01KJPWD6M2D4QPFJQ4CNK9WK64";
const FAILURE: &str = "Why it was not acknowledged: null on success, and for attempts from before this was recorded.";
const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

fn secret() -> Member {
    let what = "What deliveries are signed with. It is shown this once and cannot be retrieved later.";
    ("secret", about(json!({"type": "string", "pattern": format!("^{PREFIX}")}), what))
}

fn webhook(always: Option<Member>, sometimes: Option<Member>) -> Value {
    let topics = array(&open(TOPICS));
    let description = format!("What people call it, at most {DESCRIPTION_CHARS} characters; null where nothing is.");
    let last = nullable(open(Status::NAME));
    let mut members = vec![
        field("id", id::<WebhookKind>(), "The subscription's id."),
        field("url", plain(), "Where deliveries go: an https URL."),
        field("event_types", topics, "What it is told; `*` stands for all, also those to come."),
        field("active", flag(), "Whether anything is delivered. False pauses delivery."),
        field("description", nullable(plain()), &description),
        field("last_delivery_at", nullable(datetime()), "When the newest attempt ended; null before the first one."),
        field("last_delivery_status", last, "How the newest attempt ended; null before the first one."),
        field("created_at", datetime(), "When it was created."),
        field("updated_at", datetime(), "When it last changed; deliveries do not count."),
    ];
    members.extend(always);
    answer(members, sometimes.into_iter().collect())
}

fn delivery() -> Value {
    let status = "How it ended: `failed` if another attempt follows, `dropped` if none does.";
    let members = vec![
        field("id", id::<DeliveryKind>(), "The attempt's id; another one for each attempt."),
        field("subscription_id", id::<WebhookKind>(), "The subscription that it was made for."),
        field("event_id", event_id(), "The event; the same for each of its attempts."),
        field("event_type", open(EventType::NAME), "The type of the event."),
        field("attempt", count(1), "The number of the attempt, beginning with 1."),
        field("status", open(Status::NAME), status),
        field("request_url", plain(), "The URL that was called."),
        field("response_status", count(0), "The HTTP status of the answer; 0 if there was none."),
        field("response_duration_ms", count(0), "Milliseconds until the answer, or until it was given up."),
        field("next_attempt_at", nullable(datetime()), "When the next attempt is due; null if none follows."),
        field("delivered_at", nullable(datetime()), "When it was acknowledged; null if it was not."),
        field("attempted_at", datetime(), "When the attempt was begun."),
        field("failure", nullable(open(FailureReason::NAME)), FAILURE),
    ];
    answer(members, vec![])
}

fn promised() -> Value {
    let delivery = "The id that the attempt will have in the log. A queued delivery whose attempt is just under way gets \
                    it only if that attempt fails.";
    let members = vec![
        field("delivery_id", id::<DeliveryKind>(), delivery),
        field("event_id", event_id(), "The id of the event that is delivered."),
    ];
    answer(members, vec![])
}

fn replayed() -> Value {
    let count = json!({"type": "integer", "minimum": 0, "maximum": MAX_REPLAYED});
    let on = "The `since` of the request that goes on; null when all were queued.";
    let members = vec![
        field("enqueued", count, "Deliveries that were queued or brought forward."),
        field("continue_since", nullable(datetime()), on),
    ];
    answer(members, vec![])
}

/// The schemas of answers, by name.
pub(super) fn answers() -> Vec<Member> {
    vec![
        ("Webhook", webhook(None, None)),
        ("WebhookWithSecret", webhook(Some(secret()), None)),
        ("WebhookUpdated", webhook(None, Some(secret()))),
        ("WebhookList", super::answers::list("Webhook")),
        ("Delivery", delivery()),
        ("DeliveryList", super::answers::list("Delivery")),
        ("DeliveryPromised", promised()),
        ("WebhookReplayed", replayed()),
    ]
}

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

fn example_of_webhook() -> Value {
    json!({
        "id": WEBHOOK, "url": "https://hooks.example.com/candor", "event_types": ["observation.created"],
        "active": true, "description": null, "last_delivery_at": null, "last_delivery_status": null,
        "created_at": AT, "updated_at": AT,
    })
}

fn example_of_delivery() -> Value {
    json!({
        "id": DELIVERY, "subscription_id": WEBHOOK, "event_id": EVENT, "event_type": "observation.created",
        "attempt": 1, "status": "failed", "request_url": "https://hooks.example.com/candor", "response_status": 503,
        "response_duration_ms": 41, "next_attempt_at": "2026-03-02T09:00:30.041Z", "delivered_at": null,
        "attempted_at": AT, "failure": "status",
    })
}

/// The example of a schema of this module.
pub(super) fn example(schema: &str) -> Option<Value> {
    let list = |entry: Value| json!({"data": [entry], "next_cursor": null, "has_more": false});
    let with_secret = || {
        let mut it = example_of_webhook();
        it["secret"] = json!(SECRET);
        it
    };
    Some(match schema {
        "Webhook" => example_of_webhook(),
        "WebhookWithSecret" | "WebhookUpdated" => with_secret(),
        "WebhookList" => list(example_of_webhook()),
        "Delivery" => example_of_delivery(),
        "DeliveryList" => list(example_of_delivery()),
        "DeliveryPromised" => json!({"delivery_id": DELIVERY, "event_id": EVENT}),
        "WebhookReplayed" => json!({"enqueued": 12, "continue_since": null}),
        "WebhookCreate" => {
            json!({"url": "https://hooks.example.com/candor", "event_types": ["observation.created"]})
        }
        "WebhookUpdate" => json!({"rotate_secret": true}),
        "WebhookReplay" => json!({"since": AT, "only": "failed"}),
        _ => return None,
    })
}
