//! The kinds of rules that fields are declared with.

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use super::{Rule, Shape};
use crate::fields::{Reference, Word};
use crate::id::Kind;
use crate::json::Value;
use crate::problem::{Code, Flaw};
use crate::text;
use crate::time::{Date, Timestamp};

/// The text of a value.
///
/// # Errors
/// `invalid_format` for anything but a string.
pub(crate) fn as_text(value: &Value) -> Result<&str, Flaw> {
    if let Value::Text(it) = value { Ok(it) } else { Err(Flaw::format(format!("a string, not {}", value.kind()))) }
}

/// A rule that is a function.
#[derive(Debug, Clone, Copy)]
pub struct Checked<T> {
    parse: fn(&Value) -> Result<T, Flaw>,
    shape: fn() -> Shape,
}

/// A rule that is a function, and what it takes.
pub const fn rule<T>(parse: fn(&Value) -> Result<T, Flaw>, shape: fn() -> Shape) -> Checked<T> {
    Checked { parse, shape }
}

impl<T> Rule for Checked<T> {
    type Value = T;

    fn parse(&self, value: &Value) -> Result<T, Flaw> {
        (self.parse)(value)
    }

    fn shape(&self) -> Shape {
        (self.shape)()
    }
}

/// See [`text()`].
#[derive(Debug, Clone)]
pub struct Text(RangeInclusive<usize>);

/// A text of so many characters.
#[must_use]
pub const fn text(chars: RangeInclusive<usize>) -> Text {
    Text(chars)
}

impl Rule for Text {
    type Value = String;

    fn parse(&self, value: &Value) -> Result<String, Flaw> {
        let it = as_text(value)?;
        text::bounded(it, self.0.clone())?;
        Ok(it.to_owned())
    }

    fn shape(&self) -> Shape {
        Shape::Text { min: *self.0.start(), max: *self.0.end() }
    }
}

/// The rule that [`line()`] makes.
#[derive(Debug, Clone)]
pub struct Line(RangeInclusive<usize>);

/// A text of so many characters in one line: line ends are refused.
#[must_use]
pub const fn line(chars: RangeInclusive<usize>) -> Line {
    Line(chars)
}

impl Rule for Line {
    type Value = String;

    fn parse(&self, value: &Value) -> Result<String, Flaw> {
        let text = as_text(value)?;
        text::single_line(text, self.0.clone())?;
        Ok(text.to_owned())
    }

    fn shape(&self) -> Shape {
        Shape::Line { min: *self.0.start(), max: *self.0.end() }
    }
}

/// An e-mail address.
#[must_use]
pub const fn email() -> Checked<String> {
    rule(
        |value| {
            let it = as_text(value)?;
            text::email(it).map(|()| it.to_owned())
        },
        || Shape::Email(text::EMAIL_CHARS),
    )
}

/// See [`url()`].
#[derive(Debug, Clone, Copy)]
pub struct Url<T> {
    max: usize,
    read: fn(&str) -> Result<T, Flaw>,
}

/// An absolute URL of at most `max` characters, which `read` takes apart and judges.
///
/// ```
/// use candor_domain::json::Value;
/// use candor_domain::rule::{Rule, url};
/// use candor_domain::webhook::ReceiverUrl;
///
/// let rule = url(40, ReceiverUrl::parse);
/// assert!(rule.parse(&Value::Text("https://hooks.example.com/candor".to_owned())).is_ok());
/// assert!(rule.parse(&Value::Text("hooks.example.com".to_owned())).is_err());
/// ```
#[must_use]
pub const fn url<T>(max: usize, read: fn(&str) -> Result<T, Flaw>) -> Url<T> {
    Url { max, read }
}

impl<T> Rule for Url<T> {
    type Value = T;

    fn parse(&self, value: &Value) -> Result<T, Flaw> {
        let given = as_text(value)?;
        if given.is_empty() {
            return Err(Flaw::format("an absolute URL"));
        }
        if given.chars().nth(self.max).is_some() {
            return Err(Flaw::new(Code::TooLong, format!("must have at most {} characters", self.max)));
        }
        (self.read)(given)
    }

    fn shape(&self) -> Shape {
        Shape::Url(self.max)
    }
}

/// See [`word`] and [`one_of`].
#[derive(Debug, Clone, Copy)]
pub struct OneOf<T: Word> {
    name: &'static str,
    allowed: &'static [T],
}

/// One of a closed set of words.
#[must_use]
pub const fn word<T: Word>() -> OneOf<T> {
    one_of(T::NAME, T::ALL)
}

/// One of some words of a set; `name` is what documents call these.
#[must_use]
pub const fn one_of<T: Word>(name: &'static str, allowed: &'static [T]) -> OneOf<T> {
    OneOf { name, allowed }
}

impl<T: Word> Rule for OneOf<T> {
    type Value = T;

    fn parse(&self, value: &Value) -> Result<T, Flaw> {
        let it = T::from_word(as_text(value)?)?;
        if self.allowed.contains(&it) {
            return Ok(it);
        }
        Err(Flaw::one_of(&self.allowed.iter().map(|it| it.word()).collect::<Vec<_>>()))
    }

    fn shape(&self) -> Shape {
        Shape::Word(self.name)
    }
}

/// See [`flag`].
#[derive(Debug, Clone, Copy)]
pub struct Flag;

/// A boolean.
#[must_use]
pub const fn flag() -> Flag {
    Flag
}

impl Rule for Flag {
    type Value = bool;

    fn parse(&self, value: &Value) -> Result<bool, Flaw> {
        if let Value::Bool(it) = value {
            Ok(*it)
        } else {
            Err(Flaw::format(format!("a boolean, not {}", value.kind())))
        }
    }

    fn shape(&self) -> Shape {
        Shape::Flag
    }
}

/// See [`whole`].
#[derive(Debug, Clone)]
pub struct Whole(RangeInclusive<i64>);

/// A whole number within bounds.
#[must_use]
pub const fn whole(bounds: RangeInclusive<i64>) -> Whole {
    Whole(bounds)
}

/// A whole number that was written with a fraction of zero, which JSON does not tell apart.
fn exactly(number: f64) -> Option<i64> {
    /// Up to here a float holds every whole number.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and within the bound")]
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

impl Rule for Whole {
    type Value = i64;

    fn parse(&self, value: &Value) -> Result<i64, Flaw> {
        let Value::Number(number) = value else {
            return Err(Flaw::format(format!("a whole number, not {}", value.kind())));
        };
        let number =
            number.as_i64().or_else(|| exactly(number.as_f64()?)).ok_or_else(|| Flaw::format("a whole number"))?;
        if self.0.contains(&number) {
            return Ok(number);
        }
        Err(Flaw::new(Code::OutOfRange, format!("must be from {} to {}", self.0.start(), self.0.end())))
    }

    fn shape(&self) -> Shape {
        Shape::Whole { min: *self.0.start(), max: *self.0.end() }
    }
}

/// A date.
#[must_use]
pub const fn date() -> Checked<Date> {
    rule(|value| as_text(value)?.parse().map_err(|_| Flaw::format("a date, YYYY-MM-DD")), || Shape::Date)
}

fn instant(value: &Value) -> Result<Timestamp, Flaw> {
    as_text(value)?.parse().map_err(|_| Flaw::format("an ISO 8601 datetime with an offset"))
}

/// A datetime with an offset.
#[must_use]
pub const fn datetime() -> Checked<Timestamp> {
    rule(instant, || Shape::Datetime)
}

/// A datetime with an offset that is to be within the last `days`; the field says since when.
#[must_use]
pub const fn recent(days: fn() -> Shape) -> Checked<Timestamp> {
    rule(instant, days)
}

/// See [`reference()`].
#[derive(Debug, Clone, Copy)]
pub struct Refers<K: Kind> {
    what: &'static str,
    kind: PhantomData<K>,
}

/// A reference to another resource; `what` says to which, as documents say it.
#[must_use]
pub const fn reference<K: Kind>(what: &'static str) -> Refers<K> {
    Refers { what, kind: PhantomData }
}

impl<K: Kind> Rule for Refers<K> {
    type Value = Reference<K>;

    fn parse(&self, value: &Value) -> Result<Reference<K>, Flaw> {
        let text = as_text(value)?.to_owned();
        Ok(Reference { id: text.parse().ok(), text })
    }

    fn shape(&self) -> Shape {
        Shape::Reference { prefix: K::PREFIX, what: self.what }
    }
}

/// See [`list`].
#[derive(Debug, Clone, Copy)]
pub struct List<R> {
    min: usize,
    max: usize,
    of: R,
}

/// Unique entries, at most `max`. An entry's problem is that of the whole field.
pub const fn list<R: Rule>(max: usize, of: R) -> List<R> {
    List { min: 0, max, of }
}

impl<R: Copy> List<R> {
    /// The same, with at least so many entries.
    #[must_use]
    pub const fn at_least(self, min: usize) -> Self {
        Self { min, ..self }
    }
}

impl<R: Rule<Value: PartialEq>> Rule for List<R> {
    type Value = Vec<R::Value>;

    fn parse(&self, value: &Value) -> Result<Self::Value, Flaw> {
        let Value::List(items) = value else { return Err(Flaw::format(format!("an array, not {}", value.kind()))) };
        if items.len() < self.min {
            return Err(Flaw::new(Code::TooShort, format!("must have at least {} entries", self.min)));
        }
        if items.len() > self.max {
            return Err(Flaw::new(Code::TooLong, format!("must have at most {} entries", self.max)));
        }
        let mut out = Vec::with_capacity(items.len());
        for item in items {
            let item = self.of.parse(item)?;
            if out.contains(&item) {
                return Err(Flaw::format("an array without duplicates"));
            }
            out.push(item);
        }
        Ok(out)
    }

    fn shape(&self) -> Shape {
        Shape::List { of: Box::new(self.of.shape()), min: self.min, max: self.max, is_set: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_whole_and_within_bounds() {
        let parse = |text: &str| whole(1..=100).parse(&serde_json::from_str(text).unwrap()).map_err(|it| it.code);
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
