//! The state machine of queued deliveries: takes events and returns the next claim, attempt or batch.

mod intake;
mod rates;

use crate::HashMap;
use std::time::Duration;

use candor_domain::access::Tenant;
use candor_port_storage::queue::{AttemptResult, Claim, Lease, QueueKey, RecordOutcome, WorkerId};
use candor_subscriptions::{DeliveryOrigin, DisableReason, Job};

use crate::attempt::{AttemptEnd, DeliveryResult};
use crate::claims::Claims;
use crate::lease::{LeaseDeadline, Now, add};
use crate::queues::{QueueLimits, QueuePlace, StartedAttempt, SubscriptionQueues};
use crate::record::{Batch, NextRecordStep, Outcomes, RecordRefusal, RecordedBatch};
use crate::unsettled::InFlight;
use crate::{Settings, WaitingDelivery};
pub use rates::{RateLeaseOrder, SendPermit};

/// Minimum time until the claim loop asks for another claim or attempt, unless a wake comes before.
const REST: Duration = Duration::from_millis(20);
/// Time for which this process skips a queue whose secrets it cannot open. The deliveries stay due: another
/// process may have the master key that this process lacks.
const NO_SECRET: Duration = Duration::from_secs(60);

/// State machine for the queued deliveries of one process.
#[derive(Debug)]
pub struct Dispatcher<M> {
    worker: WorkerId,
    settings: Settings,
    queues: SubscriptionQueues<WaitingDelivery<M>>,
    claims: Claims,
    outcomes: Outcomes,
    unsettled: InFlight,
    wakes: Wakes,
    forgotten: usize,
    /// Tenants whose queues refused many deliveries of one commit, each with the steady time until which commits
    /// of the tenant hand no deliveries over.
    crowded: HashMap<Tenant, Duration>,
}

/// A claim to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimOrder {
    /// Selection of deliveries to claim.
    pub claim: Claim,
    /// Lease for the claimed deliveries.
    pub lease: Lease,
    /// Time of the order; the claim must use it as the current time.
    pub at: Now,
    /// End of the lease.
    pub ends: LeaseDeadline,
}

/// Loops that got work since the last call of [`Dispatcher::take_wakes`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wakes {
    /// The claim loop: there may be deliveries or capacity.
    pub claims: bool,
    /// The record loop: there may be a batch, or the dispatcher is done.
    pub records: bool,
    /// The wait for running attempts: the dispatcher is stopped, and no attempt runs any more.
    pub quiet: bool,
}

impl<M> Dispatcher<M> {
    /// Creates a dispatcher that holds no deliveries.
    #[must_use]
    pub fn new(worker: WorkerId, settings: Settings, limits: QueueLimits, now: Now) -> Self {
        let queues = SubscriptionQueues::new(limits, settings.needs());
        let (claims, outcomes) = (Claims::new(now.steady), Outcomes::new(limits.batch));
        let (unsettled, wakes) = (InFlight::default(), Wakes::default());
        let by_tenant = HashMap::default();
        Self { worker, settings, queues, claims, outcomes, unsettled, wakes, forgotten: 0, crowded: by_tenant }
    }

    /// Returns the number of held deliveries, from their claim until their result is recorded.
    #[must_use]
    pub const fn held_count(&self) -> usize {
        self.queues.held()
    }

    /// Returns the number of running attempts.
    #[must_use]
    pub const fn attempts(&self) -> usize {
        self.queues.attempts()
    }

    /// Returns and clears the loops that have work.
    pub fn take_wakes(&mut self) -> Wakes {
        std::mem::take(&mut self.wakes)
    }

    /// Returns and clears the number of deliveries that waited too long to be attempted within their lease.
    pub fn take_forgotten(&mut self) -> usize {
        std::mem::take(&mut self.forgotten)
    }

    /// Notes that new deliveries may be due.
    pub fn look_at_due(&mut self) {
        self.claims.look_at_due();
        self.wakes.claims = true;
    }

    /// Notes that a subscription has changed, so that its parked deliveries may be due again.
    pub fn request_full_scan(&mut self) {
        self.claims.look_at_parked();
        self.look_at_due();
    }

    /// Returns the claim to make now, if there is capacity and there may be deliveries. Each claim must end
    /// with [`Dispatcher::claim_ended`], even if it fails.
    pub fn next_claim(&mut self, now: Now) -> Option<ClaimOrder> {
        // The reservation keeps a stopped dispatcher from being done before the claim is answered.
        if !self.queues.reserve(1) {
            return None;
        }
        let Some(claim) = self.decide_claim(now) else {
            self.release(1);
            return None;
        };
        let ends = now.plus(self.settings.lease());
        let lease = Lease { worker: self.worker, until: ends.deadline() };
        self.unsettled.claim_begins();
        Some(ClaimOrder { claim, lease, at: now, ends })
    }

    fn decide_claim(&mut self, now: Now) -> Option<Claim> {
        if !self.claims.may_want(now.steady) {
            return None;
        }
        self.queues.forget(now);
        self.release_late(now);
        let (room, full) = (self.queues.room(), self.queues.full());
        let free = self.queues.least_free(self.claims.recent());
        self.claims.each_takes(free);
        let limited_queues = self.queues.list_limited();
        self.claims.next(now.steady, room, full, limited_queues)
    }

    /// Returns the steady time at which to ask for the next claim and the next attempt, unless a wake comes
    /// before.
    #[must_use]
    pub fn look_again_at(&self, now: Now) -> Duration {
        let claim_at = self.claims.look_at();
        self.waits_until(now).map_or(claim_at, |at| at.min(claim_at)).max(now.steady + REST)
    }

    /// Returns the next attempt to make, if one may begin now. Each attempt must end with
    /// [`Dispatcher::handle_attempt_ended`].
    pub fn next_attempt(&mut self, now: Now) -> Option<StartedAttempt<WaitingDelivery<M>>> {
        loop {
            let next_start = self.queues.start(now);
            self.release_late(now);
            let attempt = next_start?;
            self.wakes.claims |= attempt.makes_room;
            if self.unsettled.add(&attempt.item.job, Some(attempt.ends)) {
                return Some(attempt);
            }
            self.queues.release_without_effect(attempt.place, None);
        }
    }

    /// Returns `true` if enough of the lease is left to send a request now.
    #[must_use]
    pub fn may_send(&self, ends: LeaseDeadline, now: Now) -> bool {
        ends.remaining(now) >= self.settings.needs_to_send()
    }

    /// Skips a queue whose secrets this process cannot open. Returns the result that gives back the delivery of
    /// the current attempt.
    pub fn without_secret(&mut self, queue: QueueKey, now: Now) -> AttemptResult {
        let is_left_alone = self.queues.leave_alone(queue, now, now.plus(NO_SECRET));
        if is_left_alone { AttemptResult::Released } else { AttemptResult::Back(add(now.wall, NO_SECRET)) }
    }

    /// Handles the end of an attempt.
    pub fn handle_attempt_ended(&mut self, place: QueuePlace, job: &Job, ending: AttemptEnd) {
        match ending {
            AttemptEnd::Finished(finished, response) => {
                self.queues.release_slot(place, response);
                self.outcomes.add(*finished);
                self.wakes.records = true;
            }
            AttemptEnd::Late | AttemptEnd::Abandoned => {
                self.forgotten += usize::from(matches!(ending, AttemptEnd::Late));
                self.unsettled.forget(job);
                self.queues.release_without_effect(place, None);
            }
        }
        self.wakes.records |= !self.queues.is_open();
        self.wakes.quiet |= !self.queues.is_open() && self.queues.attempts() == 0;
    }

    /// Returns what the record loop has to do now.
    #[must_use]
    pub fn next_record_step(&self, now: Now) -> NextRecordStep {
        let idle = || if self.queues.is_done() { NextRecordStep::Over } else { NextRecordStep::Idle };
        self.outcomes.due(now).unwrap_or_else(idle)
    }

    /// Returns the next batch to record, if any, regardless of the time. It must end with
    /// [`Dispatcher::handle_recorded`] or [`Dispatcher::not_recorded`].
    pub fn next_batch(&mut self) -> Option<Batch> {
        self.outcomes.batch()
    }

    /// Handles a batch that the store has recorded.
    pub fn handle_recorded(&mut self, batch: Batch, recorded: RecordOutcome, now: Now) -> RecordedBatch {
        let Some((batch, recorded)) = self.outcomes.handle_recorded(batch, recorded, now) else {
            return RecordedBatch::default();
        };
        self.queues.remove_unrecorded(batch.finished.len());
        let is_back =
            |result: &DeliveryResult| matches!(result.result, AttemptResult::Back(_) | AttemptResult::Released);
        if batch.finished.iter().any(is_back) {
            // Deliveries that were given back, mostly for lack of capacity, can be claimed again.
            self.claims.look_at_due();
        }
        let jobs = batch.finished.iter().map(|result| result.job);
        let leased_again = jobs.filter(|job| self.unsettled.confirm(job, batch.is_first_call())).collect();
        self.give_back(leased_again, None, &AttemptResult::Released);
        self.wakes.claims = true;
        let failing = recorded.streaks.into_iter().filter(|(_, streak)| streak.disables(now.wall));
        let failing = failing.map(|(queue, _)| (queue, DisableReason::Failing));
        RecordedBatch {
            lost: recorded.lost,
            to_disable: batch.disabled_subscriptions().into_iter().chain(failing).collect(),
        }
    }

    /// Handles a batch that the store has not recorded. Returns the delivery whose result cannot be recorded, once
    /// it is alone in its batch; the lease of that delivery then expires.
    pub fn not_recorded(&mut self, batch: Batch, why: RecordRefusal, now: Now) -> Option<Job> {
        match why {
            RecordRefusal::Unanswered => {
                self.outcomes.requeue_batch(batch, now);
                None
            }
            RecordRefusal::Unrecordable => {
                let given_up = self.outcomes.divide(batch);
                self.queues.remove_unrecorded(usize::from(given_up.is_some()));
                given_up.iter().for_each(|job| self.unsettled.forget(job));
                given_up
            }
        }
    }

    /// Stops new attempts and gives back the waiting deliveries. Returns the number of running attempts. The
    /// dispatcher is done when [`Dispatcher::next_record_step`] returns [`NextRecordStep::Over`].
    pub fn stop(&mut self, now: Now) -> usize {
        let waiting = self.queues.close();
        self.release_waiting(waiting, None, now);
        self.wakes.records = true;
        self.queues.attempts()
    }
}

/// Returns `true` for the delivery of a test, which no rate delays.
fn is_test(job: &Job) -> bool {
    job.origin == DeliveryOrigin::Test
}
