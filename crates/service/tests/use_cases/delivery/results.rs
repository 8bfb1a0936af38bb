//! Results of deliveries, attempted or not.

use candor_domain::signature::verify;
use candor_service::usecases::webhooks;
use candor_store_testkit::{Fault, FaultyCall};
use serde_json::json;

use super::{DeliveryTest, FakeResponse, members};
use crate::support::{json as json_of, member};

const URL: &str = "https://receiver.example/hook?key=1";

#[tokio::test]
async fn event_arrives_signed_and_is_logged() {
    let desk = DeliveryTest::new().await;
    let (id, secret) = desk.subscribe(URL).await;
    desk.hire().await;
    assert_eq!(desk.run_once().await, 1);
    let [sent] = desk.script.take().try_into().unwrap();
    assert_eq!(sent.url, URL);
    assert_eq!(
        (&sent.body["event"], &sent.body["data"]["status"]),
        (&json!("employee.created"), &json!("active"))
    );
    assert_eq!(verify(&secret, &sent.headers["X-Service-Signature"], &sent.raw, sent.at), Ok(()));
    let log = desk.log(id).await;
    let expected_log = json!([{
        "id": sent.headers["X-Service-Delivery-Id"],
        "subscription_id": id,
        "event_id": sent.event(),
        "event_type": "employee.created",
        "attempt": 1,
        "status": "success",
        "request_url": URL,
        "response_status": 200,
        "response_duration_ms": 3,
        "next_attempt_at": null,
        "delivered_at": sent.at,
        "attempted_at": sent.at,
        "failure": null,
        "failure_detail": null,
        "request_id": log[0]["request_id"],
    }]);
    assert_eq!(json!(log), expected_log);
    let subscription = desk.subscription(id).await;
    assert_eq!(subscription["last_delivery_status"], "success");
    assert_eq!((desk.run_once_after(100_000).await, desk.engine.held_count()), (0, 0));
}

#[tokio::test]
async fn subscription_receives_each_wanted_event_once() {
    let desk = DeliveryTest::new().await;
    let urls = ["https://a.example/", "https://b.example/", "https://c.example/"];
    for url in urls {
        desk.subscribe(url).await;
    }
    desk.hire().await;
    desk.queue(40).await;
    assert_eq!(desk.run_once().await, 3 * 41);
    let attempts = desk.script.take();
    for url in urls {
        let mut events: Vec<_> =
            attempts.iter().filter(|request| request.url == url).map(super::SentAttempt::event).collect();
        events.sort_unstable();
        events.dedup();
        assert_eq!(events.len(), 41, "{url}");
    }
}

#[tokio::test]
async fn both_secrets_sign_for_a_day_after_a_rotation() {
    let desk = DeliveryTest::new().await;
    let (id, first) = desk.subscribe(URL).await;
    let update_response = desk.update(id, json!({"rotate_secret": true})).await;
    let second = update_response["secret"].as_str().unwrap();
    for (later, firsts) in [(0, Ok(())), (86_399, Ok(())), (1, Err(()))] {
        desk.world.clock.advance_seconds(later);
        desk.hire().await;
        desk.run_once().await;
        let [sent] = desk.script.take().try_into().unwrap();
        let check = |secret: &str| verify(secret, &sent.headers["X-Service-Signature"], &sent.raw, sent.at);
        assert_eq!((check(&first).map_err(drop), check(second)), (firsts, Ok(())), "{later}");
    }
}

#[tokio::test]
async fn queued_delivery_of_a_removed_subscription_is_discarded() {
    let desk = DeliveryTest::new().await;
    let (id, _) = desk.subscribe(URL).await;
    desk.script.answer(URL, FakeResponse::Status(500));
    desk.hire().await;
    desk.run_once().await;
    desk.hire().await;
    webhooks::remove(&desk.world.admin(), id).await.unwrap();
    desk.run_once().await;
    desk.run_once_after(30).await;
    assert_eq!(desk.script.take().len(), 1);
    assert_eq!((desk.run_once_after(100_000).await, desk.engine.held_count()), (0, 0));
}

#[tokio::test]
async fn delivery_after_a_failed_lookup_is_retried_soon() {
    let desk = DeliveryTest::new().await;
    desk.subscribe(URL).await;
    desk.world.store.fail(FaultyCall::Batch, 1, Fault::Before);
    desk.queue(1).await;
    desk.run_once().await;
    assert_eq!(
        desk.script.take().len(),
        1,
        "an event that could not be read with the claim is read for the attempt"
    );
    for (call, faults) in [(FaultyCall::Get, 1), (FaultyCall::Batch, 2)] {
        desk.world.clock.advance_seconds(2);
        (1..=faults).for_each(|number| desk.world.store.fail(call, number, Fault::Before));
        desk.queue(1).await;
        assert_eq!((desk.run_once().await, desk.script.take().len()), (1, 0), "{call:?}");
        assert_eq!(desk.run_once_after(5).await, 1);
        assert_eq!(desk.script.take().len(), 1, "{call:?}");
    }
}

#[tokio::test]
async fn test_delivery_is_sent_at_once_under_the_announced_id() {
    let desk = DeliveryTest::new().await;
    let (id, _) = desk.subscribe(URL).await;
    desk.update(id, json!({"active": false})).await;
    for status in [200, 500] {
        desk.script.answer(URL, FakeResponse::Status(status));
        let response = webhooks::test(&desk.world.admin(), id).await.unwrap();
        assert_eq!(desk.run_once().await, 1);
        assert_eq!(desk.run_once_after(100_000).await, 0, "a test delivery is attempted once");
        let [sent] = desk.script.take().try_into().unwrap();
        assert_eq!(sent.headers["X-Service-Delivery-Id"], member(&response, "delivery_id"));
        assert_eq!(
            (sent.event(), &sent.headers["X-Service-Event"]),
            (member(&response, "event_id"), &"test.ping".into())
        );
        assert!(sent.event().starts_with("evt_test_") && sent.body["data"]["message"].is_string());
    }
    assert_eq!(members(&desk.log(id).await, "status"), ["success", "failed"]);
    assert_eq!(desk.subscription(id).await["last_delivery_status"], "failed");
}

#[tokio::test]
async fn redelivery_is_marked_and_keeps_its_event() {
    let desk = DeliveryTest::new().await;
    let (id, _) = desk.subscribe(URL).await;
    desk.hire().await;
    desk.run_once().await;
    let [first] = desk.script.take().try_into().unwrap();
    let delivery = first.headers["X-Service-Delivery-Id"].parse().unwrap();
    let response = webhooks::redeliver(&desk.world.admin(), id, delivery).await.unwrap();
    assert_eq!(desk.run_once().await, 1);
    let [again] = desk.script.take().try_into().unwrap();
    assert_eq!((&again.raw, again.headers["X-Service-Replay"].as_str()), (&first.raw, "true"));
    assert_eq!(json!(again.headers["X-Service-Delivery-Id"]), json_of(&response)["delivery_id"]);
    assert!(!first.headers.contains_key("X-Service-Replay"));
}
