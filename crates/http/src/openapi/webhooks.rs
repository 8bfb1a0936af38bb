//! Webhooks in the document: subscriptions, their log, and the requests that receivers get.

use candor_domain::event::{API_VERSION, EventType};
use candor_domain::fields::Word;
use candor_domain::id::{DeliveryKind, EventKind, Kind, OrganizationKind, WebhookKind};
use candor_domain::signature::PREFIX;
use candor_domain::webhook::{
    DESCRIPTION_CHARS, LOG_DAYS, MAX_REPLAYED, MAX_TOPICS, Only, Status, Topic, URL_CHARS, USER_AGENT,
};
use serde_json::{Value, json};

use super::parameters::words;
use super::shapes::{
    Member, about, answer, array, datetime, flag, id, named, nullable, or, plain, request, text, word,
};

const AT: &str = "2026-03-02T09:00:00.000Z";
const WEBHOOK: &str = "whk_01KJPWD6M24DF9HWRAYHFSFV52";
const DELIVERY: &str = "del_01KJPWD6M2M41901DYSMMVJQDV";
const EVENT: &str = "evt_01KJPWD6M2D4QPFJQ4CNK9WK64";
const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// What one delivery is told to be, and what a request to a receiver has as its body.
const DELIVERED: &str = "EventDelivery";

fn topic() -> Value {
    let all: Vec<_> = words::<EventType>().into_iter().chain([Topic::Every.word()]).collect();
    json!({"type": "string", "enum": all})
}

fn topics(what: &str) -> Value {
    json!({"type": "array", "items": topic(), "minItems": 1, "maxItems": MAX_TOPICS, "description": what})
}

/// The id of an event, or of a test.
fn event_id() -> Value {
    let pattern = format!("^{}_(test_)?[0-7][0-9A-HJKMNP-TV-Z]{{25}}$", EventKind::PREFIX);
    json!({"type": "string", "pattern": pattern, "examples": [EVENT]})
}

fn secret() -> Member {
    let what = "What deliveries are signed with. It is shown this once and cannot be retrieved later.";
    ("secret", about(json!({"type": "string", "pattern": format!("^{PREFIX}")}), what))
}

fn webhook(always: Option<Member>, sometimes: Option<Member>) -> Value {
    let mut members = vec![
        ("id", id::<WebhookKind>()),
        ("url", about(plain(), "Where deliveries go.")),
        ("event_types", about(array(&topic()), "What it is told; `*` stands for all, also those to come.")),
        ("active", about(flag(), "False pauses delivery.")),
        ("description", nullable(plain())),
        ("last_delivery_at", about(nullable(datetime()), "When the newest attempt ended.")),
        ("last_delivery_status", nullable(word::<Status>())),
        ("created_at", datetime()),
        ("updated_at", datetime()),
    ];
    members.extend(always);
    answer(members, sometimes.into_iter().collect())
}

fn delivery() -> Value {
    let whole = |least: u8, what: &str| json!({"type": "integer", "minimum": least, "description": what});
    let members = vec![
        ("id", id::<DeliveryKind>()),
        ("subscription_id", id::<WebhookKind>()),
        ("event_id", event_id()),
        ("event_type", word::<EventType>()),
        ("attempt", whole(1, "1 for the first attempt of an event.")),
        ("status", about(word::<Status>(), "`dropped` if it failed and no attempt follows, `failed` if one does.")),
        ("request_url", plain()),
        ("response_status", whole(0, "The HTTP status; 0 if it never connected.")),
        ("response_duration_ms", whole(0, "Until the answer, or until it was given up.")),
        ("next_attempt_at", nullable(datetime())),
        ("delivered_at", about(nullable(datetime()), "When it was acknowledged.")),
    ];
    answer(members, vec![])
}

fn promised() -> Value {
    let delivery = about(id::<DeliveryKind>(), "The id that the attempt will have in the log.");
    answer(vec![("delivery_id", delivery), ("event_id", event_id())], vec![])
}

fn replayed() -> Value {
    let count = json!({"type": "integer", "minimum": 0, "maximum": MAX_REPLAYED});
    let on = about(nullable(datetime()), "The `since` of the request that goes on; null when all were queued.");
    answer(vec![("enqueued", about(count, "Deliveries that were queued.")), ("continue_since", on)], vec![])
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
        (DELIVERED, delivered()),
    ]
}

fn url() -> Value {
    let what = "An https URL without user and password; 422 unless its host is known to public DNS and no address of it \
                is private.";
    json!({"type": "string", "format": "uri", "maxLength": URL_CHARS, "description": what})
}

fn description() -> Member {
    ("description", nullable(text(0, DESCRIPTION_CHARS)))
}

/// The schemas of requests, by name.
pub(super) fn requests() -> Vec<Member> {
    let wanted = || topics("What it is told; `*` stands for all. Duplicates are folded.");
    let create = request(vec![("url", url()), ("event_types", wanted())], vec![description()]);
    let rotate = about(flag(), "Gives it a new secret; the one before signs as well for another 24 hours.");
    let update = vec![
        ("url", url()),
        ("event_types", wanted()),
        ("active", about(flag(), "False pauses delivery; true also forgets the failures so far.")),
        description(),
        ("rotate_secret", rotate),
    ];
    let since = about(datetime(), &format!("Events that happened no earlier; within the last {LOG_DAYS} days."));
    let only =
        "`failed`: events that were attempted and never acknowledged. `all`: also those that never were attempted.";
    let replay = vec![
        ("until", about(nullable(datetime()), "Events that happened before this; now unless given.")),
        ("event_types", nullable(topics("Of these types, as far as the subscription wants them."))),
        ("only", about(or(nullable(word::<Only>()), Only::Failed.word()), only)),
    ];
    vec![
        ("WebhookCreate", create),
        ("WebhookUpdate", request(vec![], update)),
        ("WebhookReplay", request(vec![("since", since)], replay)),
    ]
}

fn delivered() -> Value {
    let members = vec![
        ("id", about(event_id(), "The same for every attempt; a receiver handles an id once.")),
        ("event", about(word::<EventType>(), "Types are added over time: pass over those you do not know.")),
        ("created_at", about(datetime(), "When it happened, not when the attempt was made.")),
        ("api_version", json!({"type": "string", "const": API_VERSION})),
        ("organization_id", id::<OrganizationKind>()),
        ("data", about(json!({"type": "object"}), "The resource after the change, as GET shows it.")),
    ];
    answer(members, vec![])
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
        always("X-Service-Event", word::<EventType>(), "The event's type."),
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
    let content = json!({"application/json": {"schema": named(DELIVERED), "example": super::examples::event()}});
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
        "response_duration_ms": 41, "next_attempt_at": "2026-03-02T09:00:30.000Z", "delivered_at": null,
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
