//! Times at which retention rules begin to apply, and times of the runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Period, Retention, RetentionRule};
use crate::fields::StringEnum;
use crate::time::Timestamp;

/// Maximum number of resources that one run removes by one rule.
const MAX_ROWS: u64 = 10_000;
/// Maximum number of people whose erasure one run begins.
const MAX_PEOPLE: u64 = 100;
const HOUR_SECONDS: i64 = 3600;
const DAY_SECONDS: i64 = 24 * HOUR_SECONDS;
/// Seconds for which a rule removes nothing after its period was set or made shorter.
const GRACE_SECONDS: i64 = 7 * DAY_SECONDS;

/// Time from which each rule applies: 7 days after its period was last set where there was none, or made shorter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleStarts(BTreeMap<String, i64>);

impl RuleStarts {
    /// Returns the starts after the periods have changed at `at`.
    #[must_use]
    pub fn update_for(&self, before: &Retention, now: &Retention, at: Timestamp) -> Self {
        let mut starts = self.clone();
        for rule in RetentionRule::ALL {
            let is_shorter = match (before.period(*rule), now.period(*rule)) {
                (_, None) => {
                    starts.0.remove(rule.word());
                    false
                }
                (None, Some(_)) => true,
                (Some(before), Some(now)) => now.is_shorter_than(before),
            };
            if is_shorter {
                starts.0.insert(rule.word().to_owned(), at.plus_seconds(GRACE_SECONDS).millis());
            }
        }
        starts
    }

    /// Returns the time from which a rule applies. `None` for a rule without a period.
    #[must_use]
    pub fn start_of(&self, rule: RetentionRule) -> Option<Timestamp> {
        self.0.get(rule.word()).copied().map(Timestamp::from_millis)
    }

    /// Returns the earliest start.
    #[must_use]
    pub fn first(&self) -> Option<Timestamp> {
        self.0.values().min().copied().map(Timestamp::from_millis)
    }
}

impl RetentionRule {
    /// Returns the maximum number of resources that one run removes by this rule, or of people to erase.
    #[must_use]
    pub const fn max_per_run(self) -> u64 {
        match self {
            Self::DeactivatedPeople => MAX_PEOPLE,
            Self::ArchivedSummaries
            | Self::ArchivedObservations
            | Self::ArchivedObjectives
            | Self::ArchivedConversations => MAX_ROWS,
        }
    }
}

impl Retention {
    /// Returns the period of a rule if the rule applies at `now`.
    #[must_use]
    pub fn effective_period(&self, rule: RetentionRule, starts: &RuleStarts, now: Timestamp) -> Option<Period> {
        let has_started = starts.start_of(rule).is_some_and(|start| now >= start);
        self.period(rule).filter(|_| has_started)
    }
}

/// Returns the time of the run after one that was due at `due`: the first time after `now` that is one or more
/// whole days after `due`. With `has_more`, because the run ended at its maximum, it is one hour after `now`.
#[must_use]
pub const fn next_run(due: Timestamp, now: Timestamp, has_more: bool) -> Timestamp {
    if has_more {
        return now.plus_seconds(HOUR_SECONDS);
    }
    let late = now.millis().saturating_sub(due.millis()) / (DAY_SECONDS * 1000);
    due.plus_seconds((if late < 0 { 0 } else { late } + 1) * DAY_SECONDS)
}

/// Returns the time of the first run that applies a rule: the first daily run at or after its start.
#[must_use]
pub(super) fn first_run_from(start: Timestamp, next_run: Timestamp) -> Timestamp {
    let early = start.millis().saturating_sub(next_run.millis()).max(0);
    let day = DAY_SECONDS * 1000;
    next_run.plus_seconds(early.saturating_add(day - 1) / day * DAY_SECONDS)
}
