//! The exact sliding window of the rate limits (§8, decision B1).

use crate::time::Timestamp;

/// Length of the window, in milliseconds.
pub const WINDOW_MILLIS: i64 = 60_000;
/// Length of the window, in seconds, for the details of a refusal.
pub const WINDOW_SECONDS: u32 = 60;

/// The times of the counted requests, oldest first, in a ring buffer that grows on demand up to the limit. Windows of a
/// process use its monotonic clock. A window that uses another clock still works after that clock is set back.
///
/// ```
/// use candor_forms::time::Timestamp;
/// use candor_forms::window::Window;
///
/// let (mut window, at) = (Window::default(), Timestamp::from_millis(0));
/// assert!(window.admit(at, 1).admitted);
/// let refusal = window.admit(at.plus_seconds(20), 1);
/// assert_eq!((refusal.admitted, refusal.retry_after_seconds), (false, 40));
/// assert!(window.admit(at.plus_seconds(60), 1).admitted);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Window {
    /// Times in milliseconds since `base`.
    ring: Vec<u32>,
    head: usize,
    len: usize,
    base: i64,
    newest: i64,
}

/// The state of a window after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimitStatus {
    /// `true` if the request may proceed. A refused request is not counted.
    pub admitted: bool,
    /// Requests allowed within the window.
    pub limit: u32,
    /// Requests that would be admitted at this time.
    pub remaining: u32,
    /// Time when the newest counted request leaves the window, in whole seconds since the Unix epoch, rounded up.
    pub reset_at_seconds: i64,
    /// Milliseconds until the newest counted request leaves the window.
    pub resets_in_millis: i64,
    /// Whole seconds until the oldest counted request leaves the window, at least 1.
    pub retry_after_seconds: i64,
}

/// The counted requests of a window at one time, in this process or in a shared store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowUsage {
    /// The time at which the requests were counted, by the clock that the window uses.
    pub now: Timestamp,
    /// Number of counted requests.
    pub used: u32,
    /// Time of the oldest counted request; 60 s before `now` if there is none.
    pub oldest: Timestamp,
    /// Time of the newest counted request; 60 s before `now` if there is none.
    pub newest: Timestamp,
}

impl WindowUsage {
    /// Returns the values for the rate limit headers of a response (decision B1).
    #[must_use]
    pub fn status(&self, limit: u32, admitted: bool) -> RateLimitStatus {
        let millis_to_wait = self.oldest.millis() + WINDOW_MILLIS - self.now.millis();
        RateLimitStatus {
            admitted,
            limit,
            remaining: limit.saturating_sub(self.used),
            reset_at_seconds: ceil_seconds(self.newest.millis() + WINDOW_MILLIS),
            resets_in_millis: self.newest.millis() + WINDOW_MILLIS - self.now.millis(),
            retry_after_seconds: ceil_seconds(millis_to_wait).max(1),
        }
    }
}

impl RateLimitStatus {
    /// Converts the reset time of a window that counts by another clock to a clock that shows `now`.
    #[must_use]
    pub const fn shown_at(self, now: Timestamp) -> Self {
        Self { reset_at_seconds: ceil_seconds(now.millis() + self.resets_in_millis), ..self }
    }
}

impl Window {
    /// Counts a request, or refuses it if the window is full.
    pub fn admit(&mut self, at: Timestamp, limit: u32) -> RateLimitStatus {
        let now = self.advance(at);
        let is_admitted = self.len < limit as usize;
        if is_admitted {
            self.push(now);
        }
        self.status(now, limit, is_admitted)
    }

    /// Counts a request that another window has admitted, also if this window is full.
    pub fn record(&mut self, at: Timestamp) {
        let now = self.advance(at);
        self.push(now);
    }

    /// Returns the state of the window without counting a request.
    pub fn look(&mut self, at: Timestamp, limit: u32) -> RateLimitStatus {
        let now = self.advance(at);
        let is_admitted = self.len < limit as usize;
        self.status(now, limit, is_admitted)
    }

    /// Returns `true` if no request is counted any more, so that the window can be dropped.
    #[must_use]
    pub const fn is_idle(&self, at: Timestamp) -> bool {
        at.millis() - self.newest >= WINDOW_MILLIS
    }

    /// Drops the requests that have left the window, and returns the time at which a new request counts.
    /// Concurrent requests may come slightly out of order; an older time counts as the newest one. If the clock
    /// was set back by more than a window, the counted times move back too: the window must not stay full until
    /// the clock has caught up.
    fn advance(&mut self, at: Timestamp) -> i64 {
        let millis_back = self.newest - at.millis();
        if self.len > 0 && millis_back > WINDOW_MILLIS {
            self.base -= millis_back;
            self.newest -= millis_back;
        }
        let now = if self.len == 0 { at.millis() } else { at.millis().max(self.newest) };
        while self.len > 0 && now - self.oldest() >= WINDOW_MILLIS {
            self.head = (self.head + 1) % self.ring.len();
            self.len -= 1;
        }
        now
    }

    fn oldest(&self) -> i64 {
        self.base + i64::from(self.ring[self.head])
    }

    fn push(&mut self, now: i64) {
        if self.len == 0 {
            (self.base, self.head) = (now, 0);
        }
        let offset = u32::try_from(now - self.base).unwrap_or_else(|_| self.rebase(now));
        if self.len == self.ring.len() {
            self.ring.rotate_left(self.head);
            self.head = 0;
            self.ring.push(offset);
        } else {
            let index = (self.head + self.len) % self.ring.len();
            self.ring[index] = offset;
        }
        self.len += 1;
        self.newest = now;
    }

    /// Moves `base` to the oldest request and returns the offset of `now`. Called when that offset does not fit
    /// into 32 bits: after 49 days in which the window was never empty.
    fn rebase(&mut self, now: i64) -> u32 {
        let shift = self.ring[self.head];
        for step in 0..self.len {
            let index = (self.head + step) % self.ring.len();
            self.ring[index] -= shift;
        }
        self.base += i64::from(shift);
        u32::try_from(now - self.base).unwrap_or(u32::MAX)
    }

    fn status(&self, now: i64, limit: u32, admitted: bool) -> RateLimitStatus {
        let (oldest, newest) =
            if self.len == 0 { (now - WINDOW_MILLIS, now - WINDOW_MILLIS) } else { (self.oldest(), self.newest) };
        let [now, oldest, newest] = [now, oldest, newest].map(Timestamp::from_millis);
        let usage = WindowUsage { now, used: u32::try_from(self.len).unwrap_or(u32::MAX), oldest, newest };
        usage.status(limit, admitted)
    }
}

const fn ceil_seconds(millis: i64) -> i64 {
    millis.div_euclid(1000) + (millis.rem_euclid(1000) != 0) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The rule in its plain form: a request is admitted if fewer than `limit` were admitted in the 60 s before
    /// it.
    fn reference(times: &[i64], limit: u32) -> Vec<bool> {
        let mut admitted_times: Vec<i64> = Vec::new();
        let decide = |now: &i64| {
            let is_admitted =
                admitted_times.iter().filter(|time| now - **time < WINDOW_MILLIS).count() < limit as usize;
            if is_admitted {
                admitted_times.push(*now);
            }
            is_admitted
        };
        times.iter().map(decide).collect()
    }

    proptest! {
        #[test]
        fn ring_buffer_decides_like_the_full_list_of_requests(
            steps in proptest::collection::vec(prop_oneof![0..50_i64, 0..5_000_i64, 59_990..60_010_i64], 1..400),
            limit in 1..40_u32,
            start in 0..1_000_000_000_000_i64,
        ) {
            let times: Vec<i64> = steps.iter().scan(start, |now, step| { *now += step; Some(*now) }).collect();
            let mut window = Window::default();
            let decisions: Vec<bool> = times.iter().map(|now| window.admit(Timestamp::from_millis(*now), limit).admitted).collect();
            prop_assert_eq!(decisions, reference(&times, limit));
        }

        #[test]
        fn window_admits_after_retry_after_and_is_empty_at_reset(
            steps in proptest::collection::vec(0..3_000_i64, 1..100), limit in 1..10_u32,
        ) {
            let mut window = Window::default();
            let mut now = 0;
            for step in steps {
                now += step;
                let status = window.admit(Timestamp::from_millis(now), limit);
                if !status.admitted {
                    let retry_time = Timestamp::from_millis(now).plus_seconds(status.retry_after_seconds);
                    prop_assert!(window.clone().admit(retry_time, limit).admitted);
                }
                let reset = Timestamp::from_millis(0).plus_seconds(status.reset_at_seconds);
                prop_assert_eq!(window.clone().look(reset, limit).remaining, limit);
            }
        }
    }

    #[test]
    fn recorded_request_counts_in_a_full_window() {
        let mut window = Window::default();
        let time = |seconds| Timestamp::from_millis(0).plus_seconds(seconds);
        assert!(window.admit(time(0), 2).admitted && window.admit(time(1), 2).admitted);
        window.record(time(2));
        assert!(!window.admit(time(60), 2).admitted, "two of three are still in the window");
        assert!(window.admit(time(61), 2).admitted);
    }

    #[test]
    fn refused_request_is_not_counted() {
        let mut window = Window::default();
        let time = Timestamp::from_millis;
        assert!(window.admit(time(0), 1).admitted);
        for now in [1, 30_000, 59_999] {
            assert!(!window.admit(time(now), 1).admitted);
        }
        assert!(window.admit(time(60_000), 1).admitted);
    }

    #[test]
    fn clock_set_back_neither_empties_nor_blocks_the_window() {
        let mut window = Window::default();
        assert!(window.admit(Timestamp::from_millis(100_000), 2).admitted);
        assert!(window.admit(Timestamp::from_millis(10_000), 2).admitted);
        assert!(!window.admit(Timestamp::from_millis(10_000), 2).admitted);
        assert!(window.admit(Timestamp::from_millis(160_000), 2).admitted);
    }

    #[test]
    fn clock_jump_ahead_and_back_blocks_for_one_window_at_most() {
        let (mut window, at) = (Window::default(), Timestamp::from_millis);
        let start = 1_000_000;
        assert!(window.admit(at(start), 2).admitted);
        for _ in 0..2 {
            assert!(window.admit(at(start + 86_400_000), 2).admitted);
        }
        let refusal = window.admit(at(start + 1_000), 2);
        assert_eq!((refusal.admitted, refusal.retry_after_seconds), (false, 60));
        assert_eq!(refusal.reset_at_seconds, start / 1000 + 61);
        assert!(!window.admit(at(start + 60_999), 2).admitted, "what was counted still counts for a minute");
        assert!(window.admit(at(start + 61_000), 2).admitted);
    }

    #[test]
    fn offsets_are_rebased_after_49_days() {
        let mut window = Window::default();
        let mut now = 0;
        while now < i64::from(u32::MAX) + 600_000 {
            now += 59_000;
            assert!(window.admit(Timestamp::from_millis(now), 2).admitted);
        }
    }
}
