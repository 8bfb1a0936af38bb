//! The state machine of queued deliveries: takes events and returns the next claim, attempt or batch.

mod rates;

use crate::HashMap;
use std::time::Duration;

use candor_domain::access::Tenant;
use candor_domain::id::OrganizationId;
use candor_domain::webhook::{DeliveryOrigin, DisableReason, Job};
use candor_port_storage::queue::{AttemptResult, Claim, ClaimedJobs, Lease, QueueKey, RecordOutcome, WorkerId};

use crate::attempt::{AttemptEnd, DeliveryResult};
use crate::claims::Claims;
use crate::lease::{LeaseDeadline, Now, add};
use crate::queues::{QueueLimits, QueuePlace, StartedAttempt, SubscriptionQueues};
use crate::record::{Batch, NextRecordStep, Outcomes, RecordRefusal, RecordedBatch};
use crate::unsettled::InFlight;
use crate::{RECORDED_WITHIN, Settings, WaitingDelivery};
pub use rates::{RateLeaseOrder, SendPermit};

/// Minimum pause between claims when there is no capacity or the last claim was empty.
const REST: Duration = Duration::from_millis(20);
/// Time for which this process skips a queue whose secrets it cannot open. The deliveries stay due, because
/// only this process may lack a key.
const NO_SECRET: Duration = Duration::from_secs(60);
/// Number of deliveries of one commit that may be refused without consequence.
const FEW_REFUSED: usize = 8;
/// Time for which the commits of a tenant hand no deliveries over after more were refused. They stay in the store, which takes
/// them in turns with those of others. Each refused one would take room until its result is recorded.
const CROWDED: Duration = Duration::from_secs(1);
/// Number of tenants above which those are removed whose commits may hand over again.
const REMEMBERED_TENANTS: usize = 1_024;

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
    /// Tenants whose queues refused many deliveries of a commit, and the steady time until which they hand none over.
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

/// Loops that have work since the last call of [`Dispatcher::take_wakes`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wakes {
    /// The claim loop: there may be deliveries or capacity.
    pub claims: bool,
    /// The record loop: there may be a batch, or the dispatcher is done.
    pub records: bool,
    /// The last attempt ended after [`Dispatcher::stop`].
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
        // Reserved capacity keeps [`Dispatcher::stop`] from completing before the claim is answered.
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

    /// Handles the result of a claim. Returns the deliveries to pass to [`Dispatcher::take_in`]. Gives
    /// back those without capacity, and those that another process may have leased.
    pub fn handle_claimed(&mut self, order: &ClaimOrder, found: ClaimedJobs, now: Now) -> Vec<Job> {
        self.claims.took(&order.claim, &found, order.at.steady);
        let mut coming: HashMap<QueueKey, usize> = HashMap::default();
        let mut of_owners: HashMap<OrganizationId, usize> = HashMap::default();
        let mut kept_count = 0;
        let (kept_jobs, surplus) = found.jobs.into_iter().partition(|job| {
            let queue = (job.tenant, job.webhook_id);
            let (count, of_owner) =
                (coming.entry(queue).or_default(), of_owners.entry(job.tenant.organization).or_default());
            let has_place = kept_count < self.queues.room()
                && if is_test(job) {
                    self.queues.takes_test(queue, *of_owner)
                } else {
                    self.queues.takes(queue, *count, *of_owner)
                };
            if !has_place {
                self.queues.know(queue);
            }
            let takes = has_place && !self.unsettled.is_doubtful(job, order.at.wall);
            *count += usize::from(takes);
            *of_owner += usize::from(takes);
            kept_count += usize::from(takes);
            takes
        });
        // Due deliveries keep their due times, so that the surplus does not move behind later ones of its queue.
        let result = match order.claim {
            Claim::Oldest { .. } | Claim::SubscriptionQueues(_) => AttemptResult::Released,
            Claim::Parked(_) => AttemptResult::Back(now.wall),
        };
        self.give_back(surplus, Some(order.ends), &result);
        kept_jobs
    }

    /// Handles a claim that the store did not answer.
    pub fn claim_failed(&mut self, now: Now) {
        self.claims.failed(now.steady);
    }

    /// Ends a claim after its result or failure was handled, and releases the capacity reserved for it.
    pub fn claim_ended(&mut self) {
        self.unsettled.claim_ends();
        self.release(1);
    }

    /// Reserves capacity for deliveries that a commit of a tenant is about to queue. Returns the end of their lease, or
    /// `None` without capacity. [`Dispatcher::take_in`] or [`Dispatcher::release`] ends the reservation.
    pub fn reserve(&mut self, tenant: Tenant, count: usize, now: Now) -> Option<LeaseDeadline> {
        if self.crowded.get(&tenant).is_some_and(|until| now.steady < *until) {
            return None;
        }
        self.queues.reserve(count).then(|| now.plus(self.settings.lease()))
    }

    /// Ends a reservation of capacity.
    pub fn release(&mut self, count: usize) {
        self.queues.release(count);
        // Only a stopping record loop waits for reservations. Before the stop, a wake per commit would be
        // wasted.
        self.wakes.records |= !self.queues.is_open();
    }

    /// Queues deliveries with a lease until `ends`, ends their reservation, and gives back those without
    /// capacity. Those of a commit, for which capacity was reserved, also go back if older ones of a queue with a
    /// rate wait in the store.
    pub fn take_in(
        &mut self,
        deliveries: Vec<WaitingDelivery<M>>,
        ends: LeaseDeadline,
        reserved: usize,
        now: Now,
    ) {
        self.release(reserved);
        let mut refusals = vec![];
        for waiting in deliveries {
            if self.unsettled.leased_again(&waiting.job) {
                continue;
            }
            let queue = (waiting.job.tenant, waiting.job.webhook_id);
            let is_unlimited = is_test(&waiting.job);
            if reserved > 0 && !is_unlimited && self.has_older(queue) {
                refusals.push(waiting);
            } else {
                refusals.extend(self.queues.offer(queue, waiting, ends, is_unlimited).err());
            }
        }
        let is_crowded = reserved > 0 && refusals.len() > FEW_REFUSED;
        if let Some(first_refusal) = refusals.first().filter(|_| is_crowded) {
            if self.crowded.len() >= REMEMBERED_TENANTS {
                self.crowded.retain(|_, until| now.steady < *until);
            }
            self.crowded.insert(first_refusal.job.tenant, now.steady + CROWDED);
        }
        // The claim loop also begins attempts that wait for the rate of their receiver.
        self.wakes.claims |= self.queues.has_limited();
        self.release_waiting(refusals, Some(ends), now);
    }

    /// Gives back deliveries with their due times, so that they keep their order. Resumed ones have no due time.
    fn release_waiting(&mut self, deliveries: Vec<WaitingDelivery<M>>, ends: Option<LeaseDeadline>, now: Now) {
        let (resumed, rest): (Vec<_>, Vec<_>) = deliveries.into_iter().partition(|waiting| waiting.resumed);
        for (waiting, result) in [(resumed, AttemptResult::Back(now.wall)), (rest, AttemptResult::Released)] {
            self.give_back(waiting.into_iter().map(|waiting| waiting.job).collect(), ends, &result);
        }
    }

    /// Gives back deliveries that waited too long, unless their leases end before this can be recorded.
    fn release_late(&mut self, now: Now) {
        for (waiting, ends) in self.queues.take_late() {
            self.forgotten += 1;
            if ends.remaining(now) >= RECORDED_WITHIN {
                self.release_waiting(vec![waiting], Some(ends), now);
            }
        }
    }

    /// Gives back deliveries that are not queued here with this result, so that other processes can claim them.
    fn give_back(&mut self, jobs: Vec<Job>, ends: Option<LeaseDeadline>, result: &AttemptResult) {
        for job in jobs {
            if !self.unsettled.add(&job, ends) {
                continue;
            }
            self.queues.owe(1);
            self.wakes.records = true;
            self.outcomes.add(DeliveryResult { job, result: result.clone(), delta: None });
        }
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

    /// Skips a queue whose secrets this process cannot open. Returns the result that gives its delivery back.
    pub fn without_secret(&mut self, queue: QueueKey, now: Now) -> AttemptResult {
        let is_left_alone = self.queues.leave_alone(queue, now, now.plus(NO_SECRET));
        if is_left_alone { AttemptResult::Released } else { AttemptResult::Back(add(now.wall, NO_SECRET)) }
    }

    /// Handles the end of an attempt.
    pub fn handle_attempt_ended(&mut self, place: QueuePlace, job: &Job, ending: AttemptEnd) {
        match ending {
            AttemptEnd::Finished(finished, answer) => {
                self.queues.release_slot(place, answer);
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

    /// Handles a batch that the store has not recorded. Returns a delivery whose result cannot be recorded;
    /// its lease expires.
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

/// Returns `true` for tests, which no rate delays.
fn is_test(job: &Job) -> bool {
    job.origin == DeliveryOrigin::Test
}
