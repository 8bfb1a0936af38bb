//! Webhook subscriptions, their log, and what is to be sent once more (§4.4, decisions F).

use candor_domain::access::{Permission, QuotaClass};
use candor_domain::event::EventType;
use candor_domain::fields::Word;
use candor_domain::id::{DeliveryKind, Kind, WebhookId, WebhookKind};
use candor_domain::signature::PREFIX;
use candor_domain::time::Timestamp;
use candor_domain::webhook::{
    self, DESCRIPTION_CHARS, Delivery, DeliveryFilter, FailureReason, MAX_REPLAYED, Only, ReplayOrder, Status,
    Subscription, Topic,
};
use candor_service::Shell;
use candor_service::usecases::webhooks;
use serde_json::{Value, json};

use super::events::{EVENT_ID, event_id};
use crate::exchange::AuthenticatedRequest;
use crate::schema::shapes::{Member, about, answer, array, count, datetime, field, flag, id, named, nullable, plain};
use crate::schema::words::{of, open, sort, status_filter};
use crate::schema::{AT, Schema, body, with};
use crate::table::Access::Permission as Needs;
use crate::table::{EventFamily, Route, RouteGroup, Work};

const ROUTES: &[Route] = &[
    Route::get("/webhooks", Needs(Permission::WebhooksRead), list)
        .named("listWebhooks", "List webhook subscriptions")
        .about("Lists the subscriptions, newest first, without secrets.")
        .lists(&WEBHOOK, |it| drop(webhook::Filter::read(it)))
        .full_sight(),
    Route::post("/webhooks", Needs(Permission::WebhooksWrite), create)
        .named("createWebhook", "Subscribe a receiver to events")
        .about(
            "Subscribes a URL to event types. The secret that signs deliveries is the member `secret` of this answer and \
             of no other.",
        )
        .takes(&WEBHOOK_CREATE)
        .creates(&WEBHOOK_WITH_SECRET)
        .full_sight(),
    Route::get("/webhooks/{id}", Needs(Permission::WebhooksRead), get)
        .named("getWebhook", "Get a webhook subscription")
        .about("Answers one subscription, without its secret.")
        .answers(&WEBHOOK)
        .full_sight(),
    Route::patch("/webhooks/{id}", Needs(Permission::WebhooksWrite), update)
        .named("updateWebhook", "Update a webhook subscription, pause it, or give it a new secret")
        .about(
            "Changes the fields that are given. With `rotate_secret` the new secret is the member `secret` of this \
             answer and of no other.",
        )
        .takes(&WEBHOOK_UPDATE)
        .answers(&WEBHOOK_UPDATED)
        .full_sight(),
    Route::delete("/webhooks/{id}", Needs(Permission::WebhooksWrite), remove)
        .named("deleteWebhook", "Delete a webhook subscription and its log for good")
        .about("Removes a subscription and its log for good; what was queued for it is not sent.")
        .full_sight(),
    Route::get("/webhooks/{id}/deliveries", Needs(Permission::WebhooksRead), list_deliveries)
        .named("listDeliveries", "List the attempts of the last 30 days to deliver to a subscription")
        .about("Lists one entry per attempt, newest first.")
        .lists(&DELIVERY, |it| drop(DeliveryFilter::read(WebhookId::from_bytes([0; 16]), it)))
        .full_sight(),
    Route::get("/webhooks/{id}/deliveries/{delivery_id}", Needs(Permission::WebhooksRead), get_delivery)
        .named("getDelivery", "Get one attempt to deliver to a subscription")
        .about("Answers one attempt of the log.")
        .answers(&DELIVERY)
        .full_sight(),
    Route::post("/webhooks/{id}/test", Needs(Permission::WebhooksWrite), test)
        .named("testWebhook", "Send a test to a receiver, once")
        .about("Sends a `test.ping` once, also to a subscription that is not active.")
        .counts_as(QuotaClass::WebhookTest)
        .answers(&DELIVERY_PROMISED)
        .full_sight(),
    Route::post("/webhooks/{id}/deliveries/{delivery_id}/redeliver", Needs(Permission::WebhooksWrite), redeliver)
        .named("redeliver", "Deliver the event of an attempt again, or now what is queued for later")
        .about(
            "Delivers the event of an attempt again, with retries like any other. Where the event is queued still, \
             its next attempt is brought forward to now.",
        )
        .accepts(&DELIVERY_PROMISED)
        .full_sight(),
    Route::post("/webhooks/{id}/replay", Needs(Permission::WebhooksWrite), replay)
        .named("replayEvents", "Deliver the events of a time again")
        .about("Delivers events of a time again, as far as the subscription wants them.")
        .takes(&WEBHOOK_REPLAY)
        .accepts(&WEBHOOK_REPLAYED)
        .full_sight(),
];

/// The routes of webhooks.
pub(crate) const GROUP: RouteGroup =
    RouteGroup::new("Webhooks", "Who is told of what happens, and how that went.", ROUTES)
        .id(WebhookKind::PREFIX)
        .second_id("delivery_id", DeliveryKind::PREFIX)
        .words(words)
        .events(EventFamily {
            prefix: "test.",
            name: "TestEvent",
            types: "TestEventType",
            data: &TEST_MESSAGE,
            about: "Somebody tests a receiver.",
        });

fn list<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { webhooks::list(shell, &it.call, it.params).await })
}

fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { webhooks::get(shell, &it.call, it.id()?).await })
}

fn create<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { webhooks::create(shell, &it.call, it.body).await })
}

fn update<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { webhooks::update(shell, &it.call, it.id()?, it.body).await })
}

fn remove<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { webhooks::remove(shell, &it.call, it.id()?).await })
}

fn list_deliveries<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { webhooks::deliveries(shell, &it.call, it.id()?, it.params).await })
}

fn get_delivery<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { webhooks::delivery(shell, &it.call, it.id()?, it.second_id()?).await })
}

fn test<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { webhooks::test(shell, &it.call, it.id()?).await })
}

fn redeliver<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { webhooks::redeliver(shell, &it.call, it.id()?, it.second_id()?).await })
}

fn replay<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { webhooks::replay(shell, &it.call, it.id()?, it.body).await })
}

const WEBHOOK: Schema = Schema::resource("Webhook", || webhook(None, None)).example(example);
const WEBHOOK_WITH_SECRET: Schema = Schema::resource("WebhookWithSecret", || webhook(Some(secret()), None))
    .example(example_with_secret)
    .outcome("The subscription, with its secret as `secret`.");
const WEBHOOK_UPDATED: Schema =
    Schema::resource("WebhookUpdated", || webhook(None, Some(secret()))).example(example_with_secret);
const DELIVERY: Schema =
    Schema::resource("Delivery", delivery).example(example_of_delivery).outcome("The attempt, as it is in the log.");
const DELIVERY_PROMISED: Schema = Schema::new("DeliveryPromised", promised)
    .example(|| json!({"delivery_id": DELIVERY_ID, "event_id": EVENT_ID}))
    .outcome("The attempt that will be made, by its id in the log.");
const WEBHOOK_REPLAYED: Schema = Schema::new("WebhookReplayed", replayed)
    .example(|| json!({"enqueued": 12, "continue_since": null}))
    .outcome("How much was queued, and where the next request goes on.");
const TEST_MESSAGE: Schema = Schema::new("TestMessage", test_message);
const WEBHOOK_CREATE: Schema = Schema::new("WebhookCreate", || body(webhook::Draft::read))
    .example(|| json!({"url": "https://hooks.example.com/candor", "event_types": ["observation.created"]}));
const WEBHOOK_UPDATE: Schema = Schema::new("WebhookUpdate", || body(webhook::Patch::read))
    .example(|| json!({"rotate_secret": true, "overlap_seconds": 3600}));
const WEBHOOK_REPLAY: Schema = Schema::new("WebhookReplay", || body(|it| ReplayOrder::read(it, NOW)))
    .example(|| json!({"since": AT, "only": "failed"}));

/// No rule that is shown depends on the time.
const NOW: Timestamp = Timestamp::from_millis(0);

/// The subscription, the attempt and the secret of examples.
const WEBHOOK_ID: &str = "whk_01KJPWD6M24DF9HWRAYHFSFV52";
const DELIVERY_ID: &str = "del_01KJPWD6M2M41901DYSMMVJQDV";
const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const FAILURE: &str = "Why it was not acknowledged: null on success, and for attempts from before this was recorded.";
/// What a subscription may ask for.
const TOPICS: &str = Topic::NAME;

fn words() -> Vec<Member> {
    vec![
        topics(),
        of::<Status>("How an attempt to deliver ended; after `dropped` no other attempt follows."),
        status_filter::<Status>("Which attempts are wanted, by how they ended."),
        of::<FailureReason>("Why an attempt to deliver was not acknowledged."),
        of::<Only>("Which events are delivered again: those never acknowledged, or also those never attempted."),
        sort::<Subscription>(),
        sort::<Delivery>(),
    ]
}

fn topics() -> Member {
    let every = json!({"type": "string", "const": Topic::Every.word()});
    let about = "What a subscription asks for: a type of event, or `*` for all, also those to come.";
    (TOPICS, json!({"anyOf": [named(EventType::NAME), every], "description": about}))
}

fn secret() -> Member {
    let what = "The secret that signs deliveries. It cannot be retrieved later.";
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

fn test_message() -> Value {
    answer(vec![field("message", plain(), "A sentence that says that this is a test.")], vec![])
}

fn example() -> Value {
    json!({
        "id": WEBHOOK_ID, "url": "https://hooks.example.com/candor", "event_types": ["observation.created"],
        "active": true, "description": null, "last_delivery_at": null, "last_delivery_status": null,
        "created_at": AT, "updated_at": AT,
    })
}

fn example_with_secret() -> Value {
    with(example(), "secret", SECRET)
}

fn example_of_delivery() -> Value {
    json!({
        "id": DELIVERY_ID, "subscription_id": WEBHOOK_ID, "event_id": EVENT_ID, "event_type": "observation.created",
        "attempt": 1, "status": "failed", "request_url": "https://hooks.example.com/candor", "response_status": 503,
        "response_duration_ms": 41, "next_attempt_at": "2026-03-02T09:00:30.041Z", "delivered_at": null,
        "attempted_at": AT, "failure": "status",
    })
}
