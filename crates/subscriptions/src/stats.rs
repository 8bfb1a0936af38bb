//! Statistics of the delivery log of one subscription.

use std::collections::BTreeMap;

use candor_domain::attempt_failure::FailureReason;
use candor_domain::fields::StringEnum;
use candor_domain::id::{EventId, WebhookId};
use candor_domain::request_stats::StatsWindow;
use candor_domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

const HOUR_MILLIS: i64 = 3_600_000;

/// Maximum number of queued deliveries that the statistics count, so that a long queue costs no more.
pub const MAX_QUEUED_COUNT: u32 = 10_000;

/// A number of attempts with the same hour and result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptCount {
    /// Number of whole hours from 1970 to the start of the attempts.
    pub hour: i64,
    /// `true` if the receiver acknowledged.
    pub is_success: bool,
    /// The reason of the failure, if it is known.
    pub failure: Option<FailureReason>,
    /// Number of attempts with this hour and result.
    pub count: u64,
}

/// Figures that a store reads from the log and the queue of one subscription.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogFigures {
    /// Attempts by hour and result, in any order.
    pub counts: Vec<AttemptCount>,
    /// Number of attempts by duration in milliseconds, in any order. Deliveries that were dropped without an
    /// attempt are left out.
    pub durations: Vec<(u32, u64)>,
    /// Number of queued deliveries, up to [`MAX_QUEUED_COUNT`].
    pub queued: u32,
    /// Queued event with the lowest id, which is the oldest.
    pub oldest_queued: Option<EventId>,
    /// Earliest due time of a queued delivery; `None` if all wait for the subscription to become active.
    pub next_due_at: Option<Timestamp>,
}

/// Statistics of the attempts of one subscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeliveryStats {
    /// Id of the subscription.
    pub subscription_id: WebhookId,
    /// Time range of the attempts.
    pub window: StatsWindow,
    /// Start of the time range.
    pub since: Timestamp,
    /// End of the time range.
    pub until: Timestamp,
    /// Number of attempts that began in the time range, including tests and deliveries that were dropped as
    /// `too_late`.
    pub attempts: u64,
    /// Number of attempts that the receiver acknowledged.
    pub successes: u64,
    /// Number of failed attempts.
    pub failures: u64,
    /// Failed attempts by reason, the most frequent first.
    pub failures_by_reason: Vec<ReasonCount>,
    /// Median of the durations in milliseconds. Null without attempts.
    pub p50_ms: Option<u32>,
    /// 95th percentile of the durations in milliseconds. Null without attempts.
    pub p95_ms: Option<u32>,
    /// Number of queued deliveries now. At most 10,000 are counted.
    pub queued: u32,
    /// Time of the oldest event with a queued delivery. Null if none is queued.
    pub oldest_queued_at: Option<Timestamp>,
    /// Earliest due time of a queued delivery. Null if none has a due time, for example while the subscription is
    /// inactive.
    pub next_attempt_at: Option<Timestamp>,
    /// Attempts by hour, the oldest first, also for hours without attempts. The first and the last may be
    /// incomplete.
    pub by_hour: Vec<HourStats>,
}

/// Number of failed attempts with the same reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReasonCount {
    /// Reason of the failures. Null for old attempts without a recorded reason.
    #[serde(serialize_with = "reason")]
    pub reason: Option<FailureReason>,
    /// Number of attempts that failed for this reason.
    pub count: u64,
}

/// Number of attempts that began in one hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HourStats {
    /// Start of the hour in UTC.
    pub hour: Timestamp,
    /// Number of attempts that began in the hour.
    pub attempts: u64,
    /// Number of attempts that the receiver acknowledged.
    pub successes: u64,
    /// Number of failed attempts.
    pub failures: u64,
}

#[expect(clippy::ref_option, reason = "the signature of serde")]
fn reason<S: serde::Serializer>(reason: &Option<FailureReason>, serializer: S) -> Result<S::Ok, S::Error> {
    reason.map(StringEnum::word).serialize(serializer)
}

impl DeliveryStats {
    /// Computes the statistics from the figures of the attempts since the start of the window.
    #[must_use]
    pub fn new(subscription_id: WebhookId, window: StatsWindow, now: Timestamp, figures: &LogFigures) -> Self {
        let first_bucket = window.start(now);
        let hours = first_bucket.millis().div_euclid(HOUR_MILLIS)..=now.millis().div_euclid(HOUR_MILLIS);
        let empty = |hour: i64| {
            let start = Timestamp::from_millis(hour * HOUR_MILLIS);
            (hour, HourStats { hour: start, attempts: 0, successes: 0, failures: 0 })
        };
        let mut by_hour: BTreeMap<i64, HourStats> = hours.map(empty).collect();
        for AttemptCount { hour, is_success, count, .. } in &figures.counts {
            let (_, new) = empty(*hour);
            let entry = by_hour.entry(*hour).or_insert(new);
            entry.attempts += count;
            *if *is_success { &mut entry.successes } else { &mut entry.failures } += count;
        }
        let successes = by_hour.values().map(|hour| hour.successes).sum();
        let failures = by_hour.values().map(|hour| hour.failures).sum();
        let oldest = figures
            .oldest_queued
            .map(|event| Timestamp::from_millis(i64::try_from(event.ulid().timestamp_ms()).unwrap_or(i64::MAX)));
        let durations: BTreeMap<u32, u64> = figures.durations.iter().copied().collect();
        Self {
            subscription_id,
            window,
            since: first_bucket,
            until: now,
            attempts: successes + failures,
            successes,
            failures,
            failures_by_reason: by_reason(&figures.counts),
            p50_ms: percentile(&durations, 50),
            p95_ms: percentile(&durations, 95),
            queued: figures.queued,
            oldest_queued_at: oldest,
            next_attempt_at: figures.next_due_at,
            by_hour: by_hour.into_values().collect(),
        }
    }
}

fn by_reason(counts: &[AttemptCount]) -> Vec<ReasonCount> {
    let mut reasons: BTreeMap<Option<&str>, ReasonCount> = BTreeMap::new();
    for failed in counts.iter().filter(|count| !count.is_success) {
        let word = failed.failure.map(StringEnum::word);
        let entry = reasons.entry(word).or_insert(ReasonCount { reason: failed.failure, count: 0 });
        entry.count += failed.count;
    }
    let mut reasons: Vec<_> = reasons.into_values().collect();
    // Stable: reasons of the same number stay in the order of their words.
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.count));
    reasons
}

/// Returns the smallest duration that at least `percent` of the attempts did not exceed; `None` without attempts.
fn percentile(durations: &BTreeMap<u32, u64>, percent: u64) -> Option<u32> {
    let all: u64 = durations.values().sum();
    let rank = (all * percent).div_ceil(100);
    let mut passed_count = 0;
    durations.iter().find_map(|(duration, count)| {
        passed_count += count;
        (passed_count >= rank).then_some(*duration)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ulid::Ulid;

    const NOW: Timestamp = Timestamp::from_millis(1_772_352_930_123);

    fn count(hour: i64, failure: Option<FailureReason>, is_success: bool, count: u64) -> AttemptCount {
        AttemptCount { hour: NOW.millis() / HOUR_MILLIS - hour, is_success, failure, count }
    }

    #[test]
    fn stats_count_attempts_by_hour_and_reason() {
        let figures = LogFigures {
            counts: vec![
                count(0, None, true, 7),
                count(1, Some(FailureReason::Timeout), false, 2),
                count(1, Some(FailureReason::Status), false, 1),
                count(0, Some(FailureReason::Status), false, 4),
                count(0, None, false, 1),
            ],
            durations: vec![(40, 5), (10, 9), (15_000, 1)],
            queued: 3,
            oldest_queued: Some(EventId::from_ulid(Ulid::from_parts(9, 1))),
            next_due_at: Some(NOW),
        };
        let stats = DeliveryStats::new(WebhookId::from_ulid(Ulid(1)), StatsWindow::Hour, NOW, &figures);
        assert_eq!((stats.attempts, stats.successes, stats.failures), (15, 7, 8));
        let reasons: Vec<_> =
            stats.failures_by_reason.iter().map(|reason| (reason.reason, reason.count)).collect();
        let (status, timeout) = (Some(FailureReason::Status), Some(FailureReason::Timeout));
        assert_eq!(reasons, [(status, 5), (timeout, 2), (None, 1)]);
        let hours: Vec<_> = stats.by_hour.iter().map(|hour| (hour.attempts, hour.failures)).collect();
        assert_eq!(hours, [(3, 3), (12, 5)]);
        assert_eq!((stats.p50_ms, stats.p95_ms), (Some(10), Some(15_000)));
        assert_eq!(stats.oldest_queued_at, Some(Timestamp::from_millis(9)));
    }

    #[test]
    fn stats_without_attempts_have_every_hour() {
        for (window, hours) in
            [(StatsWindow::Hour, 2), (StatsWindow::Day, 25), (StatsWindow::Week, 169), (StatsWindow::Month, 721)]
        {
            let id = WebhookId::from_ulid(Ulid(1));
            let stats = DeliveryStats::new(id, window, NOW, &LogFigures::default());
            assert_eq!((stats.by_hour.len(), stats.attempts, stats.p50_ms), (hours, 0, None), "{window:?}");
        }
    }

    #[test]
    fn percentile_is_the_duration_of_its_rank() {
        let durations: BTreeMap<u32, u64> = (1..=100).map(|duration| (duration, 1)).collect();
        assert_eq!((percentile(&durations, 50), percentile(&durations, 95)), (Some(50), Some(95)));
        assert_eq!(percentile(&BTreeMap::from([(7, 1)]), 95), Some(7));
        assert_eq!(percentile(&BTreeMap::new(), 50), None);
    }
}
