//! Removal of expired data in small portions, and of no other data.

use candor_domain::event::EventType;
use candor_domain::idempotency::{RETENTION_SECONDS, Replay};
use candor_domain::notification::{Filter, Notification};
use candor_domain::page::{Sort, SortBy};
use candor_domain::time::Timestamp;
use candor_port_storage::ChangeSet;
use candor_port_storage::store::Expiry;

use crate::Case;
use crate::world::{CaseContext, EVER};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(retention_removes_expired_rows_in_batches),
        Case::new(retention_keeps_the_audit_log),
        Case::new(retention_removes_notifications_by_age_and_read_time),
    ]
}

/// Saves replays, whose keys begin with `keys`, and events for several tenants. Returns a later time.
async fn fill_tenants(tenants: &[CaseContext], keys: &str) -> Timestamp {
    for number in 0..10 {
        for world in tenants {
            world.make.clock.advance_seconds(60);
            let change = ChangeSet {
                events: vec![world.make.event(EventType::EmployeeCreated)],
                replay: Some(world.make.replay(&format!("{keys}-{number}"))),
                ..world.make.change(vec![])
            };
            world.commit(change).await.unwrap();
        }
    }
    tenants[0].make.tick()
}

/// Sweeps in portions of 7 until nothing is left. Returns the number of removed rows.
async fn sweep_all(world: &CaseContext, now: Timestamp, events_before: Timestamp) -> u64 {
    let mut removed_count = 0;
    for _ in 0..100 {
        let portion =
            world.store.sweep(Expiry { replays: now, events: events_before, ..Expiry::NOTHING }, 7).await.unwrap();
        assert!(portion <= 14, "at most 7 replays and 7 events, and not {portion}");
        if portion == 0 {
            return removed_count;
        }
        removed_count += portion;
    }
    panic!("100 sweeps do not remove all expired rows");
}

async fn retention_removes_expired_rows_in_batches(world: CaseContext) {
    let tenants = [world.clone(), world.in_other_tenant(), world.test_environment()];
    let middle = fill_tenants(&tenants, "old").await;
    let end = fill_tenants(&tenants, "new").await;
    assert_eq!(sweep_all(&world, end, EVER).await, 0, "nothing is old yet");
    let now = middle.plus_seconds(RETENTION_SECONDS);
    assert_eq!(sweep_all(&world, now, middle).await, 60, "30 replays and 30 events");
    for tenant in &tenants {
        let remaining_events = tenant.events().await;
        assert_eq!(remaining_events.len(), 10);
        assert!(remaining_events.iter().all(|event| event.created_at >= middle));
        for number in 0..10 {
            let [old, new] = ["old", "new"].map(|name| tenant.make.replay(&format!("{name}-{number}")).key);
            assert_eq!(
                tenant.store.replay(tenant.tenant, &old, end).await.unwrap(),
                None,
                "gone, not only hidden"
            );
            assert!(tenant.store.replay(tenant.tenant, &new, now).await.unwrap().is_some());
        }
    }
    assert_eq!(sweep_all(&world, end.plus_seconds(RETENTION_SECONDS), EVER).await, 30, "the other replays");
}

async fn retention_keeps_the_audit_log(world: CaseContext) {
    let end = fill_tenants(std::slice::from_ref(&world), "key").await;
    let last = Replay { created_at: end, ..world.make.replay("last") };
    world.commit(ChangeSet { replay: Some(last.clone()), ..world.make.change(vec![]) }).await.unwrap();
    let log = || async {
        super::lists::audit_log(&world, candor_domain::audit::Filter::default())
            .walk(candor_domain::page::Sort::descending_by(candor_domain::page::SortBy::OccurredAt), 100)
            .await
    };
    let log_before = log().await;
    let just_before = Timestamp::from_millis(last.expires_at().millis() - 1);
    world
        .store
        .sweep(Expiry { replays: just_before, events: end.plus_seconds(1_000_000), ..Expiry::NOTHING }, 1000)
        .await
        .unwrap();
    assert_eq!(log().await, log_before);
    let replay_row = world.store.replay(world.tenant, &last.key, end).await.unwrap();
    assert!(replay_row.is_some(), "the replay expires a millisecond later");
    assert_eq!(world.store.sweep(Expiry { replays: last.expires_at(), ..Expiry::NOTHING }, 10).await.unwrap(), 1);
    assert_eq!(world.store.replay(world.tenant, &last.key, end).await.unwrap(), None);
}

async fn retention_removes_notifications_by_age_and_read_time(world: CaseContext) {
    let mut remaining_notices = vec![];
    for world in [world.clone(), world.in_other_tenant(), world.test_environment()] {
        let person = world.hire().await.id;
        let time = |seconds| Timestamp::from_millis(1_700_000_000_000).plus_seconds(seconds);
        let table = [
            // Columns: age in seconds, time of reading, expected removal.
            (0, None, true),
            (0, Some(200), true),
            (100, None, false),
            (100, Some(150), true),
            (100, Some(200), false),
        ];
        let notices = table.map(|(from, read, goes)| {
            let read_at = read.map(time);
            (Notification { created_at: time(from), read_at, ..world.make.notification(person) }, goes)
        });
        let all = notices.iter().map(|(notice, _)| notice.clone()).collect();
        world.commit(ChangeSet { notices: all, ..world.make.change(vec![]) }).await.unwrap();
        remaining_notices.push((
            world,
            notices.into_iter().filter(|(_, goes)| !goes).map(|(notice, _)| notice).collect::<Vec<_>>(),
            time,
        ));
    }
    let read_time = remaining_notices[0].2;
    let expiry = Expiry { read_notifications: read_time(200), notifications: read_time(100), ..Expiry::NOTHING };
    let mut swept = 0;
    for _ in 0..9 {
        swept += world.store.sweep(expiry, 2).await.unwrap();
    }
    assert_eq!(swept, 9, "nine expired notifications");
    let sort = Sort::ascending_by(SortBy::CreatedAt);
    for (world, wanted, _) in remaining_notices {
        let list = super::lists::notifications(&world, Filter::default());
        assert_eq!(list.walk(sort, 9).await, crate::sort_entries(wanted, sort, list.id));
    }
}
