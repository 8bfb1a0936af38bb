//! A JSON value that remembers the order of its members and which were given twice.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};

/// Any JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(serde_json::Number),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Value>),
    /// An object.
    Object(Object),
}

/// The members of an object as they were sent, duplicates included.
pub type Object = Vec<(String, Value)>;

impl Value {
    /// The JSON word for what this is, for messages.
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

    /// One spelling per meaning: members sorted by name, no white space. Two bodies with the same canonical text are
    /// the same request (decision B2).
    #[must_use]
    pub fn canonical(&self) -> String {
        let mut out = String::new();
        write_canonical(self, &mut out);
        out
    }
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(it) => out.push_str(if *it { "true" } else { "false" }),
        Value::Number(it) => out.push_str(&it.to_string()),
        Value::Text(it) => out.push_str(&serde_json::Value::from(it.as_str()).to_string()),
        Value::List(items) => write_all(items.iter(), '[', ']', out, write_canonical),
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by(|a, b| a.0.cmp(&b.0));
            write_all(sorted.into_iter(), '{', '}', out, |(name, value), out| {
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
    fn visit_bool<E>(self, it: bool) -> Result<Value, E> {
        Ok(Value::Bool(it))
    }
    fn visit_i64<E>(self, it: i64) -> Result<Value, E> {
        Ok(Value::Number(it.into()))
    }
    fn visit_u64<E>(self, it: u64) -> Result<Value, E> {
        Ok(Value::Number(it.into()))
    }
    fn visit_f64<E>(self, it: f64) -> Result<Value, E> {
        Ok(serde_json::Number::from_f64(it).map_or(Value::Null, Value::Number))
    }
    fn visit_str<E>(self, it: &str) -> Result<Value, E> {
        Ok(Value::Text(it.to_owned()))
    }
    fn visit_string<E>(self, it: String) -> Result<Value, E> {
        Ok(Value::Text(it))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::List(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Value::Object(members))
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(it) => serializer.serialize_bool(*it),
            Self::Number(it) => it.serialize(serializer),
            Self::Text(it) => serializer.serialize_str(it),
            Self::List(items) => serializer.collect_seq(items),
            Self::Object(members) => serializer.collect_map(members.iter().map(|(name, value)| (name, value))),
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
    fn the_order_of_members_does_not_change_the_canonical_text() {
        assert_eq!(
            parse(r#"{"b":[1,{"y":null,"x":true}],"a":"\u00e9"}"#).canonical(),
            r#"{"a":"é","b":[1,{"x":true,"y":null}]}"#
        );
        assert_eq!(parse(r#"{ "a" : 1.50 }"#).canonical(), parse(r#"{"a":1.5}"#).canonical());
        assert_ne!(parse(r#"{"a":"1"}"#).canonical(), parse(r#"{"a":1}"#).canonical());
    }

    #[test]
    fn duplicates_are_kept_for_whoever_judges_them() {
        assert!(matches!(parse(r#"{"a":1,"a":2}"#), Value::Object(members) if members.len() == 2));
    }
}
