//! Claims of due deliveries: each delivery goes to one worker, and each subscription gets its share.

use std::collections::BTreeSet;

use candor_domain::event::EventType;
use candor_domain::time::Timestamp;
use candor_port_storage::queue::{AttemptResult, Claim, ClaimedJobs, QueueKey, QueueWalk};
use candor_port_storage::{Row, Version, Write};
use candor_subscriptions::{Job, Subscription};

use super::queue::just_before;
use crate::Case;
use crate::worker::{END, LEASE_SECONDS, MANY, Worker, in_order, walk};
use crate::world::{CaseContext, at_once};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(oldest_claim_is_ordered_by_due_time_and_bounded),
        Case::new(claimed_delivery_is_exclusive_until_the_lease_ends),
        Case::new(concurrent_workers_never_claim_the_same_delivery),
        Case::new(concurrent_workers_never_claim_one_parked_delivery),
        Case::new(queue_walk_gives_each_subscription_its_share),
        Case::new(queue_walk_counts_busy_queues_but_skips_them),
        Case::new(parked_delivery_waits_until_its_subscription_is_active),
        Case::new(parked_deliveries_are_claimed_in_event_order),
        Case::new(empty_queue_returns_no_claim),
        Case::new(corrupt_delivery_does_not_block_a_claim),
    ]
}

/// Enqueues deliveries of a subscription. The order in which they become due differs from the order of their events.
async fn backlog(world: &CaseContext, to: &Subscription, size: usize, from: Timestamp) -> Vec<Job> {
    let mut jobs: Vec<_> = (0..size).map(|_| world.delivery_at(from, to)).collect();
    for at in (1..size).rev() {
        jobs.swap(at, world.random.number_below(at + 1));
    }
    for (number, job) in (0..).zip(&mut jobs) {
        job.first_due_at = Timestamp::from_millis(from.millis() + number);
    }
    world.enqueue(&jobs).await;
    jobs
}

async fn corrupt_delivery_does_not_block_a_claim(world: CaseContext) {
    const SPOILT: u16 = 99;
    let (start, worker) = (world.now(), Worker::new(&world));
    let (one, other) = (world.subscriber().await, world.subscriber().await);
    let first = Job { attempt: SPOILT, ..world.delivery_at(start, &one) };
    let good = world.delivery_at(start.plus_seconds(1), &other);
    world.enqueue(&[first, good]).await;
    world.spoil(&format!("UPDATE delivery_jobs SET event_type = 'spoilt' WHERE attempt = {SPOILT}")).await;
    let mut now = start.plus_seconds(2);
    for claim in [Claim::Oldest { most: MANY }, Claim::SubscriptionQueues(walk(MANY))] {
        let claimed_jobs = worker.claims(now, claim).await;
        assert_eq!(claimed_jobs.jobs, [good]);
        now = now.plus_seconds(LEASE_SECONDS * 2);
    }
}

async fn oldest_claim_is_ordered_by_due_time_and_bounded(world: CaseContext) {
    let worlds = [world.clone(), world.in_other_tenant(), world.test_environment()];
    let start = world.now();
    let mut jobs = vec![];
    for (it, from) in worlds.iter().zip([30, 0, 60]) {
        let to = it.subscriber().await;
        jobs.extend(backlog(it, &to, 20, start.plus_seconds(from)).await);
    }
    jobs.sort_by_key(|job| job.first_due_at);
    let worker = Worker::new(&world);
    let now = start.plus_seconds(61);
    let mut job_lists = vec![];
    for most in [1, 3, 0, 40, 100, 5] {
        let some = worker.oldest(now, most).await;
        assert!(some.len() <= usize::from(most), "{} instead of {most}", some.len());
        job_lists.extend(some);
    }
    assert_eq!(job_lists, jobs);
}

async fn claimed_delivery_is_exclusive_until_the_lease_ends(world: CaseContext) {
    let to = world.subscriber().await;
    let jobs = in_order(backlog(&world, &to, 5, world.now()).await);
    let mut now = world.now().plus_seconds(1);
    // The results are never recorded, so each delivery becomes claimable again after its lease.
    for _ in 0..4 {
        let (one, other) = (Worker::new(&world), Worker::new(&world));
        assert_eq!(one.all(now).await, jobs, "{now}");
        let lease_end = now.plus_seconds(LEASE_SECONDS);
        for worker in [&one, &other] {
            for claim in
                [Claim::Oldest { most: MANY }, Claim::SubscriptionQueues(walk(MANY)), Claim::Parked(walk(MANY))]
            {
                let ClaimedJobs { jobs, .. } = worker.claims(just_before(lease_end), claim).await;
                assert_eq!(jobs, []);
            }
        }
        now = lease_end;
    }
    assert_eq!(in_order(Worker::new(&world).claims(now, Claim::SubscriptionQueues(walk(MANY))).await.jobs), jobs);
}

/// Claims until three claims in a row are empty.
async fn claims_all(worker: Worker, now: Timestamp, claim: impl Fn(Option<QueueKey>) -> Claim + Send) -> Vec<Job> {
    let (mut found, mut after, mut fruitless) = (vec![], None, 0);
    while fruitless < 3 {
        let ClaimedJobs { jobs, next } = worker.claims(now, claim(after)).await;
        after = next;
        fruitless = if jobs.is_empty() { fruitless + 1 } else { 0 };
        found.extend(jobs);
        assert!(found.len() < usize::from(MANY), "deliveries are claimed again");
    }
    found
}

/// Lets workers claim concurrently, and checks that together they get every delivery once.
async fn claim_concurrently(
    world: &CaseContext,
    now: Timestamp,
    jobs: &[Job],
    claims: [fn(Option<QueueKey>) -> Claim; 2],
) {
    let workers = (0..8).map(|number| claims_all(Worker::new(world), now, claims[number % 2]));
    let mut shared_jobs: Vec<Job> = at_once(workers).await.into_iter().flatten().collect();
    let keys: BTreeSet<_> = shared_jobs.iter().map(|job| (job.webhook_id, job.event_id)).collect();
    assert_eq!(keys.len(), shared_jobs.len(), "two workers got the same delivery");
    // A store may have skipped deliveries that another worker was claiming at the time.
    shared_jobs.extend(claims_all(Worker::new(world), now, claims[0]).await);
    shared_jobs.extend(claims_all(Worker::new(world), now, claims[1]).await);
    assert_eq!(in_order(shared_jobs), in_order(jobs.to_vec()));
}

async fn concurrent_workers_never_claim_the_same_delivery(world: CaseContext) {
    let subscriptions = [world.subscriber().await, world.subscriber().await, world.subscriber().await];
    for _ in 0..12 {
        let mut jobs = vec![];
        for to in &subscriptions {
            jobs.extend(backlog(&world, to, 40, world.now()).await);
        }
        let now = world.now().plus_seconds(1);
        let oldest = |_| Claim::Oldest { most: 7 };
        let queues = |after| Claim::SubscriptionQueues(QueueWalk { after, ..walk(3) });
        claim_concurrently(&world, now, &jobs, [oldest, queues]).await;
        Worker::new(&world).clears().await;
    }
}

async fn concurrent_workers_never_claim_one_parked_delivery(world: CaseContext) {
    let subscriptions = [world.subscriber().await, world.subscriber().await, world.subscriber().await];
    for _ in 0..6 {
        let mut jobs = vec![];
        for to in &subscriptions {
            jobs.extend(backlog(&world, to, 20, world.now()).await);
        }
        let worker = Worker::new(&world);
        let due = worker.all(END).await;
        worker.records_all(due.into_iter().map(|job| (job, AttemptResult::Parked)).collect()).await;
        let parked_claim = |after| Claim::Parked(QueueWalk { after, ..walk(3) });
        claim_concurrently(&world, world.now(), &jobs, [parked_claim, parked_claim]).await;
        Worker::new(&world).clears().await;
    }
}

/// Creates subscriptions of several tenants, each with due deliveries. Returns their queues in the order of tenant
/// and subscription id.
async fn queues(world: &CaseContext, sizes: &[usize], from: Timestamp) -> Vec<(QueueKey, Vec<Job>)> {
    let worlds = [world.clone(), world.in_other_tenant(), world.test_environment()];
    let mut queues = vec![];
    for (number, size) in sizes.iter().enumerate() {
        let it = &worlds[number % worlds.len()];
        let to = it.subscriber().await;
        let jobs = backlog(it, &to, *size, from).await;
        // Another delivery of this subscription is due much later, and must not be claimed.
        it.enqueue(&[it.delivery_at(END, &to)]).await;
        queues.push((it.queue(&to), jobs));
    }
    queues.sort_by_key(|((tenant, id), _)| (tenant.to_bytes(), *id));
    queues
}

async fn queue_walk_gives_each_subscription_its_share(world: CaseContext) {
    const SIZES: [usize; 8] = [1, 40, 0, 3, 12, 0, 2, 25];
    for each in [1, 4, 100] {
        for most in [1, 2, 3, 100] {
            let start = world.now();
            let queues = queues(&world, &SIZES, start).await;
            let busy: Vec<_> =
                queues.iter().map(|(queue, _)| *queue).filter(|_| world.random.chance(25)).collect();
            let (worker, now) = (Worker::new(&world), start.plus_seconds(1));
            let (mut found, mut after, mut calls) = (vec![], None, 0);
            loop {
                let walk = QueueWalk { after, queues: most, each, busy: busy.clone(), limited: vec![] };
                let ClaimedJobs { jobs, next } = worker.claims(now, Claim::SubscriptionQueues(walk)).await;
                let webhook_ids: BTreeSet<_> = jobs.iter().map(|job| job.webhook_id).collect();
                assert!(webhook_ids.len() <= usize::from(most), "{} of at most {most}", webhook_ids.len());
                found.extend(jobs);
                (after, calls) = (next, calls + 1);
                assert!(calls <= queues.len() + 1, "the walk does not end");
                if after.is_none() {
                    break;
                }
            }
            let free_queues = queues.iter().filter(|(queue, _)| !busy.contains(queue));
            let expected_jobs = free_queues.flat_map(|(_, jobs)| jobs.iter().copied().take(each.into()));
            assert_eq!(in_order(found), in_order(expected_jobs.collect()), "{each} of each, {most} at a time");
            worker.clears().await;
            world.make.clock.advance_seconds(LEASE_SECONDS * 2);
        }
    }
}

async fn queue_walk_counts_busy_queues_but_skips_them(world: CaseContext) {
    let queues = queues(&world, &[2, 2, 2, 2], world.now()).await;
    let (worker, now) = (Worker::new(&world), world.now().plus_seconds(1));
    let busy = vec![queues[0].0, queues[1].0, queues[3].0];
    let (mut found, mut after) = (vec![], None);
    for (queue, _) in &queues {
        let walk = QueueWalk { after, queues: 1, each: 9, busy: busy.clone(), limited: vec![] };
        let ClaimedJobs { jobs, next } = worker.claims(now, Claim::SubscriptionQueues(walk)).await;
        // At the last subscription, a store may already know that none follows.
        assert!(next == Some(*queue) || next.is_none() && *queue == queues[3].0, "{next:?} at {queue:?}");
        (found, after) = ([found, jobs].concat(), Some(*queue));
    }
    assert_eq!(in_order(found), in_order(queues[2].1.clone()));
    let end = worker
        .claims(now, Claim::SubscriptionQueues(QueueWalk { after, queues: 1, each: 9, busy, limited: vec![] }))
        .await;
    assert_eq!(end, ClaimedJobs::default());
}

async fn parked_delivery_waits_until_its_subscription_is_active(world: CaseContext) {
    let (here, there) = (world.clone(), world.in_other_tenant());
    let active = here.subscriber().await;
    let paused_webhook = there.add_subscription(Subscription { active: false, ..there.make.subscription() }).await;
    let deleted_webhook = here.subscriber().await;
    let worker = Worker::new(&world);
    let mut jobs = vec![];
    for (it, to) in [(&here, &active), (&there, &paused_webhook), (&here, &deleted_webhook)] {
        jobs.extend(backlog(it, to, 3, world.now()).await);
    }
    let due = worker.all(END).await;
    worker.records_all(due.into_iter().map(|job| (job, AttemptResult::Parked)).collect()).await;
    here.save(vec![Write::WebhookRemoved(deleted_webhook.id, Version::FIRST)]).await;
    assert_eq!(worker.all(END).await, []);
    assert_eq!(
        worker.claims(END, Claim::SubscriptionQueues(QueueWalk { queues: MANY, ..walk(9) })).await.jobs,
        []
    );
    let now = world.now();
    let parked_jobs = worker.all_parked(now).await;
    let jobs_of =
        |to: &Subscription| in_order(jobs.iter().filter(|job| job.webhook_id == to.id).copied().collect());
    let claimed_of =
        |to: &Subscription| parked_jobs.iter().filter(|job| job.webhook_id == to.id).copied().collect::<Vec<_>>();
    assert_eq!((claimed_of(&active), claimed_of(&paused_webhook)), (jobs_of(&active), vec![]));
    // Stores may delete deliveries with their subscription. In other stores the worker claims and drops them.
    assert!(claimed_of(&deleted_webhook).is_empty() || claimed_of(&deleted_webhook) == jobs_of(&deleted_webhook));
    assert_eq!(worker.all_parked(now).await, [], "they are leased now");
    // The first delivery is requeued now; the other deliveries become due when their lease ends.
    worker.records_all(vec![(jobs_of(&active)[0], AttemptResult::Back(now))]).await;
    let other = Worker::new(&world);
    assert_eq!(other.all(now).await, [jobs_of(&active)[0]]);
    worker
        .records_all(claimed_of(&deleted_webhook).into_iter().map(|job| (job, AttemptResult::Gone)).collect())
        .await;
    assert_eq!(other.all(now.plus_seconds(LEASE_SECONDS)).await, jobs_of(&active));
    let reactivation =
        Write::put(&Row::at_version(Subscription { active: true, ..paused_webhook.clone() }, Version::FIRST));
    there.save(vec![reactivation]).await;
    assert_eq!(worker.all_parked(now).await, jobs_of(&paused_webhook));
}

async fn parked_deliveries_are_claimed_in_event_order(world: CaseContext) {
    let to = world.subscriber().await;
    let others = world.subscriber().await;
    world.commit_events(&[EventType::EmployeeCreated; 3]).await;
    let worker = Worker::new(&world);
    let due = worker.all(END).await;
    worker.records_all(due.iter().map(|job| (*job, AttemptResult::Parked)).collect()).await;
    let (now, mut found) = (world.now(), vec![]);
    for _ in 0..3 {
        let first = QueueWalk { busy: vec![world.queue(&others)], ..walk(1) };
        let ClaimedJobs { jobs, .. } = worker.claims(now, Claim::Parked(first)).await;
        assert_eq!(jobs.len(), 1);
        found.extend(jobs);
    }
    // The claim is ordered by tenant, subscription and event.
    let expected_jobs: Vec<_> = due.into_iter().filter(|job| job.webhook_id == to.id).collect();
    assert_eq!(found, expected_jobs);
    assert_eq!(worker.all_parked(now).await.len(), 3, "the other deliveries are still parked");
}

async fn empty_queue_returns_no_claim(world: CaseContext) {
    world.subscriber().await;
    let worker = Worker::new(&world);
    for claim in [Claim::Oldest { most: 9 }, Claim::SubscriptionQueues(walk(9)), Claim::Parked(walk(9))] {
        assert_eq!(worker.claims(END, claim).await, ClaimedJobs::default());
    }
}
