//! The delivery log over all subscriptions, and the figures of one subscription.

use candor_domain::attempt_failure::FailureReason;
use candor_domain::event::EventType;
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::params::Bounds;
use candor_domain::time::Timestamp;
use candor_fair_share::SlowReads;
use candor_port_storage::{StorageError, StorageExt};
use candor_subscriptions::{AllDeliveriesFilter, AttemptCount, Delivery, DeliveryFilter, LogFigures, Status};
use candor_tables::rows;

use super::lists;
use super::log::entry;
use crate::Case;
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    let usual = SlowReads::with_places(2);
    vec![
        Case::new(log_of_all_matches_filters),
        Case::new(log_of_all_belongs_to_one_tenant),
        Case::new(log_figures_match_the_attempts),
        Case::new(only_filters_without_an_index_need_a_slot).with_limits(SlowReads { places: 0, ..usual }),
    ]
}

const STATUSES: [Status; 3] = [Status::Success, Status::Failed, Status::Dropped];

/// Logs and returns attempts of several subscriptions. Some attempts begin later than the time of their id.
async fn population(world: &CaseContext, subscriptions: usize, size: usize) -> Vec<Delivery> {
    let (start, mut all) = (world.now(), vec![]);
    for _ in 0..subscriptions {
        let to = world.subscriber().await;
        let one = || {
            let attempt_time = start.plus_seconds(i64::try_from(world.random.number_below(30)).unwrap() * 3_600);
            let waiting_seconds = *world.random.pick(&[0, 0, 0, 4_000]);
            Delivery {
                status: *world.random.pick(&STATUSES),
                event_type: *world.random.pick(&[EventType::EmployeeCreated, EventType::TestPing]),
                attempted_at: attempt_time.plus_seconds(waiting_seconds),
                request_id: world.random.chance(50).then(|| "req_1".to_owned()),
                ..entry(world, &to, attempt_time)
            }
        };
        let some: Vec<_> = (0..size).map(|_| one()).collect();
        world.log_deliveries(&to, &some).await;
        all.extend(some);
    }
    all
}

async fn log_of_all_matches_filters(world: CaseContext) {
    let all = population(&world, 3, 80).await;
    let (now, ids) = (world.now(), [0, 80, 160].map(|at: usize| all[at].subscription_id));
    let existing = &ids[..2];
    for status in [None, Some(Status::Success), Some(Status::Dropped)] {
        for webhook_id in [None, Some(ids[0]), Some(ids[2])] {
            for event_type in [None, Some(EventType::TestPing)] {
                for event_id in [None, Some(all[3].event_id)] {
                    let hours = i64::try_from(world.random.number_below(30)).unwrap();
                    let attempted_at = Bounds {
                        gte: world.random.chance(50).then(|| now.plus_seconds(3_600 * (hours / 2))),
                        lte: world.random.chance(50).then(|| now.plus_seconds(3_600 * hours)),
                    };
                    let log = DeliveryFilter { status, event_type, event_id };
                    let filter = AllDeliveriesFilter { webhook_id, attempted_at, log };
                    let list = lists::all_deliveries(&world, existing, filter);
                    let sort = Sort { by: SortBy::AttemptedAt, descending: world.random.chance(50) };
                    let is_shown = |row: &Delivery| {
                        existing.contains(&row.subscription_id)
                            && webhook_id.is_none_or(|id| id == row.subscription_id)
                            && status.is_none_or(|status| status == row.status)
                            && event_type.is_none_or(|event_type| event_type == row.event_type)
                            && event_id.is_none_or(|event_id| event_id == row.event_id)
                            && attempted_at.gte.is_none_or(|from| row.attempted_at >= from)
                            && attempted_at.lte.is_none_or(|to| row.attempted_at <= to)
                    };
                    let limit = *world.random.pick(&[3, 10, 100]);
                    list.must_show(sort, limit, &all, is_shown, &format!("{filter:?}")).await;
                }
            }
        }
    }
}

async fn log_of_all_belongs_to_one_tenant(world: CaseContext) {
    let worlds = [world.clone(), world.in_other_tenant(), world.test_environment()];
    let mut logs = vec![];
    for place in &worlds {
        logs.push(population(place, 1, 5).await);
    }
    let ids: Vec<_> = logs.iter().map(|log| log[0].subscription_id).collect();
    for (place, log) in worlds.iter().zip(&logs) {
        let list = lists::all_deliveries(place, &ids, AllDeliveriesFilter::default());
        list.must_show(Sort::descending_by(SortBy::AttemptedAt), 2, log, |_| true, "own log").await;
    }
    let other =
        world.store.log_figures(worlds[1].tenant, ids[0], (Timestamp::from_millis(0), world.now()), &[]).await;
    assert_eq!(other.unwrap(), LogFigures::default());
}

async fn log_figures_match_the_attempts(world: CaseContext) {
    let to = world.subscriber().await;
    population(&world, 1, 10).await;
    let hour = Timestamp::from_millis(1_772_352_000_000 / 3_600_000 * 3_600_000);
    let time = |seconds| hour.plus_seconds(seconds);
    let good = |time| Delivery {
        status: Status::Success,
        failure: None,
        response_duration_ms: 20,
        ..entry(&world, &to, time)
    };
    let late = Delivery {
        status: Status::Dropped,
        failure: Some(FailureReason::TooLate),
        response_duration_ms: 0,
        ..entry(&world, &to, time(3_600))
    };
    let all = [
        good(time(-1)),
        good(time(0)),
        good(time(3_599)),
        entry(&world, &to, time(3_600)),
        late,
        good(time(7_200)),
    ];
    world.log_deliveries(&to, &all).await;
    let (first, second) = (world.delivery_at(time(1), &to), world.delivery_at(time(2), &to));
    world.enqueue(&[first, second]).await;
    let mut figures = world.store.log_figures(world.tenant, to.id, (time(0), time(7_200)), &[]).await.unwrap();
    figures.counts.sort_by_key(|count| (count.hour, count.failure.map(|reason| reason as u8)));
    figures.durations.sort_unstable();
    let number = hour.millis() / 3_600_000;
    let failed_count =
        |reason| AttemptCount { hour: number + 1, is_success: false, failure: Some(reason), count: 1 };
    let counts = vec![
        AttemptCount { hour: number, is_success: true, failure: None, count: 2 },
        failed_count(FailureReason::Status),
        failed_count(FailureReason::TooLate),
    ];
    let expected_figures = LogFigures {
        counts,
        durations: vec![(10, 1), (20, 2)],
        queued: 2,
        oldest_queued: Some(first.event_id.min(second.event_id)),
        next_due_at: Some(time(1)),
    };
    assert_eq!(figures, expected_figures);
    let range = (time(0), time(7_200));
    let figures_without =
        async |hidden: &[EventType]| world.store.log_figures(world.tenant, to.id, range, hidden).await.unwrap();
    let kinds = [all[0].event_type, first.event_type, second.event_type];
    assert_eq!(
        figures_without(&kinds).await,
        LogFigures::default(),
        "all attempts and deliveries have these types"
    );
    let without_others = figures_without(&[EventType::TestPing]).await;
    assert_eq!((without_others.counts.len(), without_others.queued), (3, 2), "none has this type");
}

async fn only_filters_without_an_index_need_a_slot(world: CaseContext) {
    let to = world.subscriber().await;
    let read = async |filter: &AllDeliveriesFilter| {
        let page = PageRequest { limit: 10, after: None };
        let list = rows::deliveries::list_all(filter, &[to.id], Sort::descending_by(SortBy::AttemptedAt), &page);
        world.store.page(world.tenant, list).await.map(drop)
    };
    let attempted_at = Bounds { gte: Some(world.now()), lte: None };
    for webhook_id in [None, Some(to.id)] {
        for status in [None, Some(Status::Failed)] {
            let log = DeliveryFilter { status, ..DeliveryFilter::default() };
            read(&AllDeliveriesFilter { webhook_id, attempted_at, log }).await.unwrap();
        }
    }
    let log = DeliveryFilter { event_type: Some(EventType::TestPing), ..DeliveryFilter::default() };
    let slow = read(&AllDeliveriesFilter { log, ..AllDeliveriesFilter::default() }).await;
    assert!(matches!(slow, Err(StorageError::TooSlow(_))), "{slow:?}");
    let figures = world.store.log_figures(world.tenant, to.id, (world.now(), world.now()), &[]).await;
    assert!(matches!(figures, Err(StorageError::TooSlow(_))), "{figures:?}");
}
