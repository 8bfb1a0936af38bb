//! Webhook subscriptions, their log, and what is to be sent once more (§4.4, decisions F).

use candor_domain::access::{Permission, QuotaClass};
use candor_service::{Shell, webhooks};

use crate::exchange::AuthenticatedRequest;
use crate::openapi::queries;
use crate::table::Access::Permission as Needs;
use crate::table::{Route, Work};

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/webhooks", Needs(Permission::WebhooksRead), list)
        .named("listWebhooks", "List webhook subscriptions")
        .with(&queries::WEBHOOKS)
        .answers("WebhookList")
        .full_sight(),
    Route::post("/webhooks", Needs(Permission::WebhooksWrite), create)
        .named("createWebhook", "Subscribe a receiver to events; its secret is shown this once")
        .takes("WebhookCreate")
        .creates("WebhookWithSecret")
        .full_sight(),
    Route::get("/webhooks/{id}", Needs(Permission::WebhooksRead), get)
        .named("getWebhook", "Get a webhook subscription")
        .answers("Webhook")
        .full_sight(),
    Route::patch("/webhooks/{id}", Needs(Permission::WebhooksWrite), update)
        .named("updateWebhook", "Update a webhook subscription, pause it, or give it a new secret")
        .takes("WebhookUpdate")
        .answers("WebhookUpdated")
        .full_sight(),
    Route::delete("/webhooks/{id}", Needs(Permission::WebhooksWrite), remove)
        .named("deleteWebhook", "Delete a webhook subscription and its log for good")
        .full_sight(),
    Route::get("/webhooks/{id}/deliveries", Needs(Permission::WebhooksRead), deliveries)
        .named("listDeliveries", "List the attempts of the last 30 days to deliver to a subscription")
        .with(&queries::DELIVERIES)
        .answers("DeliveryList")
        .full_sight(),
    Route::get("/webhooks/{id}/deliveries/{delivery_id}", Needs(Permission::WebhooksRead), delivery)
        .named("getDelivery", "Get one attempt to deliver to a subscription")
        .answers("Delivery")
        .full_sight(),
    Route::post("/webhooks/{id}/test", Needs(Permission::WebhooksWrite), test)
        .named("testWebhook", "Send a test to a receiver, once")
        .counts_as(QuotaClass::WebhookTest)
        .answers("DeliveryPromised")
        .full_sight(),
    Route::post("/webhooks/{id}/deliveries/{delivery_id}/redeliver", Needs(Permission::WebhooksWrite), redeliver)
        .named("redeliver", "Deliver the event of an attempt again, or now what is queued for later")
        .accepts("DeliveryPromised")
        .full_sight(),
    Route::post("/webhooks/{id}/replay", Needs(Permission::WebhooksWrite), replay)
        .named("replayEvents", "Deliver the events of a time again")
        .takes("WebhookReplay")
        .accepts("WebhookReplayed")
        .full_sight(),
];

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

fn deliveries<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { webhooks::deliveries(shell, &it.call, it.id()?, it.params).await })
}

fn delivery<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
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
