//! Reads a JSON body field by field and collects every problem (§7, decisions A3, A7, A8).

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use strum::VariantArray;

use crate::id::{Id, Kind};
use crate::json::{Object, Value};
use crate::problem::{Code, Flaw, Problems};
use crate::text;
use crate::time::{Date, Timestamp};

/// The members of a body that were not read yet, and the problems found so far.
///
/// ```
/// use candor_domain::fields::{self, Fields};
/// use candor_domain::json::Value;
///
/// let Ok(Value::Object(body)) = serde_json::from_str(r#"{"title": "", "titel": 1}"#) else { unreachable!() };
/// let mut fields = Fields::new(body);
/// let title = fields.required("title", fields::text(1..=200));
/// let problems = fields.finish(title).unwrap_err();
/// assert_eq!(problems.as_slice().len(), 2); // too short, and an unknown field
/// ```
#[derive(Debug)]
pub struct Fields {
    members: Object,
    problems: Problems,
}

impl Fields {
    /// Starts reading a body. A member given twice is a problem at once: nobody can say which was meant.
    #[must_use]
    pub fn new(mut members: Object) -> Self {
        let mut problems = Problems::none();
        let mut seen = BTreeSet::new();
        members.retain(|(name, _)| {
            let first = seen.insert(name.clone());
            if !first {
                problems.add(name, Flaw::format("given only once"));
            }
            first
        });
        Self { members, problems }
    }

    fn remove(&mut self, name: &str) -> Option<Value> {
        let at = self.members.iter().position(|(it, _)| it == name)?;
        Some(self.members.swap_remove(at).1)
    }

    /// A field that must be given and must not be null.
    pub fn required<T>(&mut self, name: &str, parse: impl FnOnce(&Value) -> Result<T, Flaw>) -> Option<T> {
        let result = match self.remove(name) {
            None | Some(Value::Null) => Err(Flaw::required()),
            Some(value) => parse(&value),
        };
        self.problems.take(name, result)
    }

    /// A field of a new resource that may be absent or null, which is the same.
    pub fn optional<T>(&mut self, name: &str, parse: impl FnOnce(&Value) -> Result<T, Flaw>) -> Option<T> {
        self.nullable(name, parse).flatten()
    }

    /// A field that may be absent but, when given, not be null (decision A8).
    pub fn present<T>(&mut self, name: &str, parse: impl FnOnce(&Value) -> Result<T, Flaw>) -> Option<T> {
        let value = self.remove(name)?;
        let result = if value == Value::Null { Err(Flaw::not_null()) } else { parse(&value) };
        self.problems.take(name, result)
    }

    /// A field of a change: absent = keep, null = clear, else the new value (decision A8).
    pub fn nullable<T>(&mut self, name: &str, parse: impl FnOnce(&Value) -> Result<T, Flaw>) -> Option<Option<T>> {
        let value = self.remove(name)?;
        if value == Value::Null { Some(None) } else { self.problems.take(name, parse(&value)).map(Some) }
    }

    /// Fields that a new resource gets from the service, never from a request (decision A7).
    pub fn refuse(&mut self, names: &[&str]) {
        for name in names {
            if self.remove(name).is_some() {
                self.problems.add(*name, Flaw::new(Code::ReadOnly, "is set by the service"));
            }
        }
    }

    /// Fields that cannot change: the stored value is accepted and ignored, so that a resource that was read can be
    /// sent back; any other is a problem (decision A7).
    pub fn unchanged<T: serde::Serialize>(&mut self, names: &[&str], stored: &T) {
        if !names.iter().any(|name| self.members.iter().any(|(it, _)| it == name)) {
            return;
        }
        let stored = serde_json::to_value(stored).unwrap_or_default();
        for name in names {
            let Some(given) = self.remove(name) else { continue };
            let equal = stored.get(name).is_some_and(|it| serde_json::to_value(&given).is_ok_and(|given| given == *it));
            if !equal {
                self.problems.add(*name, Flaw::new(Code::ReadOnly, "cannot be changed"));
            }
        }
    }

    /// Adds a problem that concerns several fields, or their relation.
    pub fn problem(&mut self, name: &str, flaw: Flaw) {
        self.problems.add(name, flaw);
    }

    /// Adds problems that a nested value had.
    pub fn problems(&mut self, found: Problems) {
        self.problems.extend(found);
    }

    /// Ends the reading: whatever is left is unknown.
    ///
    /// # Errors
    /// Every problem found; also when `value` is missing, which only a problem explains.
    pub fn finish<T>(mut self, value: Option<T>) -> Result<T, Problems> {
        self.members.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, _) in self.members {
            self.problems.add(name, Flaw::new(Code::UnknownField, "is not a field of this request"));
        }
        match value {
            Some(value) => self.problems.or(value),
            None => Err(self.problems),
        }
    }
}

fn as_text(value: &Value) -> Result<&str, Flaw> {
    if let Value::Text(it) = value { Ok(it) } else { Err(Flaw::format(format!("a string, not {}", value.kind()))) }
}

/// A text of so many characters.
pub fn text(chars: RangeInclusive<usize>) -> impl Fn(&Value) -> Result<String, Flaw> {
    move |value| {
        let it = as_text(value)?;
        text::bounded(it, chars.clone())?;
        Ok(it.to_owned())
    }
}

/// A text that one of the rules of [`crate::text`] accepts.
pub fn checked(rule: fn(&str) -> Result<(), Flaw>) -> impl FnOnce(&Value) -> Result<String, Flaw> {
    move |value| {
        let it = as_text(value)?;
        rule(it)?;
        Ok(it.to_owned())
    }
}

/// One of a closed set of words.
///
/// # Errors
/// `invalid_format` for anything but a string, `invalid_enum` for another word.
pub fn word<T: Word>(value: &Value) -> Result<T, Flaw> {
    T::from_word(as_text(value)?)
}

/// A boolean.
///
/// # Errors
/// `invalid_format` for anything else.
pub fn flag(value: &Value) -> Result<bool, Flaw> {
    if let Value::Bool(it) = value { Ok(*it) } else { Err(Flaw::format(format!("a boolean, not {}", value.kind()))) }
}

/// A whole number that was written with a fraction of zero, which JSON does not tell apart.
fn exactly(number: f64) -> Option<i64> {
    /// Up to here a float holds every whole number.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and within the bound")]
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

/// A whole number within bounds.
pub fn whole(bounds: RangeInclusive<i64>) -> impl FnOnce(&Value) -> Result<i64, Flaw> {
    move |value| {
        let Value::Number(number) = value else {
            return Err(Flaw::format(format!("a whole number, not {}", value.kind())));
        };
        let number =
            number.as_i64().or_else(|| exactly(number.as_f64()?)).ok_or_else(|| Flaw::format("a whole number"))?;
        if bounds.contains(&number) {
            return Ok(number);
        }
        Err(Flaw::new(Code::OutOfRange, format!("must be from {} to {}", bounds.start(), bounds.end())))
    }
}

/// A date.
///
/// # Errors
/// `invalid_format` for anything but `YYYY-MM-DD`.
pub fn date(value: &Value) -> Result<Date, Flaw> {
    as_text(value)?.parse().map_err(|_| Flaw::format("a date, YYYY-MM-DD"))
}

/// A datetime with an offset.
///
/// # Errors
/// `invalid_format` for anything but an ISO 8601 datetime with an offset.
pub fn datetime(value: &Value) -> Result<Timestamp, Flaw> {
    as_text(value)?.parse().map_err(|_| Flaw::format("an ISO 8601 datetime with an offset"))
}

/// A reference to another resource as a request gave it: any string is well-formed, whether it names something is
/// found out later and is another kind of error (decision A4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference<K: Kind> {
    /// The text, to be repeated when it names nothing.
    pub text: String,
    /// The id, if it is one of the right kind.
    pub id: Option<Id<K>>,
}

impl<K: Kind> Reference<K> {
    /// The flaw of naming nothing.
    #[must_use]
    pub fn not_found(&self) -> Flaw {
        Flaw::not_found(&self.text)
    }
}

/// A reference to another resource.
///
/// # Errors
/// `invalid_format` for anything but a string.
pub fn reference<K: Kind>(value: &Value) -> Result<Reference<K>, Flaw> {
    let text = as_text(value)?.to_owned();
    Ok(Reference { id: text.parse().ok(), text })
}

/// Unique texts, at most `max`. An entry's problem is that of the whole field.
pub fn list<T: PartialEq>(
    max: usize,
    parse: impl Fn(&Value) -> Result<T, Flaw>,
) -> impl FnOnce(&Value) -> Result<Vec<T>, Flaw> {
    move |value| {
        let Value::List(items) = value else { return Err(Flaw::format(format!("an array, not {}", value.kind()))) };
        if items.len() > max {
            return Err(Flaw::new(Code::TooLong, format!("must have at most {max} entries")));
        }
        let mut out = Vec::with_capacity(items.len());
        for item in items {
            let item = parse(item)?;
            if out.contains(&item) {
                return Err(Flaw::format("an array without duplicates"));
            }
            out.push(item);
        }
        Ok(out)
    }
}

/// A closed set of words that the API uses: each value has one word, and each word one value.
///
/// Both come from the variants themselves, so that none can be left out:
///
/// ```
/// use candor_domain::fields::Word;
/// use strum::{IntoStaticStr, VariantArray};
///
/// #[derive(Debug, Clone, Copy, PartialEq, IntoStaticStr, VariantArray)]
/// #[strum(serialize_all = "snake_case")]
/// enum Season {
///     Summer,
///     LateAutumn,
/// }
///
/// impl Word for Season {}
///
/// assert_eq!(Season::words(), ["summer", "late_autumn"]);
/// assert_eq!(Season::from_word("late_autumn"), Ok(Season::LateAutumn));
/// ```
pub trait Word: VariantArray + Into<&'static str> + Copy + PartialEq {
    /// What documents call the set; empty where no document shows it.
    const NAME: &'static str = "";
    /// Every value, in the order of the documents.
    const ALL: &'static [Self] = Self::VARIANTS;

    /// The value of a word.
    ///
    /// # Errors
    /// `invalid_enum` naming the words that would be right.
    fn from_word(text: &str) -> Result<Self, Flaw> {
        let known = Self::ALL.iter().copied().find(|it| it.word() == text);
        known.ok_or_else(|| Flaw::one_of(&Self::words()))
    }

    /// The word of this value.
    fn word(self) -> &'static str {
        self.into()
    }

    /// Every word, in the order of the documents.
    #[must_use]
    fn words() -> Vec<&'static str> {
        Self::ALL.iter().map(|it| it.word()).collect()
    }
}

/// Writes a [`Word`] as its word; for `#[serde(serialize_with = "...")]`.
///
/// # Errors
/// Those of the serializer.
pub fn as_word<T: Word, S: serde::Serializer>(it: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(it.word())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(body: &str) -> Fields {
        let Ok(Value::Object(members)) = serde_json::from_str(body) else { panic!("not an object: {body}") };
        Fields::new(members)
    }

    fn codes(result: Result<(), Problems>) -> Vec<(String, Code)> {
        result.err().unwrap_or_default().as_slice().iter().map(|it| (it.field.clone(), it.code)).collect()
    }

    #[test]
    fn every_problem_is_reported_at_once() {
        let mut fields = fields(r#"{"a":1,"b":"","x":0,"c":null,"id":"x","d":true}"#);
        fields.required("a", text(1..=5));
        fields.required("b", text(1..=5));
        fields.required("c", text(1..=5));
        fields.required("missing", text(1..=5));
        fields.refuse(&["id"]);
        fields.present("d", flag);
        let wanted = [
            ("a", Code::InvalidFormat),
            ("b", Code::TooShort),
            ("c", Code::Required),
            ("missing", Code::Required),
            ("id", Code::ReadOnly),
            ("x", Code::UnknownField),
        ];
        assert_eq!(codes(fields.finish(Some(()))), wanted.map(|(field, code)| (field.to_owned(), code)));
    }

    #[test]
    fn null_clears_only_what_can_be_null() {
        let mut fields = fields(r#"{"a":null,"b":null}"#);
        assert_eq!(fields.nullable("a", text(0..=5)), Some(None));
        assert_eq!(fields.nullable("absent", text(0..=5)), None);
        assert_eq!(fields.present("b", text(0..=5)), None);
        assert_eq!(codes(fields.finish(Some(()))), [("b".to_owned(), Code::Required)]);
    }

    #[test]
    fn what_was_read_can_be_sent_back() {
        let stored = serde_json::json!({"id": "obs_1", "n": 5, "at": null});
        let mut same = fields(r#"{"id":"obs_1","n":5,"at":null}"#);
        same.unchanged(&["id", "n", "at"], &stored);
        assert_eq!(same.finish(Some(())), Ok(()));
        let mut other = fields(r#"{"id":"obs_2"}"#);
        other.unchanged(&["id", "n"], &stored);
        assert_eq!(codes(other.finish(Some(()))), [("id".to_owned(), Code::ReadOnly)]);
    }

    #[test]
    fn a_member_given_twice_is_a_problem() {
        let mut fields = fields(r#"{"a":"x","a":"y"}"#);
        fields.required("a", text(1..=5));
        assert_eq!(codes(fields.finish(Some(()))), [("a".to_owned(), Code::InvalidFormat)]);
    }

    #[test]
    fn numbers_are_whole_and_within_bounds() {
        let parse = |text: &str| whole(1..=100)(&serde_json::from_str(text).unwrap()).map_err(|it| it.code);
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
