//! Exact decimal numbers with at most four decimal places (decision C11).
//!
//! A number is read from the text of its JSON form and printed in its shortest form. Binary floating point would
//! change some numbers.
//!
//! ```
//! use candor_forms::decimal::Decimal;
//!
//! let amount = Decimal::parse("1.2500e2")?;
//! assert_eq!(amount.to_string(), "125");
//! assert_eq!(Decimal::parse("-0.50")?.to_string(), "-0.5");
//! assert!(Decimal::parse("0.00001").is_err());
//! # Ok::<(), candor_forms::problem::ValueError>(())
//! ```

use std::fmt;
use std::str::FromStr;

use schemars::json_schema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::json::Value;
use crate::problem::{Code, ValueError};
use crate::rule::{self, Checked, Shape};
use crate::schema::inline_schema;

/// Maximum number of decimal places.
pub const PLACES: u32 = 4;
/// Largest number; the smallest is its negative.
pub const LARGEST: i64 = 1_000_000_000_000;

/// Number of units, which are ten-thousandths, in the number 1.
const UNITS: i64 = 10_i64.pow(PLACES);
/// Power of ten that stands for all larger powers.
const MOST_POWER: i64 = i64::MAX / 2;
/// Maximum number of digits before the decimal point that can be within the bounds.
const WHOLE_DIGITS: i64 = 13;

/// An exact number, as a whole number of ten-thousandths.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal(i64);

inline_schema!(Decimal, "Decimal", |_| json_schema!({
    "type": "number", "minimum": -LARGEST, "maximum": LARGEST, "examples": [12.5],
}));

impl Decimal {
    /// The number 0.
    pub const ZERO: Self = Self(0);
    /// The number 1.
    pub const ONE: Self = Self(UNITS);
    /// The number 100.
    pub const HUNDRED: Self = Self(100 * UNITS);

    /// Creates a number from the result of [`Decimal::units`]. Returns `None` beyond the bounds.
    #[must_use]
    pub const fn from_units(units: i64) -> Option<Self> {
        let most = LARGEST * UNITS;
        if units < -most || units > most { None } else { Some(Self(units)) }
    }

    /// Returns the number of ten-thousandths, as stores keep it.
    #[must_use]
    pub const fn units(self) -> i64 {
        self.0
    }

    /// Parses the text of a JSON number.
    ///
    /// # Errors
    /// `invalid_format` for more decimal places than [`PLACES`] and for a text that is no number; `out_of_range` beyond
    /// the bounds.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        let (digits, exponent, is_negative) = significand(text).ok_or_else(|| ValueError::format("a number"))?;
        if digits.is_empty() {
            return Ok(Self::ZERO);
        }
        if exponent < -i64::from(PLACES) {
            return Err(ValueError::format(format!("a number with at most {PLACES} decimal places")));
        }
        let units =
            i64::try_from(digits.len()).ok().filter(|length| exponent.saturating_add(*length) <= WHOLE_DIGITS);
        let units = units.and_then(|_| {
            let shift = u32::try_from(exponent + i64::from(PLACES)).ok()?;
            i64::from_str(&digits).ok()?.checked_mul(10_i64.checked_pow(shift)?)
        });
        let units = units.map(|units| if is_negative { -units } else { units });
        units
            .and_then(Self::from_units)
            .ok_or_else(|| ValueError::new(Code::OutOfRange, format!("must be from -{LARGEST} to {LARGEST}")))
    }
}

/// Returns the digits of a JSON number without zeros at either end, the power of ten of the last digit, and `true`
/// for a negative number. Zero has no digits. Returns `None` for a text that is no number.
fn significand(text: &str) -> Option<(String, i64, bool)> {
    let (unsigned, is_negative) = text.strip_prefix('-').map_or((text, false), |rest| (rest, true));
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    let (sign, power) = match exponent.strip_prefix(['+', '-']) {
        Some(power) if exponent.starts_with('-') => (-1, power),
        Some(power) => (1, power),
        None => (1, exponent),
    };
    if whole.is_empty() || power.is_empty() || ![whole, fraction, power].into_iter().all(is_number) {
        return None;
    }
    let power = sign * i64::from_str(power).unwrap_or(MOST_POWER).min(MOST_POWER);
    let all = format!("{whole}{fraction}");
    let digits = all.trim_end_matches('0');
    let zeros = i64::try_from(all.len() - digits.len()).ok()?;
    let last = power - i64::try_from(fraction.len()).ok()? + zeros;
    Some((digits.trim_start_matches('0').to_owned(), last, is_negative))
}

impl fmt::Display for Decimal {
    /// Writes plain digits without trailing zeros.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, rest) = (self.0.abs() / UNITS, self.0.abs() % UNITS);
        if rest == 0 {
            return write!(f, "{sign}{whole}");
        }
        let fraction = format!("{rest:04}");
        write!(f, "{sign}{whole}.{}", fraction.trim_end_matches('0'))
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 % UNITS == 0 {
            return serializer.serialize_i64(self.0 / UNITS);
        }
        // The text is written unchanged: a number of `serde_json` would be a binary floating-point number.
        let raw = RawValue::from_string(self.to_string()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Decimal {
    /// Reads a number from the text of JSON, digit by digit.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(text.get()).map_err(|flaw| serde::de::Error::custom(flaw.message))
    }
}

/// Creates the rule of a decimal number within the bounds.
#[must_use]
pub const fn decimal() -> Checked<Decimal> {
    rule::rule(read, || Shape::Decimal)
}

/// Reads a decimal number of a body.
///
/// # Errors
/// `invalid_format` for another type; the errors of [`Decimal::parse`].
pub fn read(value: &Value) -> Result<Decimal, ValueError> {
    let Value::Number(number) = value else {
        return Err(ValueError::format(format!("a number, not {}", value.kind())));
    };
    Decimal::parse(&number.text())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json;

    fn read_text(text: &str) -> Result<String, Code> {
        read(&json::parse(text.as_bytes()).unwrap()).map(|number| number.to_string()).map_err(|flaw| flaw.code)
    }

    #[test]
    fn number_of_a_body_is_exact_and_printed_in_its_shortest_form() {
        for (text, printed) in [
            ("0.1", "0.1"),
            ("1e3", "1000"),
            ("-0", "0"),
            ("-0.0e5", "0"),
            ("0e9999", "0"),
            ("12.50", "12.5"),
            ("1.2500E+2", "125"),
            ("12500e-4", "1.25"),
            ("-0.0001", "-0.0001"),
            ("123456789012.3456", "123456789012.3456"),
            ("999999999999.9999", "999999999999.9999"),
            ("-999999999999.9998", "-999999999999.9998"),
            ("1e12", "1000000000000"),
            ("1000000000000.0000", "1000000000000"),
            ("0.00010e0", "0.0001"),
            ("100000000000000000000e-8", "1000000000000"),
        ] {
            assert_eq!(read_text(text), Ok(printed.to_owned()), "{text}");
        }
    }

    #[test]
    fn number_beyond_places_or_bounds_is_refused() {
        for text in ["0.00001", "1e-5", "0.1000000000000000055511151231257827", "1e-300", "1.5e-400"] {
            assert_eq!(read_text(text), Err(Code::InvalidFormat), "{text}");
        }
        for text in ["1000000000000.0001", "-1000000000000.0001", "9007199254740993", "1e13", "1e300"] {
            assert_eq!(read_text(text), Err(Code::OutOfRange), "{text}");
        }
        for text in ["\"1\"", "null", "[1]", "true"] {
            assert_eq!(read_text(text), Err(Code::InvalidFormat), "{text}");
        }
        for text in ["", "-", ".5", "1.e", "1e", "1e+", "+1", "0x1", "1_0", " 1", "1e12345678901234567890.5"] {
            assert_eq!(Decimal::parse(text).map_err(|flaw| flaw.code), Err(Code::InvalidFormat), "{text}");
        }
        let infinite = Decimal::parse("1e123456789012345678901").map_err(|flaw| flaw.code);
        assert_eq!(infinite, Err(Code::OutOfRange));
    }

    proptest! {
        #[test]
        fn printed_number_is_read_as_the_same(units in -LARGEST * UNITS..=LARGEST * UNITS) {
            let number = Decimal::from_units(units).unwrap();
            prop_assert_eq!(Decimal::parse(&number.to_string()), Ok(number));
            let json = serde_json::to_string(&number).unwrap();
            prop_assert_eq!(&json, &number.to_string());
            prop_assert_eq!(read(&json::parse(json.as_bytes()).unwrap()), Ok(number));
        }
    }
}
