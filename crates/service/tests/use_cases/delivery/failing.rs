//! The event `webhook.failing` (decision F3).

use candor_service::runtime::operational_events;
use candor_store_testkit::{Fault, FaultyCall};

use super::{DeliveryTest, FakeResponse};

const URL: &str = "https://receiver.example/";
const OTHER: &str = "https://other.example/secret";

/// Creates two subscriptions, of which one has a delivery that failed four times.
async fn failed_four_times() -> DeliveryTest {
    let desk = DeliveryTest::new().await;
    desk.subscribe(URL).await;
    let (other, _) = desk.subscribe(OTHER).await;
    desk.script.answer(URL, FakeResponse::Status(500));
    desk.hire().await;
    desk.run_once().await;
    desk.update(other, serde_json::json!({"event_types": ["webhook.failing"]})).await;
    for delay in [30, 120, 600] {
        assert_eq!(desk.run_once_after(delay).await, 1);
    }
    desk.script.take();
    desk
}

#[tokio::test]
async fn fifth_failure_is_reported_to_another_subscription() {
    let desk = failed_four_times().await;
    desk.run_once_after(3_600).await;
    desk.run_once().await;
    let mut attempts = desk.script.take();
    attempts.retain(|attempt| attempt.body["event"] == "webhook.failing");
    let urls: Vec<_> = attempts.iter().map(|attempt| attempt.url.as_str()).collect();
    assert_eq!(urls, [OTHER], "the event is sent once, and not to the failing subscription");
    assert_eq!(attempts[0].body["data"]["url"], "https://receiver.example");
}

#[tokio::test]
async fn event_missed_in_a_crash_is_fired_by_another_process() {
    let desk = failed_four_times().await;
    desk.world.store.fail(FaultyCall::Commit, 1, Fault::Before);
    desk.world.clock.advance_seconds(3_600);
    assert!(desk.engine.run_once().await.is_err());
    let another = desk.process(9);
    assert_eq!(operational_events::failing_webhooks(&another, || true).await.unwrap(), 1);
    assert_eq!(operational_events::failing_webhooks(&another, || true).await.unwrap(), 0);
}
