//! The events `webhook.failing` and `api_key.expiring` (decisions B7, F3, F9).

use candor_domain::access::Tenant;
use candor_domain::event::EventType;
use candor_port_storage::Write;
use candor_service::runtime::operational_events;
use candor_store_testkit::Fixtures;
use candor_subscriptions::{DeliveryOrigin, Job};
use futures_util::future::try_join_all;
use serde_json::{Value, json};

use super::{path, subscribe};
use crate::stores::{SharedService, every_store};
use crate::support::TestApi;

const DAY: i64 = 86_400;

async fn fired_events(world: &TestApi, kind: &str) -> Vec<Value> {
    let events = world.get(&format!("/v1/events?limit=100&filter[event]={kind}")).await.json();
    events["data"].as_array().unwrap().clone()
}

/// Fires the due events on three instances at once. Returns the number of events about subscriptions, and about keys.
async fn sweep(shared: &SharedService) -> (u64, u64) {
    let instances = [81, 82, 83].map(|seed| shared.instance(seed));
    let failing = instances.iter().map(|instance| operational_events::failing_webhooks(instance, || true));
    let failing = try_join_all(failing).await.unwrap();
    let keys = instances.iter().map(|instance| operational_events::expiring_keys(instance, || true));
    let keys = try_join_all(keys).await.unwrap();
    (failing.iter().sum(), keys.iter().sum())
}

/// Attempts deliveries after each of these delays, and returns the number of events about subscriptions.
async fn attempts(shared: &SharedService, delays: &[i64], status: u16) -> u64 {
    let mut all = 0;
    for delay in delays {
        shared.world.clock.advance_seconds(*delay);
        shared.world.attempt_all(status).await;
        all += sweep(shared).await.0;
    }
    all
}

#[tokio::test]
async fn failing_webhook_is_reported_once_until_a_success() {
    for shared in every_store().await {
        let world = &shared.world;
        let webhook = subscribe(world, &["employee.created"]).await;
        world.employee("ada@example.com").await;
        world.employee("bea@example.com").await;
        assert_eq!(attempts(&shared, &[0, 30, 120, 600], 500).await, 0, "{}", shared.name);
        assert_eq!(attempts(&shared, &[3_600], 500).await, 1, "two deliveries fail for the fifth time");
        assert_eq!(attempts(&shared, &[21_600], 500).await, 0);
        let events = fired_events(world, "webhook.failing").await;
        assert_eq!(events.len(), 1);
        let webhook_json = world.get(&path(&webhook)).await.json();
        let mut data = events[0]["data"].clone();
        assert!(webhook_json["url"].as_str().unwrap().starts_with(data["url"].as_str().unwrap()), "{data}");
        (data["url"], data["last_delivery_at"]) =
            (webhook_json["url"].clone(), webhook_json["last_delivery_at"].clone());
        assert_eq!(data, webhook_json);
        world.employee("cy@example.com").await;
        assert_eq!(attempts(&shared, &[0, 30, 120, 600, 3_600], 500).await, 0, "no success since the last event");
        assert_eq!(attempts(&shared, &[86_400], 200).await, 0);
        world.employee("dan@example.com").await;
        assert_eq!(attempts(&shared, &[0, 30, 120, 600, 3_600], 500).await, 1);
        assert_eq!(fired_events(world, "webhook.failing").await.len(), 2, "{}", shared.name);
    }
}

#[tokio::test]
async fn attempts_that_the_log_hides_do_not_make_a_webhook_failing() {
    for shared in every_store().await {
        let (world, store) = (&shared.world, shared.name);
        subscribe(world, &["employee.created", "employee.hold_changed"]).await;
        let person = world.employee("ada@example.com").await;
        assert_eq!(attempts(&shared, &[0], 200).await, 0, "{store}");
        let hold = format!("/v1/employees/{person}/legal-hold");
        let begin_hold = world.ask("PUT", &hold).json(&json!({"reason": "Lawsuit"})).send().await;
        assert_eq!(begin_hold.status, 200, "{store}: {}", begin_hold.text());
        assert_eq!(attempts(&shared, &[0, 30, 120, 600, 3_600], 500).await, 0, "{store}: a hidden failure");
        world.employee("bea@example.com").await;
        assert_eq!(attempts(&shared, &[0, 30, 120, 600, 3_600], 500).await, 1, "{store}: a visible failure");
        assert_eq!(world.ask("DELETE", &hold).send().await.status, 204, "{store}");
        assert_eq!(attempts(&shared, &[0], 200).await, 0, "{store}");
        world.employee("cy@example.com").await;
        assert_eq!(attempts(&shared, &[0, 30, 120, 600, 3_600], 500).await, 0, "{store}: a hidden success");
    }
}

#[tokio::test]
async fn subscription_gets_no_event_about_itself() {
    for shared in every_store().await {
        let world = &shared.world;
        let (own, other) = (subscribe(world, &["*"]).await, subscribe(world, &["webhook.failing"]).await);
        world.employee("ada@example.com").await;
        assert_eq!(attempts(&shared, &[0, 30, 120, 600, 3_600], 500).await, 1, "{}", shared.name);
        // A replay ends before the current millisecond.
        world.clock.advance_seconds(1);
        let replay_body =
            json!({"since": world.services.clock.now().plus_seconds(-60).to_string(), "only": "all"});
        let attempts = world.attempt_all(200).await;
        let to: Vec<_> = attempts.iter().map(|attempt| attempt.subscription_id.to_string()).collect();
        assert_eq!(to, [other["id"].as_str().unwrap()], "{}", shared.name);
        for (webhook, wanted) in [(&own, 0), (&other, 1)] {
            let replay_json = world.post(&format!("{}/replay", path(webhook)), replay_body.clone()).await.json();
            assert_eq!(replay_json["enqueued"], json!(wanted), "{}", shared.name);
        }
    }
}

#[tokio::test]
async fn event_about_the_subscription_is_not_redelivered() {
    for shared in every_store().await {
        let world = &shared.world;
        let (own, other) = (subscribe(world, &["*"]).await, subscribe(world, &["webhook.failing"]).await);
        world.employee("ada@example.com").await;
        assert_eq!(attempts(&shared, &[0, 30, 120, 600, 3_600], 500).await, 1, "{}", shared.name);
        let event = fired_events(world, "webhook.failing").await[0]["id"].as_str().unwrap().parse().unwrap();
        // A delivery as an older release queued it, which replayed such events to every subscription.
        let (tenant, webhook) = (Tenant::live(world.organization), own["id"].as_str().unwrap().parse().unwrap());
        let event = (event, EventType::WebhookFailing);
        let job = Job::new(tenant, webhook, event, world.services.clock.now(), DeliveryOrigin::Replay);
        let change = Fixtures::new(5).change(vec![Write::Enqueue(vec![job])]);
        world.services.store.commit(tenant, change).await.unwrap();
        let attempts = world.attempt_all(200).await;
        assert_eq!(attempts.len(), 2, "{}", shared.name);
        for (webhook, status) in [(&own, 409), (&other, 202)] {
            let is_to = |id: String| webhook["id"] == json!(id);
            let attempt = attempts.iter().find(|attempt| is_to(attempt.subscription_id.to_string())).unwrap();
            let redeliver = format!("{}/deliveries/{}/redeliver", path(webhook), attempt.id);
            let response = world.post(&redeliver, json!({})).await;
            assert_eq!(response.status, status, "{}", shared.name);
            if status == 409 {
                assert!(response.json().to_string().contains("about_this_subscription"));
            }
        }
    }
}

async fn key(world: &TestApi, days: i64) -> String {
    let end = world.services.clock.now().plus_seconds(days * DAY).to_string();
    world.made("/v1/api-keys", json!({"name": "HR sync", "scopes": ["*"], "expires_at": end})).await
}

#[tokio::test]
async fn end_of_a_key_is_announced_once_7_days_ahead() {
    for shared in every_store().await {
        let world = &shared.world;
        let id = key(world, 10).await;
        let revoked_key = key(world, 10).await;
        assert_eq!(world.post(&format!("/v1/api-keys/{revoked_key}/revoke"), json!({})).await.status, 200);
        world.clock.advance_seconds(3 * DAY - 1);
        assert_eq!(sweep(&shared).await.1, 0, "{}", shared.name);
        world.clock.advance_seconds(1);
        assert_eq!(sweep(&shared).await.1, 1);
        world.clock.advance_seconds(DAY);
        assert_eq!(sweep(&shared).await.1, 0);
        let events = fired_events(world, "api_key.expiring").await;
        assert_eq!(events.len(), 1);
        assert_eq!(events[0]["data"], world.get(&format!("/v1/api-keys/{id}")).await.json());
        let end = world.services.clock.now().plus_seconds(30 * DAY).to_string();
        assert_eq!(world.patch(&format!("/v1/api-keys/{id}"), json!({"expires_at": end})).await.status, 200);
        world.clock.advance_seconds(22 * DAY);
        assert_eq!(sweep(&shared).await.1, 0, "the key has a later end");
        world.clock.advance_seconds(DAY);
        assert_eq!(sweep(&shared).await.1, 1, "{}", shared.name);
    }
}

#[tokio::test]
async fn end_of_a_rotated_secret_is_announced() {
    for shared in every_store().await {
        let world = &shared.world;
        let id = world.made("/v1/api-keys", json!({"name": "HR sync", "scopes": ["*"]})).await;
        let rotate = format!("/v1/api-keys/{id}/rotate");
        assert_eq!(world.post(&rotate, json!({"overlap_seconds": 86_400})).await.status, 200);
        world.clock.advance_seconds(DAY * 3 / 4 - 1);
        assert_eq!(sweep(&shared).await.1, 0, "{}", shared.name);
        world.clock.advance_seconds(1);
        assert_eq!(sweep(&shared).await.1, 1);
        assert_eq!(sweep(&shared).await.1, 0);
        let events = fired_events(world, "api_key.expiring").await;
        assert_eq!((events.len(), &events[0]["data"]["id"]), (1, &json!(id)), "{}", shared.name);
    }
}
