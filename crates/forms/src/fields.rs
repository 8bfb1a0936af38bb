//! Reads a JSON body field by field and collects every problem (§7, decisions A3, A7, A8).

use std::collections::BTreeSet;

use strum::VariantArray;

use crate::id::{Id, Kind};
use crate::json::{Object, Value};
use crate::problem::{Code, ValidationErrors, ValueError};
use crate::rule::{DefaultValue, Field, FieldDescription, Rule};

/// The members of a body that were not read yet, and the problems found so far.
///
/// ```
/// use candor_forms::fields::Fields;
/// use candor_forms::json::Value;
/// use candor_forms::rule::{self, Field, Shape, Text};
///
/// const TITLE: Field<Text> = Field::with_about("title", rule::text(1..=200), "The goal in one line.");
///
/// let Ok(Value::Object(body)) = serde_json::from_str(r#"{"title": "", "titel": 1}"#) else { unreachable!() };
/// let mut fields = Fields::new(body);
/// let title = fields.required(&TITLE);
/// let problems = fields.finish(title).unwrap_err();
/// assert_eq!(problems.as_slice().len(), 2); // too short, and an unknown field
///
/// let descriptions = Fields::describe_fields(|fields| fields.required(&TITLE));
/// assert_eq!(descriptions[0].shape, Shape::Text { min: 1, max: 200 });
/// ```
#[derive(Debug)]
pub struct Fields {
    members: Vec<(String, Value)>,
    problems: ValidationErrors,
    described: Option<Vec<FieldDescription>>,
}

impl Fields {
    /// Starts reading a body. A duplicate member is a problem, because the intended value is unknown.
    #[must_use]
    pub fn new(body: Object) -> Self {
        let mut members: Vec<_> = body.into();
        let mut problems = ValidationErrors::none();
        let mut member_names = BTreeSet::new();
        members.retain(|(name, _)| {
            let first = member_names.insert(name.clone());
            if !first {
                problems.add(name, ValueError::format("given only once"));
            }
            first
        });
        Self::from_unread(members, problems)
    }

    /// Creates the fields from the members that are left and the problems found so far.
    #[must_use]
    pub const fn from_unread(members: Vec<(String, Value)>, problems: ValidationErrors) -> Self {
        Self { members, problems, described: None }
    }

    /// Returns the members that were not read, and the problems found so far.
    #[must_use]
    pub fn into_unread(self) -> (Vec<(String, Value)>, ValidationErrors) {
        (self.members, self.problems)
    }

    /// Reads the body of a creation and refuses fields that the service sets (decision A7).
    ///
    /// # Errors
    /// Returns every invalid field.
    pub fn parse_new<T>(
        body: Object,
        read_only: &[&str],
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Result<T, ValidationErrors> {
        let mut fields = Self::new(body);
        fields.refuse(read_only);
        let draft = read(&mut fields);
        fields.finish(draft)
    }

    /// Returns the fields that `read` declares. Runs `read` on an empty body and drops its result.
    #[must_use]
    pub fn describe_fields<T>(read: impl FnOnce(&mut Self) -> T) -> Vec<FieldDescription> {
        let mut fields = Self { described: Some(Vec::new()), ..Self::new(Object::new()) };
        read(&mut fields);
        fields.described.unwrap_or_default()
    }

    /// Takes a member out of the body, without a rule; `None` if it is absent.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let index = self.members.iter().position(|(member, _)| member == name)?;
        Some(self.members.swap_remove(index).1)
    }

    /// Takes the value of a field. While fields are described, records the field and returns `None`.
    fn take_or_describe<R: Rule>(
        &mut self,
        field: &Field<R>,
        note: impl FnOnce(&mut FieldDescription),
    ) -> Option<Value> {
        let Some(description) = &mut self.described else { return self.remove(field.name) };
        let Field { name, about, .. } = *field;
        let shape = field.rule.shape();
        let mut entry =
            FieldDescription { name, about, shape, is_required: false, is_nullable: false, default: None };
        note(&mut entry);
        description.push(entry);
        None
    }

    /// Reads a field that must be given and must not be null. Returns `None` and records a problem if the field is
    /// missing, null or invalid.
    pub fn required<R: Rule>(&mut self, field: &Field<R>) -> Option<R::Value> {
        let result = match self.take_or_describe(field, |entry| entry.is_required = true) {
            None | Some(Value::Null) => Err(ValueError::required()),
            Some(value) => field.rule.parse(&value),
        };
        self.problems.take(field.name, result)
    }

    /// Reads a field that only some callers may omit: `own` is the value for an absent field, and `None` for
    /// callers who must give it.
    pub fn required_or<R: Rule>(&mut self, field: &Field<R>, own: Option<R::Value>) -> Option<R::Value> {
        match (self.take_or_describe(field, |_| {}), own) {
            (None, Some(own)) => Some(own),
            (None | Some(Value::Null), _) => self.problems.take(field.name, Err(ValueError::required())),
            (Some(value), _) => self.problems.take(field.name, field.rule.parse(&value)),
        }
    }

    /// Reads a field that must be given, unless `is_kept`: an absent field then keeps its value. Null is refused.
    pub fn required_unless<R: Rule>(&mut self, field: &Field<R>, is_kept: bool) -> Option<R::Value> {
        match self.take_or_describe(field, |entry| entry.is_required = !is_kept) {
            None if is_kept => None,
            None | Some(Value::Null) => self.problems.take(field.name, Err(ValueError::required())),
            Some(value) => self.problems.take(field.name, field.rule.parse(&value)),
        }
    }

    /// Reads a nullable field without a default: null means the same as absent. A field with a default is read by
    /// [`Fields::present`] or [`Fields::present_or`], because the client that sends null expects no value (decision A8).
    pub fn optional<R: Rule>(&mut self, field: &Field<R>) -> Option<R::Value> {
        self.nullable(field).flatten()
    }

    /// Reads a field that may be absent but must not be null (decision A8).
    pub fn present<R: Rule>(&mut self, field: &Field<R>) -> Option<R::Value> {
        let value = self.take_or_describe(field, |_| {})?;
        self.not_null(field, &value)
    }

    /// Reads a field that must not be null and has the value `default` if absent.
    pub fn present_or<R: Rule<Value: DefaultValue>>(&mut self, field: &Field<R>, default: R::Value) -> R::Value {
        let default_value = default.to_document_text();
        let value = self.take_or_describe(field, |entry| entry.default = Some(default_value));
        value.and_then(|value| self.not_null(field, &value)).unwrap_or(default)
    }

    /// Reads a field of an update: `None` if absent (keep), `Some(None)` for null (clear), or the new value
    /// (decision A8).
    pub fn nullable<R: Rule>(&mut self, field: &Field<R>) -> Option<Option<R::Value>> {
        let value = self.take_or_describe(field, |entry| entry.is_nullable = true);
        self.parse_nullable(field, value)
    }

    fn not_null<R: Rule>(&mut self, field: &Field<R>, value: &Value) -> Option<R::Value> {
        let result = if *value == Value::Null { Err(ValueError::not_null()) } else { field.rule.parse(value) };
        self.problems.take(field.name, result)
    }

    fn parse_nullable<R: Rule>(&mut self, field: &Field<R>, value: Option<Value>) -> Option<Option<R::Value>> {
        let value = value?;
        if value == Value::Null {
            Some(None)
        } else {
            self.problems.take(field.name, field.rule.parse(&value)).map(Some)
        }
    }

    /// Refuses fields that the service sets on a new resource (decision A7).
    pub fn refuse(&mut self, names: &[&str]) {
        for name in names {
            if self.remove(name).is_some() {
                self.problems.add(*name, ValueError::new(Code::ReadOnly, "is set by the service"));
            }
        }
    }

    /// Returns `true` while fields are described, see [`Fields::describe_fields`].
    pub const fn is_described(&self) -> bool {
        self.described.is_some()
    }

    /// Returns `true` if a problem was found.
    pub const fn has_problems(&self) -> bool {
        !self.problems.is_empty()
    }

    /// Returns `true` if this field has a problem.
    pub fn has_problem(&self, name: &str) -> bool {
        self.problems.as_slice().iter().any(|problem| problem.field == name)
    }

    /// Adds a problem to the field of this name, for a rule about more than one value, such as a relation of several
    /// fields.
    pub fn problem(&mut self, name: &str, flaw: ValueError) {
        self.problems.add(name, flaw);
    }

    /// Adds the problems of a nested value.
    pub fn problems(&mut self, found: ValidationErrors) {
        self.problems.extend(found);
    }

    /// Returns the value of a nested object. Its problems get the name of the field as a prefix.
    pub fn nested<T>(&mut self, name: &str, read: Result<T, ValidationErrors>) -> Option<T> {
        read.map_err(|problems| self.problems.extend(problems.prefix_fields(name))).ok()
    }

    /// Ends the reading and reports the remaining members as unknown.
    ///
    /// # Errors
    /// Returns every problem found. A missing `value` always comes with a problem.
    pub fn finish<T>(self, value: Option<T>) -> Result<T, ValidationErrors> {
        let problems = self.into_problems();
        match value {
            Some(value) => problems.or(value),
            None => Err(problems),
        }
    }

    fn into_problems(mut self) -> ValidationErrors {
        self.members.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, _) in self.members {
            self.problems.add(name, ValueError::new(Code::UnknownField, "is not a field of this request"));
        }
        self.problems
    }
}

/// A reference to another resource as a request gave it. Any string is accepted as a reference. A later step
/// refuses a missing resource as `unprocessable` (decision A4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference<K: Kind> {
    /// The text of the request, repeated in the error if the resource does not exist.
    pub text: String,
    /// The id, if the text is an id of the right kind.
    pub id: Option<Id<K>>,
}

impl<K: Kind> From<Id<K>> for Reference<K> {
    /// Creates a reference to a known resource.
    fn from(id: Id<K>) -> Self {
        Self { text: id.to_string(), id: Some(id) }
    }
}

impl<K: Kind> Reference<K> {
    /// Returns the id if `is_there` confirms that the resource exists.
    ///
    /// # Errors
    /// Returns [`Reference::not_found`] if the resource does not exist.
    pub fn resolve(&self, is_there: impl FnOnce(&Id<K>) -> bool) -> Result<Id<K>, ValueError> {
        self.id.filter(is_there).ok_or_else(|| self.not_found())
    }

    /// Returns the error for an id that does not exist in the organization.
    #[must_use]
    pub fn not_found(&self) -> ValueError {
        ValueError::not_found(&self.text)
    }
}

/// A closed set of strings in the API: each value has exactly one word.
///
/// The words are derived from the variants, so that none can be omitted:
///
/// ```
/// use candor_forms::fields::StringEnum;
/// use strum::{IntoStaticStr, VariantArray};
///
/// #[derive(Debug, Clone, Copy, PartialEq, IntoStaticStr, VariantArray)]
/// #[strum(serialize_all = "snake_case")]
/// enum Season {
///     Summer,
///     LateAutumn,
/// }
///
/// impl StringEnum for Season {}
///
/// assert_eq!(Season::words(), ["summer", "late_autumn"]);
/// assert_eq!(Season::from_word("late_autumn"), Ok(Season::LateAutumn));
/// ```
pub trait StringEnum: VariantArray + Into<&'static str> + Copy + PartialEq {
    /// Name of the set in the OpenAPI document; empty if the document does not show it.
    const NAME: &'static str = "";
    /// Every value, in the order of the OpenAPI document.
    const ALL: &'static [Self] = Self::VARIANTS;

    /// Parses a word.
    ///
    /// # Errors
    /// Returns `invalid_enum` with the list of valid words.
    fn from_word(text: &str) -> Result<Self, ValueError> {
        let matching_value = Self::ALL.iter().copied().find(|value| value.word() == text);
        matching_value.ok_or_else(|| ValueError::one_of(&Self::words()))
    }

    /// Returns the word of this value.
    fn word(self) -> &'static str {
        self.into()
    }

    /// Returns every word, in the order of the OpenAPI document.
    #[must_use]
    fn words() -> Vec<&'static str> {
        Self::ALL.iter().map(|value| value.word()).collect()
    }
}

/// Implements [`StringEnum`] for an enumeration that answers contain: its name in the document, its JSON form and the
/// schema of a member with it.
#[doc(hidden)]
#[macro_export]
macro_rules! __string_enum {
    ($type:ident, $name:literal) => {
        impl $crate::fields::StringEnum for $type {
            const NAME: &'static str = $name;
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str($crate::fields::StringEnum::word(*self))
            }
        }

        $crate::schema::inline_schema!($type, $name, |generator| $crate::schema::open(generator, $name));
    };
}
pub use __string_enum as string_enum;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{flag, text};

    fn fields(body: &str) -> Fields {
        let Ok(Value::Object(members)) = serde_json::from_str(body) else { panic!("not an object: {body}") };
        Fields::new(members)
    }

    fn codes(result: Result<(), ValidationErrors>) -> Vec<(String, Code)> {
        result
            .err()
            .unwrap_or_default()
            .as_slice()
            .iter()
            .map(|problem| (problem.field.clone(), problem.code))
            .collect()
    }

    #[test]
    fn every_problem_is_reported_at_once() {
        let mut fields = fields(r#"{"a":1,"b":"","x":0,"c":null,"id":"x","d":true}"#);
        fields.required(&Field::new("a", text(1..=5)));
        fields.required(&Field::new("b", text(1..=5)));
        fields.required(&Field::new("c", text(1..=5)));
        fields.required(&Field::new("missing", text(1..=5)));
        fields.refuse(&["id"]);
        fields.present(&Field::new("d", flag()));
        let expected_codes = [
            ("a", Code::InvalidFormat),
            ("b", Code::TooShort),
            ("c", Code::Required),
            ("missing", Code::Required),
            ("id", Code::ReadOnly),
            ("x", Code::UnknownField),
        ];
        assert_eq!(codes(fields.finish(Some(()))), expected_codes.map(|(field, code)| (field.to_owned(), code)));
    }

    #[test]
    fn null_clears_only_nullable_fields() {
        let mut fields = fields(r#"{"a":null,"b":null}"#);
        assert_eq!(fields.nullable(&Field::new("a", text(0..=5))), Some(None));
        assert_eq!(fields.nullable(&Field::new("absent", text(0..=5))), None);
        assert_eq!(fields.present(&Field::new("b", text(0..=5))), None);
        assert_eq!(codes(fields.finish(Some(()))), [("b".to_owned(), Code::Required)]);
    }

    #[test]
    fn duplicate_member_is_reported() {
        let mut fields = fields(r#"{"a":"x","a":"y"}"#);
        fields.required(&Field::new("a", text(1..=5)));
        assert_eq!(codes(fields.finish(Some(()))), [("a".to_owned(), Code::InvalidFormat)]);
    }
}
