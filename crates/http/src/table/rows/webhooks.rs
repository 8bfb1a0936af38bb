//! Who is told what happened, and where it is read.

use candor_domain::access::{Permission, QuotaClass};

use crate::openapi::{self, queries};
use crate::routes::{events, webhooks};
use crate::table::Access::{Admin, Permission as Needs};
use crate::table::Route;

pub(super) const ROUTES: &[Route] = &[
    // Webhooks (§4.4)
    Route::get("/webhooks", Needs(Permission::WebhooksRead), webhooks::list)
        .named("listWebhooks", "List webhook subscriptions")
        .with(&queries::WEBHOOKS)
        .answers("WebhookList")
        .full_sight(),
    Route::post("/webhooks", Needs(Permission::WebhooksWrite), webhooks::create)
        .named("createWebhook", "Subscribe a receiver to events; its secret is shown this once")
        .takes("WebhookCreate")
        .creates("WebhookWithSecret")
        .full_sight(),
    Route::get("/webhooks/{id}", Needs(Permission::WebhooksRead), webhooks::get)
        .named("getWebhook", "Get a webhook subscription")
        .answers("Webhook")
        .full_sight(),
    Route::patch("/webhooks/{id}", Needs(Permission::WebhooksWrite), webhooks::update)
        .named("updateWebhook", "Update a webhook subscription, pause it, or give it a new secret")
        .takes("WebhookUpdate")
        .answers("WebhookUpdated")
        .full_sight(),
    Route::delete("/webhooks/{id}", Needs(Permission::WebhooksWrite), webhooks::remove)
        .named("deleteWebhook", "Delete a webhook subscription and its log for good")
        .full_sight(),
    Route::get("/webhooks/{id}/deliveries", Needs(Permission::WebhooksRead), webhooks::deliveries)
        .named("listDeliveries", "List the attempts of the last 30 days to deliver to a subscription")
        .with(&queries::DELIVERIES)
        .answers("DeliveryList")
        .full_sight(),
    Route::get("/webhooks/{id}/deliveries/{delivery_id}", Needs(Permission::WebhooksRead), webhooks::delivery)
        .named("getDelivery", "Get one attempt to deliver to a subscription")
        .answers("Delivery")
        .full_sight(),
    Route::post("/webhooks/{id}/test", Needs(Permission::WebhooksWrite), webhooks::test)
        .named("testWebhook", "Send a test to a receiver, once")
        .counts_as(QuotaClass::WebhookTest)
        .answers("DeliveryPromised")
        .full_sight(),
    Route::post(
        "/webhooks/{id}/deliveries/{delivery_id}/redeliver",
        Needs(Permission::WebhooksWrite),
        webhooks::redeliver,
    )
    .named("redeliver", "Deliver the event of an attempt again, or now what is queued for later")
    .accepts("DeliveryPromised")
    .full_sight(),
    Route::post("/webhooks/{id}/replay", Needs(Permission::WebhooksWrite), webhooks::replay)
        .named("replayEvents", "Deliver the events of a time again")
        .takes("WebhookReplay")
        .accepts("WebhookReplayed")
        .full_sight(),
    // What happened
    Route::get("/events", Needs(Permission::EventsRead), events::feed)
        .named("listEvents", "Read the gap-free feed of events of the last 30 days, in commit order")
        .with(&queries::EVENTS)
        .answers("EventFeed")
        .full_sight(),
    Route::get("/events/{id}", Needs(Permission::EventsRead), events::get)
        .named("getEvent", "Get one event of the last 30 days")
        .answers("Event")
        .full_sight(),
    Route::get("/audit-log", Admin(Permission::AuditRead), events::audit_log)
        .named("listAuditLog", "List audit entries")
        .with(&queries::AUDIT_LOG)
        .answers("AuditEntryList"),
    Route::file("/openapi.json", openapi::rendered).named("getDocument", "Get this document").answers("Document"),
];
