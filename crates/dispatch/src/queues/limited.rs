//! Queues of receivers with a rate: their share of the capacity, and deliveries that wait for their turn.

use std::time::Duration;

use candor_port_storage::queue::QueueKey;

use super::rate::{RateDecision, RateState};
use super::state::{HeldItem, State};
use super::{QueuePlace, StartedAttempt, SubscriptionQueues};
use crate::lease::{LeaseDeadline, Now};

/// Part of the waiting room that queues with a rate may use, as a divisor: their deliveries wait by design. Beyond
/// it each of them may hold one delivery, so that the queues that a walk reaches first do not starve the rest.
pub(super) const SHARE: usize = 4;

impl<T> SubscriptionQueues<T> {
    /// Sets or removes the rate of a queue.
    pub(crate) fn set_rate(&mut self, queue: QueueKey, per_second: Option<usize>) {
        let Some(state) = self.queues.get_mut(&queue) else { return };
        let held = state.waiting.len();
        match (&mut state.rate, per_second) {
            (Some(rate), Some(per_second)) => rate.set(per_second),
            (rate @ None, Some(per_second)) => {
                *rate = Some(RateState::new(per_second));
                self.limited_waiting += held;
            }
            (rate @ Some(_), None) => {
                *rate = None;
                self.limited_waiting -= held;
            }
            (None, None) => {}
        }
    }

    /// Decides about the request of an attempt to a receiver with a rate.
    pub(crate) fn decide_rate(&mut self, place: QueuePlace, now: Now) -> RateDecision {
        let rate = self.queues.get_mut(&place.queue).and_then(|state| state.rate.as_mut());
        rate.map_or(RateDecision::Send, |rate| rate.decide(place.number, now))
    }

    /// Notes the answer to a call for the rate lease; `None` without one.
    pub(crate) fn rate_leased(&mut self, place: QueuePlace, lease: Option<LeaseDeadline>) {
        if let Some(rate) = self.queues.get_mut(&place.queue).and_then(|state| state.rate.as_mut()) {
            rate.leased(place.number, lease);
        }
    }

    /// Notes that another process holds the rate lease of a queue, and returns the waiting deliveries for it.
    pub(crate) fn lose_rate(&mut self, queue: QueueKey) -> Vec<T> {
        let Some(state) = self.queues.get_mut(&queue) else { return vec![] };
        if let Some(rate) = &mut state.rate {
            rate.lose();
        }
        let (kept, given): (Vec<_>, Vec<_>) = state.waiting.drain(..).partition(|held| held.is_unlimited);
        state.waiting = kept.into();
        self.all.waiting -= given.len();
        self.slow.waiting -= if state.pace.is_quick() { 0 } else { given.len() };
        self.limited_waiting -= if state.rate.is_some() { given.len() } else { 0 };
        given.into_iter().map(|held| held.item).collect()
    }

    /// Returns a delivery to its position in its queue and ends its attempt, which sent nothing.
    ///
    /// # Errors
    /// The delivery, if the queues are closed.
    pub(crate) fn put_back(&mut self, begun: StartedAttempt<T>) -> Result<(), T> {
        let StartedAttempt { place, item, ends, order, .. } = begun;
        self.release_without_effect(place, None);
        let Some(state) = self.queues.get_mut(&place.queue).filter(|_| self.open) else { return Err(item) };
        let is_before = |held: &&HeldItem<T>| held.is_unlimited || held.order < order;
        let position = state.waiting.iter().take_while(is_before).count();
        state.waiting.insert(position, HeldItem { item, ends, is_unlimited: false, order });
        self.all.waiting += 1;
        self.slow.waiting += usize::from(!state.pace.is_quick());
        self.limited_waiting += usize::from(state.rate.is_some());
        if !state.in_ring {
            state.in_ring = true;
            self.ring.push(place.queue);
        }
        Ok(())
    }

    /// Returns the steady time from which a waiting delivery may begin because of its rate, `None` if there is no
    /// such delivery.
    pub(crate) fn rate_begins_at(&self, now: Now) -> Option<Duration> {
        let begins_at = |state: &State<T>| {
            let rate = state.rate.as_ref().filter(|_| !state.waiting.is_empty() && self.has_slot(state))?;
            rate.begins_at(now)
        };
        if self.limited_waiting == 0 || !self.open || self.all.attempts >= self.limits.attempts {
            return None;
        }
        self.queues.values().filter_map(begins_at).min()
    }

    /// Returns `true` if deliveries wait in queues with a rate.
    pub(crate) const fn has_limited(&self) -> bool {
        self.limited_waiting > 0
    }

    /// Returns `true` if a queue has a rate.
    pub(crate) fn is_limited(&self, queue: QueueKey) -> bool {
        self.queues.get(&queue).is_some_and(|state| state.rate.is_some())
    }

    /// Returns `true` if claims skip a queue because of the number of its waiting deliveries.
    pub(crate) fn is_full(&self, queue: QueueKey) -> bool {
        self.queues.get(&queue).is_some_and(State::is_full)
    }

    /// Returns the queues with a rate that hold deliveries, sorted, with the number of deliveries to claim for
    /// each. If their share of the waiting room is used, returns all queues with a rate.
    pub(crate) fn limited(&self) -> Vec<(QueueKey, u16)> {
        let is_crowded = self.is_crowded_by_limited(0);
        let is_listed = |state: &State<T>| state.rate.is_some() && (is_crowded || !state.is_idle());
        let limited = self.queues.iter().filter(|(_, state)| is_listed(state));
        let room = |state: &State<T>| {
            if is_crowded { 1 } else { state.depth().saturating_sub(state.waiting.len()) }
        };
        let mut limited: Vec<_> = limited
            .map(|(queue, state)| (*queue, u16::try_from(room(state)).unwrap_or(u16::MAX).max(1)))
            .collect();
        limited.sort_unstable();
        limited
    }

    /// Returns `true` if queues with a rate use their share of the waiting room.
    pub(super) const fn is_crowded_by_limited(&self, coming: usize) -> bool {
        self.limited_waiting + coming >= self.limits.waiting / SHARE
    }
}
