//! Graceful stop of deliveries.

use std::time::Duration;

use tokio::sync::oneshot;

use super::{DeliveryTest, FakeResponse, wait_until};

const URL: &str = "https://receiver.example/";

#[tokio::test]
async fn shutdown_finishes_attempts_and_returns_waiting_deliveries() {
    let desk = DeliveryTest::new().await;
    let (id, _) = desk.subscribe(URL).await;
    desk.script.answer(URL, FakeResponse::Hangs);
    desk.queue(20).await;
    let (stop, stopped) = oneshot::channel::<()>();
    let engine = desk.start(&desk.engine, async { drop(stopped.await) }, Duration::from_secs(60));
    wait_until(async || desk.script.sent() == 8).await;
    stop.send(()).unwrap();
    wait_until(async || desk.engine.held_count() == 8).await;
    desk.hire().await;
    assert_eq!(desk.script.sent(), 8, "a stopping engine begins no attempt");
    desk.script.let_go();
    engine.await.unwrap();
    assert_eq!((desk.log(id).await.len(), desk.engine.held_count()), (8, 0));
    // The leases were returned, so another process can claim immediately.
    let other = desk.another(3);
    assert_eq!(other.run_once().await.unwrap(), 13);
    assert_eq!(desk.log(id).await.len(), 21);
}

#[tokio::test]
async fn shutdown_cuts_off_hanging_attempts_and_returns_them() {
    let desk = DeliveryTest::new().await;
    let (id, _) = desk.subscribe(URL).await;
    desk.script.answer(URL, FakeResponse::Hangs);
    desk.hire().await;
    let (stop, stopped) = oneshot::channel::<()>();
    let engine = desk.start(&desk.engine, async { drop(stopped.await) }, Duration::ZERO);
    wait_until(async || desk.script.sent() == 1).await;
    stop.send(()).unwrap();
    engine.await.unwrap();
    desk.script.let_go();
    assert_eq!(desk.another(3).run_once().await.unwrap(), 1);
    assert_eq!(desk.log(id).await.len(), 1);
}
