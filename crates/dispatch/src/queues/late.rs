//! Deliveries that waited in memory for too long. They go back to the store, where they can be claimed again.

use super::SubscriptionQueues;
use super::state::HeldItem;
use crate::lease::{LeaseDeadline, Now};

impl<T> SubscriptionQueues<T> {
    /// Removes deliveries with too little lease left, for [`SubscriptionQueues::take_late`]. Also ends skips of
    /// queues and rate leases whose time is over.
    pub(crate) fn forget(&mut self, now: Now) {
        self.left_alone.forget(now);
        let (needs, shares, late) = (self.needs, &mut self.shares, &mut self.late);
        for (queue, state) in &mut self.queues {
            let totals_before = state.totals();
            let is_late = |held: &HeldItem<T>| held.ends.remaining(now) < needs;
            if state.waiting.iter().any(is_late) {
                let (gone, kept): (Vec<_>, Vec<_>) = state.waiting.drain(..).partition(is_late);
                late.extend(gone.into_iter().map(|held| (held.item, held.ends)));
                state.waiting = kept.into();
            }
            if let Some(rate) = &mut state.rate {
                rate.forget(now);
            }
            shares.replace(queue.0.organization, totals_before, state.totals());
        }
    }

    /// Takes the deliveries that had too little lease left to be attempted.
    pub(crate) fn take_late(&mut self) -> Vec<(T, LeaseDeadline)> {
        std::mem::take(&mut self.late)
    }
}
