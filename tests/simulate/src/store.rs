//! Calls of the store: their delays, execution, failures and answers.

use crate::queue::Change;
use crate::receiver::Receiver;
use crate::run::{Defect, Life, Run, Step};
use crate::waits::Wait;
use candor_dispatch::{
    AttemptResults, ClaimOrder, HealthDeltas, LeaseDeadline, Now, RateLeaseOrder, RecordRefusal, WaitingDelivery,
};
use candor_domain::access::Tenant;
use candor_domain::event::EventType;
use candor_domain::id::DeliveryId;
use candor_domain::time::Timestamp;
use candor_port_storage::queue::{
    AttemptResult, Claim, ClaimedJobs, Lease, QueueKey, QueueWalk, RateLease, RecordOutcome, WorkerId,
};
use candor_subscriptions::{DeliveryOrigin, DisableReason, Job};

/// Duration of a lease in milliseconds.
pub(crate) const LEASE: i64 = 30_000;

/// A call of the store. The last value of each variant is the answer, once the store has executed the call.
pub(crate) enum Call {
    Claim(ClaimOrder, Option<ClaimedJobs>),
    Record(Record, Result<RecordOutcome, RecordRefusal>),
    Commit(Commit, Option<Vec<Job>>),
    /// The rate lease for an attempt.
    RateLease(u64, RateLeaseOrder, Option<RateLease>),
}

/// Results of deliveries that one write records.
pub(crate) struct Record {
    pub(crate) worker: WorkerId,
    pub(crate) results: AttemptResults,
    pub(crate) health: HealthDeltas,
}

/// A change that causes events.
pub(crate) struct Commit {
    pub(crate) tenant: Tenant,
    pub(crate) count: usize,
    /// Lease of the deliveries for the process, which has reserved room for them.
    pub(crate) lease: Option<(Lease, LeaseDeadline)>,
}

/// Failure of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// The call has no effect.
    Before,
    /// The call has its effect, but no answer.
    After,
    /// The store refuses the call.
    Refused,
}

impl Run {
    /// Returns the transmission delay of a call or an answer, in milliseconds.
    pub(crate) fn way(&mut self) -> i64 {
        if self.random.chance(4) { self.random.between(100, 2_500) } else { self.random.between(0, 8) }
    }

    /// Sends a call to the store.
    pub(crate) fn send(&mut self, life: Life, call: Call) {
        let way = self.way();
        self.after(way, Step::Ask(life, Box::new(call)));
    }

    fn fault(&mut self) -> Option<Fault> {
        let fault = if self.now < self.outage_until {
            Some(Fault::Before)
        } else if self.random.chance(self.plan.failing) {
            Some(self.random.pick(&[Fault::Before, Fault::After, Fault::After, Fault::Refused]))
        } else {
            None
        };
        if fault.is_some() {
            self.promises.counts.failed_calls += 1;
            self.promises.disturb(self.now + LEASE);
        }
        fault
    }

    /// Executes a call, perhaps of a process that has ended.
    pub(crate) fn ask(&mut self, life: Life, call: Call) {
        let fault = self.fault();
        let is_done = !matches!(fault, Some(Fault::Before | Fault::Refused));
        let call = match call {
            Call::Claim(order, _) => {
                let claim_result = is_done.then(|| self.claim(&order));
                Call::Claim(order, claim_result.filter(|_| fault.is_none()))
            }
            Call::Record(record, _) => {
                let record_result = is_done.then(|| self.record(life.number, &record));
                let response = match (fault, record_result) {
                    (None, Some(outcome)) => Ok(outcome),
                    (Some(Fault::Refused), _) => Err(RecordRefusal::Unrecordable),
                    _ => Err(RecordRefusal::Unanswered),
                };
                Call::Record(record, response)
            }
            Call::Commit(commit, _) => {
                let jobs = is_done.then(|| self.commit(&commit));
                Call::Commit(commit, jobs.filter(|_| fault.is_none()))
            }
            Call::RateLease(turn, order, _) => {
                let lease_result = is_done.then(|| self.queue.lease_rate(order.queue, order.lease, order.at.wall));
                let is_unshared = self.defect == Some(Defect::UnsharedRates);
                let lease_of_caller =
                    if is_unshared { lease_result.map(|_| RateLease::Held) } else { lease_result };
                Call::RateLease(turn, order, lease_of_caller.filter(|_| fault.is_none()))
            }
        };
        let way = self.way();
        self.after(way, Step::Reply(life, Box::new(call)));
    }

    fn claim(&mut self, order: &ClaimOrder) -> ClaimedJobs {
        let first = |walk: &QueueWalk| {
            Claim::SubscriptionQueues(QueueWalk { after: None, queues: 1, busy: vec![], ..walk.clone() })
        };
        let stuck = match &order.claim {
            Claim::SubscriptionQueues(walk) if self.defect == Some(Defect::StuckWalks) => Some(first(walk)),
            Claim::Oldest { .. } | Claim::SubscriptionQueues(_) | Claim::Parked(_) => None,
        };
        self.queue.claim(order.lease, order.at.wall, stuck.as_ref().unwrap_or(&order.claim))
    }

    fn record(&mut self, life: usize, record: &Record) -> RecordOutcome {
        let Self { queue, promises, random, defect, now, .. } = self;
        let mut results = record.results.iter();
        let outcome = queue.record(record.worker, &record.results, &record.health, |job, change| {
            let id = results.next().and_then(|(_, result)| attempt_id(result));
            let is_logged = matches!(change, Change::Logged(..));
            if is_logged && *defect == Some(Defect::LogHoles) && random.chance(5) {
                return;
            }
            promises.recorded(life, ((job.tenant, job.webhook_id), job.event_id), id, &change, *now);
        });
        let soonest = record.results.iter().filter_map(|(job, result)| self.due_again(job, result)).min();
        if let Some(soonest) = soonest {
            self.wake(soonest);
        }
        outcome
    }

    /// Returns the time at which a delivery with this result is claimable again. `None` if the delivery is no
    /// longer queued.
    fn due_again(&self, job: &Job, result: &AttemptResult) -> Option<Timestamp> {
        let queued_delivery = self.queue.get(((job.tenant, job.webhook_id), job.event_id))?;
        match result {
            AttemptResult::Settled(settled) if queued_delivery.delivery_id.is_none() => settled.retry_at,
            AttemptResult::Settled(_) | AttemptResult::Released | AttemptResult::Parked | AttemptResult::Gone => {
                Some(self.wall())
            }
            AttemptResult::Back(at) => Some(*at),
        }
    }

    fn commit(&mut self, commit: &Commit) -> Vec<Job> {
        let lease = commit.lease.map(|(lease, _)| lease);
        let queues = self.queue.subscriptions.keys().filter(|queue| queue.0 == commit.tenant);
        let queues: Vec<QueueKey> = queues.copied().collect();
        let mut jobs = vec![];
        for _ in 0..commit.count {
            let event = (self.next_event_id(), EventType::EmployeeCreated);
            for queue in &queues {
                if self.queue.subscriptions.get(queue).is_some_and(|subscription| subscription.active) {
                    let job = Job::new(queue.0, queue.1, event, self.wall(), DeliveryOrigin::Event);
                    self.enqueue(job, lease);
                    self.events.push((*queue, event.0));
                    jobs.push(job);
                }
            }
        }
        self.wake(lease.map_or(self.wall(), |lease| lease.until));
        jobs
    }

    /// Adds a delivery to the queue, leased if its commit claimed it.
    pub(crate) fn enqueue(&mut self, job: Job, lease: Option<Lease>) {
        let queue = (job.tenant, job.webhook_id);
        if self.queue.add(job, lease) {
            let rate = self.queue.subscriptions.get(&queue).and_then(|known| known.max_per_second);
            let is_prompt = self.receivers.get(&queue) == Some(&Receiver::Prompt);
            let earlier = if rate.is_some() { self.queue.count(queue) } else { 0 };
            let wait = is_prompt.then(|| Wait::new(self.now, rate, earlier));
            self.promises.queued((queue, job.event_id), job.first_due_at, wait, self.now);
        }
    }

    /// Processes the store's answer to a call.
    pub(crate) fn answer(&mut self, place: usize, call: Call) {
        let (now, shift, overrated) = (self.now, self.clock_shift, self.defect == Some(Defect::OverratedLeases));
        let Some(process) = &mut self.processes[place] else { return };
        let own_now = process.now(now, shift);
        let deadline = |ends: LeaseDeadline, since: Now| if overrated { overrate(since) } else { ends };
        match call {
            Call::Claim(order, Some(claimed)) => {
                let has_jobs = !claimed.jobs.is_empty();
                let taken_jobs = process.machine.handle_claimed(&order, claimed, own_now);
                if !taken_jobs.is_empty() {
                    let (life, way) = (Life { place, number: process.life }, self.way());
                    self.after(way, Step::TakeIn(life, Box::new((order, taken_jobs))));
                    return self.drive(place);
                }
                process.machine.claim_ended();
                process.end_claim(has_jobs, now);
            }
            Call::Claim(_, None) => {
                process.machine.claim_failed(own_now);
                process.machine.claim_ended();
                process.end_claim(false, now);
            }
            Call::Record(_, response) => {
                let Some(batch) = process.batch.take() else { return };
                match response {
                    Ok(recorded) => {
                        let to_disable = process.machine.handle_recorded(batch, recorded, own_now).to_disable;
                        self.disable(&to_disable);
                    }
                    Err(why) => {
                        let life = process.life;
                        let results = batch.call().0;
                        if let Some(job) = process.machine.not_recorded(batch, why, own_now) {
                            let result = results.iter().find(|(recorded, _)| *recorded == job);
                            self.promises.excuse(life, result.and_then(|(_, result)| attempt_id(result)));
                            self.promises.forget_gone((job.tenant, job.webhook_id));
                        }
                    }
                }
            }
            Call::RateLease(turn, order, response) => return self.rate_leased(place, turn, &order, response),
            Call::Commit(commit, jobs) => {
                let waiting = |job| WaitingDelivery { job, message: (), resumed: false };
                match (commit.lease, jobs) {
                    (Some((_, ends)), Some(jobs)) => {
                        let jobs = jobs.into_iter().map(waiting).collect();
                        process.machine.take_in(jobs, deadline(ends, own_now), commit.count, own_now);
                    }
                    (Some(_), None) => process.machine.release(commit.count),
                    (None, _) => process.machine.look_at_due(),
                }
            }
        }
        self.drive(place);
    }

    /// Queues claimed deliveries, whose events the process has read.
    pub(crate) fn take_in(&mut self, place: usize, mut order: ClaimOrder, jobs: Vec<Job>) {
        let (now, shift) = (self.now, self.clock_shift);
        let Some(process) = &mut self.processes[place] else { return };
        if self.defect == Some(Defect::OverratedLeases) {
            order.ends = overrate(order.at);
        }
        let is_resumed = matches!(order.claim, Claim::Parked(_));
        let waiting = |job| WaitingDelivery { job, message: (), resumed: is_resumed };
        let deliveries = jobs.into_iter().map(waiting).collect();
        process.machine.take_in_claimed(deliveries, &order, process.now(now, shift));
        process.machine.claim_ended();
        process.end_claim(true, now);
        self.drive(place);
    }

    /// Disables subscriptions that have failed for too long or whose receivers are gone, as the service does.
    fn disable(&mut self, to_disable: &[(QueueKey, DisableReason)]) {
        let (wall, deaf) = (self.wall(), self.defect == Some(Defect::IgnoredGone));
        for (queue, why) in to_disable {
            let Some(subscription) = self.queue.subscriptions.get_mut(queue) else { continue };
            let applies = match why {
                DisableReason::Failing => subscription.streak.disables(wall),
                DisableReason::Gone { .. } => !deaf,
            };
            subscription.active &= !applies;
        }
    }
}

/// Returns the attempt that a result adds to the log. `None` if the result adds no attempt.
fn attempt_id(result: &AttemptResult) -> Option<DeliveryId> {
    match result {
        AttemptResult::Settled(settled) => Some(settled.entry.id),
        AttemptResult::Back(_) | AttemptResult::Released | AttemptResult::Parked | AttemptResult::Gone => None,
    }
}

/// Returns the end of a lease as the process believes it, a minute after its true end.
fn overrate(since: Now) -> LeaseDeadline {
    since.plus(std::time::Duration::from_secs(90))
}
