//! Statistics of the answered requests of a data set, by status and hour (decision A20).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use crate::fields::string_enum;
use crate::params::{self, Param, Params};
use crate::time::Timestamp;

const HOUR_MILLIS: i64 = 3_600_000;

/// Retention of the numbers, in hours.
pub const KEPT_HOURS: i64 = 30 * 24;

/// The time range of the statistics. It ends now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, IntoStaticStr, VariantArray)]
pub enum StatsWindow {
    /// The last hour.
    #[strum(to_string = "1h")]
    Hour,
    /// The last 24 hours.
    #[default]
    #[strum(to_string = "24h")]
    Day,
    /// The last 7 days.
    #[strum(to_string = "7d")]
    Week,
    /// The last 30 days, which is the retention of the log.
    #[strum(to_string = "30d")]
    Month,
}

string_enum!(StatsWindow, "StatsWindow");

const WINDOW: Param<StatsWindow> =
    params::word("window", "Time range of the statistics. It ends now. Default: `24h`.");

impl StatsWindow {
    /// Declares and reads the parameter `window`.
    pub fn read(params: &mut Params) -> Self {
        params.one(&WINDOW).unwrap_or_default()
    }

    /// Returns the start of the window that ends at `now`.
    #[must_use]
    pub fn start(self, now: Timestamp) -> Timestamp {
        let hours = match self {
            Self::Hour => 1,
            Self::Day => 24,
            Self::Week => 7 * 24,
            Self::Month => 30 * 24,
        };
        now.plus_seconds(-hours * 3_600)
    }
}

/// A number of requests with the same hour and status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestCount {
    /// Hour of the responses, as the number of whole hours since 1970.
    pub hour: i64,
    /// HTTP status of the responses.
    pub status: u16,
    /// Number of requests with this hour and status.
    pub count: u64,
}

/// Returns the number of whole hours from 1970 to a time.
#[must_use]
pub const fn hour_of(at: Timestamp) -> i64 {
    at.millis().div_euclid(HOUR_MILLIS)
}

/// Request statistics of a data set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RequestStats {
    /// Time range of the statistics.
    pub window: StatsWindow,
    /// Start of the first hour of the time range.
    pub since: Timestamp,
    /// End of the time range.
    pub until: Timestamp,
    /// Number of requests with a valid API key.
    pub requests: u64,
    /// Requests by HTTP status, the lowest first.
    pub by_status: Vec<StatusCount>,
    /// Requests by hour, the oldest first, also for hours without requests. The last hour may be incomplete.
    pub by_hour: Vec<HourRequests>,
}

/// Number of requests with the same status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StatusCount {
    /// HTTP status of the responses.
    pub status: u16,
    /// Number of requests with this status.
    pub count: u64,
}

/// Number of requests in one hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HourRequests {
    /// Start of the hour in UTC.
    pub hour: Timestamp,
    /// Number of requests in the hour.
    pub requests: u64,
    /// Number of requests that were refused: a status of 400 to 499.
    pub refused: u64,
    /// Number of requests that failed: a status of 500 or more.
    pub failed: u64,
}

impl RequestStats {
    /// Returns the first hour of a window that ends at `now`.
    #[must_use]
    pub fn first_hour(window: StatsWindow, now: Timestamp) -> i64 {
        hour_of(window.start(now))
    }

    /// Computes the statistics from the numbers since [`RequestStats::first_hour`], in any order. Several numbers
    /// with the same hour and status are added up.
    #[must_use]
    pub fn new(window: StatsWindow, now: Timestamp, counts: &[RequestCount]) -> Self {
        let first = Self::first_hour(window, now);
        let start = |hour: i64| Timestamp::from_millis(hour * HOUR_MILLIS);
        let empty = |hour: i64| (hour, HourRequests { hour: start(hour), requests: 0, refused: 0, failed: 0 });
        let mut by_hour: BTreeMap<i64, HourRequests> = (first..=hour_of(now)).map(empty).collect();
        let mut by_status = BTreeMap::new();
        for RequestCount { hour, status, count } in counts {
            let Some(entry) = by_hour.get_mut(hour) else { continue };
            entry.requests += count;
            match status {
                500.. => entry.failed += count,
                400..500 => entry.refused += count,
                ..400 => {}
            }
            *by_status.entry(*status).or_default() += count;
        }
        Self {
            window,
            since: start(first),
            until: now,
            requests: by_status.values().sum(),
            by_status: by_status.into_iter().map(|(status, count)| StatusCount { status, count }).collect(),
            by_hour: by_hour.into_values().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_772_352_930_123);

    fn count(hours_ago: i64, status: u16, count: u64) -> RequestCount {
        RequestCount { hour: hour_of(NOW) - hours_ago, status, count }
    }

    #[test]
    fn stats_add_up_requests_by_status_and_hour() {
        let counts = [
            count(0, 200, 7),
            count(1, 429, 2),
            count(0, 503, 1),
            count(1, 200, 3),
            count(0, 200, 1),
            count(9, 200, 5),
        ];
        let stats = RequestStats::new(StatsWindow::Hour, NOW, &counts);
        let statuses: Vec<_> = stats.by_status.iter().map(|status| (status.status, status.count)).collect();
        assert_eq!((stats.requests, statuses), (14, vec![(200, 11), (429, 2), (503, 1)]));
        let hours: Vec<_> = stats.by_hour.iter().map(|hour| (hour.requests, hour.refused, hour.failed)).collect();
        assert_eq!(hours, [(5, 2, 0), (9, 0, 1)]);
        assert_eq!((stats.since, stats.until), (stats.by_hour[0].hour, NOW));
    }

    #[test]
    fn stats_without_requests_have_every_hour() {
        let stats = RequestStats::new(StatsWindow::Day, NOW, &[]);
        assert_eq!((stats.requests, stats.by_status.len(), stats.by_hour.len()), (0, 0, 25));
    }
}
