//! Rates of receivers: permits to send, and the rate lease of a subscription.

use std::time::Duration;

use candor_port_storage::queue::{AttemptResult, Lease, QueueKey, RateLease};

use super::{Dispatcher, is_test};
use crate::WaitingDelivery;
use crate::lease::{LeaseDeadline, Now, add};
use crate::queues::{QueuePlace, RATE_LEASE, RateDecision, StartedAttempt};

/// Decision about the request of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendPermit {
    /// The request must be sent now.
    Send,
    /// Too little of the lease of the delivery is left.
    Late,
    /// The rate of the receiver is used up. The attempt must go to [`Dispatcher::put_back`].
    Wait,
    /// The rate lease must be taken first. After the answer, [`Dispatcher::permit`] decides again.
    Lease(RateLeaseOrder),
}

/// A call for the rate lease of a subscription. Only the holder of the rate lease sends to a receiver with a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLeaseOrder {
    /// Queue of the subscription.
    pub queue: QueueKey,
    /// The lease to take or to renew.
    pub lease: Lease,
    /// Time of the order; the call must use it as the current time.
    pub at: Now,
    ends: LeaseDeadline,
    place: QueuePlace,
}

impl<M> Dispatcher<M> {
    /// Decides if an attempt may send its request now. `max_per_second` is the current rate of the receiver,
    /// `None` without a rate. No rate delays a test.
    pub fn permit(
        &mut self,
        begun: &StartedAttempt<WaitingDelivery<M>>,
        max_per_second: Option<u16>,
        now: Now,
    ) -> SendPermit {
        if !self.may_send(begun.ends, now) {
            return SendPermit::Late;
        }
        let place = begun.place;
        self.queues.set_rate(place.queue, max_per_second.map(usize::from));
        if is_test(&begun.item.job) {
            return SendPermit::Send;
        }
        match self.queues.decide_rate(place, now) {
            RateDecision::Send => SendPermit::Send,
            RateDecision::Wait => SendPermit::Wait,
            RateDecision::Lease => {
                let ends = now.plus(RATE_LEASE);
                let lease = Lease { worker: self.worker, until: ends.deadline() };
                SendPermit::Lease(RateLeaseOrder { queue: place.queue, lease, at: now, ends, place })
            }
        }
    }

    /// Handles the answer to a call for a rate lease. Returns `None` if this process now holds the lease. If another
    /// process holds it, gives back the waiting deliveries of the queue, which that process sends, and returns the
    /// result that gives back the delivery of the attempt.
    pub fn handle_rate_lease(
        &mut self,
        order: &RateLeaseOrder,
        response: RateLease,
        now: Now,
    ) -> Option<AttemptResult> {
        // Attempts that waited for the answer may begin.
        self.wakes.claims = true;
        match response {
            RateLease::Held => {
                self.queues.rate_leased(order.place, Some(order.ends));
                None
            }
            RateLease::HeldElsewhere { until } => {
                let waiting = self.queues.lose_rate(order.queue);
                self.queues.rate_leased(order.place, None);
                self.release_waiting(waiting, None, now);
                let remaining_millis = u64::try_from(until.millis() - now.wall.millis()).unwrap_or_default();
                // The pause is bounded, because `until` may be far away if a clock was set back.
                let pause = Duration::from_millis(remaining_millis.max(1)).min(RATE_LEASE);
                let is_left = self.queues.leave_alone(order.queue, now, now.plus(pause));
                Some(if is_left { AttemptResult::Released } else { AttemptResult::Back(add(now.wall, pause)) })
            }
        }
    }

    /// Handles a call for a rate lease that the store did not answer.
    pub fn rate_lease_failed(&mut self, order: &RateLeaseOrder) {
        self.queues.rate_leased(order.place, None);
        self.wakes.claims = true;
    }

    /// Returns `true` if a queue has a rate and older deliveries of the queue may wait in the store. Newer
    /// deliveries from commits would keep the queue full, and the older ones would never be claimed.
    pub(super) fn has_older(&self, queue: QueueKey) -> bool {
        self.queues.is_limited(queue) && (self.queues.is_full(queue) || self.claims.may_have_more(queue))
    }

    /// Ends an attempt that has to wait for the rate of its receiver, and puts its delivery back into its position
    /// in the queue. Gives the delivery back if the dispatcher is stopped.
    pub fn put_back(&mut self, begun: StartedAttempt<WaitingDelivery<M>>, now: Now) {
        let ends = begun.ends;
        self.unsettled.forget(&begun.item.job);
        if let Err(refused) = self.queues.put_back(begun) {
            self.release_waiting(vec![refused], Some(ends), now);
        }
        self.wakes.claims = true;
        self.wakes.records |= !self.queues.is_open();
        self.wakes.quiet |= !self.queues.is_open() && self.queues.attempts() == 0;
    }

    /// Returns the earliest steady time at which the rate of a receiver lets a waiting delivery begin; `None` if
    /// no delivery waits for a rate.
    #[must_use]
    pub fn waits_until(&self, now: Now) -> Option<Duration> {
        self.queues.rate_begins_at(now)
    }
}
