//! Webhook subscriptions, delivery log and redelivery (§4.4, decisions F).

use candor_domain::access::{Access, Permission, QuotaClass};
use candor_domain::attempt_failure::FailureReason;
use candor_domain::event::{EventData, EventType};
use candor_domain::fields::StringEnum;
use candor_domain::id::{DeliveryKind, Kind, WebhookId, WebhookKind};
use candor_domain::request_stats::StatsWindow;
use candor_domain::time::Timestamp;
use candor_service::usecases::webhooks::{self, EventReplayReply, RedeliveryReply};
use candor_subscriptions::{
    AllDeliveriesFilter, Delivery, DeliveryFilter, DeliveryStats, PayloadForm, Ping, ReplayOrder, ReplaySelection,
    Status, Subscription, SubscriptionWithSecret, Topic,
};
use serde_json::{Value, json};

use super::events::EVENT_ID;
use crate::contract::route::{EventFamily, Query, Route, RouteGroup, handlers};
use crate::contract::schema::shapes::{Member, describe, field, nullable, reference_to};
use crate::contract::schema::words::{enum_member, enumeration, sort, status_filter};
use crate::contract::schema::{AT, Schema, body, body_of, resource, response_of, with, with_optional};

const ROUTES: &[Route] = &[
    Route::get("/webhooks", Access::scope(Permission::WebhooksRead).full_sight(), list)
        .with_name("listWebhooks", "List webhook subscriptions")
        .description("Lists the webhook subscriptions, newest first, without secrets.")
        .lists(&WEBHOOK, |input| drop(candor_subscriptions::Filter::read(input))),
    Route::post("/webhooks", Access::scope(Permission::WebhooksWrite).full_sight(), create)
        .with_name("createWebhook", "Create a webhook subscription")
        .description(
            "Creates a subscription of a URL to event types. Only this response contains the secret that signs \
             deliveries, as `secret`.",
        )
        .takes(&WEBHOOK_CREATE)
        .creates(&WEBHOOK_WITH_SECRET),
    Route::get("/webhooks/{id}", Access::scope(Permission::WebhooksRead).full_sight(), get)
        .with_name("getWebhook", "Get a webhook subscription")
        .description("Returns one subscription, without its secret.")
        .expands::<candor_subscriptions::Expand>()
        .answers(&WEBHOOK),
    Route::patch("/webhooks/{id}", Access::scope(Permission::WebhooksWrite).full_sight(), update)
        .with_name("updateWebhook", "Update or pause a webhook subscription, or rotate its secret")
        .description(
            "Changes the given members. With `rotate_secret`, only this response contains the new secret, as \
             `secret`.",
        )
        .takes(&WEBHOOK_UPDATE)
        .answers(&WEBHOOK_UPDATED),
    Route::delete("/webhooks/{id}", Access::scope(Permission::WebhooksWrite).full_sight(), remove)
        .with_name("deleteWebhook", "Delete a webhook subscription and its log")
        .description("Deletes a subscription and its log permanently. Queued deliveries are not sent."),
    Route::get("/webhooks/{id}/deliveries", Access::scope(Permission::WebhooksRead).full_sight(), list_deliveries)
        .with_name("listDeliveries", "List the delivery attempts of the last 30 days")
        .description("Lists the delivery attempts, newest first.")
        .lists(&DELIVERY, |input| drop(DeliveryFilter::read(WebhookId::from_bytes([0; 16]), input))),
    Route::get(
        "/webhooks/{id}/deliveries/{delivery_id}",
        Access::scope(Permission::WebhooksRead).full_sight(),
        get_delivery,
    )
    .with_name("getDelivery", "Get a delivery attempt")
    .description("Returns one delivery attempt.")
    .answers(&DELIVERY),
    Route::post("/webhooks/{id}/test", Access::scope(Permission::WebhooksWrite).full_sight(), test)
        .with_name("testWebhook", "Send a test event to a receiver")
        .description("Sends a `test.ping` once, even if the subscription is inactive.")
        .counts_as(QuotaClass::WebhookTest)
        .has_no_dry_run()
        .answers(&DELIVERY_PROMISED),
    Route::post(
        "/webhooks/{id}/deliveries/{delivery_id}/redeliver",
        Access::scope(Permission::WebhooksWrite).full_sight(),
        redeliver,
    )
    .with_name("redeliver", "Redeliver the event of an attempt")
    .description(
        "Delivers the event of an attempt again, with the usual retries. If the event is still queued, its \
             next attempt is rescheduled to now.",
    )
    .has_no_dry_run()
    .accepts(&DELIVERY_PROMISED),
    Route::post("/webhooks/{id}/replay", Access::scope(Permission::WebhooksWrite).full_sight(), replay)
        .with_name("replayEvents", "Redeliver the events of a time range")
        .description("Delivers the events of a time range again. Skips events of types that the subscription does not have.")
        .takes(&WEBHOOK_REPLAY)
        .has_no_dry_run()
        .accepts(&WEBHOOK_REPLAYED),
    Route::get("/deliveries", Access::scope(Permission::WebhooksRead).full_sight(), list_all_deliveries)
        .with_name("listAllDeliveries", "List the delivery attempts of all subscriptions")
        .description(
            "Lists the delivery attempts of the last 30 days over all subscriptions, newest first. \
             `filter[event_type]` and `filter[event_id]` have no index: a request that takes too long returns \
             503; narrow it with other filters.",
        )
        .lists(&DELIVERY, |input| drop(AllDeliveriesFilter::read(input))),
    Route::get("/webhooks/{id}/stats", Access::scope(Permission::WebhooksRead).full_sight(), stats)
        .with_name("getWebhookStats", "Get statistics of the delivery attempts")
        .description(
            "Returns numbers of attempts by result and hour, the durations of the responses and the length of \
             the queue. Each attempt in the time range is read: a request that takes too long returns 503; \
             choose a shorter `window`.",
        )
        .with(Query::one(|input| _ = StatsWindow::read(input)))
        .answers(&STATS),
];

/// The routes of webhooks.
pub(crate) const GROUP: RouteGroup = RouteGroup::new(
    "Webhooks",
    "Subscriptions to events, and the log of their deliveries.",
    ROUTES,
)
.id(WebhookKind::PREFIX)
.second_id("delivery_id", DeliveryKind::PREFIX)
.words(words)
.events(&[
    EventFamily {
        carried: EventData::TestMessage,
        name: "TestEvent",
        data: &TEST_MESSAGE,
        about: "A test of a receiver.",
    },
    EventFamily {
        carried: EventData::Webhook,
        name: "WebhookEvent",
        data: &WEBHOOK,
        about: "A change of a webhook subscription. Its `url` ends with the host, because the rest may be a \
                        secret. The subscription itself does not get the event.",
    },
]);

handlers! {
    list => webhooks::list(params);
    get => webhooks::get(id, params);
    create => webhooks::create(body);
    update => webhooks::update(id, body);
    remove => webhooks::remove(id);
    list_deliveries => webhooks::deliveries(id, params);
    get_delivery => webhooks::delivery(id, second_id);
    test => webhooks::test(id);
    redeliver => webhooks::redeliver(id, second_id);
    replay => webhooks::replay(id, body);
    list_all_deliveries => webhooks::all_deliveries(params);
    stats => webhooks::stats(id, params);
}

const WEBHOOK: Schema = Schema::resource("Webhook", || {
    let stats = field(
        "stats",
        nullable(reference_to(STATS.name)),
        "Statistics of the delivery attempts of the last 24 hours. Null if there are too many attempts to count them within \
         seconds. Present with `expand=stats`.",
    );
    resource::<Subscription, _>(candor_subscriptions::Draft::read, vec![stats])
})
.example(example);
const WEBHOOK_WITH_SECRET: Schema = Schema::resource("WebhookWithSecret", with_secret)
    .example(example_with_secret)
    .outcome("The subscription, with its secret as `secret`.");
const WEBHOOK_UPDATED: Schema = Schema::resource("WebhookUpdated", update_schema).example(example_with_secret);
const DELIVERY: Schema = Schema::resource("Delivery", response_of::<Delivery>)
    .example(example_of_delivery)
    .outcome("The delivery attempt.");
const DELIVERY_PROMISED: Schema = Schema::new("DeliveryPromised", response_of::<RedeliveryReply>)
    .example(|| json!({"delivery_id": DELIVERY_ID, "event_id": EVENT_ID}))
    .outcome("Id of the coming attempt in the log.");
const WEBHOOK_REPLAYED: Schema = Schema::new("WebhookReplayed", response_of::<EventReplayReply>)
    .example(|| json!({"enqueued": 12, "continue_since": null}))
    .outcome("Number of queued deliveries, and the value of `since` for the next request.");
const STATS: Schema = Schema::new("DeliveryStats", response_of::<DeliveryStats>)
    .example(example_of_stats)
    .outcome("The statistics of the subscription.");
const TEST_MESSAGE: Schema = Schema::new("TestMessage", response_of::<Ping>);
const WEBHOOK_CREATE: Schema = Schema::new("WebhookCreate", || body_of::<Subscription, _>(candor_subscriptions::Draft::read))
    .example(|| json!({"url": "https://hooks.example.com/candor", "event_types": ["observation.created"], "filter": {"type": "strength"}}));
const WEBHOOK_UPDATE: Schema =
    Schema::new("WebhookUpdate", || body_of::<Subscription, _>(candor_subscriptions::Patch::read))
        .example(|| json!({"rotate_secret": true, "overlap_seconds": 3600}));
const WEBHOOK_REPLAY: Schema = Schema::new("WebhookReplay", || body(|input| ReplayOrder::read(input, NOW)))
    .example(|| json!({"since": AT, "only": "failed"}));

/// Time for parsers that are run only to describe their rules, which do not depend on the clock.
const NOW: Timestamp = Timestamp::from_millis(0);

/// Example id of a subscription.
const WEBHOOK_ID: &str = "whk_01KJPWD6M24DF9HWRAYHFSFV52";
/// Example id of a delivery attempt.
const DELIVERY_ID: &str = "del_01KJPWD6M2M41901DYSMMVJQDV";
/// Signing secret that the examples of the document show.
const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
/// Name of the enumeration of subscription topics.
const TOPICS: &str = Topic::NAME;

fn words() -> Vec<Member> {
    vec![
        topics(),
        enum_member::<Status>("Result of a delivery attempt. No attempt follows after `dropped`."),
        status_filter::<Status>("Filter of attempts by result."),
        enum_member::<FailureReason>("Reason why a delivery attempt failed."),
        enum_member::<ReplaySelection>(
            "Selection of events: `failed` for those that were attempted and never acknowledged, `all` for every \
             event of the time range.",
        ),
        enum_member::<PayloadForm>(
            "Form of delivered events. With `thin`, `data` has only the id, the type and the URL of the resource.",
        ),
        sort::<Subscription>(),
        sort::<Delivery>(),
        all_deliveries_sort(),
        enum_member::<StatsWindow>("Time range of statistics."),
        enum_member::<candor_subscriptions::Expand>("Values that a subscription can include."),
    ]
}

fn all_deliveries_sort() -> Member {
    let words: Vec<_> = AllDeliveriesFilter::sorts().map(|(word, _)| word).collect();
    let about = "Sort orders of this list. A leading `-` sorts in descending order.";
    enumeration(AllDeliveriesFilter::ORDERS_NAME, &words, about)
}

fn topics() -> Member {
    let every = json!({"type": "string", "const": Topic::Every.word()});
    let about = "Event type of a subscription. `*` means all types, including future ones.";
    (TOPICS, json!({"anyOf": [reference_to(EventType::NAME), every], "description": about}))
}

fn with_secret() -> Value {
    resource::<SubscriptionWithSecret, _>(candor_subscriptions::Draft::read, vec![])
}

fn update_schema() -> Value {
    let about = "A webhook subscription. It has its secret only if the request rotated it.";
    describe(with_optional(with_secret(), "secret"), about)
}

fn example() -> Value {
    json!({
        "id": WEBHOOK_ID, "url": "https://hooks.example.com/candor", "event_types": ["observation.created"],
        "effective_event_types": ["observation.created"],
        "active": true, "description": null, "payload": "full", "headers": {"authorization": "…9abc"},
        "filter": {"employee_id": null, "department_id": null, "type": "strength", "scope": null},
        "max_per_second": 10,
        "last_delivery_at": null, "last_delivery_status": null, "created_at": AT, "updated_at": AT,
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
        "attempted_at": AT, "failure": "status", "failure_detail": null, "request_id": "req_01KJPWD6M2R4CJ5Y8J0N3W7K1Q",
    })
}

fn example_of_stats() -> Value {
    json!({
        "subscription_id": WEBHOOK_ID, "window": "1h", "since": "2026-03-02T08:00:00.000Z", "until": AT,
        "attempts": 120, "successes": 118, "failures": 2,
        "failures_by_reason": [{"reason": "timeout", "count": 2}], "p50_ms": 41, "p95_ms": 180, "queued": 1,
        "oldest_queued_at": "2026-03-02T08:59:30.000Z", "next_attempt_at": "2026-03-02T09:00:30.041Z",
        "by_hour": [{"hour": "2026-03-02T08:00:00.000Z", "attempts": 120, "successes": 118, "failures": 2}],
    })
}
