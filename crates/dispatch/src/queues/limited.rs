//! Queues of receivers with a rate: their share of the capacity, and deliveries that wait for their turn.

use std::time::Duration;

use candor_port_storage::queue::QueueKey;

use super::rate::{RateDecision, RateState};
use super::state::{HeldItem, State};
use super::{QueuePlace, StartedAttempt, SubscriptionQueues};
use crate::lease::{LeaseDeadline, Now};

/// Divisor of the waiting room: queues with a rate may use a quarter of it, because their deliveries wait by
/// design. If an organization uses its share of this quarter, each of its queues with a rate may still hold one
/// delivery. Otherwise the queues that a walk reaches first would starve the rest.
pub(super) const SHARE: usize = 4;

impl<T> SubscriptionQueues<T> {
    /// Sets or removes the rate of a queue.
    pub(crate) fn set_rate(&mut self, queue: QueueKey, per_second: Option<usize>) {
        self.change(queue, |state| match (&mut state.rate, per_second) {
            (Some(rate), Some(per_second)) => rate.set(per_second),
            (rate, per_second) => *rate = per_second.map(RateState::new),
        });
    }

    /// Decides about the request of an attempt to a receiver with a rate.
    pub(crate) fn decide_rate(&mut self, place: QueuePlace, now: Now) -> RateDecision {
        let rate = self.queues.get_mut(&place.queue).and_then(|state| state.rate.as_mut());
        rate.map_or(RateDecision::Send, |rate| rate.decide(place.number, now))
    }

    /// Notes the answer to a call for the rate lease; `lease` is `None` if the call did not get the lease.
    pub(crate) fn rate_leased(&mut self, place: QueuePlace, lease: Option<LeaseDeadline>) {
        if let Some(rate) = self.queues.get_mut(&place.queue).and_then(|state| state.rate.as_mut()) {
            rate.note_lease(place.number, lease);
        }
    }

    /// Notes that another process holds the rate lease of a queue. Removes and returns the waiting deliveries
    /// except tests; the other process must send them.
    pub(crate) fn lose_rate(&mut self, queue: QueueKey) -> Vec<T> {
        let returned_items = self.change(queue, |state| {
            if let Some(rate) = &mut state.rate {
                rate.lose();
            }
            let (kept, given): (Vec<_>, Vec<_>) = state.waiting.drain(..).partition(|held| held.is_unlimited);
            state.waiting = kept.into();
            given
        });
        returned_items.into_iter().flatten().map(|held| held.item).collect()
    }

    /// Puts a delivery back into its position in its queue and ends its attempt, which sent nothing.
    ///
    /// # Errors
    /// The delivery, if the queues are closed or its queue was dropped.
    pub(crate) fn put_back(&mut self, begun: StartedAttempt<T>) -> Result<(), T> {
        let StartedAttempt { place, item, ends, order, .. } = begun;
        self.release_without_effect(place, None);
        if !self.open || !self.queues.contains_key(&place.queue) {
            return Err(item);
        }
        self.change(place.queue, |state| {
            let is_before = |held: &&HeldItem<T>| held.is_unlimited || held.order < order;
            let position = state.waiting.iter().take_while(is_before).count();
            state.waiting.insert(position, HeldItem { item, ends, is_unlimited: false, order });
        });
        self.enter_ring(place.queue);
        Ok(())
    }

    /// Returns the earliest steady time at which a rate lets a waiting delivery begin; `None` if no delivery waits
    /// for a rate alone.
    pub(crate) fn rate_begins_at(&self, now: Now) -> Option<Duration> {
        let begins_at = |(queue, state): (&QueueKey, &State<T>)| {
            let rate =
                state.rate.as_ref().filter(|_| !state.waiting.is_empty() && self.has_slot(*queue, state))?;
            rate.begins_at(now)
        };
        if !self.has_limited() || !self.open || self.attempts() >= self.limits.attempts {
            return None;
        }
        self.queues.iter().filter_map(begins_at).min()
    }

    /// Returns `true` if deliveries wait in queues with a rate.
    pub(crate) const fn has_limited(&self) -> bool {
        self.shares.has_limited()
    }

    /// Returns `true` if a queue has a rate.
    pub(crate) fn is_limited(&self, queue: QueueKey) -> bool {
        self.queues.get(&queue).is_some_and(|state| state.rate.is_some())
    }

    /// Returns `true` if claims skip a queue because of the number of its waiting deliveries.
    pub(crate) fn is_full(&self, queue: QueueKey) -> bool {
        self.queues.get(&queue).is_some_and(State::is_full)
    }

    /// Returns the queues with a rate that have waiting deliveries or attempts, sorted, each with the number of
    /// deliveries to claim. If an organization uses its share of the waiting room, returns all its queues with a
    /// rate, each with one delivery to claim.
    pub(crate) fn list_limited(&self) -> Vec<(QueueKey, u16)> {
        let to_entry = |(queue, state): (&QueueKey, &State<T>)| {
            let is_crowded = state.rate.is_some() && self.shares.is_crowded_by_limited(queue.0.organization, 0);
            let is_listed = state.rate.is_some() && (is_crowded || !state.is_idle());
            let room = if is_crowded { 1 } else { state.depth().saturating_sub(state.waiting.len()) };
            is_listed.then(|| (*queue, u16::try_from(room).unwrap_or(u16::MAX).max(1)))
        };
        let mut entries: Vec<_> = self.queues.iter().filter_map(to_entry).collect();
        entries.sort_unstable();
        entries
    }
}
