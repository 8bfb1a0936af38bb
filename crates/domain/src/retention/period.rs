//! Periods of retention rules: ISO 8601 durations of at least 30 days.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Days, Months};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::problem::{Code, ValueError};
use crate::rule::{self, Checked, Shape};
use crate::time::Timestamp;

/// Regular expression of the accepted periods.
pub const PATTERN: &str = "^P([1-9][0-9]?Y([1-9][0-9]{0,2}M)?([1-9][0-9]{0,4}D)?|[1-9][0-9]{0,2}M([1-9][0-9]{0,4}D)?|\
                           ([3-9][0-9]|[1-9][0-9]{2,4})D|([5-9]|[1-9][0-9]{1,3})W)$";
/// Shortest period of days or weeks alone, in days. Periods with a month or a year have no minimum.
const MIN_DAYS: u32 = 30;
const DAYS_PER_WEEK: u32 = 7;
const MONTHS_PER_YEAR: u32 = 12;
/// Mean length of a month of the Gregorian calendar, in millionths of a day.
const MICRODAYS_PER_MONTH: u64 = 30_436_875;
const MICRODAYS_PER_DAY: u64 = 1_000_000;

/// A period of years, months and days, or of weeks, such as `P3Y` or `P18M`.
///
/// ```
/// use candor_domain::retention::Period;
///
/// let period: Period = "P1Y6M".parse()?;
/// assert_eq!(period.subtract_from("2026-08-31T12:00:00Z".parse()?).to_string(), "2025-02-28T12:00:00.000Z");
/// assert!("P29D".parse::<Period>().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    years: u32,
    months: u32,
    weeks: u32,
    days: u32,
}

/// The error for a text that is not a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PeriodError {
    /// The text has another form.
    #[error("not an ISO 8601 duration of years, months and days, or of weeks, such as P3Y")]
    Format,
    /// The period is shorter than 30 days.
    #[error("shorter than {MIN_DAYS} days")]
    TooShort,
}

/// Creates the rule of a period in a body.
pub(super) const fn period() -> Checked<Period> {
    rule::rule(|value| parse(rule::as_text(value)?), || Shape::Period)
}

/// Parses a period of a request.
///
/// # Errors
/// `invalid_format`, or `out_of_range` for a period of less than 30 days.
pub(super) fn parse(text: &str) -> Result<Period, ValueError> {
    text.parse().map_err(|error| match error {
        PeriodError::Format => {
            ValueError::format("an ISO 8601 duration of years, months and days, or of weeks, such as P3Y")
        }
        PeriodError::TooShort => ValueError::new(Code::OutOfRange, format!("must be at least P{MIN_DAYS}D")),
    })
}

impl Period {
    /// Returns the time that is this period before `now`. A day of the month that does not exist becomes the last
    /// day of that month.
    #[must_use]
    pub fn subtract_from(self, now: Timestamp) -> Timestamp {
        let months = Months::new(self.years * MONTHS_PER_YEAR + self.months);
        let days = Days::new(u64::from(self.weeks * DAYS_PER_WEEK + self.days));
        let earlier = DateTime::from_timestamp_millis(now.millis())
            .and_then(|now| now.checked_sub_months(months)?.checked_sub_days(days));
        earlier.map_or(Timestamp::from_millis(i64::MIN), |time| Timestamp::from_millis(time.timestamp_millis()))
    }

    /// Returns `true` if this period is shorter than another period, with months of mean length.
    #[must_use]
    pub fn is_shorter_than(self, other: Self) -> bool {
        self.mean_length() < other.mean_length()
    }

    fn mean_length(self) -> u64 {
        let months = u64::from(self.years * MONTHS_PER_YEAR + self.months);
        months * MICRODAYS_PER_MONTH + u64::from(self.weeks * DAYS_PER_WEEK + self.days) * MICRODAYS_PER_DAY
    }
}

/// Reads a number without a leading zero and with at most `digits` digits before its unit. Returns 0 if the text does
/// not have the unit.
fn take(text: &mut &str, unit: char, digits: usize) -> Result<u32, PeriodError> {
    let Some((number, rest)) = text.split_once(unit) else { return Ok(0) };
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit()) && !number.starts_with('0');
    if !is_number || number.is_empty() || number.len() > digits {
        return Err(PeriodError::Format);
    }
    *text = rest;
    number.parse().map_err(|_| PeriodError::Format)
}

impl FromStr for Period {
    type Err = PeriodError;

    fn from_str(text: &str) -> Result<Self, PeriodError> {
        let mut rest = text.strip_prefix('P').ok_or(PeriodError::Format)?;
        if rest.is_empty() {
            return Err(PeriodError::Format);
        }
        let years = take(&mut rest, 'Y', 2)?;
        let months = take(&mut rest, 'M', 3)?;
        let weeks = if years == 0 && months == 0 { take(&mut rest, 'W', 4)? } else { 0 };
        let days = if weeks == 0 { take(&mut rest, 'D', 5)? } else { 0 };
        if !rest.is_empty() {
            return Err(PeriodError::Format);
        }
        let is_long_enough = years > 0 || months > 0 || weeks * DAYS_PER_WEEK + days >= MIN_DAYS;
        if is_long_enough { Ok(Self { years, months, weeks, days }) } else { Err(PeriodError::TooShort) }
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("P")?;
        let units = [(self.years, 'Y'), (self.months, 'M'), (self.weeks, 'W'), (self.days, 'D')];
        units.iter().filter(|(number, _)| *number > 0).try_for_each(|(number, unit)| write!(f, "{number}{unit}"))
    }
}

impl Serialize for Period {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for Period {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Period".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": PATTERN})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn period_is_read_and_written_alike() {
        for text in
            ["P3Y", "P1Y6M", "P2Y1M15D", "P1Y10D", "P18M", "P1M1D", "P30D", "P99999D", "P5W", "P999M", "P99Y"]
        {
            assert_eq!(text.parse::<Period>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn other_texts_and_short_periods_are_refused() {
        let formats = [
            "", "P", "3Y", "P3", "PY", "P03Y", "P0D", "P3Y0M", "P1M1Y", "P1W1D", "P1Y1W", "P100Y", "P1000M",
            "P1.5Y", "P-3Y", "P+3Y", "p3y", "P3Y ", "PT720H", "P3YT1H", "P100000D", "P1D30D",
        ];
        for text in formats {
            assert_eq!(text.parse::<Period>(), Err(PeriodError::Format), "{text:?}");
        }
        for text in ["P29D", "P1D", "P4W", "P1W"] {
            assert_eq!(text.parse::<Period>(), Err(PeriodError::TooShort), "{text:?}");
        }
    }

    #[test]
    fn period_ends_at_the_last_day_of_a_short_month() {
        let table = [
            ("P3Y", "2026-03-01T08:00:00Z", "2023-03-01T08:00:00Z"),
            ("P1M", "2026-03-31T08:00:00.5Z", "2026-02-28T08:00:00.5Z"),
            ("P1Y1D", "2024-02-29T00:00:00Z", "2023-02-27T00:00:00Z"),
            ("P5W", "2026-03-10T00:00:00Z", "2026-02-03T00:00:00Z"),
        ];
        for (period, now, earlier) in table {
            assert_eq!(
                period.parse::<Period>().unwrap().subtract_from(at(now)),
                at(earlier),
                "{period} before {now}"
            );
        }
    }

    #[test]
    fn periods_compare_with_months_of_mean_length() {
        let period = |text: &str| text.parse::<Period>().unwrap();
        let rising = ["P30D", "P1M", "P31D", "P5W", "P1Y", "P366D", "P13M", "P3Y"];
        for (shorter, longer) in rising.iter().zip(&rising[1..]) {
            assert!(period(shorter).is_shorter_than(period(longer)), "{shorter} {longer}");
            assert!(!period(longer).is_shorter_than(period(shorter)), "{shorter} {longer}");
        }
        assert!(!period("P12M").is_shorter_than(period("P1Y")) && !period("P1Y").is_shorter_than(period("P12M")));
    }
}
