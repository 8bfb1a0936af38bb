//! Pauses sending after the mail server could not be reached.

use std::time::Duration;

/// Length of the first pause; each further failure in a row doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Maximum length of a pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Reachability of the mail server, with times of the steady clock.
#[derive(Debug, Default)]
pub(super) struct ServerPause {
    /// Consecutive failures to reach the server.
    failures: u32,
    paused_until: Duration,
}

impl ServerPause {
    /// Returns `true` while no mail is sent.
    pub(super) fn is_paused(&self, now: Duration) -> bool {
        now < self.paused_until
    }

    /// Returns `true` if the last attempt did not reach the server. Then one mail at a time is tried.
    pub(super) const fn is_unreachable(&self) -> bool {
        self.failures > 0
    }

    /// Returns the time at which the pause ends; a past time if sending is not paused.
    pub(super) const fn paused_until(&self) -> Duration {
        self.paused_until
    }

    /// Records that the server answered.
    pub(super) const fn record_success(&mut self) {
        *self = Self { failures: 0, paused_until: Duration::ZERO };
    }

    /// Records that the server could not be reached. Failures during a pause do not count, because their attempts
    /// began before it.
    pub(super) fn record_failure(&mut self, now: Duration) {
        if !self.is_paused(now) {
            let length = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(self.failures)).min(LONGEST_PAUSE);
            self.paused_until = now + length;
            self.failures = self.failures.saturating_add(1);
        }
    }

    /// Ends the pause early; the next failure still counts as one more in a row.
    pub(super) const fn end_early(&mut self) {
        self.paused_until = Duration::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_minute_until_the_server_answers() {
        let (mut pause, mut now) = (ServerPause::default(), Duration::from_secs(100));
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
            pause.record_failure(now);
            pause.record_failure(now);
            now += Duration::from_secs(seconds);
            assert!(pause.is_paused(now - Duration::from_millis(1)) && !pause.is_paused(now), "{seconds}");
            assert!(pause.is_unreachable() && pause.paused_until() == now);
        }
        pause.record_failure(now);
        pause.end_early();
        assert!(!pause.is_paused(now) && pause.is_unreachable());
        pause.record_success();
        pause.record_failure(now);
        assert_eq!(pause.paused_until(), now + FIRST_PAUSE, "counted from the start again");
    }
}
