//! Custom fields: a flat map of strings, numbers and booleans (§2.3, decisions A8, D7).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};

use crate::json::Value;
use crate::keyed::{KeyedLimits, KeyedMap, KeyedPatch, KeyedValue};
use crate::problem::ValueError;
use crate::rule::Shape;
use crate::schema::inline_schema;
use crate::text::check_length;

/// Maximum number of custom fields of one person (§8).
pub const MAX_FIELDS: usize = 32;
/// Length of the longest key, in characters (§8).
pub const MAX_KEY_CHARS: usize = 64;
/// Length of the longest value, in characters (§8).
pub const MAX_VALUE_CHARS: usize = 1024;

/// Maximum number of keys that an organization can list as visible to every key.
pub const MAX_VISIBLE_FIELDS: usize = 200;

/// The value of a custom field.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Custom {
    /// The boolean `true` or `false`.
    Flag(bool),
    /// A number, integer or decimal.
    Number(serde_json::Number),
    /// A text, including dates.
    Text(String),
}

inline_schema!(Custom, "Custom", |_| json_schema!({"type": ["string", "number", "boolean"]}));

impl KeyedValue for Custom {
    /// Returns the text that a filter is compared with (decision D7).
    ///
    /// ```
    /// use candor_domain::keyed::KeyedValue;
    /// use candor_domain::people::Custom;
    ///
    /// assert_eq!(Custom::Number(42.into()).canonical(), "42");
    /// assert_eq!(Custom::Flag(true).canonical(), "true");
    /// ```
    fn canonical(&self) -> Cow<'_, str> {
        match self {
            Self::Flag(flag) => flag.to_string().into(),
            Self::Number(number) => number.to_string().into(),
            Self::Text(text) => text.into(),
        }
    }

    fn parse(value: &Value, max_chars: usize) -> Result<Self, ValueError> {
        match value {
            Value::Bool(flag) => Ok(Self::Flag(*flag)),
            Value::Number(number) => Ok(Self::Number(number.value().clone())),
            Value::Text(text) => check_length(text, 0..=max_chars).map(|()| Self::Text(text.clone())),
            Value::Null | Value::List(_) | Value::Object(_) => {
                Err(ValueError::format(format!("a string, number or boolean, not {}", value.kind())))
            }
        }
    }

    fn shape(limits: KeyedLimits) -> Shape {
        Shape::Map { max: limits.keys, key_chars: limits.key_chars, value_chars: limits.value_chars }
    }
}

/// Reads the value by its JSON type. The derived form of an untagged enum formats every text for an error that is
/// dropped; for a page of emoji this took seconds.
impl<'de> Deserialize<'de> for Custom {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CustomVisitor)
    }
}

struct CustomVisitor;

impl Visitor<'_> for CustomVisitor {
    type Value = Custom;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, number or boolean")
    }
    fn visit_bool<E>(self, flag: bool) -> Result<Custom, E> {
        Ok(Custom::Flag(flag))
    }
    fn visit_i64<E>(self, number: i64) -> Result<Custom, E> {
        Ok(Custom::Number(number.into()))
    }
    fn visit_u64<E>(self, number: u64) -> Result<Custom, E> {
        Ok(Custom::Number(number.into()))
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Custom, E> {
        let finite = serde_json::Number::from_f64(number);
        finite.map(Custom::Number).ok_or_else(|| E::custom("a number must be finite"))
    }
    fn visit_str<E>(self, text: &str) -> Result<Custom, E> {
        Ok(Custom::Text(text.to_owned()))
    }
    fn visit_string<E>(self, text: String) -> Result<Custom, E> {
        Ok(Custom::Text(text))
    }
}

/// The custom fields of a person, by key.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct CustomFields(pub BTreeMap<String, Custom>);

/// Changes of custom fields by key: a value sets the key, `None` removes it.
pub type CustomPatch = KeyedPatch<Custom>;

impl CustomFields {
    /// Returns about the length of the fields as JSON. Escapes are not counted.
    #[must_use]
    pub fn json_bytes(&self) -> usize {
        let text_bytes = |value: &Custom| if let Custom::Text(text) = value { text.len() } else { 0 };
        self.0.iter().map(|(key, value)| key.len() + text_bytes(value)).sum()
    }
}

impl KeyedMap for CustomFields {
    type Value = Custom;

    const NAME: &'static str = "custom_fields";
    const LIMITS: KeyedLimits =
        KeyedLimits { keys: MAX_FIELDS, key_chars: MAX_KEY_CHARS, value_chars: MAX_VALUE_CHARS };

    fn from_entries(entries: BTreeMap<String, Custom>) -> Self {
        Self(entries)
    }

    fn entries(&self) -> &BTreeMap<String, Custom> {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_custom_fields_keep_their_json_types() {
        let json_text = r#"{"a":true,"b":-1,"c":18446744073709551615,"d":0.5,"e":"x"}"#;
        let fields: CustomFields = serde_json::from_str(json_text).unwrap();
        assert_eq!(serde_json::to_string(&fields).unwrap(), json_text);
        for unsupported in [r#"{"a":null}"#, r#"{"a":[1]}"#, r#"{"a":{"b":1}}"#] {
            assert!(serde_json::from_str::<CustomFields>(unsupported).is_err(), "{unsupported}");
        }
    }
}
