//! Failures in a row, and when they end a subscription's activity (§3.4, decision F3).

use super::Outcome;
use crate::time::Timestamp;

/// So many failed attempts in a row … (§3.4)
pub const DISABLE_AFTER_FAILURES: u32 = 50;
/// … the first of them at least so long ago disable a subscription (§3.4).
pub const DISABLE_AFTER_SECONDS: i64 = 86_400;

/// The failed attempts since the newest success, or since the subscription was made active.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Streak {
    /// How many.
    pub failures: u32,
    /// When the first of them ended.
    pub since: Option<Timestamp>,
}

impl Streak {
    /// The streak after an attempt that ended like this at this time.
    #[must_use]
    pub fn after(self, outcome: Outcome, at: Timestamp) -> Self {
        match outcome {
            Outcome::Acknowledged => Self::default(),
            Outcome::Failed(_) => Self {
                failures: self.failures.saturating_add(1),
                since: Some(self.since.map_or(at, |since| since.min(at))),
            },
        }
    }

    /// Whether the subscription is to be disabled at this time.
    #[must_use]
    pub fn disables(self, at: Timestamp) -> bool {
        let long = self.since.is_some_and(|it| it.plus_seconds(DISABLE_AFTER_SECONDS) <= at);
        self.failures >= DISABLE_AFTER_FAILURES && long
    }
}

#[cfg(test)]
mod tests {
    use super::super::FailureReason;
    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_772_352_930_123);
    const FAILED: Outcome = Outcome::Failed(FailureReason::Status);

    #[test]
    fn fifty_failures_and_a_day_disable_and_neither_alone_does() {
        let table = [
            (49, 86_400_000, false),
            (50, 86_399_999, false),
            (50, 86_340_000, false),
            (50, 86_400_000, true),
            (51, 86_400_001, true),
            (1_000, 3_600_000, false),
            (1, 864_000_000, false),
            (0, 864_000_000, false),
        ];
        for (failures, millis, wanted) in table {
            let streak = (0..failures).fold(Streak::default(), |it, _| it.after(FAILED, START));
            let now = Timestamp::from_millis(START.millis() + millis);
            assert_eq!(streak.disables(now), wanted, "{failures} failures, {millis} ms");
        }
    }

    #[test]
    fn one_success_starts_the_count_anew() {
        let failing = (0..60).fold(Streak::default(), |it, _| it.after(FAILED, START));
        let healed = failing.after(Outcome::Acknowledged, START);
        assert_eq!(healed, Streak::default());
        let later = START.plus_seconds(100_000);
        assert_eq!(healed.after(FAILED, later), Streak { failures: 1, since: Some(later) });
    }

    #[test]
    fn results_that_are_recorded_out_of_order_keep_the_earliest_failure() {
        let streak = Streak::default().after(FAILED, START.plus_seconds(5)).after(FAILED, START);
        assert_eq!(streak, Streak { failures: 2, since: Some(START) });
    }
}
