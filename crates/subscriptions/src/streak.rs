//! Consecutive failures of a subscription, which disable it in the end (§3.4, decision F3).

use candor_domain::time::Timestamp;

use super::{AttemptOutcome, Status};

/// Number of consecutive failed attempts that disable a subscription after [`DISABLE_AFTER_SECONDS`] (§3.4).
pub const DISABLE_AFTER_FAILURES: u32 = 50;
/// Shortest time since the first of the failures before a subscription is disabled, in seconds (§3.4).
pub const DISABLE_AFTER_SECONDS: i64 = 86_400;

/// The failed attempts since the newest success, or since the subscription was made active.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Streak {
    /// Number of failed attempts.
    pub failures: u32,
    /// Time when the first of the failed attempts ended; `None` without failures.
    pub since: Option<Timestamp>,
    /// `true` if one of the deliveries has failed [`FAILING_AFTER_ATTEMPTS`](super::FAILING_AFTER_ATTEMPTS) times. Only
    /// attempts that all readers of the subscription may see change it.
    pub is_failing: bool,
}

impl Streak {
    /// Returns the streak after an attempt that ended at `at`.
    #[must_use]
    pub fn record_attempt(self, outcome: AttemptOutcome, at: Timestamp) -> Self {
        match outcome {
            AttemptOutcome::Acknowledged => Self::default(),
            AttemptOutcome::Failed(_) => Self {
                failures: self.failures.saturating_add(1),
                since: Some(self.since.map_or(at, |since| since.min(at))),
                ..self
            },
        }
    }

    /// Joins two streaks: adds their failures and keeps the earlier start. The result is failing if one of them is.
    fn plus(self, other: Self) -> Self {
        let start = match (self.since, other.since) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Self {
            failures: self.failures.saturating_add(other.failures),
            since: start,
            is_failing: self.is_failing || other.is_failing,
        }
    }

    /// Returns `true` if the subscription is to be disabled at this time.
    #[must_use]
    pub fn disables(self, at: Timestamp) -> bool {
        let long = self.since.is_some_and(|since| since.plus_seconds(DISABLE_AFTER_SECONDS) <= at);
        self.failures >= DISABLE_AFTER_FAILURES && long
    }
}

/// The change that a batch of attempts makes to the health of one subscription. The store adds it in one
/// statement, so that workers can do so concurrently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HealthDelta {
    /// Time when the newest attempt of the batch ended.
    pub last_at: Timestamp,
    /// End and result of the newest attempt of the batch that all readers of the subscription may see. `None` if there is
    /// none.
    pub shown: Option<(Timestamp, Status)>,
    /// `true` if an attempt was acknowledged, which ends the earlier streak.
    pub ends_streak: bool,
    /// `true` if an attempt that all readers may see was acknowledged: the subscription is no longer failing.
    pub ends_failing: bool,
    /// The failures after the newest success of the batch.
    pub streak: Streak,
    /// Time of the first failure that makes the subscription failing, among the attempts before the first visible success
    /// of the batch. It counts only if the streak before the batch is not failing.
    pub fails_at: Option<Timestamp>,
    /// Time of the first failure that makes the subscription failing, among the attempts after a visible success of the
    /// batch.
    pub fails_again_at: Option<Timestamp>,
}

impl HealthDelta {
    /// Creates the change for one attempt. `counts` is `false` for a test, which sets the result but leaves the streak
    /// as it is (decision F7).
    #[must_use]
    pub fn from_attempt(outcome: AttemptOutcome, status: Status, counts: bool, at: Timestamp) -> Self {
        let streak = if counts { Streak::default().record_attempt(outcome, at) } else { Streak::default() };
        let ends_streak = counts && outcome == AttemptOutcome::Acknowledged;
        Self {
            last_at: at,
            shown: Some((at, status)),
            ends_streak,
            ends_failing: ends_streak,
            streak,
            fails_at: None,
            fails_again_at: None,
        }
    }

    /// Returns this change of one attempt with the mark that the attempt makes the subscription failing.
    #[must_use]
    pub fn mark_failing(self) -> Self {
        Self { streak: Streak { is_failing: true, ..self.streak }, fails_at: Some(self.last_at), ..self }
    }

    /// Returns the change without what the subscription and the event `webhook.failing` show of its attempt (decision F9).
    #[must_use]
    pub const fn hide(self) -> Self {
        let streak = Streak { is_failing: false, ..self.streak };
        Self { shown: None, ends_failing: false, streak, fails_at: None, fails_again_at: None, ..self }
    }

    /// Combines two changes; `next` is recorded after this change.
    #[must_use]
    pub fn and(self, next: Self) -> Self {
        let newest_shown = match (self.shown, next.shown) {
            (Some(one), Some(other)) => Some(if other.0 >= one.0 { other } else { one }),
            (one, other) => one.or(other),
        };
        Self {
            last_at: self.last_at.max(next.last_at),
            shown: newest_shown,
            ends_streak: self.ends_streak || next.ends_streak,
            ends_failing: self.ends_failing || next.ends_failing,
            streak: next.apply_to(self.streak),
            fails_at: if self.ends_failing { self.fails_at } else { self.fails_at.or(next.fails_at) },
            fails_again_at: if self.ends_failing {
                self.fails_again_at.or_else(|| next.fails_from(self.streak))
            } else {
                next.fails_again_at
            },
        }
    }

    /// Returns the time at which the batch first makes a subscription failing, if it had the streak `before`.
    #[must_use]
    pub fn fails_from(self, before: Streak) -> Option<Timestamp> {
        self.fails_at.filter(|_| !before.is_failing).or(self.fails_again_at)
    }

    /// Returns the subscription's streak after the batch; `before` is the streak before the batch.
    #[must_use]
    pub fn apply_to(self, before: Streak) -> Streak {
        let streak = if self.ends_streak { self.streak } else { before.plus(self.streak) };
        let was_failing = before.is_failing && !self.ends_failing;
        Streak { is_failing: was_failing || self.streak.is_failing, ..streak }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::attempt_failure::FailureReason;

    const START: Timestamp = Timestamp::from_millis(1_772_352_930_123);
    const FAILED: AttemptOutcome = AttemptOutcome::Failed(FailureReason::Status);

    #[test]
    fn fifty_failures_over_a_day_disable_the_subscription() {
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
            let streak = (0..failures).fold(Streak::default(), |streak, _| streak.record_attempt(FAILED, START));
            let now = Timestamp::from_millis(START.millis() + millis);
            assert_eq!(streak.disables(now), wanted, "{failures} failures, {millis} ms");
        }
    }

    #[test]
    fn success_resets_the_streak() {
        let failing = (0..60).fold(Streak::default(), |streak, _| streak.record_attempt(FAILED, START));
        let reset_streak = failing.record_attempt(AttemptOutcome::Acknowledged, START);
        assert_eq!(reset_streak, Streak::default());
        let later_time = START.plus_seconds(100_000);
        assert_eq!(
            reset_streak.record_attempt(FAILED, later_time),
            Streak { failures: 1, since: Some(later_time), is_failing: false }
        );
    }

    #[test]
    fn results_out_of_order_keep_the_earliest_failure() {
        let streak = Streak::default().record_attempt(FAILED, START.plus_seconds(5)).record_attempt(FAILED, START);
        assert_eq!(streak, Streak { failures: 2, since: Some(START), is_failing: false });
    }

    #[test]
    fn batched_attempts_equal_attempts_one_by_one() {
        // Every sequence of six attempts, split at every position.
        for bits in 0..1_u32 << 6 {
            for cut in 0..=6 {
                let attempts: Vec<_> = (0..6)
                    .map(|at| {
                        let outcome = if bits >> at & 1 == 1 { AttemptOutcome::Acknowledged } else { FAILED };
                        (outcome, START.plus_seconds(at))
                    })
                    .collect();
                let streak_before = Streak { failures: 3, since: Some(START.plus_seconds(-9)), is_failing: false };
                let one_by_one = attempts
                    .iter()
                    .fold(streak_before, |streak, (outcome, at)| streak.record_attempt(*outcome, *at));
                let delta = |part: &[(AttemptOutcome, Timestamp)]| {
                    let health = part
                        .iter()
                        .map(|(outcome, at)| HealthDelta::from_attempt(*outcome, Status::Failed, true, *at));
                    health.reduce(HealthDelta::and)
                };
                let (first, second) = attempts.split_at(cut);
                let halves = [delta(first), delta(second)].into_iter().flatten();
                let total = halves.fold(streak_before, |streak, delta| delta.apply_to(streak));
                assert_eq!(total, one_by_one, "{bits:b} cut at {cut}");
                assert_eq!(
                    delta(&attempts).map(|delta| delta.apply_to(streak_before)),
                    Some(one_by_one),
                    "{bits:b}"
                );
            }
        }
    }

    #[test]
    fn test_delivery_does_not_change_the_streak() {
        let streak_before = Streak { failures: 3, since: Some(START), is_failing: false };
        for outcome in [FAILED, AttemptOutcome::Acknowledged] {
            assert_eq!(
                HealthDelta::from_attempt(outcome, outcome.test_status(), false, START).apply_to(streak_before),
                streak_before
            );
        }
    }

    #[test]
    fn newest_attempt_is_shown_even_if_recorded_first() {
        let early = HealthDelta::from_attempt(FAILED, Status::Failed, true, START);
        let late =
            HealthDelta::from_attempt(AttemptOutcome::Acknowledged, Status::Success, true, START.plus_seconds(1));
        for both in [early.and(late), late.and(early)] {
            assert_eq!((both.last_at, both.shown), (late.last_at, Some((late.last_at, Status::Success))));
        }
        let hidden_delta = late.hide();
        for both in [early.and(hidden_delta), hidden_delta.and(early)] {
            assert_eq!((both.last_at, both.shown), (late.last_at, early.shown));
        }
    }
}
