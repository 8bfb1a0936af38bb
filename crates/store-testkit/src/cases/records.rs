//! Results of leased deliveries: only the worker that holds the lease can record them.

use candor_domain::event::EventType;
use candor_domain::time::Timestamp;
use candor_port_storage::StorageExt;
use candor_port_storage::queue::{AttemptResult, RecordOutcome};
use candor_subscriptions::{AttemptResponse, Delivery, Job, Subscription};

use super::log::entries;
use super::queue::just_before;
use crate::Case;
use crate::worker::{BAD, END, GOOD, LEASE_SECONDS, Worker, attempt_effect, in_order};
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(finished_delivery_leaves_the_queue_and_is_logged),
        Case::new(failed_delivery_is_due_again_with_the_next_number),
        Case::new(unattempted_delivery_is_requeued_parked_or_removed),
        Case::new(released_delivery_keeps_its_due_time),
        Case::new(lost_lease_records_nothing),
        Case::new(expired_lease_is_valid_until_the_next_claim),
        Case::new(failed_record_saves_nothing),
        Case::new(repeated_record_saves_nothing),
        Case::new(large_batch_is_recorded_at_once),
    ]
}

/// Claimed deliveries of one subscription, with their worker.
struct ClaimedQueue {
    to: Subscription,
    worker: Worker,
    jobs: Vec<Job>,
}

async fn claim_queue(world: &CaseContext, count: usize) -> ClaimedQueue {
    let to = world.subscriber().await;
    world.commit_events(&vec![EventType::EmployeeCreated; count]).await;
    let worker = Worker::new(world);
    let jobs = worker.all(world.now()).await;
    assert_eq!(jobs.len(), count);
    ClaimedQueue { to, worker, jobs }
}

fn attempt(
    world: &CaseContext,
    job: &Job,
    answered: AttemptResponse,
    retry_at: Option<Timestamp>,
) -> (Delivery, AttemptResult) {
    let result = attempt_effect(job, world.attempt_at(world.make.tick()), answered, retry_at);
    (result.entry.clone(), AttemptResult::Settled(Box::new(result)))
}

async fn finished_delivery_leaves_the_queue_and_is_logged(world: CaseContext) {
    let ClaimedQueue { to, worker, jobs } = claim_queue(&world, 2).await;
    let (good, delivered) = attempt(&world, &jobs[0], GOOD, None);
    let (bad, dropped) = attempt(&world, &jobs[1], BAD, None);
    worker.records_all(vec![(jobs[0], delivered), (jobs[1], dropped)]).await;
    assert_eq!(entries(&world, &to).await, [good, bad]);
    assert_eq!(worker.all(END).await, []);
    assert_eq!(worker.all_parked(END).await, []);
}

async fn failed_delivery_is_due_again_with_the_next_number(world: CaseContext) {
    let to = world.subscriber().await;
    let job = world.delivery_at(world.now(), &to).with_delivery_id(world.make.id());
    world.enqueue(&[job]).await;
    let (mut wanted, mut log) = (job, vec![]);
    for number in 1..=7 {
        let worker = Worker::new(&world);
        assert_eq!(worker.all(world.now()).await, [wanted], "attempt {number}");
        let retry_at = world.now().plus_seconds(1_000);
        let (entry, result) = attempt(&world, &wanted, BAD, Some(retry_at));
        worker.records_all(vec![(wanted, result)]).await;
        log.push(entry);
        // A promised id is valid for one attempt only; the first due time never changes.
        wanted = Job { attempt: number + 1, delivery_id: None, ..job };
        assert_eq!(worker.records(vec![(wanted, AttemptResult::Gone)]).await.lost, 1, "no worker has a lease");
        assert_eq!(worker.all(just_before(retry_at)).await, []);
        world.make.clock.advance_seconds(1_000);
    }
    assert_eq!(entries(&world, &to).await, log);
    assert_eq!(Worker::new(&world).all(world.now()).await, [wanted]);
}

async fn unattempted_delivery_is_requeued_parked_or_removed(world: CaseContext) {
    let to = world.subscriber().await;
    let now = world.now();
    let jobs = in_order((0..3).map(|_| world.delivery_at(now, &to).with_delivery_id(world.make.id())).collect());
    world.enqueue(&jobs).await;
    let worker = Worker::new(&world);
    assert_eq!(worker.all(now).await, jobs);
    let retry_time = now.plus_seconds(5);
    worker
        .records_all(vec![
            (jobs[0], AttemptResult::Back(retry_time)),
            (jobs[1], AttemptResult::Parked),
            (jobs[2], AttemptResult::Gone),
        ])
        .await;
    let other = Worker::new(&world);
    assert_eq!(other.all(just_before(retry_time)).await, []);
    assert_eq!(other.all(retry_time).await, [jobs[0]], "attempt number and promised id are kept");
    assert_eq!(other.all_parked(retry_time).await, [jobs[1]]);
    assert_eq!(other.all(END).await, in_order(vec![jobs[0], jobs[1]]));
    assert_eq!(entries(&world, &to).await, [], "no attempt was made");
}

async fn released_delivery_keeps_its_due_time(world: CaseContext) {
    let to = world.subscriber().await;
    let due = world.now();
    let jobs = in_order((0..2).map(|_| world.delivery_at(due, &to).with_delivery_id(world.make.id())).collect());
    world.enqueue(&jobs).await;
    let worker = Worker::new(&world);
    assert_eq!(worker.all(due).await, jobs);
    worker.records_all(vec![(jobs[0], AttemptResult::Released), (jobs[1], AttemptResult::Parked)]).await;
    let other = Worker::new(&world);
    assert_eq!(other.all(due).await, [jobs[0]], "due time, attempt number and promised id are kept");
    assert_eq!(other.all_parked(due).await, [jobs[1]]);
    other.records_all(jobs.iter().map(|job| (*job, AttemptResult::Released)).collect()).await;
    let lease_end = due.plus_seconds(LEASE_SECONDS);
    assert_eq!(worker.all(just_before(lease_end)).await, [jobs[0]]);
    worker.records_all(vec![(jobs[0], AttemptResult::Released)]).await;
    assert_eq!(worker.all(lease_end).await, jobs, "a parked delivery is due when the lease of its claim ends");
    assert_eq!(entries(&world, &to).await, [], "no attempt was made");
}

/// Returns one result of each kind.
fn results(world: &CaseContext, job: &Job) -> Vec<AttemptResult> {
    let retry_time = Some(world.now().plus_seconds(9));
    vec![
        attempt(world, job, GOOD, None).1,
        attempt(world, job, BAD, retry_time).1,
        AttemptResult::Back(world.now()),
        AttemptResult::Released,
        AttemptResult::Parked,
        AttemptResult::Gone,
    ]
}

async fn lost_lease_records_nothing(world: CaseContext) {
    let ClaimedQueue { to, worker: slow, jobs } = claim_queue(&world, 4).await;
    let lease_end = world.now().plus_seconds(LEASE_SECONDS);
    let next = Worker::new(&world);
    assert_eq!(next.all(lease_end).await, jobs);
    let never = Worker::new(&world);
    // Four states: one delivery is done, one is leased again, one is requeued, and one is leased to the next
    // worker.
    let (done, result) = attempt(&world, &jobs[0], GOOD, None);
    let (failed, again) = attempt(&world, &jobs[1], BAD, Some(lease_end));
    next.records_all(vec![(jobs[0], result), (jobs[1], again), (jobs[2], AttemptResult::Back(END))]).await;
    let second = Job { attempt: 2, ..jobs[1] };
    assert_eq!(slow.all(lease_end).await, [second]);
    for job in &jobs {
        for result in results(&world, job) {
            let lost_outcome = RecordOutcome { streaks: vec![], lost: 1 };
            assert_eq!(slow.records(vec![(*job, result.clone())]).await, lost_outcome, "{result:?}");
            assert_eq!(never.records(vec![(*job, result.clone())]).await, lost_outcome, "{result:?}");
        }
    }
    // The store records only the results of the batch whose lease is valid.
    let (kept, result) = attempt(&world, &second, GOOD, None);
    let batch = vec![(jobs[3], AttemptResult::Gone), (second, result), (jobs[0], AttemptResult::Parked)];
    assert_eq!(slow.records(batch).await.lost, 2);
    assert_eq!(entries(&world, &to).await, [done, failed, kept]);
    next.records_all(vec![(jobs[3], AttemptResult::Back(lease_end))]).await;
    assert_eq!(next.all(lease_end).await, [jobs[3]]);
    assert_eq!(next.all(END).await, in_order(vec![jobs[2], jobs[3]]));
}

async fn expired_lease_is_valid_until_the_next_claim(world: CaseContext) {
    let ClaimedQueue { to, worker, jobs } = claim_queue(&world, 1).await;
    world.make.clock.advance_seconds(LEASE_SECONDS * 2);
    let (entry, result) = attempt(&world, &jobs[0], GOOD, None);
    worker.records_all(vec![(jobs[0], result)]).await;
    assert_eq!(entries(&world, &to).await, [entry]);
}

async fn failed_record_saves_nothing(world: CaseContext) {
    let ClaimedQueue { to, worker, jobs } = claim_queue(&world, 3).await;
    let (entry, result) = attempt(&world, &jobs[0], GOOD, None);
    worker.records_all(vec![(jobs[0], result)]).await;
    let (_, good) = attempt(&world, &jobs[1], GOOD, None);
    // The second result repeats the id of a logged attempt, so recording fails.
    let repeated_result = attempt_effect(&jobs[2], entry.id, GOOD, None);
    let batch = vec![(jobs[1], good), (jobs[2], AttemptResult::Settled(Box::new(repeated_result)))];
    let queue = world.queue(&to);
    let delta = super::health::failure_delta(&world);
    assert!(world.store.record(worker.id, batch, vec![(queue, delta)]).await.is_err());
    assert_eq!(entries(&world, &to).await, [entry]);
    assert_eq!(world.store.row::<Subscription>(world.tenant, to.id).await.unwrap().unwrap().value, to);
    worker.records_all(vec![(jobs[1], AttemptResult::Gone), (jobs[2], AttemptResult::Back(world.now()))]).await;
    assert_eq!(worker.all(END).await, [jobs[2]]);
}

/// Records the same result twice, as a worker does after a lost answer.
async fn repeated_record_saves_nothing(world: CaseContext) {
    let ClaimedQueue { to, worker, jobs } = claim_queue(&world, 4).await;
    let retry_time = world.now().plus_seconds(60);
    let (good, done) = attempt(&world, &jobs[0], GOOD, None);
    let (bad, again) = attempt(&world, &jobs[1], BAD, Some(retry_time));
    let batch = vec![
        (jobs[0], done),
        (jobs[1], again),
        (jobs[2], AttemptResult::Back(retry_time)),
        (jobs[3], AttemptResult::Parked),
    ];
    worker.records_all(batch.clone()).await;
    assert_eq!(worker.records(batch).await.lost, 4);
    assert_eq!(entries(&world, &to).await, [good, bad]);
    let second = Job { attempt: 2, ..jobs[1] };
    assert_eq!(worker.all(retry_time).await, in_order(vec![second, jobs[2]]));
}

async fn large_batch_is_recorded_at_once(world: CaseContext) {
    let (here, there) = (world.clone(), world.in_other_tenant());
    let (one, other) = (here.subscriber().await, there.subscriber().await);
    here.commit_events(&[EventType::EmployeeCreated; 300]).await;
    there.commit_events(&[EventType::EmployeeUpdated; 300]).await;
    let worker = Worker::new(&world);
    let jobs = worker.all(world.now()).await;
    let (mut log, mut results) = (vec![], vec![]);
    for (number, job) in jobs.iter().enumerate() {
        let retry_time = (number % 3 == 0).then_some(END);
        let (entry, result) = attempt(&world, job, BAD, retry_time);
        log.push((job.tenant, entry));
        results.push((*job, result));
    }
    worker.records_all(results).await;
    for (owner, to) in [(&here, &one), (&there, &other)] {
        let expected_entries =
            log.iter().filter(|(tenant, _)| *tenant == owner.tenant).map(|(_, entry)| entry.clone());
        assert_eq!(entries(owner, to).await, expected_entries.collect::<Vec<_>>());
    }
    assert_eq!(worker.all(END).await.len(), 200);
}
