//! The delivery log: pages contain all recorded attempts, and old attempts are removed.

use candor_domain::attempt_failure::FailureReason;
use candor_domain::event::EventType;
use candor_domain::id::EventId;
use candor_domain::page::{Sort, SortBy};
use candor_domain::time::Timestamp;
use candor_subscriptions::{Delivery, DeliveryFilter, Status, Subscription};

use super::lists;
use super::queue::just_before;
use crate::Case;
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(delivery_attempt_round_trips),
        Case::new(attempt_without_stored_time_uses_the_time_of_its_id),
        Case::new(delivery_log_matches_filters),
        Case::new(attempts_of_one_instant_are_all_listed),
        Case::new(delivery_log_belongs_to_one_subscription),
        Case::new(delivery_log_removes_only_expired_attempts),
        Case::new(delivery_log_retention_handles_any_gap_of_days),
    ]
}

const KINDS: [EventType; 3] = [EventType::EmployeeCreated, EventType::ObservationCreated, EventType::TestPing];
const STATUSES: [Status; 3] = [Status::Success, Status::Failed, Status::Dropped];
const DAY_SECONDS: i64 = 86_400;

/// Returns all log entries of a subscription, the oldest first.
pub(super) async fn entries(world: &CaseContext, of: &Subscription) -> Vec<Delivery> {
    lists::deliveries(world, of.id, DeliveryFilter::default()).walk(Sort::ascending_by(SortBy::CreatedAt), 9).await
}

/// Creates an attempt that began at this time.
pub(super) fn entry(world: &CaseContext, to: &Subscription, at: Timestamp) -> Delivery {
    Delivery {
        id: world.attempt_at(at),
        subscription_id: to.id,
        event_id: world.make.id(),
        event_type: KINDS[0],
        attempt: 1,
        status: Status::Failed,
        request_url: to.url.clone(),
        response_status: 500,
        response_duration_ms: 10,
        next_attempt_at: None,
        delivered_at: None,
        attempted_at: at,
        failure: Some(FailureReason::Status),
        request_id: None,
        failure_detail: None,
    }
}

async fn delivery_attempt_round_trips(world: CaseContext) {
    let CaseContext { store, tenant, .. } = &world;
    let to = world.subscriber().await;
    let late = world.now().plus_seconds(77);
    let plain = || entry(&world, &to, world.make.tick());
    let table = [
        plain(),
        Delivery {
            status: Status::Success,
            response_status: 204,
            delivered_at: Some(late),
            failure: None,
            ..plain()
        },
        Delivery { attempted_at: late, failure: Some(FailureReason::Forbidden), ..plain() },
        Delivery { status: Status::Dropped, response_status: 0, response_duration_ms: 15_000, ..plain() },
        Delivery { attempt: u16::MAX, response_status: u16::MAX, response_duration_ms: u32::MAX, ..plain() },
        Delivery { attempt: 0, next_attempt_at: Some(late), event_type: EventType::TestPing, ..plain() },
        Delivery { request_url: "https://例え.example/?q=%20'\"\\ 👍🏽".repeat(40), ..plain() },
        Delivery { request_url: String::new(), request_id: Some("req_1".to_owned()), ..plain() },
        Delivery {
            failure: Some(FailureReason::Redirect),
            failure_detail: Some("https://例え.example/".to_owned()),
            ..plain()
        },
    ];
    world.log_deliveries(&to, &table).await;
    for wanted in &table {
        assert_eq!(store.delivery(*tenant, to.id, wanted.id).await.unwrap().as_ref(), Some(wanted));
    }
    assert_eq!(entries(&world, &to).await, table);
    assert_eq!(store.delivery(*tenant, to.id, world.make.id()).await.unwrap(), None);
}

async fn attempt_without_stored_time_uses_the_time_of_its_id(world: CaseContext) {
    let to = world.subscriber().await;
    let late = world.now().plus_seconds(77);
    let one = Delivery { attempted_at: late, ..entry(&world, &to, world.make.tick()) };
    world.log_deliveries(&to, std::slice::from_ref(&one)).await;
    world.spoil("UPDATE deliveries SET attempted_at = NULL, failure = NULL").await;
    let expected_delivery = Delivery { attempted_at: one.logged_at(), failure: None, ..one };
    assert_eq!(entries(&world, &to).await, [expected_delivery]);
}

/// Creates attempts of a few events over several days; some begin at the same time.
async fn population(world: &CaseContext, to: &Subscription, size: usize) -> (Vec<Delivery>, Vec<EventId>) {
    let start = world.now();
    let events: Vec<_> = (0..12).map(|_| world.make.id()).collect();
    let one = || {
        let attempt_time = start.plus_seconds(i64::try_from(world.random.number_below(60)).unwrap() * 3_600);
        Delivery {
            event_id: *world.random.pick(&events),
            event_type: *world.random.pick(&KINDS),
            status: *world.random.pick(&STATUSES),
            ..entry(world, to, attempt_time)
        }
    };
    let all: Vec<_> = (0..size).map(|_| one()).collect();
    world.log_deliveries(to, &all).await;
    (all, events)
}

fn shows(filter: &DeliveryFilter, delivery: &Delivery) -> bool {
    filter.status.is_none_or(|wanted| delivery.status == wanted)
        && filter.event_type.is_none_or(|wanted| delivery.event_type == wanted)
        && filter.event_id.is_none_or(|wanted| delivery.event_id == wanted)
}

async fn delivery_log_matches_filters(world: CaseContext) {
    let to = world.subscriber().await;
    let (all, mut events) = population(&world, &to, 300).await;
    population(&world, &world.subscriber().await, 50).await;
    events.truncate(3);
    events.push(world.make.id());
    let statuses = || STATUSES.map(Some).into_iter().chain([None]);
    for status in statuses() {
        for event_type in KINDS.map(Some).into_iter().chain([None, Some(EventType::EmployeeRehired)]) {
            for event_id in events.iter().copied().map(Some).chain([None]) {
                let filter = DeliveryFilter { status, event_type, event_id };
                let list = lists::deliveries(&world, to.id, filter);
                let sort = Sort { by: SortBy::CreatedAt, descending: world.random.chance(50) };
                let limit = *world.random.pick(&[1, 3, 10, 100]);
                list.must_show(sort, limit, &all, |row| shows(&filter, row), &format!("{filter:?}")).await;
            }
        }
    }
}

async fn attempts_of_one_instant_are_all_listed(world: CaseContext) {
    let to = world.subscriber().await;
    let attempt_time = world.now();
    let all: Vec<_> = (0..30)
        .map(|_| Delivery { status: *world.random.pick(&STATUSES), ..entry(&world, &to, attempt_time) })
        .collect();
    world.log_deliveries(&to, &all).await;
    let list = lists::deliveries(&world, to.id, DeliveryFilter::default());
    for sort in [Sort::ascending_by(SortBy::CreatedAt), Sort::descending_by(SortBy::CreatedAt)] {
        for limit in [1, 7, 29, 30, 31] {
            list.must_show(sort, limit, &all, |_| true, "one moment").await;
        }
    }
}

async fn delivery_log_belongs_to_one_subscription(world: CaseContext) {
    let worlds = [world.clone(), world.clone(), world.in_other_tenant(), world.test_environment()];
    let mut logs = vec![];
    for it in &worlds {
        let to = it.subscriber().await;
        let one = entry(it, &to, it.make.tick());
        it.log_deliveries(&to, std::slice::from_ref(&one)).await;
        logs.push((it, to, one));
    }
    for (number, (at, _, _)) in logs.iter().enumerate() {
        for (other, (it, to, one)) in logs.iter().enumerate() {
            // The first two entries of `logs` belong to the same tenant.
            let is_own = at.tenant == it.tenant;
            let delivery_row = at.store.delivery(at.tenant, to.id, one.id).await.unwrap();
            assert_eq!(delivery_row.as_ref(), is_own.then_some(one), "{number} {other}");
            assert_eq!(entries(at, to).await.is_empty(), !is_own, "{number} {other}");
        }
    }
    let (at, to, _) = &logs[0];
    assert_eq!(at.store.delivery(at.tenant, to.id, logs[1].2.id).await.unwrap(), None, "of another subscription");
}

/// Prunes the log in small portions until no entry is left to delete individually.
async fn prune_log(world: &CaseContext, now: Timestamp, before: Timestamp) {
    for _ in 0..1_000 {
        let portion = world.store.keep_log(now, before, 7).await.unwrap();
        assert!(portion <= 7, "{portion} instead of 7");
        if portion == 0 {
            return;
        }
    }
    panic!("1,000 portions do not empty the log");
}

/// Returns the start of the day.
fn midnight(at: Timestamp) -> Timestamp {
    Timestamp::from_millis(at.millis() - at.millis().rem_euclid(DAY_SECONDS * 1_000))
}

/// Checks that recent entries are kept and old ones removed. A store may keep a whole day until all its entries
/// are old.
async fn must_have_kept(world: &CaseContext, to: &Subscription, all: &[Delivery], before: Timestamp) {
    let remaining_entries = entries(world, to).await;
    for it in all {
        let (at, there) = (it.logged_at(), remaining_entries.contains(it));
        assert!(there || at < before, "{at} is not older than {before}, and yet gone");
        assert!(!there || at >= midnight(before), "{at} is of a day older than {before}, and yet there");
    }
    assert!(remaining_entries.iter().all(|row| all.contains(row)));
    for it in all {
        let delivery_row = world.store.delivery(world.tenant, to.id, it.id).await.unwrap();
        assert_eq!(delivery_row.is_some(), remaining_entries.contains(it), "{}", it.logged_at());
    }
}

async fn delivery_log_removes_only_expired_attempts(world: CaseContext) {
    let worlds = [world.clone(), world.in_other_tenant(), world.test_environment()];
    let now = midnight(world.now()).plus_seconds(50_000);
    let oldest_kept = now.plus_seconds(-30 * DAY_SECONDS);
    let day_start = midnight(oldest_kept);
    let instants = [
        now,
        now.plus_seconds(-DAY_SECONDS),
        oldest_kept.plus_seconds(DAY_SECONDS),
        oldest_kept,
        just_before(oldest_kept),
        day_start,
        just_before(day_start),
        day_start.plus_seconds(-DAY_SECONDS),
        day_start.plus_seconds(-40 * DAY_SECONDS),
        Timestamp::from_millis(1),
    ];
    let mut logs = vec![];
    for it in &worlds {
        let to = it.subscriber().await;
        let all: Vec<_> = (0..40).map(|_| entry(it, &to, *it.random.pick(&instants))).collect();
        let all = [all, instants.iter().map(|at| entry(it, &to, *at)).collect()].concat();
        it.log_deliveries(&to, &all).await;
        logs.push((it, to, all));
    }
    // The last bound is midnight, so that the store removes every older entry.
    for oldest in [Timestamp::from_millis(0), day_start, oldest_kept, day_start.plus_seconds(2 * DAY_SECONDS)] {
        prune_log(&world, now, oldest).await;
        for (it, to, all) in &logs {
            must_have_kept(it, to, all, oldest).await;
        }
    }
}

async fn delivery_log_retention_handles_any_gap_of_days(world: CaseContext) {
    let to = world.subscriber().await;
    let mut all = vec![];
    // Includes gaps between maintenance runs that exceed the number of days for which the log has partitions.
    for days in [0, 1, 1, 1, 40, 2, 1, 9, 100, 1] {
        world.make.clock.advance_seconds(days * DAY_SECONDS);
        let now = world.now();
        let some: Vec<_> = (-30..3)
            .map(|hours| {
                let attempt_time = now.plus_seconds(hours * 3_600);
                Delivery { status: *world.random.pick(&STATUSES), ..entry(&world, &to, attempt_time) }
            })
            .collect();
        world.log_deliveries(&to, &some).await;
        all.extend(some);
        let oldest_kept = now.plus_seconds(-30 * DAY_SECONDS);
        prune_log(&world, now, oldest_kept).await;
        must_have_kept(&world, &to, &all, oldest_kept).await;
        let later_entries: Vec<_> =
            (0..5).map(|days| entry(&world, &to, now.plus_seconds(days * DAY_SECONDS))).collect();
        world.log_deliveries(&to, &later_entries).await;
        all.extend(later_entries);
        must_have_kept(&world, &to, &all, oldest_kept).await;
    }
}
