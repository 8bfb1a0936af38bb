//! Timestamps and dates in the format of the API (§1, decision A15).

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Datelike, Days, NaiveDate, SecondsFormat, Timelike};
use serde::{Serialize, Serializer};

/// A UTC time with a resolution of milliseconds.
///
/// ```
/// use candor_forms::time::Timestamp;
///
/// let time: Timestamp = "2026-03-01T10:15:30.1239+02:00".parse()?;
/// assert_eq!(time.to_string(), "2026-03-01T08:15:30.123Z");
/// # Ok::<(), candor_forms::time::TimeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// A calendar day without a time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(NaiveDate);

/// The error for a text that is not a datetime or date in the format of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a date or datetime of the years 1 to 9999")]
pub struct TimeError;

const MS_PER_SECOND: i64 = 1000;
const MS_PER_DAY: i64 = 86_400 * MS_PER_SECOND;
/// Years with a four-digit spelling.
const YEARS: std::ops::RangeInclusive<i32> = 1..=9999;

impl Timestamp {
    /// Creates the time this many milliseconds after the Unix epoch.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Returns the milliseconds since the Unix epoch.
    #[must_use]
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Returns the day in UTC.
    #[must_use]
    pub fn date(self) -> Date {
        Date::from_epoch_days(i32::try_from(self.0.div_euclid(MS_PER_DAY)).unwrap_or(i32::MAX))
    }

    /// Returns this time plus `seconds`, which may be negative. Saturates.
    #[must_use]
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(MS_PER_SECOND)))
    }

    /// Returns this time if its year has four digits.
    #[must_use]
    pub fn printable(self) -> Option<Self> {
        let year = DateTime::from_timestamp_millis(self.0)?.year();
        YEARS.contains(&year).then_some(self)
    }

    /// Returns this time, or `earlier` plus one millisecond if that is later.
    ///
    /// `updated_at` of a resource strictly increases (decision D8), even for two changes in one millisecond.
    #[must_use]
    pub fn strictly_after(self, earlier: Self) -> Self {
        self.max(Self(earlier.0.saturating_add(1)))
    }
}

impl FromStr for Timestamp {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        let time = DateTime::parse_from_rfc3339(text).map_err(|_| TimeError)?.to_utc();
        // A leap second becomes the last millisecond before the next minute.
        let millis = time.timestamp() * MS_PER_SECOND + i64::from(time.nanosecond().min(999_999_999) / 1_000_000);
        if YEARS.contains(&time.year()) { Ok(Self(millis)) } else { Err(TimeError) }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut buffer = [0; 24];
        if let Some(text) = write_instant(self.0, &mut buffer) {
            return f.write_str(text);
        }
        match DateTime::from_timestamp_millis(self.0) {
            Some(time) => f.write_str(&time.to_rfc3339_opts(SecondsFormat::Millis, true)),
            None => write!(f, "{} ms", self.0),
        }
    }
}

/// Writes `YYYY-MM-DDTHH:MM:SS.mmmZ` without a formatter, because lists print hundreds of timestamps.
fn write_instant(millis: i64, buffer: &mut [u8; 24]) -> Option<&str> {
    let date = NaiveDate::from_epoch_days(i32::try_from(millis.div_euclid(MS_PER_DAY)).ok()?)?;
    if !YEARS.contains(&date.year()) {
        return None;
    }
    let ms = u32::try_from(millis.rem_euclid(MS_PER_DAY)).ok()?;
    let year = date.year().unsigned_abs();
    buffer.copy_from_slice(b"0000-00-00T00:00:00.000Z");
    let parts = [
        (0, 4, year),
        (5, 2, date.month()),
        (8, 2, date.day()),
        (11, 2, ms / 3_600_000),
        (14, 2, ms / 60_000 % 60),
        (17, 2, ms / 1000 % 60),
        (20, 3, ms % 1000),
    ];
    for (at, width, mut value) in parts {
        for digit in buffer[at..at + width].iter_mut().rev() {
            *digit = b'0' + u8::try_from(value % 10).ok()?;
            value /= 10;
        }
    }
    std::str::from_utf8(buffer).ok()
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut buffer = [0; 24];
        if let Some(text) = write_instant(self.0, &mut buffer) {
            return serializer.serialize_str(text);
        }
        serializer.collect_str(self)
    }
}

impl Date {
    /// Returns the day this many days after 1970-01-01, clamped to the range of the calendar.
    #[must_use]
    pub fn from_epoch_days(days: i32) -> Self {
        let nearest = if days < 0 { NaiveDate::MIN } else { NaiveDate::MAX };
        Self(NaiveDate::from_epoch_days(days).unwrap_or(nearest))
    }

    /// Returns this day if its year has four digits.
    #[must_use]
    pub fn printable(self) -> Option<Self> {
        YEARS.contains(&self.0.year()).then_some(self)
    }

    /// Returns the number of days since 1970-01-01.
    #[must_use]
    pub fn epoch_days(self) -> i32 {
        self.0.to_epoch_days()
    }

    /// Returns the following day.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.checked_add_days(Days::new(1)).unwrap_or(self.0))
    }
}

impl FromStr for Date {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        let shape = text.len() == 10
            && text
                .bytes()
                .enumerate()
                .all(|(at, byte)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() });
        if !shape {
            return Err(TimeError);
        }
        let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").map_err(|_| TimeError)?;
        if YEARS.contains(&date.year()) { Ok(Self(date)) } else { Err(TimeError) }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.0.year(), self.0.month(), self.0.day())
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn datetime_with_offset_is_parsed_to_utc_milliseconds() {
        let table = [
            ("2026-03-01T08:15:30Z", Some("2026-03-01T08:15:30.000Z")),
            ("2026-03-01T08:15:30.9999Z", Some("2026-03-01T08:15:30.999Z")),
            ("2026-03-01T00:15:30.5+02:00", Some("2026-02-28T22:15:30.500Z")),
            ("2016-12-31T23:59:60Z", Some("2016-12-31T23:59:59.999Z")),
            ("0000-12-31T23:59:59Z", None),
            ("0001-01-01T00:30:00+01:00", None),
            ("9999-12-31T23:30:00-01:00", None),
            ("2026-02-30T00:00:00Z", None),
            ("2026-03-01", None),
            ("2026-03-01T08:15:30", None),
            ("1772352930", None),
        ];
        for (text, printed) in table {
            assert_eq!(text.parse::<Timestamp>().ok().map(|at| at.to_string()).as_deref(), printed, "{text}");
        }
    }

    #[test]
    fn date_has_exactly_one_spelling() {
        for good in ["2026-03-01", "2024-02-29", "0001-01-01", "9999-12-31"] {
            assert_eq!(good.parse::<Date>().map(|date| date.to_string()).as_deref(), Ok(good));
        }
        for bad in [
            "2026-3-1",
            "2026-02-30",
            "2025-02-29",
            "0000-01-01",
            "+2026-03-01",
            "2026-03-01 ",
            "20260301",
            "2026/03/01",
            "",
        ] {
            assert!(bad.parse::<Date>().is_err(), "{bad}");
        }
    }

    #[test]
    fn second_change_in_one_millisecond_gets_a_later_time() {
        let time = Timestamp::from_millis(5);
        assert_eq!(time.strictly_after(time), Timestamp::from_millis(6));
        assert_eq!(time.strictly_after(Timestamp::from_millis(2)), time);
    }

    proptest! {
        #[test]
        fn printed_timestamp_is_parsed_back(millis in -62_135_596_800_000_i64..=253_402_300_799_999) {
            let time = Timestamp::from_millis(millis);
            prop_assert_eq!(time.to_string().parse(), Ok(time));
            prop_assert_eq!(time.to_string().len(), 24);
            prop_assert_eq!(time.date().to_string(), &time.to_string()[..10]);
        }
    }
}
