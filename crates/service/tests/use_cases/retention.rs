//! Old rows are removed only if the clock is credible.

use std::sync::Arc;

use candor_domain::event::{FeedFilter, FeedStart};
use candor_domain::notification::Notification;
use candor_domain::time::Timestamp;
use candor_port_storage::store::History;
use candor_port_storage::{ChangeSet, Storage, StorageExt};
use candor_service::context::clocks as retention;
use candor_service::runtime::sweep;
use candor_store_testkit::Fixtures;

use crate::support::{TestServices, process};

const DAY: i64 = 86_400;
const EPOCH: Timestamp = Timestamp::from_millis(0);

async fn events(world: &TestServices) -> usize {
    let tenant = world.admin().caller.tenant;
    world.store.feed(tenant, &FeedFilter::default(), EPOCH, &FeedStart::Oldest, 100).await.unwrap().events.len()
}

/// Records an event and advances the clock by this many days.
async fn record_event(world: &TestServices, days: i64) {
    world.hire("ada", None).await;
    assert_eq!(events(world).await, 1);
    world.clock.advance_seconds(days * DAY);
}

#[tokio::test]
async fn retention_uses_the_time_of_the_store() {
    let world = TestServices::new().await;
    record_event(&world, 31).await;
    let own = candor_port_clock::Clock::now(&*world.clock);
    world.store.set_time(own.plus_seconds(-2 * DAY));
    assert_eq!(sweep::run_once(&world.services).await.unwrap(), 0);
    assert_eq!(events(&world).await, 1, "the clock of the process is two days ahead of the store's");
    world.store.set_time(own.plus_seconds(-3_599));
    sweep::run_once(&world.services).await.unwrap();
    assert_eq!(events(&world).await, 0);
}

#[tokio::test]
async fn nothing_is_removed_while_clocks_differ_by_over_an_hour() {
    let world = TestServices::new().await;
    record_event(&world, 40).await;
    let own = candor_port_clock::Clock::now(&*world.clock);
    for apart in [-40 * DAY, -3_601, 3_601, 40 * DAY] {
        world.store.set_time(own.plus_seconds(apart));
        let difference = retention::clock_difference(&*world.services.store, &*world.clock).await.unwrap();
        assert_eq!(difference, Some(-apart * 1000));
        sweep::run_once(&world.services).await.unwrap();
        assert_eq!(events(&world).await, 1, "{apart}");
    }
}

#[tokio::test]
async fn sqlite_retention_waits_for_an_hour_of_steady_clock() {
    let world = TestServices::new().await;
    record_event(&world, 31).await;
    let new_process = process(&world.clock, &world.store, Arc::clone(&world.services.webhook_transport), 3);
    let count_after_sweep = async || {
        sweep::run_once(&new_process).await.unwrap();
        events(&world).await
    };
    assert_eq!(count_after_sweep().await, 1, "the process has just started");
    world.clock.advance_seconds(3_599);
    assert_eq!(count_after_sweep().await, 1);
    world.clock.advance_seconds(1);
    assert_eq!(count_after_sweep().await, 0);
}

#[tokio::test]
async fn clock_set_forward_removes_nothing_for_an_hour() {
    let world = TestServices::new().await;
    record_event(&world, 0).await;
    let count_after_sweep = async || {
        sweep::run_once(&world.services).await.unwrap();
        events(&world).await
    };
    assert_eq!(count_after_sweep().await, 1);
    world.clock.advance_seconds(7_200);
    assert_eq!(count_after_sweep().await, 1);
    world.clock.set_by_seconds(400 * DAY);
    assert_eq!(count_after_sweep().await, 1, "the clock is wrong");
    world.clock.advance_seconds(3_000);
    assert_eq!(count_after_sweep().await, 1);
    world.clock.set_by_seconds(-400 * DAY);
    for _ in 0..3 {
        assert_eq!(count_after_sweep().await, 1, "the clock was corrected");
        world.clock.advance_seconds(3_600);
    }
    world.clock.set_by_seconds(31 * DAY);
    assert_eq!(count_after_sweep().await, 1);
    world.clock.advance_seconds(3_600);
    assert_eq!(count_after_sweep().await, 0, "the clock was not corrected for an hour, so it is trusted");
}

#[tokio::test]
async fn notifications_expire_90_days_after_read_or_after_a_year() {
    let world = TestServices::new().await;
    let tenant = world.admin().caller.tenant;
    let make = Fixtures::new(9);
    let person = world.hire("ada", None).await;
    let begin = candor_port_clock::Clock::now(&*world.clock);
    let unread = Notification { created_at: begin, ..make.notification(person) };
    let read =
        Notification { created_at: begin, read_at: Some(begin.plus_seconds(DAY)), ..make.notification(person) };
    let notices = vec![unread.clone(), read.clone()];
    world.store.commit(tenant, ChangeSet { notices, ..make.change(vec![]) }).await.unwrap();
    let table = [(90, true, true), (91, true, false), (364, true, false), (365, false, false)];
    for (day, unread_is_there, read_is_there) in table {
        let now = begin.plus_seconds(day * DAY + 1);
        world.clock.advance_seconds((now.millis() - candor_port_clock::Clock::now(&*world.clock).millis()) / 1000);
        world.store.set_time(candor_port_clock::Clock::now(&*world.clock));
        sweep::run_once(&world.services).await.unwrap();
        let is_stored = async |notification: &Notification| {
            world.store.row::<Notification>(tenant, notification.id).await.unwrap().is_some()
        };
        assert_eq!(
            (is_stored(&unread).await, is_stored(&read).await),
            (unread_is_there, read_is_there),
            "day {day}"
        );
    }
}
