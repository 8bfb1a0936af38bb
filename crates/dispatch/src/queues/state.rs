//! State of one queue: its waiting deliveries, and the concurrency and rate of its receiver.

use std::collections::VecDeque;

use super::pace::ConcurrencyWindow;
use super::rate::RateState;
use super::shares::{QueueCount, Totals};
use crate::lease::{LeaseDeadline, Now};

#[derive(Debug)]
pub(super) struct State<T> {
    pub(super) waiting: VecDeque<HeldItem<T>>,
    pub(super) attempts: usize,
    pub(super) pace: ConcurrencyWindow,
    /// Rate of the receiver, once an attempt has read it.
    pub(super) rate: Option<RateState>,
    pub(super) in_ring: bool,
}

/// A delivery that waits for its attempt.
#[derive(Debug)]
pub(super) struct HeldItem<T> {
    pub(super) item: T,
    pub(super) ends: LeaseDeadline,
    /// `true` for tests, which no rate delays. Tests are in front of the other deliveries.
    pub(super) is_unlimited: bool,
    /// Position in the order in which this process took deliveries.
    pub(super) order: u64,
}

impl<T> State<T> {
    pub(super) fn new() -> Self {
        Self { waiting: VecDeque::new(), attempts: 0, pace: ConcurrencyWindow::new(), rate: None, in_ring: false }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.attempts == 0 && self.waiting.is_empty()
    }

    /// Returns what the queue adds to the totals.
    pub(super) fn totals(&self) -> Totals {
        let all = QueueCount { attempts: self.attempts, waiting: self.waiting.len() };
        let slow = if self.pace.is_quick() { QueueCount::default() } else { all };
        let limited_waiting = if self.rate.is_some() { all.waiting } else { 0 };
        Totals { all, slow, limited_waiting }
    }

    /// Returns the number of waiting deliveries, its limit, and `true` if the receiver is quick.
    pub(super) fn measures(&self) -> (usize, usize, bool) {
        (self.waiting.len(), self.depth(), self.pace.is_quick())
    }

    /// Returns the number of deliveries that may wait.
    pub(super) fn depth(&self) -> usize {
        self.rate.as_ref().map_or(self.pace.depth(), |rate| rate.depth().min(self.pace.depth()))
    }

    /// Returns `true` if the rate of the receiver permits another attempt, or the first waiting delivery is a
    /// test. The queue may be empty.
    pub(super) fn may_begin(&self, now: Now) -> bool {
        let is_unlimited = self.waiting.front().is_some_and(|held| held.is_unlimited);
        is_unlimited || self.rate.as_ref().is_none_or(|rate| rate.may_begin(now))
    }

    /// Returns `true` while this process may hold the rate lease, so that the latest requests must be remembered.
    pub(super) fn is_leased(&self) -> bool {
        self.rate.as_ref().is_some_and(RateState::is_leased)
    }

    /// Returns `true` if at least half of the deliveries that may wait in the queue do wait, so that claims skip
    /// the queue.
    pub(super) fn is_full(&self) -> bool {
        !self.waiting.is_empty() && self.waiting.len() >= self.depth() / 2
    }
}
