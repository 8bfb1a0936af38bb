//! Leases with several processes on one queue.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use candor_store_testkit::{Fault, FaultyCall};
use serde_json::json;

use super::{DeliveryTest, FakeResponse, members, wait_until};

const URL: &str = "https://receiver.example/";

#[tokio::test]
async fn leased_delivery_is_not_attempted_by_another_process() {
    let desk = DeliveryTest::new().await;
    desk.subscribe(URL).await;
    let other = desk.another(3);
    for wait in [0, 29] {
        // The commit leases the delivery to `desk.engine`. That engine does not run, as if its process had died.
        desk.hire().await;
        desk.world.clock.advance_seconds(wait);
        assert_eq!(other.run_once().await.unwrap(), 0, "{wait}");
        assert_eq!(desk.engine.held_count(), 1);
        desk.world.clock.advance_seconds(30 - wait);
        assert_eq!(other.run_once().await.unwrap(), 1);
        assert_eq!(
            (desk.run_once().await, desk.engine.held_count()),
            (0, 0),
            "the first process drops the delivery after its lease"
        );
    }
    assert_eq!(desk.script.take().len(), 2);
}

#[tokio::test]
async fn delivery_that_waited_too_long_gets_a_new_lease() {
    let desk = DeliveryTest::new().await;
    desk.subscribe(URL).await;
    desk.hire().await;
    assert_eq!(
        desk.run_once_after(10).await,
        1,
        "the rest of the lease is long enough for the timeout of 15 s and for 5 s to record the result"
    );
    desk.hire().await;
    assert_eq!(desk.run_once_after(11).await, 1, "the delivery is returned and claimed again");
    assert_eq!(
        (desk.run_once_after(19).await, desk.engine.held_count()),
        (0, 0),
        "the end of the first lease has no effect"
    );
    assert_eq!(desk.script.take().len(), 2);
}

#[tokio::test]
async fn result_recorded_after_the_lease_does_not_count() {
    let desk = DeliveryTest::new().await;
    let (id, _) = desk.subscribe(URL).await;
    desk.script.answer(URL, FakeResponse::Status(500));
    desk.hire().await;
    desk.world.store.fail(FaultyCall::Record, 1, Fault::Before);
    assert!(desk.engine.run_once().await.is_err());
    desk.world.clock.advance_seconds(30);
    let other = desk.another(3);
    assert_eq!(other.run_once().await.unwrap(), 1);
    assert_eq!(desk.run_once().await, 0);
    let log = desk.log(id).await;
    assert_eq!((members(&log, "attempt"), desk.engine.held_count()), (vec![json!(1)], 0));
    assert_eq!(desk.script.take().len(), 2, "the receiver got the delivery twice");
}

#[tokio::test]
async fn failed_recording_loses_nothing_and_counts_once() {
    for fault in [Fault::Before, Fault::After] {
        let desk = DeliveryTest::new().await;
        let (id, _) = desk.subscribe(URL).await;
        desk.script.answer(URL, FakeResponse::Status(500));
        desk.queue(20).await;
        desk.world.store.fail(FaultyCall::Record, 1, fault);
        assert!(desk.engine.run_once().await.is_err());
        desk.run_once().await;
        assert_eq!(desk.log(id).await.len(), 20, "{fault:?}");
        let streak = desk.load(id).await.streak;
        assert_eq!((streak.failures, desk.script.take().len()), (20, 20), "{fault:?}");
        assert_eq!((desk.engine.held_count(), desk.run_once_after(30).await), (0, 20));
    }
}

#[tokio::test]
async fn due_delivery_is_leased_with_its_commit_without_a_claim() {
    let desk = DeliveryTest::new().await;
    desk.subscribe(URL).await;
    (1..10_000).for_each(|number| desk.world.store.fail(FaultyCall::Claim, number, Fault::Before));
    let engine = desk.start(&desk.engine, pending(), Duration::ZERO);
    desk.hire().await;
    wait_until(async || desk.script.sent_to(URL) == 1).await;
    engine.abort();
}

#[tokio::test]
async fn running_engine_delivers_and_records_queued_deliveries() {
    let desk = DeliveryTest::new().await;
    let (id, _) = desk.subscribe(URL).await;
    let engine = desk.start(&desk.engine, pending(), Duration::ZERO);
    desk.queue(1_000).await;
    wait_until(async || desk.engine.held_count() == 0 && desk.script.sent() == 1_000).await;
    assert_eq!(desk.log(id).await.len(), 1_000);
    engine.abort();
}

#[tokio::test]
async fn several_engines_attempt_each_delivery_once() {
    let desk = DeliveryTest::new().await;
    desk.subscribe(URL).await;
    desk.subscribe("https://other.example/").await;
    desk.queue(1_000).await;
    let engines = [Arc::clone(&desk.engine), desk.another(3), desk.another(4)];
    let running = engines.each_ref().map(|engine| desk.start(engine, pending(), Duration::ZERO));
    wait_until(async || desk.script.sent() >= 2_000 && engines.iter().all(|engine| engine.held_count() == 0))
        .await;
    let mut attempts: Vec<_> =
        desk.script.take().into_iter().map(|request| (request.url.clone(), request.event())).collect();
    attempts.sort_unstable();
    attempts.dedup();
    assert_eq!(attempts.len(), 2_000);
    running.iter().for_each(tokio::task::JoinHandle::abort);
}
