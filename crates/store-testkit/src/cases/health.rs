//! Health deltas of subscriptions add up, independent of the worker and the order.

use candor_domain::attempt_failure::FailureReason;
use candor_domain::event::EventType;
use candor_port_storage::queue::{QueueKey, RecordOutcome};
use candor_port_storage::{ChangeSet, Row, StorageExt, Version, Versioned, Write};
use candor_subscriptions::{AttemptOutcome, HealthDelta, Status, Streak, Subscription};
use candor_tables::rows;

use crate::Case;
use crate::worker::Worker;
use crate::world::{CaseContext, at_once};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(health_deltas_add_up_by_the_domain_rule),
        Case::new(two_health_deltas_of_one_subscription_both_count),
        Case::new(concurrent_health_deltas_all_count),
        Case::new(last_delivery_time_never_decreases),
        Case::new(health_delta_of_an_unknown_subscription_is_ignored),
        Case::new(failure_count_saturates_at_its_maximum),
        Case::new(health_delta_does_not_change_the_version),
        Case::new(failure_streak_of_one_subscription_can_be_reset),
        Case::new(due_report_of_a_failing_subscription_is_taken_once),
    ]
}

const FAILED: AttemptOutcome = AttemptOutcome::Failed(FailureReason::Status);

/// Returns the delta of one failure at the current time.
pub(super) fn failure_delta(world: &CaseContext) -> HealthDelta {
    HealthDelta::from_attempt(FAILED, Status::Failed, true, world.make.tick())
}

async fn record_health(world: &CaseContext, health: Vec<(QueueKey, HealthDelta)>) -> Vec<(QueueKey, Streak)> {
    let RecordOutcome { streaks, lost } = world.store.record(Worker::new(world).id, vec![], health).await.unwrap();
    assert_eq!(lost, 0);
    streaks
}

async fn read_subscription(world: &CaseContext, subscription: &Subscription) -> Versioned<Subscription> {
    world.store.row::<Subscription>(world.tenant, subscription.id).await.unwrap().unwrap()
}

/// Returns the expected subscription after a delta.
fn expected_after(before: &Subscription, delta: HealthDelta) -> Subscription {
    let subscription =
        delta.shown.map_or_else(|| before.clone(), |(at, status)| before.after_delivery(status, at));
    let failing_due = before.failing_due.or_else(|| delta.fails_from(before.streak));
    Subscription { streak: delta.apply_to(before.streak), failing_due, ..subscription }
}

/// Returns the delta of one to four random attempts, which are not ordered by end time.
fn random_attempts(world: &CaseContext) -> HealthDelta {
    let one = || {
        let time = world.now().plus_seconds(100 - i64::try_from(world.random.number_below(200)).unwrap());
        let outcome = *world.random.pick(&[FAILED, FAILED, AttemptOutcome::Acknowledged]);
        let status = if outcome == FAILED {
            *world.random.pick(&[Status::Failed, Status::Dropped])
        } else {
            Status::Success
        };
        let delta = HealthDelta::from_attempt(outcome, status, world.random.chance(80), time);
        let fails = delta.streak.failures > 0 && world.random.chance(30);
        let delta = if fails { delta.mark_failing() } else { delta };
        if world.random.chance(30) { delta.hide() } else { delta }
    };
    (0..world.random.number_below(4)).fold(one(), |delta, _| delta.and(one()))
}

async fn health_deltas_add_up_by_the_domain_rule(world: CaseContext) {
    let worlds = [world.clone(), world.in_other_tenant(), world.test_environment()];
    let mut subscriptions = vec![];
    for it in &worlds {
        subscriptions.push((it.clone(), it.subscriber().await));
        subscriptions.push((it.clone(), it.subscriber().await));
    }
    for _ in 0..60 {
        let mut health = vec![];
        for (it, subscription) in &mut subscriptions {
            if world.random.chance(60) {
                let delta = random_attempts(&world);
                *subscription = expected_after(subscription, delta);
                health.push((it.queue(subscription), delta));
            }
        }
        let mut streaks = record_health(&world, health.clone()).await;
        let index_of = |queue: &QueueKey| health.iter().position(|(known, _)| known == queue);
        streaks.sort_by_key(|(queue, _)| index_of(queue));
        let subscriptions_with_delta =
            subscriptions.iter().filter(|(queue, subscription)| index_of(&queue.queue(subscription)).is_some());
        let expected_streaks: Vec<_> = subscriptions_with_delta
            .map(|(queue, subscription)| (queue.queue(subscription), subscription.streak))
            .collect();
        assert_eq!(streaks, expected_streaks);
        for (it, subscription) in &subscriptions {
            assert_eq!(read_subscription(it, subscription).await.value, *subscription);
        }
    }
}

async fn two_health_deltas_of_one_subscription_both_count(world: CaseContext) {
    let (to, other) = (world.subscriber().await, world.subscriber().await);
    let good = HealthDelta::from_attempt(AttemptOutcome::Acknowledged, Status::Success, true, world.make.tick());
    for round in 0..20 {
        let health = [
            failure_delta(&world),
            if round % 7 == 3 { good } else { failure_delta(&world) },
            failure_delta(&world),
        ];
        let subscription_before = read_subscription(&world, &to).await.value;
        let expected_subscription =
            health.into_iter().fold(subscription_before, |state, delta| expected_after(&state, delta));
        let queues = [world.queue(&to); 3].into_iter().zip(health).chain([(world.queue(&other), good)]);
        let mut streaks = record_health(&world, queues.collect()).await;
        streaks.sort_by_key(|((_, id), _)| *id);
        assert_eq!(
            streaks,
            [(world.queue(&to), expected_subscription.streak), (world.queue(&other), Streak::default())]
        );
        assert_eq!(read_subscription(&world, &to).await.value, expected_subscription);
    }
}

async fn concurrent_health_deltas_all_count(world: CaseContext) {
    let subscriptions = [world.subscriber().await, world.subscriber().await, world.subscriber().await];
    let mut failing_since = None;
    for round in 1..=3 {
        let health: Vec<_> = (0..40).map(|_| failure_delta(&world)).collect();
        let tasks = health.iter().enumerate().map(|(number, delta)| {
            let world = world.clone();
            let mut queues: Vec<_> =
                subscriptions.iter().map(|subscription| (world.queue(subscription), *delta)).collect();
            // Each worker records the subscriptions in a different order.
            queues.rotate_left(number % 3);
            async move { record_health(&world, queues).await }
        });
        let streaks = at_once(tasks).await;
        assert!(streaks.iter().all(|streak| streak.len() == 3));
        failing_since = failing_since.or(health.first().map(|delivery| delivery.last_at));
        for it in &subscriptions {
            let now = read_subscription(&world, it).await.value;
            assert_eq!(now.streak, Streak { failures: round * 40, since: failing_since, is_failing: false });
            assert_eq!(now.last_delivery_at, health.last().map(|delivery| delivery.last_at));
            // Each result reports a different number of failures; the highest one is the sum.
            let mut reported_streaks: Vec<_> =
                streaks.iter().flatten().filter(|(queue, _)| *queue == world.queue(it)).collect();
            reported_streaks.sort_by_key(|(_, streak)| streak.failures);
            let failure_counts: Vec<_> = reported_streaks.into_iter().map(|(_, streak)| streak.failures).collect();
            assert_eq!(failure_counts, ((round - 1) * 40 + 1..=round * 40).collect::<Vec<_>>());
        }
    }
}

async fn last_delivery_time_never_decreases(world: CaseContext) {
    let to = world.subscriber().await;
    let base_time = world.make.tick();
    let delta = |status, seconds| {
        let outcome = if status == Status::Success { AttemptOutcome::Acknowledged } else { FAILED };
        HealthDelta::from_attempt(outcome, status, false, base_time.plus_seconds(seconds))
    };
    let steps = [
        (delta(Status::Failed, 0), Status::Failed, 0),
        (delta(Status::Success, -1), Status::Failed, 0),
        (delta(Status::Success, 0), Status::Success, 0),
        (delta(Status::Dropped, 9), Status::Dropped, 9),
        (delta(Status::Success, 8), Status::Dropped, 9),
        (delta(Status::Failed, 10), Status::Failed, 10),
    ];
    for (delta, status, seconds) in steps {
        assert_eq!(
            record_health(&world, vec![(world.queue(&to), delta)]).await,
            [(world.queue(&to), Streak::default())]
        );
        let now = read_subscription(&world, &to).await.value;
        let last_delivery = (now.last_delivery_status, now.last_delivery_at);
        assert_eq!(last_delivery, (Some(status), Some(base_time.plus_seconds(seconds))), "{delta:?}");
    }
}

async fn health_delta_of_an_unknown_subscription_is_ignored(world: CaseContext) {
    let (to, removed, others) = (world.subscriber().await, world.subscriber().await, world.in_other_tenant());
    world.save(vec![Write::WebhookRemoved(removed.id, Version::FIRST)]).await;
    let delta = failure_delta(&world);
    let health = vec![
        ((world.tenant, world.make.id()), delta),
        (world.queue(&removed), delta),
        (others.queue(&to), delta),
        (world.test_environment().queue(&to), delta),
    ];
    assert_eq!(record_health(&world, health.clone()).await, []);
    assert_eq!(read_subscription(&world, &to).await.value, to);
    let with = [health, vec![(world.queue(&to), delta)]].concat();
    assert_eq!(record_health(&world, with).await, [(world.queue(&to), delta.streak)]);
}

async fn failure_count_saturates_at_its_maximum(world: CaseContext) {
    let to = world.subscriber().await;
    let many = HealthDelta {
        streak: Streak { failures: u32::MAX - 1, ..failure_delta(&world).streak },
        ..failure_delta(&world)
    };
    for failures in [u32::MAX - 1, u32::MAX, u32::MAX] {
        let streaks = record_health(&world, vec![(world.queue(&to), many)]).await;
        assert_eq!(streaks, [(world.queue(&to), Streak { failures, ..many.streak })]);
    }
}

async fn health_delta_does_not_change_the_version(world: CaseContext) {
    let with_invented_health = |subscription: Subscription| Subscription {
        last_delivery_at: Some(world.now()),
        last_delivery_status: Some(Status::Dropped),
        streak: Streak { failures: 9, since: Some(world.now()), is_failing: true },
        ..subscription
    };
    let to = world.make.subscription();
    world.add_subscription(with_invented_health(to.clone())).await;
    assert_eq!(
        read_subscription(&world, &to).await,
        Versioned { value: to.clone(), version: Version::FIRST },
        "a put does not write health"
    );
    let delta = failure_delta(&world);
    record_health(&world, vec![(world.queue(&to), delta)]).await;
    let expected_subscription = expected_after(&to, delta);
    assert_eq!(
        read_subscription(&world, &to).await,
        Versioned { value: expected_subscription.clone(), version: Version::FIRST }
    );
    // Saves a value without health, then one with invented health. Neither changes the recorded health.
    for (number, value) in (1..).zip([to.clone(), with_invented_health(to.clone())]) {
        world.save(vec![Write::put(&Row::at_version(value, Version(number)))]).await;
        assert_eq!(
            read_subscription(&world, &to).await,
            Versioned { value: expected_subscription.clone(), version: Version(number + 1) }
        );
    }
}

async fn failure_streak_of_one_subscription_can_be_reset(world: CaseContext) {
    let (to, other) = (world.subscriber().await, world.subscriber().await);
    let delta = failure_delta(&world);
    record_health(&world, vec![(world.queue(&to), delta), (world.queue(&other), delta)]).await;
    // Resetting a subscription of another tenant, or an unknown one, changes nothing.
    world.in_other_tenant().save(vec![Write::StreakReset(to.id)]).await;
    world.save(vec![Write::StreakReset(world.make.id())]).await;
    assert_eq!(read_subscription(&world, &to).await.value, expected_after(&to, delta));
    let value = Subscription { active: false, ..to.clone() };
    world.save(vec![Write::put(&Row::at_version(value.clone(), Version::FIRST)), Write::StreakReset(to.id)]).await;
    let reset = Subscription { streak: Streak::default(), ..expected_after(&value, delta) };
    assert_eq!(read_subscription(&world, &to).await, Versioned { value: reset, version: Version(2) });
    assert_eq!(read_subscription(&world, &other).await.value, expected_after(&other, delta));
    let next = failure_delta(&world);
    assert_eq!(record_health(&world, vec![(world.queue(&to), next)]).await, [(world.queue(&to), next.streak)]);
    // Recording does not reactivate a paused subscription, so only the other one gets a delivery.
    world.commit_events(&[EventType::EmployeeCreated]).await;
    assert_eq!(Worker::new(&world).all(world.now()).await.len(), 1);
}

async fn due_report_of_a_failing_subscription_is_taken_once(world: CaseContext) {
    let others = world.in_other_tenant();
    let (to, other, idle) = (world.subscriber().await, others.subscriber().await, world.subscriber().await);
    let (first, second) = (failure_delta(&world).mark_failing(), failure_delta(&world).mark_failing());
    let health = vec![
        (world.queue(&to), first),
        (others.queue(&other), second),
        (world.queue(&idle), failure_delta(&world)),
    ];
    record_health(&world, health).await;
    let due = || async {
        let due = world.store.due(rows::webhooks::FAILING_DUE, world.now(), 9).await.unwrap();
        due.into_iter().map(|(tenant, row)| (tenant, row.value.id, row.value.failing_due)).collect::<Vec<_>>()
    };
    let expected_reports =
        [(world.tenant, to.id, Some(first.last_at)), (others.tenant, other.id, Some(second.last_at))];
    assert_eq!(due().await, expected_reports);
    let report = |id| {
        let change = ChangeSet {
            events: vec![world.make.event(EventType::WebhookFailing)],
            ..world.make.change(vec![Write::FailingReported(id)])
        };
        let world = world.clone();
        async move { world.store.commit(world.tenant, change).await.is_ok() }
    };
    let reports = at_once((0..4).map(|_| report(to.id))).await;
    assert_eq!(reports.iter().filter(|is_taken| **is_taken).count(), 1);
    assert_eq!(due().await, expected_reports[1..]);
    for id in [idle.id, other.id, world.make.id()] {
        assert!(!report(id).await, "nothing is due in this data set");
    }
    assert_eq!(read_subscription(&world, &to).await.version, Version::FIRST);
    // A further failure is reported only after a success.
    record_health(&world, vec![(world.queue(&to), failure_delta(&world).mark_failing())]).await;
    assert_eq!(due().await, expected_reports[1..]);
    let good = HealthDelta::from_attempt(AttemptOutcome::Acknowledged, Status::Success, true, world.make.tick());
    record_health(&world, vec![(world.queue(&to), good)]).await;
    record_health(&world, vec![(world.queue(&to), failure_delta(&world).mark_failing())]).await;
    assert_eq!(due().await.len(), 2);
}
