//! Kinds of rules that fields are declared with.

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use super::{Rule, Shape};
use crate::fields::{Reference, StringEnum};
use crate::id::{Id, Kind};
use crate::json::Value;
use crate::problem::{Code, ValueError};
use crate::text;
use crate::time::{Date, Timestamp};

/// Returns the text of a string value.
///
/// # Errors
/// `invalid_format` for a value that is not a string.
pub fn as_text(value: &Value) -> Result<&str, ValueError> {
    if let Value::Text(text) = value {
        Ok(text)
    } else {
        Err(ValueError::format(format!("a string, not {}", value.kind())))
    }
}

/// The rule that [`rule`] creates.
#[derive(Debug, Clone, Copy)]
pub struct Checked<T> {
    parse: fn(&Value) -> Result<T, ValueError>,
    shape: fn() -> Shape,
}

/// Creates a rule from a parser and the shape that it accepts.
pub const fn rule<T>(parse: fn(&Value) -> Result<T, ValueError>, shape: fn() -> Shape) -> Checked<T> {
    Checked { parse, shape }
}

impl<T> Rule for Checked<T> {
    type Value = T;

    fn parse(&self, value: &Value) -> Result<T, ValueError> {
        (self.parse)(value)
    }

    fn shape(&self) -> Shape {
        (self.shape)()
    }
}

/// Creates the rule of an email address.
#[must_use]
pub const fn email() -> Checked<String> {
    rule(
        |value| {
            let address = as_text(value)?.trim();
            text::email(address).map(|()| address.to_owned())
        },
        || Shape::Email(text::EMAIL_CHARS),
    )
}

/// The rule that [`url()`] creates.
#[derive(Debug, Clone, Copy)]
pub struct Url<T> {
    max: usize,
    read: fn(&str) -> Result<T, ValueError>,
}

/// Creates the rule of an absolute URL of at most `max` characters, which `read` parses and checks.
///
/// ```
/// use candor_forms::json::Value;
/// use candor_forms::problem::ValueError;
/// use candor_forms::rule::{Rule, url};
///
/// let parse = |text: &str| text.parse::<url::Url>().map_err(|_| ValueError::format("an absolute URL"));
/// let rule = url(40, parse);
/// assert!(rule.parse(&Value::Text("https://hooks.example.com/candor".to_owned())).is_ok());
/// assert!(rule.parse(&Value::Text("hooks.example.com".to_owned())).is_err());
/// ```
#[must_use]
pub const fn url<T>(max: usize, read: fn(&str) -> Result<T, ValueError>) -> Url<T> {
    Url { max, read }
}

impl<T> Rule for Url<T> {
    type Value = T;

    fn parse(&self, value: &Value) -> Result<T, ValueError> {
        let text = as_text(value)?;
        if text.is_empty() {
            return Err(ValueError::format("an absolute URL"));
        }
        if text.chars().nth(self.max).is_some() {
            return Err(ValueError::new(Code::TooLong, format!("must have at most {} characters", self.max)));
        }
        (self.read)(text)
    }

    fn shape(&self) -> Shape {
        Shape::Url(self.max)
    }
}

/// The rule that [`word`] and [`one_of`] create.
#[derive(Debug, Clone, Copy)]
pub struct OneOf<T: StringEnum> {
    name: &'static str,
    allowed: &'static [T],
    is_trimmed: bool,
}

/// Creates the rule of one word of an enumeration.
#[must_use]
pub const fn word<T: StringEnum>() -> OneOf<T> {
    one_of(T::NAME, T::ALL)
}

/// Creates the rule of one word out of `allowed`, which is a part of an enumeration. `name` is the name of this part
/// in the OpenAPI document.
#[must_use]
pub const fn one_of<T: StringEnum>(name: &'static str, allowed: &'static [T]) -> OneOf<T> {
    OneOf { name, allowed, is_trimmed: false }
}

impl<T: StringEnum> OneOf<T> {
    /// Returns the rule that ignores white space around the word, as for cells of CSV files.
    #[must_use]
    pub const fn with_trimming(self) -> Self {
        Self { is_trimmed: true, ..self }
    }
}

impl<T: StringEnum> Rule for OneOf<T> {
    type Value = T;

    fn parse(&self, value: &Value) -> Result<T, ValueError> {
        let text = as_text(value)?;
        let word = T::from_word(if self.is_trimmed { text.trim() } else { text })?;
        if self.allowed.contains(&word) {
            return Ok(word);
        }
        Err(ValueError::one_of(&self.allowed.iter().map(|allowed| allowed.word()).collect::<Vec<_>>()))
    }

    fn shape(&self) -> Shape {
        Shape::Word(self.name)
    }
}

/// The rule that [`flag`] creates.
#[derive(Debug, Clone, Copy)]
pub struct Flag;

/// Creates the rule of a boolean.
#[must_use]
pub const fn flag() -> Flag {
    Flag
}

impl Rule for Flag {
    type Value = bool;

    fn parse(&self, value: &Value) -> Result<bool, ValueError> {
        if let Value::Bool(flag) = value {
            Ok(*flag)
        } else {
            Err(ValueError::format(format!("a boolean, not {}", value.kind())))
        }
    }

    fn shape(&self) -> Shape {
        Shape::Flag
    }
}

/// The rule that [`whole`] creates.
#[derive(Debug, Clone)]
pub struct Whole(RangeInclusive<i64>);

/// Creates the rule of a whole number within bounds.
#[must_use]
pub const fn whole(bounds: RangeInclusive<i64>) -> Whole {
    Whole(bounds)
}

/// Converts a number with a zero fraction, such as `1.0`: JSON does not distinguish it from a whole number.
fn from_whole_float(number: f64) -> Option<i64> {
    /// The bound up to which an `f64` represents every whole number.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "the number is whole and within the bound")]
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

impl Rule for Whole {
    type Value = i64;

    fn parse(&self, value: &Value) -> Result<i64, ValueError> {
        let Value::Number(number) = value else {
            return Err(ValueError::format(format!("a whole number, not {}", value.kind())));
        };
        let number = number
            .as_i64()
            .or_else(|| from_whole_float(number.as_f64()?))
            .ok_or_else(|| ValueError::format("a whole number"))?;
        if self.0.contains(&number) {
            return Ok(number);
        }
        Err(ValueError::new(Code::OutOfRange, format!("must be from {} to {}", self.0.start(), self.0.end())))
    }

    fn shape(&self) -> Shape {
        Shape::Whole { min: *self.0.start(), max: *self.0.end() }
    }
}

/// Creates the rule of a calendar date.
#[must_use]
pub const fn date() -> Checked<Date> {
    rule(|value| as_text(value)?.parse().map_err(|_| ValueError::format("a date, YYYY-MM-DD")), || Shape::Date)
}

fn instant(value: &Value) -> Result<Timestamp, ValueError> {
    as_text(value)?.parse().map_err(|_| ValueError::format("an ISO 8601 datetime with an offset"))
}

/// Creates the rule of a datetime with an offset.
#[must_use]
pub const fn datetime() -> Checked<Timestamp> {
    rule(instant, || Shape::Datetime)
}

/// Creates the rule of a datetime of the last days. `days` returns the documented shape with the number of days. The
/// rule does not check this number; the reader of the field does.
#[must_use]
pub const fn recent(days: fn() -> Shape) -> Checked<Timestamp> {
    rule(instant, days)
}

/// The rule that [`reference()`] creates.
#[derive(Debug, Clone, Copy)]
pub struct ReferenceRule<K: Kind> {
    kind: PhantomData<K>,
}

/// Creates the rule of a reference to another resource.
#[must_use]
pub const fn reference<K: Kind>() -> ReferenceRule<K> {
    ReferenceRule { kind: PhantomData }
}

impl<K: Kind> Rule for ReferenceRule<K> {
    type Value = Reference<K>;

    fn parse(&self, value: &Value) -> Result<Reference<K>, ValueError> {
        let text = as_text(value)?.to_owned();
        Ok(Reference { id: text.parse().ok(), text })
    }

    fn shape(&self) -> Shape {
        Shape::Reference { prefix: K::PREFIX }
    }
}

/// The rule that [`id()`] creates.
#[derive(Debug, Clone, Copy)]
pub struct IdRule<K: Kind> {
    kind: PhantomData<K>,
}

/// Creates the rule of an id. The resource need not exist.
#[must_use]
pub const fn id<K: Kind>() -> IdRule<K> {
    IdRule { kind: PhantomData }
}

impl<K: Kind> Rule for IdRule<K> {
    type Value = Id<K>;

    fn parse(&self, value: &Value) -> Result<Id<K>, ValueError> {
        as_text(value)?.parse().map_err(|_| ValueError::format(format!("an id that starts with {}_", K::PREFIX)))
    }

    fn shape(&self) -> Shape {
        Shape::Id { prefix: K::PREFIX }
    }
}

/// The rule that [`list`] creates.
#[derive(Debug, Clone, Copy)]
pub struct List<R> {
    min: usize,
    max: usize,
    of: R,
}

/// Creates the rule of a list of at most `max` distinct entries. A problem of an entry is reported for the whole
/// field.
pub const fn list<R: Rule>(max: usize, of: R) -> List<R> {
    List { min: 0, max, of }
}

impl<R: Copy> List<R> {
    /// Returns the rule with a minimum number of entries.
    #[must_use]
    pub const fn at_least(self, min: usize) -> Self {
        Self { min, ..self }
    }
}

impl<R: Rule<Value: PartialEq>> Rule for List<R> {
    type Value = Vec<R::Value>;

    fn parse(&self, value: &Value) -> Result<Self::Value, ValueError> {
        let Value::List(items) = value else {
            return Err(ValueError::format(format!("an array, not {}", value.kind())));
        };
        if items.len() < self.min {
            return Err(ValueError::new(Code::TooShort, format!("must have at least {} entries", self.min)));
        }
        if items.len() > self.max {
            return Err(ValueError::new(Code::TooLong, format!("must have at most {} entries", self.max)));
        }
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            let item = self.of.parse(item)?;
            if values.contains(&item) {
                return Err(ValueError::format("an array without duplicates"));
            }
            values.push(item);
        }
        Ok(values)
    }

    fn shape(&self) -> Shape {
        Shape::List { of: Box::new(self.of.shape()), min: self.min, max: self.max, is_set: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_number_outside_its_bounds_is_refused() {
        let parse =
            |text: &str| whole(1..=100).parse(&serde_json::from_str(text).unwrap()).map_err(|flaw| flaw.code);
        assert_eq!(parse("1"), Ok(1));
        assert_eq!(parse("100"), Ok(100));
        assert_eq!(parse("1e2"), Ok(100));
        assert_eq!(parse("0"), Err(Code::OutOfRange));
        assert_eq!(parse("101"), Err(Code::OutOfRange));
        for wrong in ["1.5", "\"1\"", "null", "1e30", "[1]"] {
            assert_eq!(parse(wrong), Err(Code::InvalidFormat), "{wrong}");
        }
    }
}
