//! A JSON value that keeps the order of its members and duplicate members.
//!
//! [`Value`] and [`Object`] implement `Serialize` and `Deserialize` for self-describing formats:
//!
//! ```
//! use candor_forms::json::{Object, Value};
//!
//! let body: Object = serde_json::from_str(r#"{"title": "Answer within a day", "title": 1}"#)?;
//! assert_eq!(body.iter().count(), 2); // `Fields` reports the member that is given twice
//! assert_eq!(body.get("title"), Some(&Value::Text("Answer within a day".to_owned())));
//! assert!(serde_json::from_str::<Object>("[]").is_err());
//! # Ok::<(), serde_json::Error>(())
//! ```

mod number;
mod size;

pub use number::{Number, parse};
pub use size::ValueSize;

use std::{fmt, slice, vec};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};

/// A JSON value of any type.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// The JSON literal `null`.
    Null,
    /// A boolean, `true` or `false`.
    Bool(bool),
    /// A number, integer or decimal.
    Number(Number),
    /// A string, with its escapes decoded.
    Text(String),
    /// An array of values.
    List(Vec<Value>),
    /// An object with its members.
    Object(Object),
}

/// The members of an object in the order in which they were sent, including duplicates.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Object(Vec<(String, Value)>);

impl Object {
    /// Creates an object without members.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Appends a member, even if the name exists already.
    pub fn push(&mut self, name: impl Into<String>, value: Value) {
        self.0.push((name.into(), value));
    }

    /// Replaces every member with this name by one new member.
    pub fn set(&mut self, name: &str, value: Value) {
        self.0.retain(|(member, _)| member != name);
        self.push(name, value);
    }

    /// Returns the value of the first member with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(member, _)| member == name).map(|(_, value)| value)
    }

    /// Iterates over the members, whose values may be changed.
    pub fn iter_mut(&mut self) -> slice::IterMut<'_, (String, Value)> {
        self.0.iter_mut()
    }

    /// Removes the members for which `keep` returns `false`.
    pub fn retain(&mut self, keep: impl Fn(&str, &Value) -> bool) {
        self.0.retain(|(name, value)| keep(name, value));
    }

    /// Returns the number of members, including duplicates.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns `true` if there is no member.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the members in the order in which they were sent.
    pub fn iter(&self) -> slice::Iter<'_, (String, Value)> {
        self.0.iter()
    }
}

impl From<Object> for Vec<(String, Value)> {
    fn from(object: Object) -> Self {
        object.0
    }
}

impl<const N: usize> From<[(String, Value); N]> for Object {
    fn from(members: [(String, Value); N]) -> Self {
        Self(members.into())
    }
}

impl FromIterator<(String, Value)> for Object {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(members: I) -> Self {
        Self(members.into_iter().collect())
    }
}

impl Extend<(String, Value)> for Object {
    fn extend<I: IntoIterator<Item = (String, Value)>>(&mut self, members: I) {
        self.0.extend(members);
    }
}

impl IntoIterator for Object {
    type Item = (String, Value);
    type IntoIter = vec::IntoIter<(String, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Object {
    type Item = &'a (String, Value);
    type IntoIter = slice::Iter<'a, (String, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Value {
    /// Returns the JSON type for messages, with its article.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "an array",
            Self::Object(_) => "an object",
        }
    }

    /// Returns the canonical JSON text: members sorted by name, no white space. Requests with equal canonical
    /// bodies are equal (decision B2).
    #[must_use]
    pub fn canonical(&self) -> String {
        let mut text = String::new();
        write_canonical(self, &mut text);
        text
    }
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number.canonical()),
        Value::Text(text) => out.push_str(&serde_json::Value::from(text.as_str()).to_string()),
        Value::List(items) => write_all(items.iter(), '[', ']', out, write_canonical),
        Value::Object(members) => {
            let mut sorted_members: Vec<_> = members.iter().collect();
            sorted_members.sort_by(|a, b| a.0.cmp(&b.0));
            write_all(sorted_members.into_iter(), '{', '}', out, |(name, value), out| {
                out.push_str(&serde_json::Value::from(name.as_str()).to_string());
                out.push(':');
                write_canonical(value, out);
            });
        }
    }
}

fn write_all<T>(
    items: impl Iterator<Item = T>,
    open: char,
    close: char,
    out: &mut String,
    each: impl Fn(T, &mut String),
) {
    out.push(open);
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push(',');
        }
        each(item, out);
    }
    out.push(close);
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(serde_json::Number::from_f64(value).map_or(Value::Null, |number| Value::Number(number.into())))
    }
    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }
    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::Text(value))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::List(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Value, A::Error> {
        ObjectReader.visit_map(map).map(Value::Object)
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectReader)
    }
}

struct ObjectReader;

impl<'de> Visitor<'de> for ObjectReader {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Object(members))
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(name, value)| (name, value)))
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(flag) => serializer.serialize_bool(*flag),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items),
            Self::Object(members) => members.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn canonical_text_ignores_the_order_of_members() {
        assert_eq!(
            parse(r#"{"b":[1,{"y":null,"x":true}],"a":"\u00e9"}"#).canonical(),
            r#"{"a":"é","b":[1,{"x":true,"y":null}]}"#
        );
        assert_eq!(parse(r#"{ "a" : 1.50 }"#).canonical(), parse(r#"{"a":1.5}"#).canonical());
        assert_ne!(parse(r#"{"a":"1"}"#).canonical(), parse(r#"{"a":1}"#).canonical());
    }

    #[test]
    fn duplicate_members_are_kept() {
        assert!(matches!(parse(r#"{"a":1,"a":2}"#), Value::Object(members) if members.iter().count() == 2));
    }

    #[test]
    fn object_survives_a_round_trip_through_json() {
        for text in ["{}", r#"{"b":[1,{"y":null}],"a":"é","a":true}"#] {
            let object: Object = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&object).unwrap(), text);
            assert_eq!(Value::Object(object), parse(text));
        }
    }

    #[test]
    fn object_from_another_json_type_is_an_error() {
        for text in ["null", "1", r#""x""#, "[]", r#"[["a",1]]"#] {
            let error = serde_json::from_str::<Object>(text).unwrap_err();
            assert!(error.to_string().contains("expected a JSON object"), "{error}");
        }
    }
}
