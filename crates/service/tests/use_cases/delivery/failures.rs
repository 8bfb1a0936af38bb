//! Retries, dropped deliveries, and the deactivation of a subscription that keeps failing (§3.4, §6.4).

use candor_domain::params::Params;
use candor_service::usecases::{employees, notifications};
use candor_subscriptions::Schedule;
use serde_json::json;

use super::{DeliveryTest, FakeResponse, members};
use crate::support::{NOON, body, json as json_of};

const URL: &str = "https://receiver.example/";

#[tokio::test]
async fn delivery_is_dropped_after_seven_attempts_over_31_hours() {
    let desk = DeliveryTest::new().await;
    let (id, _) = desk.subscribe(URL).await;
    desk.script.answer(URL, FakeResponse::Status(503));
    desk.hire().await;
    assert_eq!(desk.run_once().await, 1);
    for delay in [30, 120, 600, 3_600, 21_600, 86_400] {
        assert_eq!((desk.run_once().await, desk.run_once_after(delay - 1).await), (0, 0), "{delay}");
        assert_eq!(desk.run_once_after(1).await, 1, "{delay}");
    }
    assert_eq!(desk.run_once_after(1_000_000).await, 0);

    let seconds_after_event: Vec<_> =
        desk.script.take().iter().map(|request| (request.at.millis() - NOON.millis()) / 1000).collect();
    assert_eq!(seconds_after_event, [0, 30, 150, 750, 4_350, 25_950, 112_350]);
    let log = desk.log(id).await;
    assert_eq!(members(&log, "attempt"), (1..=7).map(|number| json!(number)).collect::<Vec<_>>());
    let statuses = ["failed"; 6].into_iter().chain(["dropped"]).map(|status| json!(status));
    assert_eq!(members(&log, "status"), statuses.collect::<Vec<_>>());
    let next = [30, 150, 750, 4_350, 25_950, 112_350].map(|seconds| json!(NOON.plus_seconds(seconds)));
    assert_eq!(members(&log, "next_attempt_at"), next.into_iter().chain([json!(null)]).collect::<Vec<_>>());
    let subscription = desk.subscription(id).await;
    assert_eq!(
        (&subscription["last_delivery_status"], &subscription["active"]),
        (&json!("dropped"), &json!(true))
    );
    assert_eq!(desk.engine.held_count(), 0);
}

#[tokio::test]
async fn attempts_share_the_event_but_have_their_own_ids() {
    let desk = DeliveryTest::new().await;
    desk.subscribe(URL).await;
    desk.script.answer(URL, FakeResponse::Silent);
    desk.hire().await;
    desk.run_once().await;
    desk.run_once_after(30).await;
    let attempts = desk.script.take();
    assert_eq!(
        (attempts.len(), attempts[0].event(), &attempts[0].raw),
        (2, attempts[1].event(), &attempts[1].raw)
    );
    assert_ne!(attempts[0].headers["X-Service-Delivery-Id"], attempts[1].headers["X-Service-Delivery-Id"]);
    assert_ne!(attempts[0].headers["X-Service-Signature"], attempts[1].headers["X-Service-Signature"]);
}

/// Creates a subscription with this many failed deliveries, all attempted at noon.
async fn create_failing(failures: usize) -> (DeliveryTest, candor_domain::id::WebhookId) {
    let desk = DeliveryTest::with(Schedule::parse("").unwrap()).await;
    for (name, role) in [("ada", "org_admin"), ("bea", "org_admin"), ("cy", "employee")] {
        let text = json!({
            "email": format!("{name}@example.com"), "first_name": name, "last_name": "X", "role": role,
        });
        employees::create(&desk.world.admin(), body(&text.to_string())).await.unwrap();
    }
    let (id, _) = desk.subscribe(URL).await;
    desk.script.answer(URL, FakeResponse::Status(500));
    desk.queue(failures).await;
    assert_eq!(desk.run_once().await, failures);
    (desk, id)
}

async fn fails_once_more(desk: &DeliveryTest) {
    desk.queue(1).await;
    assert_eq!(desk.run_once().await, 1);
}

async fn list_notifications(desk: &DeliveryTest) -> Vec<serde_json::Value> {
    let list = notifications::list(&desk.world.admin(), Params::new(vec![])).await.unwrap();
    json_of(&list)["data"].as_array().unwrap().clone()
}

#[tokio::test]
async fn fifty_failures_over_a_day_disable_and_49_do_not() {
    let (desk, id) = create_failing(48).await;
    desk.world.clock.advance_seconds(86_401);
    fails_once_more(&desk).await;
    assert_eq!(desk.subscription(id).await["active"], true);
    assert!(list_notifications(&desk).await.is_empty());
    fails_once_more(&desk).await;
    assert_eq!(desk.subscription(id).await["active"], false);
    let notices = list_notifications(&desk).await;
    assert_eq!(members(&notices, "type"), [json!("webhook.disabled"), json!("webhook.disabled")]);
    assert_ne!(notices[0]["recipient_id"], notices[1]["recipient_id"]);
    desk.queue(1).await;
    assert_eq!(desk.run_once().await, 0, "a disabled subscription gets no attempt");
}

#[tokio::test]
async fn many_failures_within_less_than_a_day_disable_nothing() {
    let (desk, id) = create_failing(60).await;
    desk.world.clock.advance_seconds(86_340);
    fails_once_more(&desk).await;
    assert_eq!(desk.subscription(id).await["active"], true);
    desk.world.clock.advance_seconds(60);
    fails_once_more(&desk).await;
    assert_eq!(desk.subscription(id).await["active"], false);
}

#[tokio::test]
async fn one_success_resets_the_failure_count() {
    let (desk, id) = create_failing(60).await;
    desk.script.answer(URL, FakeResponse::Status(204));
    fails_once_more(&desk).await;
    desk.script.answer(URL, FakeResponse::Status(500));
    desk.world.clock.advance_seconds(86_401);
    fails_once_more(&desk).await;
    assert_eq!(desk.subscription(id).await["active"], true);
}

#[tokio::test]
async fn failed_disabling_is_repeated_with_the_next_failure() {
    let (desk, id) = create_failing(60).await;
    desk.world.clock.advance_seconds(86_401);
    // The first commit that disables the subscription fails before it takes effect. The next failed delivery
    // disables the subscription.
    desk.world.store.fail(candor_store_testkit::FaultyCall::Commit, 2, candor_store_testkit::Fault::Before);
    fails_once_more(&desk).await;
    assert_eq!(desk.subscription(id).await["active"], true);
    fails_once_more(&desk).await;
    assert_eq!(desk.subscription(id).await["active"], false);
    assert_eq!(list_notifications(&desk).await.len(), 2);
}

#[tokio::test]
async fn retry_waits_as_long_as_the_receiver_requests() {
    let desk = DeliveryTest::new().await;
    let (id, _) = desk.subscribe(URL).await;
    desk.hire().await;
    // The schedule's own delays are 30 seconds, 2 minutes, 10 minutes and 1 hour.
    for (status, seconds, delay) in [(503, 7, 30), (429, 600, 600), (503, 1_000_000, 86_400), (500, 7_200, 3_600)]
    {
        desk.script.answer(URL, FakeResponse::RetryAfter(status, seconds));
        assert_eq!(desk.run_once().await, 1, "{status}, {seconds}");
        assert_eq!(desk.run_once_after(delay - 1).await, 0, "{status}, {seconds}");
        desk.world.clock.advance_seconds(1);
    }
    let next = [30, 630, 87_030, 90_630].map(|seconds| json!(NOON.plus_seconds(seconds)));
    assert_eq!(members(&desk.log(id).await, "next_attempt_at"), next);
}

#[tokio::test]
async fn gone_receiver_disables_its_subscription_at_once() {
    const OTHER: &str = "https://other.example/secret";
    let (desk, id) = create_failing(0).await;
    let (other, _) = desk.subscribe(OTHER).await;
    for subscription in [id, other] {
        desk.update(subscription, json!({"event_types": ["*"]})).await;
    }
    desk.script.answer(URL, FakeResponse::Status(410));
    desk.queue(1).await;
    desk.run_once().await;
    let webhook_subscription = desk.subscription(id).await;
    assert_eq!(
        (&webhook_subscription["active"], &webhook_subscription["last_delivery_status"]),
        (&json!(false), &json!("dropped"))
    );
    assert_eq!(members(&desk.log(id).await, "failure"), ["gone"]);
    let notices = list_notifications(&desk).await;
    assert_eq!(members(&notices, "type"), [json!("webhook.disabled"), json!("webhook.disabled")]);
    assert!(notices[0]["body"].as_str().unwrap().contains("410"), "{notices:?}");
    desk.run_once().await;
    let mut attempts = desk.script.take();
    attempts.retain(|attempt| attempt.body["event"] == "webhook.disabled");
    let urls: Vec<_> = attempts.iter().map(|attempt| attempt.url.as_str()).collect();
    assert_eq!(urls, [OTHER], "only the other subscription gets the event");
    let data = &attempts[0].body["data"];
    assert_eq!((&data["id"], &data["active"]), (&webhook_subscription["id"], &json!(false)));
    assert_eq!(data["url"], "https://receiver.example");
    assert_eq!(desk.subscription(other).await["active"], true);
}

#[tokio::test]
async fn deliveries_of_a_gone_receiver_wait_for_reactivation() {
    let desk = DeliveryTest::new().await;
    let (id, _) = desk.subscribe(URL).await;
    desk.script.answer(URL, FakeResponse::Status(500));
    desk.queue(3).await;
    assert_eq!(desk.run_once().await, 3);
    desk.script.answer(URL, FakeResponse::Status(410));
    desk.queue(1).await;
    desk.run_once().await;
    assert_eq!(desk.subscription(id).await["active"], false);
    desk.script.take();
    desk.run_once_after(3_600).await;
    assert_eq!(desk.script.take().len(), 0);
    desk.script.answer(URL, FakeResponse::Status(200));
    desk.update(id, json!({"active": true})).await;
    desk.run_once().await;
    assert_eq!(desk.script.take().len(), 4);
}

#[tokio::test]
async fn test_of_a_gone_receiver_disables_nothing() {
    let desk = DeliveryTest::new().await;
    let (id, _) = desk.subscribe(URL).await;
    desk.script.answer(URL, FakeResponse::Status(410));
    candor_service::usecases::webhooks::test(&desk.world.admin(), id).await.unwrap();
    assert_eq!(desk.run_once().await, 1);
    assert_eq!(members(&desk.log(id).await, "failure"), ["gone"]);
    assert_eq!(desk.subscription(id).await["active"], true);
}
