//! A worker on the delivery queue, and steps with which cases fill and inspect the queue.

use std::collections::BTreeSet;

use candor_domain::attempt_failure::FailureReason;
use candor_domain::event::{Event, EventType};
use candor_domain::id::{DeliveryId, EventId};
use candor_domain::time::Timestamp;
use candor_port_clock::{Clock, new_id};
use candor_port_storage::queue::{
    AttemptResult, Claim, ClaimedJobs, Lease, QueueKey, QueueWalk, RecordOutcome, WorkerId,
};
use candor_port_storage::{ChangeSet, Row, Write};
use candor_subscriptions::{
    AttemptEffect, AttemptOutcome, AttemptResponse, Delivery, DeliveryOrigin, Job, Status, Subscription,
};

use crate::world::CaseContext;

/// Lease duration of claimed deliveries, in seconds.
pub(crate) const LEASE_SECONDS: i64 = 30;
/// A time after all due times: 2100-01-01.
pub(crate) const END: Timestamp = Timestamp::from_millis(4_102_444_800_000);
/// A number of deliveries that no case reaches.
pub(crate) const MANY: u16 = 10_000;

/// A response that acknowledges a delivery.
pub(crate) const GOOD: AttemptResponse =
    AttemptResponse { status: 200, duration_ms: 12, outcome: AttemptOutcome::Acknowledged, retry_after: None };
/// A response that does not acknowledge a delivery, because of its status.
pub(crate) const BAD: AttemptResponse = AttemptResponse {
    status: 500,
    duration_ms: 34,
    outcome: AttemptOutcome::Failed(FailureReason::Status),
    retry_after: None,
};

/// A worker with its own id.
#[derive(Clone)]
pub(crate) struct Worker {
    world: CaseContext,
    pub(crate) id: WorkerId,
}

impl Worker {
    pub(crate) fn new(world: &CaseContext) -> Self {
        Self { world: world.clone(), id: world.make.worker() }
    }

    pub(crate) const fn lease(&self, now: Timestamp) -> Lease {
        Lease { worker: self.id, until: now.plus_seconds(LEASE_SECONDS) }
    }

    pub(crate) async fn claims(&self, now: Timestamp, claim: Claim) -> ClaimedJobs {
        self.world.store.claim(self.lease(now), now, &claim).await.expect("an answer")
    }

    /// Claims the deliveries that have been due for the longest time.
    pub(crate) async fn oldest(&self, now: Timestamp, most: u16) -> Vec<Job> {
        let ClaimedJobs { jobs, next } = self.claims(now, Claim::Oldest { most }).await;
        assert_eq!(next, None, "only a walk has a next position");
        jobs
    }

    /// Claims all due deliveries and returns them ordered by tenant, subscription and event.
    pub(crate) async fn all(&self, now: Timestamp) -> Vec<Job> {
        in_order(self.oldest(now, MANY).await)
    }

    /// Claims all parked deliveries that are available, ordered by tenant, subscription and event.
    pub(crate) async fn all_parked(&self, now: Timestamp) -> Vec<Job> {
        in_order(self.claims(now, Claim::Parked(QueueWalk { queues: MANY, ..walk(MANY) })).await.jobs)
    }

    pub(crate) async fn records(&self, results: Vec<(Job, AttemptResult)>) -> RecordOutcome {
        self.world.store.record(self.id, results, vec![]).await.expect("recorded")
    }

    /// Records results under a valid lease.
    pub(crate) async fn records_all(&self, results: Vec<(Job, AttemptResult)>) {
        assert_eq!(self.records(results).await, RecordOutcome::default(), "nothing is lost");
    }

    /// Empties the delivery queue.
    pub(crate) async fn clears(&self) {
        let jobs = [self.all(END).await, self.all_parked(END).await].concat();
        self.records_all(jobs.into_iter().map(|job| (job, AttemptResult::Gone)).collect()).await;
    }
}

/// Returns a walk from the start over at most two subscriptions.
pub(crate) const fn walk(each: u16) -> QueueWalk {
    QueueWalk { after: None, queues: 2, each, busy: vec![], limited: vec![] }
}

/// Sorts jobs by tenant, subscription and event.
pub(crate) fn in_order(mut jobs: Vec<Job>) -> Vec<Job> {
    jobs.sort_by_key(|job| (job.tenant.to_bytes(), job.webhook_id, job.event_id));
    jobs
}

/// Returns the result of an attempt with this response and retry.
pub(crate) fn attempt_effect(
    job: &Job,
    id: DeliveryId,
    answered: AttemptResponse,
    retry_at: Option<Timestamp>,
) -> AttemptEffect {
    let status = match (answered.outcome, retry_at) {
        (AttemptOutcome::Acknowledged, _) => Status::Success,
        (AttemptOutcome::Failed(_), Some(_)) => Status::Failed,
        (AttemptOutcome::Failed(_), None) => Status::Dropped,
    };
    let entry = Delivery {
        id,
        subscription_id: job.webhook_id,
        event_id: job.event_id,
        event_type: job.event_type,
        attempt: job.attempt,
        status,
        request_url: "https://hooks.example.com/in?a=b#c".to_owned(),
        response_status: answered.status,
        response_duration_ms: answered.duration_ms,
        next_attempt_at: retry_at,
        delivered_at: None,
        attempted_at: Timestamp::from_millis(i64::try_from(id.ulid().timestamp_ms()).unwrap_or_default()),
        failure: match answered.outcome {
            AttemptOutcome::Acknowledged => None,
            AttemptOutcome::Failed(reason) => Some(reason),
        },
        request_id: None,
        failure_detail: None,
    };
    let delivered_at = (status == Status::Success).then(|| entry.logged_at());
    AttemptEffect { entry: Delivery { delivered_at, ..entry }, retry_at }
}

impl CaseContext {
    /// Saves a subscription and returns it.
    pub(crate) async fn add_subscription(&self, subscription: Subscription) -> Subscription {
        self.save(vec![Write::put(&Row::new(subscription.clone()))]).await;
        subscription
    }

    /// Adds a subscription to all events.
    pub(crate) async fn subscriber(&self) -> Subscription {
        self.add_subscription(self.make.subscription()).await
    }

    pub(crate) const fn queue(&self, subscription: &Subscription) -> QueueKey {
        (self.tenant, subscription.id)
    }

    /// Commits one event of each of these types in one change set.
    pub(crate) async fn commit_events(&self, kinds: &[EventType]) -> Vec<Event> {
        let events: Vec<_> = kinds.iter().map(|kind| self.make.event(*kind)).collect();
        let change = ChangeSet { events: events.clone(), ..self.make.change(vec![]) };
        self.commit(change).await.expect("saved");
        events
    }

    /// Returns the job for the first delivery of an event.
    pub(crate) fn delivery_of(&self, event: &Event, to: &Subscription) -> Job {
        Job::new(self.tenant, to.id, (event.id, event.kind), event.created_at, DeliveryOrigin::Event)
    }

    /// Returns the job for a delivery, due at this time, of an event that is not stored.
    pub(crate) fn delivery_at(&self, due: Timestamp, to: &Subscription) -> Job {
        let kind = *self.random.pick(&[EventType::EmployeeCreated, EventType::ObservationCreated]);
        Job::new(self.tenant, to.id, (self.make.id(), kind), due, DeliveryOrigin::Replay)
    }

    pub(crate) async fn enqueue(&self, jobs: &[Job]) {
        self.save(vec![Write::Enqueue(jobs.to_vec())]).await;
    }

    /// Returns the id of an attempt that began at this time.
    pub(crate) fn attempt_at(&self, at: Timestamp) -> DeliveryId {
        new_id(&*self.make.ids, at)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.make.clock.now()
    }

    /// Adds entries to the log of a subscription through the queue, as a worker does.
    pub(crate) async fn log_deliveries(&self, to: &Subscription, entries: &[Delivery]) {
        let worker = Worker::new(self);
        let mut rest: Vec<_> = entries.to_vec();
        while !rest.is_empty() {
            // The queue has an event at most once at a time, so several attempts of one event need several
            // rounds.
            let mut event_ids: BTreeSet<EventId> = BTreeSet::new();
            let (round, later) = rest.into_iter().partition(|entry| event_ids.insert(entry.event_id));
            rest = later;
            let results: Vec<_> = round.into_iter().map(|entry| self.result_of(entry, to)).collect();
            let jobs = results.iter().map(|(job, _)| *job).collect();
            let lease = Some(worker.lease(self.now()));
            let change = ChangeSet { lease, ..self.make.change(vec![Write::Enqueue(jobs)]) };
            assert_eq!(self.commit_for_result(change).await.expect("saved").leased.len(), results.len());
            worker.records_all(results).await;
        }
    }

    fn result_of(&self, entry: Delivery, to: &Subscription) -> (Job, AttemptResult) {
        let event = (entry.event_id, entry.event_type);
        let job = Job {
            attempt: entry.attempt,
            ..Job::new(self.tenant, to.id, event, self.now(), DeliveryOrigin::Event)
        };
        (job, AttemptResult::Settled(Box::new(AttemptEffect { entry, retry_at: None })))
    }
}
