//! Failures in a row, and when they end a subscription's activity (§3.4, decision F3).

use super::{AttemptOutcome, Status};
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
    pub fn after(self, outcome: AttemptOutcome, at: Timestamp) -> Self {
        match outcome {
            AttemptOutcome::Acknowledged => Self::default(),
            AttemptOutcome::Failed(_) => Self {
                failures: self.failures.saturating_add(1),
                since: Some(self.since.map_or(at, |since| since.min(at))),
            },
        }
    }

    /// The failures of both.
    fn plus(self, other: Self) -> Self {
        let since = match (self.since, other.since) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Self { failures: self.failures.saturating_add(other.failures), since }
    }

    /// Whether the subscription is to be disabled at this time.
    #[must_use]
    pub fn disables(self, at: Timestamp) -> bool {
        let long = self.since.is_some_and(|it| it.plus_seconds(DISABLE_AFTER_SECONDS) <= at);
        self.failures >= DISABLE_AFTER_FAILURES && long
    }
}

/// What a batch of attempts of one subscription adds to what is known of it. It is added by the store, in one
/// statement, so that any number of workers can do so at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HealthDelta {
    /// When the newest of them ended.
    pub last_at: Timestamp,
    /// How it ended.
    pub last_status: Status,
    /// Whether one of them was acknowledged, which ends the streak from before.
    pub ends_streak: bool,
    /// The failures after the newest success.
    pub streak: Streak,
}

impl HealthDelta {
    /// What one attempt adds. A test shows, and counts for nothing (decision F7).
    #[must_use]
    pub fn of(outcome: AttemptOutcome, status: Status, counts: bool, at: Timestamp) -> Self {
        let streak = if counts { Streak::default().after(outcome, at) } else { Streak::default() };
        Self {
            last_at: at,
            last_status: status,
            ends_streak: counts && outcome == AttemptOutcome::Acknowledged,
            streak,
        }
    }

    /// The two together, this one being recorded first.
    #[must_use]
    pub fn and(self, next: Self) -> Self {
        let newest = if next.last_at >= self.last_at { next } else { self };
        let streak = if next.ends_streak { next.streak } else { self.streak.plus(next.streak) };
        Self {
            last_at: newest.last_at,
            last_status: newest.last_status,
            ends_streak: self.ends_streak || next.ends_streak,
            streak,
        }
    }

    /// The streak that follows from the one before.
    #[must_use]
    pub fn after(self, before: Streak) -> Streak {
        if self.ends_streak { self.streak } else { before.plus(self.streak) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::FailureReason;
    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_772_352_930_123);
    const FAILED: AttemptOutcome = AttemptOutcome::Failed(FailureReason::Status);

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
        let ended = failing.after(AttemptOutcome::Acknowledged, START);
        assert_eq!(ended, Streak::default());
        let later = START.plus_seconds(100_000);
        assert_eq!(ended.after(FAILED, later), Streak { failures: 1, since: Some(later) });
    }

    #[test]
    fn results_that_are_recorded_out_of_order_keep_the_earliest_failure() {
        let streak = Streak::default().after(FAILED, START.plus_seconds(5)).after(FAILED, START);
        assert_eq!(streak, Streak { failures: 2, since: Some(START) });
    }

    #[test]
    fn batches_of_attempts_add_up_like_the_attempts_one_by_one() {
        // Every sequence of up to six attempts, cut in two at every place.
        for bits in 0..1_u32 << 6 {
            for cut in 0..=6 {
                let attempts: Vec<_> = (0..6)
                    .map(|at| {
                        let outcome = if bits >> at & 1 == 1 { AttemptOutcome::Acknowledged } else { FAILED };
                        (outcome, START.plus_seconds(at))
                    })
                    .collect();
                let before = Streak { failures: 3, since: Some(START.plus_seconds(-9)) };
                let one_by_one = attempts.iter().fold(before, |it, (outcome, at)| it.after(*outcome, *at));
                let delta = |part: &[(AttemptOutcome, Timestamp)]| {
                    let health = part.iter().map(|(it, at)| HealthDelta::of(*it, Status::Failed, true, *at));
                    health.reduce(HealthDelta::and)
                };
                let (first, second) = attempts.split_at(cut);
                let halves = [delta(first), delta(second)].into_iter().flatten();
                assert_eq!(halves.fold(before, |it, delta| delta.after(it)), one_by_one, "{bits:b} cut at {cut}");
                assert_eq!(delta(&attempts).map(|it| it.after(before)), Some(one_by_one), "{bits:b}");
            }
        }
    }

    #[test]
    fn a_test_shows_and_counts_for_nothing() {
        let before = Streak { failures: 3, since: Some(START) };
        for outcome in [FAILED, AttemptOutcome::Acknowledged] {
            assert_eq!(HealthDelta::of(outcome, outcome.test_status(), false, START).after(before), before);
        }
    }

    #[test]
    fn the_newest_attempt_is_shown_whichever_is_recorded_last() {
        let early = HealthDelta::of(FAILED, Status::Failed, true, START);
        let late = HealthDelta::of(AttemptOutcome::Acknowledged, Status::Success, true, START.plus_seconds(1));
        for both in [early.and(late), late.and(early)] {
            assert_eq!((both.last_at, both.last_status), (late.last_at, Status::Success));
        }
    }
}
