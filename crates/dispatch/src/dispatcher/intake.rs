//! Deliveries that come in from claims and commits, and deliveries that go back to the store without an attempt.

use std::time::Duration;

use candor_domain::access::Tenant;
use candor_domain::id::OrganizationId;
use candor_port_storage::queue::{AttemptResult, Claim, ClaimedJobs, QueueKey};
use candor_subscriptions::Job;

use super::{ClaimOrder, Dispatcher, is_test};
use crate::attempt::DeliveryResult;
use crate::lease::{LeaseDeadline, Now};
use crate::{HashMap, RECORDED_WITHIN, WaitingDelivery};

/// Maximum number of refused deliveries of one commit before its tenant counts as crowded.
const FEW_REFUSED: usize = 8;
/// Time for which the commits of a tenant hand no deliveries over, after more than [`FEW_REFUSED`] deliveries of
/// one commit were refused. The deliveries stay in the store, and claims take them in turns with those of other
/// tenants. Each refused delivery would occupy capacity until its result is recorded.
const CROWDED: Duration = Duration::from_secs(1);
/// Number of entries in `crowded` above which the expired ones are removed.
const REMEMBERED_TENANTS: usize = 1_024;

impl<M> Dispatcher<M> {
    /// Handles the result of a claim. Returns the deliveries to pass to [`Dispatcher::take_in_claimed`]. Gives
    /// back deliveries without capacity, and deliveries that another process may have leased meanwhile. A delivery
    /// that this process still holds from an earlier lease goes back once the store has confirmed the earlier
    /// result.
    pub fn handle_claimed(&mut self, order: &ClaimOrder, found: ClaimedJobs, now: Now) -> Vec<Job> {
        self.claims.took(&order.claim, &found, order.at.steady);
        let mut coming: HashMap<QueueKey, usize> = HashMap::default();
        let mut of_owners: HashMap<OrganizationId, usize> = HashMap::default();
        let (mut kept_jobs, mut surplus, mut doubtful_jobs) = (vec![], vec![], vec![]);
        for job in found.jobs {
            if self.unsettled.leased_again(&job) {
                continue;
            }
            let queue = (job.tenant, job.webhook_id);
            let (count, of_owner) =
                (coming.entry(queue).or_default(), of_owners.entry(job.tenant.organization).or_default());
            let has_place = kept_jobs.len() < self.queues.room()
                && if is_test(&job) {
                    self.queues.takes_test(queue, *of_owner)
                } else {
                    self.queues.takes(queue, *count, *of_owner)
                };
            if !has_place {
                self.queues.know(queue);
            }
            if self.unsettled.is_doubtful(&job, order.at) {
                doubtful_jobs.push(job);
            } else if has_place {
                *count += 1;
                *of_owner += 1;
                kept_jobs.push(job);
            } else {
                surplus.push(job);
            }
        }
        let result = back_result(order, now);
        self.give_back(surplus, Some(order.ends), &result);
        self.give_back(doubtful_jobs, None, &result);
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

    /// Reserves capacity for deliveries that a commit of a tenant is about to queue. Returns the end of their
    /// lease, or `None` without capacity or while the tenant counts as crowded. [`Dispatcher::take_in`] or
    /// [`Dispatcher::release`] ends the reservation.
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

    /// Queues the deliveries of a claim that [`Dispatcher::handle_claimed`] returned, and gives back those without
    /// capacity. Also gives back a delivery whose new lease may have ended, because the store has meanwhile
    /// recorded an earlier result of this process.
    pub fn take_in_claimed(&mut self, deliveries: Vec<WaitingDelivery<M>>, order: &ClaimOrder, now: Now) {
        let is_doubtful = |waiting: &WaitingDelivery<M>| self.unsettled.is_doubtful(&waiting.job, order.at);
        let (doubtful_deliveries, leased_deliveries): (Vec<_>, Vec<_>) =
            deliveries.into_iter().partition(is_doubtful);
        let doubtful_jobs = doubtful_deliveries.into_iter().map(|waiting| waiting.job).collect();
        self.give_back(doubtful_jobs, None, &back_result(order, now));
        self.take_in(leased_deliveries, order.ends, 0, now);
    }

    /// Queues deliveries that are leased until `ends`, and ends the reservation of a commit for `reserved`
    /// deliveries; `reserved` is 0 for the deliveries of a claim. Gives back deliveries without capacity. Also
    /// gives back a delivery of a commit if its queue has a rate and older deliveries of the queue may wait in the
    /// store.
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

    /// Gives back deliveries. A delivery keeps its due time, and with it the place in its queue. A resumed
    /// delivery has no due time and becomes due now.
    pub(super) fn release_waiting(
        &mut self,
        deliveries: Vec<WaitingDelivery<M>>,
        ends: Option<LeaseDeadline>,
        now: Now,
    ) {
        let (resumed, rest): (Vec<_>, Vec<_>) = deliveries.into_iter().partition(|waiting| waiting.resumed);
        for (waiting, result) in [(resumed, AttemptResult::Back(now.wall)), (rest, AttemptResult::Released)] {
            self.give_back(waiting.into_iter().map(|waiting| waiting.job).collect(), ends, &result);
        }
    }

    /// Gives back deliveries that waited too long, unless their leases end before the result can be recorded.
    pub(super) fn release_late(&mut self, now: Now) {
        for (waiting, ends) in self.queues.take_late() {
            self.forgotten += 1;
            if ends.remaining(now) >= RECORDED_WITHIN {
                self.release_waiting(vec![waiting], Some(ends), now);
            }
        }
    }

    /// Records `result` for each of these deliveries, so that any process can claim them. They are in no queue of
    /// this process. If this process still holds a delivery from an earlier lease, only notes that it was leased
    /// again.
    pub(super) fn give_back(&mut self, jobs: Vec<Job>, ends: Option<LeaseDeadline>, result: &AttemptResult) {
        for job in jobs {
            if !self.unsettled.add(&job, ends) {
                continue;
            }
            self.queues.owe(1);
            self.wakes.records = true;
            self.outcomes.add(DeliveryResult { job, result: result.clone(), delta: None });
        }
    }
}

/// Returns the result that gives back deliveries of a claim. Deliveries that were due keep their due times, so
/// that they do not move behind later ones of their queue. Parked deliveries become due now.
fn back_result(order: &ClaimOrder, now: Now) -> AttemptResult {
    match order.claim {
        Claim::Oldest { .. } | Claim::SubscriptionQueues(_) => AttemptResult::Released,
        Claim::Parked(_) => AttemptResult::Back(now.wall),
    }
}
