//! A process that cannot decrypt a secret does not delay the deliveries.

use std::sync::Arc;

use candor_service::runtime::delivery::{Engine, Settings};
use candor_service::usecases::webhooks;
use serde_json::json;

use super::{DeliveryTest, members};
use crate::support::{body, sent_to};

const URL: &str = "https://receiver.example/";
const OTHER: &str = "https://other.example/";

/// A key ring that decrypts none of the fixture's secrets.
const OTHER_RING: &str = "k9:QEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFlaW1xdXl8=";

/// Creates the engine of a process on the same store whose key ring lacks the fixture's key.
fn without_the_key(desk: &DeliveryTest) -> Arc<Engine> {
    Engine::new(&desk.process_with(OTHER_RING, 5), Settings::default())
}

#[tokio::test]
async fn deliveries_wait_for_a_process_with_the_master_key() {
    let desk = DeliveryTest::new().await;
    let (id, _) = desk.subscribe(URL).await;
    let blind = without_the_key(&desk);
    desk.queue(3).await;
    assert!(blind.run_once().await.unwrap() > 0, "the process claims deliveries that it cannot sign");
    assert_eq!((desk.script.sent(), blind.held_count()), (0, 0));
    assert_eq!(desk.run_once().await, 3, "the deliveries are returned at once");
    assert_eq!(desk.script.take().len(), 3);
    assert_eq!(members(&desk.log(id).await, "attempt"), [json!(1), json!(1), json!(1)]);
}

#[tokio::test]
async fn process_without_the_master_key_claims_again_after_a_minute() {
    let desk = DeliveryTest::new().await;
    desk.subscribe(URL).await;
    let blind = without_the_key(&desk);
    desk.queue(1).await;
    assert_eq!(blind.run_once().await.unwrap(), 1);
    for wait in [0, 59] {
        desk.world.clock.advance_seconds(wait);
        assert_eq!(blind.run_once().await.unwrap(), 0, "after {wait} s");
    }
    desk.world.clock.advance_seconds(1);
    assert_eq!(blind.run_once().await.unwrap(), 1);
    assert_eq!(desk.script.sent(), 0);
}

#[tokio::test]
async fn process_sends_deliveries_sealed_with_its_master_key_only() {
    let desk = DeliveryTest::new().await;
    desk.subscribe(URL).await;
    desk.queue(2).await;
    // A process with the other ring. Neither process can decrypt the secrets of the other.
    let other = desk.process_with(OTHER_RING, 5);
    let engine = Engine::new(&other, Settings::default());
    let text = json!({"url": OTHER, "event_types": ["employee.created"]}).to_string();
    webhooks::create(&sent_to(&other, &desk.world.admin()), body(&text)).await.unwrap();
    desk.queue(2).await;
    engine.run_once().await.unwrap();
    assert_eq!((desk.script.sent_to(OTHER), desk.script.sent_to(URL)), (2, 0));
    desk.run_once().await;
    assert_eq!((desk.script.sent_to(OTHER), desk.script.sent_to(URL)), (2, 4));
}
