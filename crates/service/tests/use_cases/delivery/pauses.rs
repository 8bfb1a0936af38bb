//! Subscriptions that are inactive for a while (decision F4).

use candor_service::usecases::webhooks;
use serde_json::json;

use super::{DeliveryTest, FakeResponse, members};
use crate::support::{body, sent_to};

const URL: &str = "https://receiver.example/";

#[tokio::test]
async fn queued_retries_wait_during_a_pause_and_resume_at_once() {
    let desk = DeliveryTest::new().await;
    let (id, _) = desk.subscribe(URL).await;
    desk.script.answer(URL, FakeResponse::Status(500));
    desk.queue(3).await;
    assert_eq!(desk.run_once().await, 3);
    desk.update(id, json!({"active": false})).await;
    desk.hire().await;
    desk.script.take();
    desk.run_once_after(30).await;
    assert_eq!((desk.run_once_after(3_600).await, desk.script.take().len()), (0, 0));
    desk.script.answer(URL, FakeResponse::Status(200));
    desk.update(id, json!({"active": true})).await;
    desk.run_once().await;
    assert_eq!(desk.script.take().len(), 3, "events during the pause are not queued");
    assert_eq!(members(&desk.log(id).await[3..], "attempt"), [2, 2, 2]);
    assert_eq!((desk.run_once_after(100_000).await, desk.engine.held_count()), (0, 0));
}

#[tokio::test]
async fn delivery_paused_over_31_hours_is_dropped_with_a_log_entry() {
    let desk = DeliveryTest::new().await;
    let (id, _) = desk.subscribe(URL).await;
    desk.script.answer(URL, FakeResponse::Status(500));
    desk.queue(1).await;
    desk.run_once().await;
    desk.update(id, json!({"active": false})).await;
    desk.run_once_after(30).await;
    desk.script.take();
    desk.world.clock.advance_seconds(112_350 - 30 + 1);
    desk.update(id, json!({"active": true})).await;
    desk.run_once().await;
    assert_eq!(desk.script.take().len(), 0);
    let log = desk.log(id).await;
    assert_eq!(members(&log, "status"), ["failed", "dropped"]);
    assert_eq!((&log[1]["response_status"], &log[1]["next_attempt_at"]), (&json!(0), &json!(null)));
    assert_eq!(desk.subscription(id).await["last_delivery_status"], "dropped");
}

#[tokio::test]
async fn pause_by_another_process_applies_within_a_second() {
    let desk = DeliveryTest::new().await;
    let (id, _) = desk.subscribe(URL).await;
    desk.queue(1).await;
    desk.run_once().await;
    desk.queue(2).await;
    let pause_body = body(r#"{"active": false}"#);
    webhooks::update(&sent_to(&desk.process(3), &desk.world.admin()), id, pause_body).await.unwrap();
    desk.script.take();
    desk.run_once_after(1).await;
    assert_eq!(desk.script.take().len(), 0);
}
