//! Whether the store of shared windows is asked: not for a while after it failed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use candor_domain::window::WINDOW_MILLIS;

/// How long nobody is asked who just failed to answer, in milliseconds. Then one request tries for all.
const OPEN_MILLIS: u64 = 1_000;

/// How a request may go about the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attempt {
    /// It answers, as far as is known.
    Usual,
    /// It did not answer; this request tries whether it does again.
    Probe,
}

/// What is known about the store. Times are those of a steady clock.
#[derive(Debug)]
pub(super) struct Breaker {
    is_down: AtomicBool,
    /// When the next request may try, in milliseconds.
    tries_at: AtomicU64,
    /// Until when requests count that this process decided alone, in milliseconds.
    alone_until: AtomicU64,
}

impl Breaker {
    pub(super) const fn new() -> Self {
        Self { is_down: AtomicBool::new(false), tries_at: AtomicU64::new(0), alone_until: AtomicU64::new(0) }
    }

    /// Whether a request may ask, and how; of those that come while it is down, one in a second.
    pub(super) fn attempt(&self, now: Duration) -> Option<Attempt> {
        if !self.is_down.load(Ordering::Acquire) {
            return Some(Attempt::Usual);
        }
        let (now, tries_at) = (millis(now), self.tries_at.load(Ordering::Acquire));
        let next = now.saturating_add(OPEN_MILLIS);
        let may = now >= tries_at
            && self.tries_at.compare_exchange(tries_at, next, Ordering::AcqRel, Ordering::Acquire).is_ok();
        may.then_some(Attempt::Probe)
    }

    /// It answered; whether that is news. An answer to who asked before it failed is none.
    pub(super) fn answered(&self, attempt: Attempt) -> bool {
        attempt == Attempt::Probe && self.is_down.swap(false, Ordering::AcqRel)
    }

    /// It failed; whether that is news.
    pub(super) fn failed(&self, now: Duration) -> bool {
        self.tries_at.fetch_max(millis(now).saturating_add(OPEN_MILLIS), Ordering::AcqRel);
        !self.is_down.swap(true, Ordering::AcqRel)
    }

    /// This process decided alone.
    pub(super) fn decided_alone(&self, now: Duration) {
        let window = WINDOW_MILLIS.unsigned_abs();
        self.alone_until.fetch_max(millis(now).saturating_add(window), Ordering::AcqRel);
    }

    /// Whether this process decided alone within the window, so that the store may not know of all that counts.
    pub(super) fn was_alone(&self, now: Duration) -> bool {
        millis(now) < self.alone_until.load(Ordering::Acquire)
    }
}

fn millis(steady: Duration) -> u64 {
    u64::try_from(steady.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn whoever_failed_is_left_alone_for_a_second_and_then_tried_by_one() {
        let breaker = Breaker::new();
        assert_eq!(breaker.attempt(at(5_000)), Some(Attempt::Usual));
        assert!(breaker.failed(at(5_000)) && !breaker.failed(at(5_010)), "one change, one line");
        assert_eq!(breaker.attempt(at(6_009)), None);
        assert_eq!(breaker.attempt(at(6_010)), Some(Attempt::Probe));
        assert_eq!(breaker.attempt(at(6_010)), None, "one tries for all");
        assert_eq!(
            breaker.attempt(at(7_010)),
            Some(Attempt::Probe),
            "a try that says nothing does not close it for good"
        );
        assert!(!breaker.answered(Attempt::Usual), "the answer to an old question");
        assert!(breaker.answered(Attempt::Probe) && !breaker.answered(Attempt::Probe));
        assert_eq!(breaker.attempt(at(7_011)), Some(Attempt::Usual));
    }

    #[test]
    fn what_was_decided_alone_counts_for_a_minute() {
        let breaker = Breaker::new();
        assert!(!breaker.was_alone(at(1)));
        breaker.decided_alone(at(1_000));
        assert!(breaker.was_alone(at(60_999)) && !breaker.was_alone(at(61_000)));
    }
}
