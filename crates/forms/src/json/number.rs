//! Numbers with their text, and the parser that keeps it.

use std::ops::Deref;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::Value;

/// Number of significant digits that binary floating point always keeps.
const SAFE_DIGITS: usize = 15;

/// A number of a JSON text. [`Number::text`] is exact where the number was read with [`parse`]. Two numbers are equal
/// if they have the same value in binary floating point.
#[derive(Debug, Clone)]
pub struct Number {
    value: serde_json::Number,
    /// Text of a number with a fraction or an exponent.
    text: Option<Box<str>>,
}

impl Number {
    /// Returns the number in JSON form, as it was written if [`parse`] has read it.
    #[must_use]
    pub fn text(&self) -> String {
        self.text.as_deref().map_or_else(|| self.value.to_string(), ToOwned::to_owned)
    }

    /// Returns the length of the text that was read, or else about that of the number: the same for a number that was sent
    /// and stored.
    pub(super) fn text_bytes(&self) -> usize {
        match (&self.text, self.value.as_i64()) {
            (Some(text), _) => text.len(),
            (None, Some(integer)) => 1 + integer.unsigned_abs().checked_ilog10().unwrap_or(0) as usize,
            (None, None) => self.value.to_string().len(),
        }
    }

    /// Returns the number as an integer or in binary floating point.
    #[must_use]
    pub const fn value(&self) -> &serde_json::Number {
        &self.value
    }

    /// Returns one text for all spellings of a number with up to 15 significant digits: `1.5` for `1.50`. A number
    /// with more digits keeps its text, because binary floating point would lose some of them.
    pub(super) fn canonical(&self) -> String {
        let exact = self.text.as_deref().filter(|text| significant_digits(text) > SAFE_DIGITS);
        exact.map_or_else(|| self.value.to_string(), ToOwned::to_owned)
    }
}

fn significant_digits(text: &str) -> usize {
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').len()
}

impl Deref for Number {
    type Target = serde_json::Number;

    fn deref(&self) -> &serde_json::Number {
        &self.value
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl From<serde_json::Number> for Number {
    fn from(value: serde_json::Number) -> Self {
        Self { value, text: None }
    }
}

macro_rules! from_integers {
    ($($integer:ty),*) => {
        $(impl From<$integer> for Number {
            fn from(value: $integer) -> Self {
                serde_json::Number::from(value).into()
            }
        })*
    };
}
from_integers!(i32, i64, u64, usize);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(text) = &self.text else { return self.value.serialize(serializer) };
        let raw = RawValue::from_string(text.to_string()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// Parses a JSON text and keeps the texts of its numbers, so that decimals stay exact.
///
/// ```
/// use candor_forms::json::{Value, parse};
///
/// let Value::Number(number) = parse(b"999999999999.9998")? else { unreachable!() };
/// assert_eq!(number.text(), "999999999999.9998");
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
/// The position and the cause, for a text that is not JSON.
pub fn parse(text: &[u8]) -> Result<Value, serde_json::Error> {
    let mut value = serde_json::from_slice(text)?;
    keep_texts(&mut value, &mut NumberTexts(text));
    Ok(value)
}

/// Sets the text of each number in `value`. The numbers have the same order in `value` and in `texts`.
fn keep_texts(value: &mut Value, texts: &mut NumberTexts<'_>) {
    match value {
        Value::Number(number) => {
            number.text = texts.next().filter(|_| number.value.is_f64()).map(Into::into);
        }
        Value::List(items) => items.iter_mut().for_each(|item| keep_texts(item, texts)),
        Value::Object(members) => members.iter_mut().for_each(|(_, member)| keep_texts(member, texts)),
        Value::Null | Value::Bool(_) | Value::Text(_) => {}
    }
}

/// The numbers of a valid JSON text, in their order.
struct NumberTexts<'t>(&'t [u8]);

impl NumberTexts<'_> {
    /// Skips a string behind its opening quotation mark.
    fn skip_string(&mut self) {
        while let Some((byte, rest)) = self.0.split_first() {
            // An escaped quotation mark or backslash does not end the string.
            self.0 = if *byte == b'\\' { rest.get(1..).unwrap_or_default() } else { rest };
            if *byte == b'"' {
                return;
            }
        }
    }
}

impl<'t> Iterator for NumberTexts<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        while let Some((byte, rest)) = self.0.split_first() {
            if *byte == b'-' || byte.is_ascii_digit() {
                let is_part =
                    |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
                let end = self.0.iter().position(|byte| !is_part(byte)).unwrap_or(self.0.len());
                let (number, rest) = self.0.split_at(end);
                self.0 = rest;
                return std::str::from_utf8(number).ok();
            }
            self.0 = rest;
            if *byte == b'"' {
                self.skip_string();
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(value: &Value, out: &mut Vec<String>) {
        match value {
            Value::Number(number) => out.push(number.text()),
            Value::List(items) => items.iter().for_each(|item| texts(item, out)),
            Value::Object(members) => members.iter().for_each(|(_, member)| texts(member, out)),
            Value::Null | Value::Bool(_) | Value::Text(_) => {}
        }
    }

    #[test]
    fn parsed_number_keeps_its_text() {
        let body =
            br#"{"1":0.1,"a\"2\\":[1e3,-0,{"b":9007199254740993}],"c\\":"3.5","d":[[]],"e":999999999999.9998,
            "f":-1.50E-2,"g":0.1000000000000000055511151231257827}"#;
        let mut number_texts = vec![];
        texts(&parse(body).unwrap(), &mut number_texts);
        let expected_texts = [
            "0.1",
            "1e3",
            "-0",
            "9007199254740993",
            "999999999999.9998",
            "-1.50E-2",
            "0.1000000000000000055511151231257827",
        ];
        assert_eq!(number_texts, expected_texts);
        assert!(parse(b"01").is_err() && parse(b"1e999").is_err() && parse(b"").is_err());
    }

    #[test]
    fn parsed_number_is_written_as_sent() {
        let text = r#"{"a":[999999999999.9998,1e3],"b":-0,"c":7}"#;
        assert_eq!(serde_json::to_string(&parse(text.as_bytes()).unwrap()).unwrap(), text);
    }

    #[test]
    fn canonical_numbers_differ_in_digits_beyond_floating_point() {
        let canonical = |text: &str| parse(text.as_bytes()).unwrap().canonical();
        assert_eq!(canonical("1.50"), canonical("1.5"));
        assert_eq!(canonical("1e2"), canonical("100.0"));
        let (one, other) = ("0.1000000000000000055", "0.1");
        assert_eq!(parse(one.as_bytes()).unwrap(), parse(other.as_bytes()).unwrap(), "equal as binary numbers");
        assert_ne!(canonical(one), canonical(other));
    }
}
