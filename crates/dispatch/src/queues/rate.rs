//! Rate of a receiver: the requests of the last second, and the lease that allows this process to send them.
//!
//! Only the process with the rate lease of a subscription sends to its receiver. So this process knows all
//! requests of the last second, and no window of one second has more requests than the rate.

use crate::HashSet;
use std::collections::VecDeque;
use std::time::Duration;

use crate::lease::{LeaseDeadline, Now};

/// Length of the window in which a rate counts requests.
const WINDOW: Duration = Duration::from_secs(1);
/// Duration of a rate lease. Deliveries to the receiver wait for at most this time after a crash of the holder.
pub(crate) const RATE_LEASE: Duration = Duration::from_secs(10);
/// Remaining lease below which the rate lease is renewed. From then until [`MARGIN`] is left, there is time for
/// several failed calls.
const RENEWED_BELOW: Duration = Duration::from_secs(5);
/// Remaining lease below which nothing is sent: one window, and one second for the difference between the clocks
/// of two processes. So the next holder of the lease need not know the requests of its predecessor.
const MARGIN: Duration = Duration::from_secs(2);

/// Decision about the request of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RateDecision {
    /// The request counts from now on.
    Send,
    /// The rate is used up, or another attempt takes the lease.
    Wait,
    /// This attempt has to take the lease first.
    Lease,
}

/// Requests and rate lease of one receiver.
#[derive(Debug)]
pub(super) struct RateState {
    per_second: usize,
    /// Steady times of the latest requests, oldest first; at most `per_second`.
    sent: VecDeque<Duration>,
    /// Attempts that began and have no decision yet, by number.
    preparing: HashSet<u64>,
    lease: Option<LeaseDeadline>,
    /// Attempt that is taking the lease.
    leasing: Option<u64>,
}

impl RateState {
    pub(super) fn new(per_second: usize) -> Self {
        Self { per_second, sent: VecDeque::new(), preparing: HashSet::default(), lease: None, leasing: None }
    }

    pub(super) const fn set(&mut self, per_second: usize) {
        self.per_second = per_second;
    }

    /// Returns the number of deliveries that may wait in memory: as many as the rate permits in two seconds.
    pub(super) const fn depth(&self) -> usize {
        2 * self.per_second
    }

    /// Returns `true` if this process may still hold the rate lease, so that the latest requests must be
    /// remembered.
    pub(super) const fn is_leased(&self) -> bool {
        self.lease.is_some()
    }

    /// Forgets a lease that has ended.
    pub(super) fn forget(&mut self, now: Now) {
        self.lease = self.lease.filter(|lease| !lease.remaining(now).is_zero());
    }

    /// Returns `true` if another attempt may begin. Each attempt that has begun counts as a request until its
    /// decision.
    pub(super) fn may_begin(&self, now: Now) -> bool {
        self.begins_at(now).is_some_and(|at| at <= now.steady)
    }

    /// Returns the steady time from which another attempt may begin; `None` if this depends on an attempt in
    /// preparation.
    pub(super) fn begins_at(&self, now: Now) -> Option<Duration> {
        // Without a lease, one attempt takes it while the others wait.
        if self.leasing.is_some() || (self.remaining(now) < MARGIN && !self.preparing.is_empty()) {
            return None;
        }
        let free = self.per_second.checked_sub(self.preparing.len()).filter(|free| *free > 0)?;
        match self.count_recent(now).checked_sub(free) {
            None => Some(now.steady),
            // The oldest requests of the window leave it first.
            Some(older) => {
                self.sent.get(self.sent.len() - self.count_recent(now) + older).map(|sent| *sent + WINDOW)
            }
        }
    }

    /// Notes that an attempt begins.
    pub(super) fn begin(&mut self, attempt: u64) {
        self.preparing.insert(attempt);
    }

    /// Notes that an attempt ended.
    pub(super) fn end(&mut self, attempt: u64) {
        self.preparing.remove(&attempt);
        self.leasing = self.leasing.filter(|leasing| *leasing != attempt);
    }

    /// Decides about the request of an attempt.
    pub(super) fn decide(&mut self, attempt: u64, now: Now) -> RateDecision {
        let remaining = self.remaining(now);
        if remaining < RENEWED_BELOW && self.leasing.is_none() {
            self.leasing = Some(attempt);
            self.preparing.insert(attempt);
            return RateDecision::Lease;
        }
        self.preparing.remove(&attempt);
        if remaining < MARGIN || self.count_recent(now) >= self.per_second {
            return RateDecision::Wait;
        }
        self.sent.push_back(now.steady);
        while self.sent.len() > self.per_second {
            self.sent.pop_front();
        }
        RateDecision::Send
    }

    /// Notes the answer to the call that [`RateDecision::Lease`] demands; `lease` is `None` if the call did not
    /// get the lease.
    pub(super) fn note_lease(&mut self, attempt: u64, lease: Option<LeaseDeadline>) {
        self.leasing = self.leasing.filter(|leasing| *leasing != attempt);
        self.lease = lease.or(self.lease);
    }

    /// Notes that another process holds the lease.
    pub(super) const fn lose(&mut self) {
        self.lease = None;
    }

    fn remaining(&self, now: Now) -> Duration {
        self.lease.map_or(Duration::ZERO, |lease| lease.remaining(now))
    }

    /// Returns the number of requests in the last second.
    fn count_recent(&self, now: Now) -> usize {
        self.sent.iter().rev().take_while(|sent| **sent + WINDOW > now.steady).count()
    }
}

#[cfg(test)]
mod tests {
    use candor_domain::time::Timestamp;

    use super::*;

    fn at(millis: u64) -> Now {
        let wall = Timestamp::from_millis(1_772_366_400_000 + i64::try_from(millis).unwrap());
        Now { wall, steady: Duration::from_millis(millis) }
    }

    fn leased_rate(per_second: usize) -> RateState {
        let mut rate = RateState::new(per_second);
        assert_eq!(rate.decide(0, at(0)), RateDecision::Lease);
        rate.note_lease(0, Some(at(0).plus(RATE_LEASE)));
        rate.end(0);
        rate
    }

    #[test]
    fn window_of_one_second_has_at_most_the_rate() {
        let mut rate = leased_rate(2);
        let decisions: Vec<_> = [0, 0, 0, 400, 999, 1000, 1400, 1999, 2000]
            .into_iter()
            .zip(1..)
            .map(|(millis, attempt)| rate.decide(attempt, at(millis)))
            .collect();
        use RateDecision::{Send, Wait};
        assert_eq!(decisions, [Send, Send, Wait, Wait, Wait, Send, Send, Wait, Send]);
    }

    #[test]
    fn attempts_in_preparation_count_as_requests() {
        let mut rate = leased_rate(2);
        assert_eq!(rate.decide(1, at(0)), RateDecision::Send);
        assert_eq!(rate.begins_at(at(100)), Some(Duration::from_millis(100)));
        rate.begin(2);
        assert_eq!(rate.begins_at(at(100)), Some(Duration::from_secs(1)));
        rate.begin(3);
        assert_eq!(rate.begins_at(at(100)), None, "the time depends on the two attempts in preparation");
        rate.end(3);
        assert_eq!(rate.decide(2, at(100)), RateDecision::Send);
        assert_eq!(rate.begins_at(at(200)), Some(Duration::from_secs(1)));
        assert!(rate.may_begin(at(1000)) && !rate.may_begin(at(999)));
    }

    #[test]
    fn one_attempt_takes_the_lease_while_the_rest_waits() {
        let mut rate = RateState::new(5);
        assert!(rate.may_begin(at(0)));
        rate.begin(1);
        assert!(!rate.may_begin(at(0)));
        assert_eq!(rate.decide(1, at(0)), RateDecision::Lease);
        assert_eq!(rate.decide(2, at(0)), RateDecision::Wait);
        rate.note_lease(1, None);
        assert_eq!(rate.decide(3, at(5)), RateDecision::Lease, "the call failed, so another attempt tries");
        rate.note_lease(3, Some(at(5).plus(RATE_LEASE)));
        assert_eq!(rate.decide(3, at(6)), RateDecision::Send);
    }

    #[test]
    fn lease_is_renewed_before_its_margin() {
        let mut rate = leased_rate(100);
        assert_eq!(rate.decide(1, at(5_000)), RateDecision::Send);
        assert_eq!(rate.decide(2, at(5_001)), RateDecision::Lease);
        assert_eq!(rate.decide(3, at(5_001)), RateDecision::Send, "the old lease is long enough");
        rate.note_lease(2, None);
        assert_eq!(rate.decide(2, at(8_000)), RateDecision::Lease);
        assert_eq!(rate.decide(4, at(8_000)), RateDecision::Send);
        assert_eq!(rate.decide(4, at(8_001)), RateDecision::Wait);
        rate.end(2);
        assert_eq!(rate.decide(5, at(8_002)), RateDecision::Lease, "the attempt ended without an answer");
        rate.forget(at(9_999));
        assert!(rate.is_leased());
        rate.forget(at(10_000));
        assert!(!rate.is_leased());
    }
}
