//! Deliveries that a change set queues: one per event and subscription, in the same transaction, with the
//! requested lease.

use std::collections::BTreeSet;

use candor_domain::event::{Event, EventType};
use candor_domain::fields::StringEnum;
use candor_domain::id::{EventId, WebhookId};
use candor_domain::people::Employee;
use candor_domain::time::Timestamp;
use candor_port_storage::queue::{AttemptResult, Claim, ClaimedJobs, QueueState, QueueWalk};
use candor_port_storage::{ChangeSet, CommitError, Committed, Row, Version, Write};
use candor_subscriptions::{DeliveryOrigin, Job, Subscription};

use crate::Case;
use crate::fixtures::joins;
use crate::worker::{BAD, END, LEASE_SECONDS, MANY, Worker, attempt_effect, in_order, walk};
use crate::world::{CaseContext, at_once};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(event_is_queued_for_active_subscriptions_to_its_type),
        Case::new(changed_subscription_applies_to_later_events),
        Case::new(subscription_event_is_not_queued_for_its_subject),
        Case::new(refused_change_queues_no_delivery),
        Case::new(concurrent_retries_queue_an_event_once),
        Case::new(delivery_is_due_at_the_time_of_its_event),
        Case::new(delivery_queued_under_a_lease_belongs_to_its_worker),
        Case::new(change_without_a_lease_leases_no_delivery),
        Case::new(queued_delivery_is_not_replaced),
        Case::new(reserved_attempt_id_is_stored_or_refused),
        Case::new(one_of_concurrent_reservations_of_an_attempt_wins),
        Case::new(queued_delivery_round_trips),
        Case::new(many_events_for_many_subscriptions_are_one_change),
        Case::new(queue_state_returns_due_count_and_oldest_time),
    ]
}

const CREATED: EventType = EventType::EmployeeCreated;
const UPDATED: EventType = EventType::EmployeeUpdated;

pub(super) fn just_before(at: Timestamp) -> Timestamp {
    Timestamp::from_millis(at.millis() - 1)
}

async fn event_is_queued_for_active_subscriptions_to_its_type(world: CaseContext) {
    let worlds = [world.clone(), world.in_other_tenant(), world.test_environment()];
    let mut subscriptions = vec![];
    for it in &worlds {
        let make = &it.make;
        let kinds = [EventType::ObservationCreated, EventType::TestPing, UPDATED];
        let several = [
            make.subscription(),
            make.subscription_to(&[CREATED]),
            make.subscription_to(&kinds),
            Subscription { active: false, ..make.subscription() },
            Subscription { active: false, ..make.subscription_to(&kinds) },
        ];
        it.save(several.iter().map(|subscription| Write::put(&Row::new(subscription.clone()))).collect()).await;
        subscriptions.push(several);
    }
    let kinds: Vec<_> = EventType::ALL.to_vec();
    let mut expected_jobs = vec![];
    for (it, subscriptions) in worlds.iter().zip(&subscriptions) {
        let events = it.commit_events(&kinds).await;
        for to in subscriptions {
            expected_jobs
                .extend(events.iter().filter(|event| to.wants(event.kind)).map(|event| it.delivery_of(event, to)));
        }
    }
    assert_eq!(expected_jobs.len(), 3 * (kinds.len() + 1 + 3));
    let worker = Worker::new(&world);
    assert_eq!(worker.all(END).await, in_order(expected_jobs));
    assert_eq!(worker.all_parked(END).await, []);
}

async fn changed_subscription_applies_to_later_events(world: CaseContext) {
    let to = world.add_subscription(world.make.subscription_to(&[CREATED])).await;
    let steps = [
        (world.make.subscription_to(&[CREATED]).event_types, true, vec![CREATED]),
        (world.make.subscription_to(&[UPDATED]).event_types, true, vec![UPDATED]),
        (world.make.subscription().event_types, false, vec![]),
        (world.make.subscription().event_types, true, vec![CREATED, UPDATED]),
    ];
    let mut expected_jobs = vec![];
    for (number, (event_types, active, kinds)) in (1..).zip(steps) {
        let value = Subscription { effective_event_types: event_types, active, ..to.clone() };
        world.save(vec![Write::put(&Row::at_version(value, Version(number)))]).await;
        let events = world.commit_events(&[CREATED, UPDATED]).await;
        let matching_events = events.iter().filter(|event| kinds.contains(&event.kind));
        expected_jobs.extend(matching_events.map(|event| world.delivery_of(event, &to)));
    }
    world.save(vec![Write::WebhookRemoved(to.id, Version(5))]).await;
    world.commit_events(&[CREATED, UPDATED]).await;
    let jobs: Vec<_> = Worker::new(&world).all(END).await;
    // Stores may delete these deliveries with their subscription; in other stores the workers drop them.
    assert!(jobs.iter().all(|delivery| expected_jobs.contains(delivery)), "{jobs:?}");
    let other = world.add_subscription(world.make.subscription_to(&[CREATED])).await;
    let events = world.commit_events(&[UPDATED, CREATED]).await;
    assert_eq!(Worker::new(&world).oldest(END, MANY).await, [world.delivery_of(&events[1], &other)]);
}

async fn subscription_event_is_not_queued_for_its_subject(world: CaseContext) {
    let (ended, other) = (world.subscriber().await, world.subscriber().await);
    for (number, active) in (1..).zip([false, true]) {
        let value = Subscription { active, ..ended.clone() };
        let event = world.make.event(EventType::WebhookDisabled);
        let writes = vec![Write::put(&Row::at_version(value, Version(number)))];
        let change = ChangeSet { events: vec![event.clone()], ..world.make.change(writes) };
        world.store.commit(world.tenant, change).await.unwrap();
        let jobs = Worker::new(&world).oldest(END, MANY).await;
        assert_eq!(jobs, [world.delivery_of(&event, &other)], "active: {active}");
    }
}

fn announce(world: &CaseContext, writes: Vec<Write>) -> (Event, ChangeSet) {
    let event = world.make.event(CREATED);
    (event.clone(), ChangeSet { events: vec![event], ..world.make.change(writes) })
}

async fn refused_change_queues_no_delivery(world: CaseContext) {
    let to = world.subscriber().await;
    let person = world.hire().await;
    let stale = Write::employee(&Row::at_version(person.clone(), Version(7)), None);
    let conflicting_write = joins(Employee { email: person.email.clone(), ..world.make.employee() });
    let worker = Worker::new(&world);
    for write in [stale, conflicting_write, Write::WebhookRemoved(to.id, Version(7))] {
        let (_, change) = announce(&world, vec![Write::Enqueue(vec![world.delivery_at(world.now(), &to)]), write]);
        let lease = Some(worker.lease(world.now()));
        assert!(world.commit(ChangeSet { lease, ..change }).await.is_err());
    }
    assert_eq!(worker.all(END).await, []);
    assert_eq!(world.store.queue_state(END).await.unwrap(), QueueState::default());
}

async fn concurrent_retries_queue_an_event_once(world: CaseContext) {
    let to = world.subscriber().await;
    for round in 0..5 {
        let key = format!("round-{round}");
        let twins: Vec<_> = (0..10)
            .map(|_| {
                let (event, change) = announce(&world, vec![joins(world.make.employee())]);
                (event, ChangeSet { replay: Some(world.make.replay(&key)), ..change })
            })
            .collect();
        let tasks = twins.iter().map(|(_, change)| {
            let (world, change) = (world.clone(), change.clone());
            async move { world.commit(change).await }
        });
        let results = at_once(tasks).await;
        assert!(results.iter().all(|result| matches!(result, Ok(()) | Err(CommitError::Replayed))), "{results:?}");
        let winners: Vec<_> = (0..10).filter(|number| results[*number].is_ok()).collect();
        assert_eq!(winners.len(), 1, "{results:?}");
        let worker = Worker::new(&world);
        let jobs = worker.all(END).await;
        assert_eq!(jobs, [world.delivery_of(&twins[winners[0]].0, &to)]);
        worker.records_all(vec![(jobs[0], AttemptResult::Gone)]).await;
    }
}

async fn delivery_is_due_at_the_time_of_its_event(world: CaseContext) {
    let to = world.subscriber().await;
    let [first, second] = <[Event; 2]>::try_from(world.commit_events(&[CREATED, UPDATED]).await).unwrap();
    assert!(first.created_at < second.created_at);
    let worker = Worker::new(&world);
    assert_eq!(worker.all(just_before(first.created_at)).await, []);
    assert_eq!(worker.all(first.created_at).await, [world.delivery_of(&first, &to)]);
    assert_eq!(worker.all(second.created_at).await, [world.delivery_of(&second, &to)]);
}

fn keys(jobs: &[Job]) -> BTreeSet<(WebhookId, EventId)> {
    jobs.iter().map(|job| (job.webhook_id, job.event_id)).collect()
}

async fn delivery_queued_under_a_lease_belongs_to_its_worker(world: CaseContext) {
    let (to, other) =
        (world.subscriber().await, world.add_subscription(world.make.subscription_to(&[UPDATED])).await);
    let (mine, others) = (Worker::new(&world), Worker::new(&world));
    let events = [world.make.event(CREATED), world.make.event(UPDATED)];
    let leased_events = [world.delivery_at(world.now(), &to), world.delivery_at(world.now(), &other)];
    let now = world.make.tick();
    let lease = mine.lease(now);
    let change = ChangeSet {
        events: events.to_vec(),
        lease: Some(lease),
        ..world.make.change(vec![Write::Enqueue(leased_events.to_vec())])
    };
    let Committed { leased } = world.commit_for_result(change).await.unwrap();
    let [created, updated] = [0, 1].map(|index| world.delivery_of(&events[index], &to));
    let jobs = in_order(vec![
        created,
        updated,
        world.delivery_of(&events[1], &other),
        leased_events[0],
        leased_events[1],
    ]);
    assert_eq!(leased.len(), 5, "each once");
    assert_eq!(leased.into_iter().collect::<BTreeSet<_>>(), keys(&jobs));
    // Neither other workers nor the same one can claim the leased deliveries.
    for worker in [&others, &mine] {
        let early = just_before(lease.until);
        assert_eq!(worker.all(early).await, []);
        let all = QueueWalk { queues: MANY, ..walk(MANY) };
        assert_eq!(worker.claims(early, Claim::SubscriptionQueues(all)).await.jobs, []);
    }
    // The worker that holds the lease records the result without a claim.
    mine.records_all(vec![(created, AttemptResult::Gone)]).await;
    let other_jobs: Vec<_> = jobs.into_iter().filter(|job| *job != created).collect();
    assert_eq!(others.all(lease.until).await, other_jobs);
    assert_eq!(mine.records(vec![(updated, AttemptResult::Gone)]).await.lost, 1, "another worker has the lease");
}

async fn change_without_a_lease_leases_no_delivery(world: CaseContext) {
    let to = world.subscriber().await;
    let enqueue = Write::Enqueue(vec![world.delivery_at(world.now(), &to)]);
    let (_, change) = announce(&world, vec![enqueue]);
    assert_eq!(world.commit_for_result(change).await.unwrap(), Committed::default());
    let mine = Worker::new(&world);
    let quiet = ChangeSet { lease: Some(mine.lease(world.now())), ..world.make.change(vec![]) };
    assert_eq!(world.commit_for_result(quiet).await.unwrap(), Committed::default(), "without events, no delivery");
    assert_eq!(Worker::new(&world).all(world.now()).await.len(), 2);
}

async fn queued_delivery_is_not_replaced(world: CaseContext) {
    let to = world.subscriber().await;
    let [event, other] = <[Event; 2]>::try_from(world.commit_events(&[CREATED, UPDATED]).await).unwrap();
    let (mine, late) = (Worker::new(&world), world.now().plus_seconds(1_000));
    let jobs = mine.all(world.now()).await;
    let retry_result = attempt_effect(&jobs[0], world.make.id(), BAD, Some(late));
    mine.records_all(vec![(jobs[0], AttemptResult::Settled(Box::new(retry_result)))]).await;
    // The first event waits for its second attempt, the second is leased, and the third is new.
    let replay = |event: &Event| Job {
        origin: DeliveryOrigin::Replay,
        first_due_at: world.now(),
        ..world.delivery_of(event, &to)
    };
    let new = world.delivery_at(world.now(), &to);
    let repeated_jobs = vec![replay(&event), replay(&other), new, Job { origin: DeliveryOrigin::Test, ..new }];
    let lease = Some(Worker::new(&world).lease(world.now()));
    let change = ChangeSet { lease, ..world.make.change(vec![Write::Enqueue(repeated_jobs)]) };
    assert_eq!(world.commit_for_result(change).await.unwrap().leased, [(to.id, new.event_id)]);
    mine.records_all(vec![(jobs[1], AttemptResult::Gone)]).await;
    let second = Job { attempt: 2, ..world.delivery_of(&event, &to) };
    assert_eq!(mine.all(just_before(late)).await, [new]);
    assert_eq!(mine.all(late).await, [second]);
}

async fn reserved_attempt_id_is_stored_or_refused(world: CaseContext) {
    let to = world.subscriber().await;
    let event = world.commit_events(&[CREATED]).await.remove(0);
    let (queued, new) = (world.delivery_of(&event, &to), world.delivery_at(world.now(), &to));
    let lease = Some(Worker::new(&world).lease(world.now()));
    for lease in [None, lease] {
        for asked in
            [vec![queued.with_delivery_id(world.make.id())], vec![new, queued.with_delivery_id(world.make.id())]]
        {
            let change = ChangeSet { lease, ..world.make.change(vec![Write::Enqueue(asked)]) };
            assert!(matches!(world.commit_for_result(change).await, Err(CommitError::Stale)));
        }
    }
    let mine = Worker::new(&world);
    assert_eq!(mine.all(world.now()).await, [queued], "nothing was saved");
    mine.records_all(vec![(queued, AttemptResult::Gone)]).await;
    let job_with_id = queued.with_delivery_id(world.make.id());
    world.enqueue(&[new, job_with_id]).await;
    assert_eq!(mine.all(world.now()).await, in_order(vec![new, job_with_id]));
}

async fn one_of_concurrent_reservations_of_an_attempt_wins(world: CaseContext) {
    let to = world.subscriber().await;
    for _ in 0..5 {
        let job = world.delivery_at(world.now(), &to);
        let promises: Vec<_> = (0..10).map(|_| job.with_delivery_id(world.make.id())).collect();
        let tasks = promises.clone().into_iter().map(|promise| {
            let world = world.clone();
            async move { world.try_save(Write::Enqueue(vec![promise])).await }
        });
        let results = at_once(tasks).await;
        assert!(results.iter().all(|result| matches!(result, Ok(()) | Err(CommitError::Stale))), "{results:?}");
        let accepted_ids: Vec<_> =
            (0..10).filter(|number| results[*number].is_ok()).map(|number| promises[number]).collect();
        assert_eq!(accepted_ids.len(), 1, "{results:?}");
        let worker = Worker::new(&world);
        assert_eq!(worker.all(END).await, accepted_ids);
        worker.records_all(vec![(accepted_ids[0], AttemptResult::Gone)]).await;
    }
}

async fn queued_delivery_round_trips(world: CaseContext) {
    let paused_webhook = world.add_subscription(Subscription { active: false, ..world.make.subscription() }).await;
    let due_time = world.now().plus_seconds(60);
    let mut jobs = vec![];
    for (number, origin) in (1_u16..).zip(DeliveryOrigin::ALL) {
        let job = Job { origin: *origin, attempt: number * 100, ..world.delivery_at(due_time, &paused_webhook) };
        jobs.extend([job, world.delivery_at(due_time, &paused_webhook).with_delivery_id(world.make.id())]);
    }
    world.enqueue(&jobs).await;
    let worker = Worker::new(&world);
    assert_eq!(worker.all(just_before(due_time)).await, [], "no delivery is due yet");
    // Queued deliveries stay claimable while their subscription is paused.
    assert_eq!(worker.all(due_time).await, in_order(jobs));
}

async fn many_events_for_many_subscriptions_are_one_change(world: CaseContext) {
    let mut subscriptions = vec![];
    for _ in 0..12 {
        subscriptions.push(world.subscriber().await);
    }
    let events = world.commit_events(&[UPDATED; 400]).await;
    let mut jobs = vec![];
    for to in &subscriptions {
        jobs.extend(events.iter().map(|event| world.delivery_of(event, to)));
    }
    assert_eq!(Worker::new(&world).all(END).await, in_order(jobs));
}

async fn queue_state_returns_due_count_and_oldest_time(world: CaseContext) {
    let to = world.subscriber().await;
    let state = |at| {
        let world = world.clone();
        async move {
            let QueueState { due, oldest_due_at } = world.store.queue_state(at).await.unwrap();
            (due, oldest_due_at)
        }
    };
    let start = world.make.tick();
    assert_eq!(state(END).await, (0, None));
    let time = |seconds| start.plus_seconds(seconds);
    let jobs: Vec<_> = [10, 20, 30].map(|seconds| world.delivery_at(time(seconds), &to)).into();
    world.enqueue(&jobs).await;
    assert_eq!(state(just_before(time(10))).await, (0, None), "nothing is due yet");
    assert_eq!(state(time(10)).await, (1, Some(time(10))));
    assert_eq!(state(time(30)).await, (3, Some(time(10))));
    let worker = Worker::new(&world);
    let ClaimedJobs { jobs, .. } = worker.claims(time(15), Claim::Oldest { most: 9 }).await;
    assert_eq!(state(time(30)).await, (2, Some(time(20))), "a worker has the first");
    let lease_ends = time(15 + LEASE_SECONDS);
    assert_eq!(state(lease_ends).await, (3, Some(time(10))), "the due time has not changed");
    worker.records_all(vec![(jobs[0], AttemptResult::Parked)]).await;
    assert_eq!(state(END).await, (2, Some(time(20))), "a parked delivery is not due");
}
