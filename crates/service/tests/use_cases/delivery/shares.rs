//! Fair shares: deliveries do not wait for a receiver that hangs, and a long queue stays in the store.

use std::future::pending;
use std::time::Duration;

use candor_service::runtime::delivery::Engine;

use super::{DeliveryTest, FakeResponse, wait_until};

const HANGING: &str = "https://hanging.example/";
const GOOD: &str = "https://good.example/";

#[tokio::test]
async fn hanging_receiver_does_not_delay_another() {
    let desk = DeliveryTest::new().await;
    desk.subscribe(HANGING).await;
    desk.script.answer(HANGING, FakeResponse::Hangs);
    desk.queue(3_000).await;
    let engine = desk.start(&desk.engine, pending(), Duration::ZERO);
    wait_until(async || desk.script.sent() > 0).await;
    desk.subscribe(GOOD).await;
    desk.queue(500).await;
    for _ in 0..20 {
        desk.hire().await;
    }
    wait_until(async || desk.script.sent_to(GOOD) == 520).await;
    assert_eq!(desk.script.sent_to(HANGING), 8, "the hanging receiver gets no more than its share");
    engine.abort();
}

#[tokio::test]
async fn deliveries_beyond_the_queue_capacity_are_reclaimed_at_once() {
    let desk = DeliveryTest::new().await;
    desk.subscribe(GOOD).await;
    desk.queue(100).await;
    assert_eq!((desk.run_once().await, desk.engine.held_count()), (100, 0));
}

#[tokio::test]
async fn deliveries_in_memory_are_bounded_for_any_queue_length() {
    let desk = DeliveryTest::new().await;
    for number in 0..40 {
        let url = format!("https://hanging.example/{number}");
        desk.subscribe(&url).await;
        desk.script.answer(&url, FakeResponse::Hangs);
    }
    desk.queue(250).await;
    let engine = desk.start(&desk.engine, pending(), Duration::ZERO);
    wait_until(async || desk.script.sent() >= 64).await;
    desk.script.let_go();
    let most = std::cell::Cell::new(0);
    wait_until(async || {
        most.set(desk.engine.held_count().max(most.get()));
        desk.script.sent() == 10_000
    })
    .await;
    assert!(most.get() <= Engine::ROOM, "{}", most.get());
    wait_until(async || desk.engine.held_count() == 0).await;
    engine.abort();
}
