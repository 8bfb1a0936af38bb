//! Reads of the events that a replay delivers again, and of events by the ids in their deliveries.

use std::collections::BTreeSet;

use candor_domain::event::{Event, EventType};
use candor_domain::fields::StringEnum;
use candor_domain::id::EventId;
use candor_domain::time::Timestamp;
use candor_port_storage::queue::{AttemptResult, EventToRedeliver, RedeliveryFilter};
use candor_port_storage::{ChangeSet, Row, Version, Write};
use candor_subscriptions::{Delivery, DeliveryOrigin, Job, Status, Subscription};

use super::log::entry;
use super::queue::just_before;
use crate::Case;
use crate::worker::{BAD, END, LEASE_SECONDS, Worker, attempt_effect};
use crate::world::{CaseContext, EVER};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(events_are_read_by_tenant_and_id),
        Case::new(replay_window_includes_its_start_and_excludes_its_end),
        Case::new(queued_event_is_not_replayed),
        Case::new(event_that_waits_for_a_retry_is_replayed),
        Case::new(only_events_never_acknowledged_count_as_failed),
        Case::new(replay_of_random_histories_matches_a_model),
    ]
}

const KINDS: [EventType; 3] =
    [EventType::EmployeeCreated, EventType::EmployeeUpdated, EventType::ObjectiveArchived];

async fn events_are_read_by_tenant_and_id(world: CaseContext) {
    let worlds = [world.clone(), world.in_other_tenant(), world.test_environment()];
    let mut all = vec![];
    for owner in &worlds {
        let events = owner.commit_events(&[EventType::EmployeeCreated; 90]).await;
        all.extend(events.into_iter().map(|event| (owner.tenant, event)));
    }
    let in_order = |mut some: Vec<(_, Event)>| {
        some.sort_by_key(|(_, event)| event.id);
        some
    };
    for count in [0, 1, 2, 100, all.len()] {
        let some: Vec<_> = all.iter().rev().take(count).cloned().collect();
        let mut event_keys: Vec<_> = some.iter().map(|(tenant, event)| (*tenant, event.id)).collect();
        // Adds an event of another tenant, an unknown event, and a duplicate id.
        event_keys.extend(all.first().map(|(_, event)| (worlds[1].tenant, event.id)));
        event_keys.push((world.tenant, world.make.id()));
        event_keys.extend(event_keys.first().copied().filter(|_| count > 0));
        let read_events = world.store.events_by_id(&event_keys).await.unwrap();
        assert_eq!(in_order(read_events), in_order(some), "{count}");
    }
    assert_eq!(world.store.events_by_id(&[]).await.unwrap(), []);
}

/// Returns the filter for all events of every type.
fn any() -> RedeliveryFilter {
    let types = EventType::ALL.to_vec();
    RedeliveryFilter { since: EVER, until: END, types, only_failed: false, now: END }
}

/// Returns the events to replay, read in pages of at most `most`.
async fn events_to_replay(
    world: &CaseContext,
    to: &Subscription,
    which: &RedeliveryFilter,
    most: u16,
) -> Vec<EventId> {
    let (mut found, mut after) = (vec![], None);
    loop {
        let page = world.store.to_deliver_again(world.tenant, to.id, which, after, most).await.unwrap();
        assert!(page.len() <= usize::from(most), "{} instead of {most}", page.len());
        let Some(last) = page.last() else { return found };
        after = Some(last.event_id);
        found.extend(page.into_iter().map(|resend| {
            assert!(which.types.contains(&resend.event_type), "{resend:?}");
            resend.event_id
        }));
    }
}

fn ids<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<EventId> {
    events.into_iter().map(|event| event.id).collect()
}

async fn replay_window_includes_its_start_and_excludes_its_end(world: CaseContext) {
    let mut events = vec![];
    for number in 0..20 {
        events.extend(world.commit_events(&[KINDS[number % 3]]).await);
        world.make.clock.advance_seconds(600);
    }
    world.in_other_tenant().commit_events(&KINDS).await;
    world.test_environment().commit_events(&KINDS).await;
    // The store ignores creation time and topics of the subscription; the caller checks them.
    let to = world.add_subscription(world.make.subscription_to(&[EventType::SummaryShared])).await;
    for most in [1, 3, 100] {
        assert_eq!(events_to_replay(&world, &to, &any(), most).await, ids(&events));
        let (since, until) = (events[4].created_at, events[12].created_at);
        let window_filter = RedeliveryFilter { since, until, ..any() };
        assert_eq!(events_to_replay(&world, &to, &window_filter, most).await, ids(&events[4..12]));
        let wider = RedeliveryFilter {
            since: just_before(since),
            until: Timestamp::from_millis(until.millis() + 1),
            ..any()
        };
        assert_eq!(events_to_replay(&world, &to, &wider, most).await, ids(&events[4..13]));
        let types = vec![KINDS[0], KINDS[2]];
        let some = RedeliveryFilter { types: types.clone(), ..window_filter.clone() };
        let matching_events = events[4..12].iter().filter(|event| types.contains(&event.kind));
        assert_eq!(events_to_replay(&world, &to, &some, most).await, ids(matching_events));
        assert_eq!(
            events_to_replay(&world, &to, &RedeliveryFilter { until: since, ..window_filter.clone() }, most).await,
            []
        );
        assert_eq!(
            events_to_replay(&world, &to, &RedeliveryFilter { types: vec![], ..window_filter }, most).await,
            []
        );
    }
    let page = world.store.to_deliver_again(world.tenant, to.id, &any(), Some(events[3].id), 2).await.unwrap();
    let first_events = [&events[4], &events[5]];
    let expected_events = first_events.map(|event| EventToRedeliver {
        event_id: event.id,
        event_type: event.kind,
        is_queued: false,
    });
    assert_eq!(page, expected_events);
}

async fn queued_event_is_not_replayed(world: CaseContext) {
    let (to, other) =
        (world.subscriber().await, world.add_subscription(world.make.subscription_to(&KINDS[..1])).await);
    let events = world.commit_events(&KINDS).await;
    assert_eq!(events_to_replay(&world, &to, &any(), 9).await, []);
    assert_eq!(
        events_to_replay(&world, &other, &any(), 9).await,
        ids(&events[1..]),
        "these events are not queued for this subscription"
    );
    let worker = Worker::new(&world);
    let jobs: Vec<Job> = worker.all(world.now()).await.into_iter().filter(|job| job.webhook_id == to.id).collect();
    worker.records_all(vec![(jobs[0], AttemptResult::Gone), (jobs[1], AttemptResult::Parked)]).await;
    // The first delivery is done, the second is parked, and the third is leased.
    assert_eq!(events_to_replay(&world, &to, &any(), 9).await, ids(&events[..1]));
    assert_eq!(events_to_replay(&world, &to, &RedeliveryFilter { only_failed: true, ..any() }, 9).await, []);
}

async fn event_that_waits_for_a_retry_is_replayed(world: CaseContext) {
    let to = world.subscriber().await;
    let events = world.commit_events(&[KINDS[0]; 7]).await;
    let worker = Worker::new(&world);
    let jobs = worker.all(world.now()).await;
    let retry_time = world.now().plus_seconds(3_600);
    let fails = |job: &Job, retry_at| {
        (*job, AttemptResult::Settled(Box::new(attempt_effect(job, world.make.id(), BAD, Some(retry_at)))))
    };
    worker.records_all(jobs[..5].iter().map(|job| fails(job, retry_time)).collect()).await;
    // The second delivery is parked after its failure, the third is leased, and the fourth is due. The last two
    // have no attempt.
    world.make.clock.advance_seconds(3_601);
    let jobs_again = worker.all(world.now()).await;
    let retried_job = |at: usize| *jobs_again.iter().find(|job| job.event_id == events[at].id).unwrap();
    let now = world.now();
    let returned_job = |at: usize, until| (retried_job(at), AttemptResult::Back(until));
    worker
        .records_all(vec![
            returned_job(0, retry_time.plus_seconds(7_200)),
            (retried_job(1), AttemptResult::Parked),
            returned_job(3, now),
        ])
        .await;
    worker
        .records_all(vec![
            returned_job(4, retry_time.plus_seconds(7_200)),
            (jobs[5], AttemptResult::Back(END)),
            (jobs[6], AttemptResult::Back(now)),
        ])
        .await;
    let expected_events =
        [0, 4].map(|at| EventToRedeliver { event_id: events[at].id, event_type: KINDS[0], is_queued: true });
    for only_failed in [true, false] {
        let which = RedeliveryFilter { only_failed, now, ..any() };
        let events_to_resend = world.store.to_deliver_again(world.tenant, to.id, &which, None, 9).await.unwrap();
        assert_eq!(events_to_resend, expected_events, "{only_failed}");
        let much_later = RedeliveryFilter { now: END, ..which };
        assert_eq!(world.store.to_deliver_again(world.tenant, to.id, &much_later, None, 9).await.unwrap(), []);
    }
    // A delivery with an expired lease can be replayed.
    let which = RedeliveryFilter { now: now.plus_seconds(LEASE_SECONDS), ..any() };
    assert_eq!(ids_of(&world, &to, &which).await, [0, 4].map(|at| events[at].id), "the third is due by then");
}

async fn ids_of(world: &CaseContext, to: &Subscription, which: &RedeliveryFilter) -> Vec<EventId> {
    let events_to_resend = world.store.to_deliver_again(world.tenant, to.id, which, None, 9).await.unwrap();
    events_to_resend.into_iter().map(|resend| resend.event_id).collect()
}

/// Logs attempts with these statuses for one event and subscription.
async fn attempts(world: &CaseContext, to: &Subscription, event: &Event, statuses: &[Status]) {
    let some: Vec<_> = statuses
        .iter()
        .map(|status| Delivery {
            event_id: event.id,
            event_type: event.kind,
            status: *status,
            ..entry(world, to, world.make.tick())
        })
        .collect();
    world.log_deliveries(to, &some).await;
}

async fn only_events_never_acknowledged_count_as_failed(world: CaseContext) {
    use Status::{Dropped, Failed, Success};
    let events = world.commit_events(&[KINDS[0]; 10]).await;
    let (to, other) = (world.subscriber().await, world.subscriber().await);
    let table: [(&[Status], bool); 8] = [
        (&[], false),
        (&[Success], false),
        (&[Failed], true),
        (&[Dropped], true),
        (&[Failed, Failed, Failed, Dropped], true),
        (&[Failed, Success], false),
        (&[Dropped, Success], false),
        // The first attempt was acknowledged, and the later replay failed.
        (&[Success, Failed, Dropped], false),
    ];
    for ((statuses, _), event) in table.iter().zip(&events) {
        attempts(&world, &to, event, statuses).await;
    }
    // Adds attempts of another subscription, of a queued event, and of an event that is not stored.
    attempts(&world, &other, &events[8], &[Failed]).await;
    attempts(&world, &to, &events[9], &[Failed]).await;
    world.enqueue(&[Job { origin: DeliveryOrigin::Event, ..world.delivery_of(&events[9], &to) }]).await;
    attempts(&world, &to, &world.make.event(EventType::TestPing), &[Failed]).await;
    let failed_filter = RedeliveryFilter { only_failed: true, ..any() };
    let failures = table.iter().zip(&events).filter(|((_, is_failed), _)| *is_failed);
    let expected_ids: Vec<_> = failures.map(|(_, event)| event.id).collect();
    for most in [1, 2, 100] {
        assert_eq!(events_to_replay(&world, &to, &failed_filter, most).await, expected_ids);
    }
    assert_eq!(events_to_replay(&world, &other, &failed_filter, 9).await, [events[8].id]);
    assert_eq!(events_to_replay(&world.test_environment(), &to, &failed_filter, 9).await, []);
}

async fn replay_of_random_histories_matches_a_model(world: CaseContext) {
    let to = world.subscriber().await;
    let (mut events, mut log, mut queued) = (vec![], vec![], BTreeSet::new());
    for number in 0..150 {
        let event = world.make.event(*world.random.pick(&KINDS));
        for _ in 0..world.random.number_below(4) {
            let status = *world.random.pick(&[Status::Failed, Status::Failed, Status::Dropped, Status::Success]);
            let attempt_time =
                world.now().plus_seconds(i64::try_from(world.random.number_below(100_000)).unwrap());
            let one = entry(&world, &to, attempt_time);
            log.push(Delivery { event_id: event.id, event_type: event.kind, status, ..one });
        }
        events.push(event);
        world.make.clock.advance_seconds(if number % 10 == 0 { 100_000 } else { 7 });
    }
    // The subscription is paused during the events, so that they are not queued.
    let paused_webhook = Subscription { active: false, ..to.clone() };
    world.save(vec![Write::put(&Row::at_version(paused_webhook, Version::FIRST))]).await;
    world.commit(ChangeSet { events: events.clone(), ..world.make.change(vec![]) }).await.unwrap();
    world.log_deliveries(&to, &log).await;
    for event in events.iter().filter(|_| world.random.chance(20)) {
        world.enqueue(&[world.delivery_of(event, &to)]).await;
        queued.insert(event.id);
    }
    for number in 0..60 {
        let [a, b] = [(); 2].map(|()| world.random.pick(&events).created_at);
        let types = KINDS.into_iter().filter(|_| world.random.chance(70)).collect();
        let which =
            RedeliveryFilter { since: a.min(b), until: a.max(b), types, only_failed: number % 2 == 0, now: END };
        let has =
            |event: &Event, status| log.iter().any(|entry| entry.event_id == event.id && entry.status == status);
        let expected_events = events.iter().filter(|event| {
            let has_only_failures =
                (has(event, Status::Failed) || has(event, Status::Dropped)) && !has(event, Status::Success);
            (which.since..which.until).contains(&event.created_at)
                && which.types.contains(&event.kind)
                && !queued.contains(&event.id)
                && (has_only_failures || !which.only_failed)
        });
        let most = *world.random.pick(&[1, 5, 1_000]);
        assert_eq!(events_to_replay(&world, &to, &which, most).await, ids(expected_events), "{which:?}");
    }
}
