//! Deliveries that this process holds: running attempts, and results that the store has not confirmed.
//!
//! The store accepts a result only while worker and attempt match. If a result or its confirmation is late, this
//! worker may have leased the delivery again. The result would then end the lease of the second attempt. Therefore
//! a delivery that is leased again meanwhile is not attempted, but given back once the store has confirmed the
//! earlier result.

use crate::HashMap;

use candor_domain::id::EventId;
use candor_port_storage::queue::QueueKey;
use candor_subscriptions::Job;

use crate::lease::{LeaseDeadline, Now};

/// Subscription queue, event and attempt number of a held delivery.
type HeldKey = (QueueKey, EventId, u16);

/// Held deliveries by key.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    held: HashMap<HeldKey, HeldDelivery>,
    /// Results that the store confirmed while a claim was running. The claim may have leased the delivery before
    /// the result was recorded, and the result then ended the new lease. The value is the end of the old lease, or
    /// `None` if the store may have recorded the result at any time.
    confirmed: HashMap<HeldKey, Option<LeaseDeadline>>,
    claims: usize,
}

#[derive(Debug)]
struct HeldDelivery {
    ends: Option<LeaseDeadline>,
    leased_again: bool,
}

impl InFlight {
    pub(crate) const fn claim_begins(&mut self) {
        self.claims += 1;
    }

    pub(crate) fn claim_ends(&mut self) {
        self.claims = self.claims.saturating_sub(1);
        if self.claims == 0 {
            self.confirmed.clear();
        }
    }

    /// Returns `true` if a delivery claimed at `at` may belong to another process, because an earlier result of
    /// this process may have ended the new lease. A claim before the end of the old lease can have got the
    /// delivery only after that result, so it is not doubtful. Both clocks must be before that end, because the
    /// time of day may have been set back.
    pub(crate) fn is_doubtful(&self, job: &Job, at: Now) -> bool {
        self.confirmed.get(&key(job)).is_some_and(|ends| ends.is_none_or(|lease| lease.remaining(at).is_zero()))
    }

    /// Holds a delivery. `ends` is the end of its lease, or `None` if another lease may have followed. If the
    /// delivery is held already, only notes that it was leased again, and returns `false`.
    pub(crate) fn add(&mut self, job: &Job, ends: Option<LeaseDeadline>) -> bool {
        let is_new = !self.leased_again(job);
        if is_new {
            self.held.insert(key(job), HeldDelivery { ends, leased_again: false });
        }
        is_new
    }

    /// Returns `true` if the delivery is already held, and notes that it was leased again.
    pub(crate) fn leased_again(&mut self, job: &Job) -> bool {
        self.held.get_mut(&key(job)).map(|lease| lease.leased_again = true).is_some()
    }

    /// Releases a delivery without a result.
    pub(crate) fn forget(&mut self, job: &Job) {
        self.held.remove(&key(job));
    }

    /// Handles the confirmation of a result. `is_first` is `false` if an earlier call failed, which may have
    /// recorded the result. Returns `true` if the delivery was leased again meanwhile.
    pub(crate) fn confirm(&mut self, job: &Job, is_first: bool) -> bool {
        let Some(delivery) = self.held.remove(&key(job)) else { return false };
        if self.claims > 0 {
            self.confirmed.insert(key(job), delivery.ends.filter(|_| is_first));
        }
        delivery.leased_again
    }
}

const fn key(job: &Job) -> HeldKey {
    ((job.tenant, job.webhook_id), job.event_id, job.attempt)
}
