//! Circuit breaker of the shared rate limit store: after a failure, requests skip the store, except for one probe
//! per second, until it answers.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use candor_domain::window::WINDOW_MILLIS;

/// Time from a failure to the first probe of the store, and from each probe to the next one, in milliseconds.
const OPEN_MILLIS: u64 = 1_000;

/// Number of late answers in a row that count as a failure.
const LATE_IN_A_ROW: u32 = 2;

/// Kind of request that the breaker lets through to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attempt {
    /// Request while the store is up, as far as is known.
    Usual,
    /// Request that probes whether the store answers again after a failure.
    Probe,
}

/// State of the breaker. Times are those of a steady clock.
#[derive(Debug)]
pub(super) struct Breaker {
    is_down: AtomicBool,
    /// Late answers in a row.
    late: AtomicU32,
    /// Time of the next probe, in milliseconds.
    tries_at: AtomicU64,
    /// End of the rate limit window that began with the last local decision, in milliseconds.
    alone_until: AtomicU64,
}

impl Breaker {
    pub(super) const fn new() -> Self {
        Self {
            is_down: AtomicBool::new(false),
            late: AtomicU32::new(0),
            tries_at: AtomicU64::new(0),
            alone_until: AtomicU64::new(0),
        }
    }

    /// Returns the kind of attempt that a request may make, or `None` if it must skip the store. While the store is
    /// down, one request per second may probe it.
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

    /// Records an answer of the store. Returns `true` if this closes the breaker; answers to requests sent before
    /// the failure do not close it.
    pub(super) fn record_answer(&self, attempt: Attempt) -> bool {
        self.late.store(0, Ordering::Release);
        attempt == Attempt::Probe && self.is_down.swap(false, Ordering::AcqRel)
    }

    /// Records an answer that came too late. Returns `true` if this counts as a failure: the second late answer in a
    /// row, or the late answer to a probe. A single late answer may be due to a pause of this process.
    pub(super) fn is_slow(&self, attempt: Attempt) -> bool {
        self.late.fetch_add(1, Ordering::AcqRel) + 1 >= LATE_IN_A_ROW || attempt == Attempt::Probe
    }

    /// Records a failure of the store. Returns `true` if this opens the breaker.
    pub(super) fn record_failure(&self, now: Duration) -> bool {
        self.tries_at.fetch_max(millis(now).saturating_add(OPEN_MILLIS), Ordering::AcqRel);
        !self.is_down.swap(true, Ordering::AcqRel)
    }

    /// Records that this process decided without the store.
    pub(super) fn decided_alone(&self, now: Duration) {
        let window = WINDOW_MILLIS.unsigned_abs();
        self.alone_until.fetch_max(millis(now).saturating_add(window), Ordering::AcqRel);
    }

    /// Returns `true` if this process decided about requests without the store within the last window (60
    /// seconds). The store lacks these requests.
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
    fn failed_store_rests_one_second_until_one_probe_succeeds() {
        let breaker = Breaker::new();
        assert_eq!(breaker.attempt(at(5_000)), Some(Attempt::Usual));
        assert!(
            breaker.record_failure(at(5_000)) && !breaker.record_failure(at(5_010)),
            "only the first opens it"
        );
        assert_eq!(breaker.attempt(at(6_009)), None);
        assert_eq!(breaker.attempt(at(6_010)), Some(Attempt::Probe));
        assert_eq!(breaker.attempt(at(6_010)), None, "only one request probes the store");
        assert_eq!(
            breaker.attempt(at(7_010)),
            Some(Attempt::Probe),
            "after a probe without a result, another request probes"
        );
        assert!(!breaker.record_answer(Attempt::Usual), "a request from before the failure");
        assert!(breaker.record_answer(Attempt::Probe) && !breaker.record_answer(Attempt::Probe));
        assert_eq!(breaker.attempt(at(7_011)), Some(Attempt::Usual));
    }

    #[test]
    fn second_late_answer_in_a_row_is_a_failure() {
        let breaker = Breaker::new();
        assert!(!breaker.is_slow(Attempt::Usual));
        breaker.record_answer(Attempt::Usual);
        assert!(!breaker.is_slow(Attempt::Usual) && breaker.is_slow(Attempt::Usual));
        breaker.record_answer(Attempt::Usual);
        assert!(breaker.is_slow(Attempt::Probe), "a late probe is a failure");
    }

    #[test]
    fn local_decision_is_remembered_for_a_minute() {
        let breaker = Breaker::new();
        assert!(!breaker.was_alone(at(1)));
        breaker.decided_alone(at(1_000));
        assert!(breaker.was_alone(at(60_999)) && !breaker.was_alone(at(61_000)));
    }
}
