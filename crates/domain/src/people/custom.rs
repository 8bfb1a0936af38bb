//! Custom fields: a flat map of strings, numbers and booleans (§2.3, decisions A8, D7).

use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};

use crate::json::Value;
use crate::problem::{Code, ValidationErrors, ValueError};
use crate::rule::{self, Shape};
use crate::schema::inline_schema;
use crate::text::bounded;

/// Most custom fields of one person (§8).
pub const MAX_FIELDS: usize = 32;
/// Length of the longest key, in characters (§8).
pub const MAX_KEY_CHARS: usize = 64;
/// Length of the longest value, in characters (§8).
pub const MAX_VALUE_CHARS: usize = 1024;

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

impl Custom {
    /// Returns the text that a filter is compared with (decision D7).
    ///
    /// ```
    /// use candor_domain::people::Custom;
    ///
    /// assert_eq!(Custom::Number(42.into()).canonical(), "42");
    /// assert_eq!(Custom::Flag(true).canonical(), "true");
    /// ```
    #[must_use]
    pub fn canonical(&self) -> String {
        match self {
            Self::Flag(flag) => flag.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }

    fn parse(value: &Value) -> Result<Self, ValueError> {
        match value {
            Value::Bool(flag) => Ok(Self::Flag(*flag)),
            Value::Number(number) => Ok(Self::Number(number.clone())),
            Value::Text(text) => bounded(text, 0..=MAX_VALUE_CHARS).map(|()| Self::Text(text.clone())),
            Value::Null | Value::List(_) | Value::Object(_) => {
                Err(ValueError::format(format!("a string, number or boolean, not {}", value.kind())))
            }
        }
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
pub type CustomPatch = BTreeMap<String, Option<Custom>>;

impl CustomFields {
    /// Returns the fields with a patch applied.
    #[must_use]
    pub fn merged(&self, patch: &CustomPatch) -> Self {
        let mut fields = self.0.clone();
        for (key, value) in patch {
            match value {
                Some(value) => fields.insert(key.clone(), value.clone()),
                None => fields.remove(key),
            };
        }
        Self(fields)
    }

    /// Checks the number of fields.
    ///
    /// # Errors
    /// Returns `too_long` for more than [`MAX_FIELDS`] fields.
    pub fn bounded(&self) -> Result<(), ValueError> {
        if self.0.len() <= MAX_FIELDS {
            return Ok(());
        }
        Err(ValueError::new(Code::TooLong, format!("must have at most {MAX_FIELDS} keys")))
    }

    /// Returns a digest per field, by which people with a certain value are found. Values are too long for an
    /// index, and a digest does not disclose them.
    #[must_use]
    pub fn digests(&self) -> Vec<[u8; 16]> {
        self.0.iter().map(|(key, value)| digest(key, &value.canonical())).collect()
    }
}

/// Returns the digest of a key and the canonical text of its value.
#[must_use]
pub(super) fn digest(key: &str, value: &str) -> [u8; 16] {
    let digest = ring::digest::digest(&ring::digest::SHA256, format!("{}\0{key}{value}", key.len()).as_bytes());
    let mut first = [0; 16];
    first.copy_from_slice(&digest.as_ref()[..16]);
    first
}

/// Checks the key of a custom field.
///
/// # Errors
/// Returns `too_short`, `too_long`, or `invalid_format` for a control character.
pub(crate) fn is_key(key: &str) -> Result<(), ValueError> {
    bounded(key, 1..=MAX_KEY_CHARS)
        .map_err(|flaw| ValueError { message: format!("the key {}", flaw.message), ..flaw })
}

/// The rule for the member `custom_fields` of a body. Problems name the key.
pub(super) struct Rule;

impl rule::Rule for Rule {
    type Value = Result<CustomPatch, ValidationErrors>;

    fn parse(&self, value: &Value) -> Result<Self::Value, ValueError> {
        Ok(parse(value))
    }

    fn shape(&self) -> Shape {
        Shape::Map { max: MAX_FIELDS, key_chars: MAX_KEY_CHARS, value_chars: MAX_VALUE_CHARS }
    }
}

/// Parses the member `custom_fields` of a body.
///
/// # Errors
/// Returns a problem named `custom_fields.<key>` for every invalid key or value.
pub(super) fn parse(value: &Value) -> Result<CustomPatch, ValidationErrors> {
    let Value::Object(members) = value else {
        return Err(ValidationErrors::one(
            "custom_fields",
            ValueError::format(format!("an object, not {}", value.kind())),
        ));
    };
    let (mut patch, mut problems) = (CustomPatch::new(), ValidationErrors::none());
    for (key, value) in members {
        let field = format!("custom_fields.{key}");
        if let Err(flaw) = is_key(key) {
            problems.add(field, flaw);
        } else if patch.contains_key(key) {
            problems.add(field, ValueError::format("given only once"));
        } else {
            let value = if *value == Value::Null {
                Some(None)
            } else {
                problems.take(&field, Custom::parse(value)).map(Some)
            };
            patch.insert(key.clone(), value.flatten());
        }
    }
    problems.or(patch)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_text(text: &str) -> Result<CustomPatch, Vec<(String, Code)>> {
        parse(&serde_json::from_str(text).unwrap()).map_err(|problems| {
            problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect()
        })
    }

    #[test]
    fn too_long_or_nested_custom_field_is_refused() {
        let (key, value) = ("k".repeat(64), "é".repeat(1024));
        assert!(parse_text(&format!(r#"{{"{key}":"{value}"}}"#)).is_ok());
        for (body, field, code) in [
            (format!(r#"{{"{key}k":1}}"#), format!("custom_fields.{key}k"), Code::TooLong),
            (format!(r#"{{"k":"{value}é"}}"#), "custom_fields.k".to_owned(), Code::TooLong),
            (r#"{"":1}"#.to_owned(), "custom_fields.".to_owned(), Code::TooShort),
            (r#"{"k":[1]}"#.to_owned(), "custom_fields.k".to_owned(), Code::InvalidFormat),
            (r#"{"k":{"a":1}}"#.to_owned(), "custom_fields.k".to_owned(), Code::InvalidFormat),
            (r#"{"k":1,"k":2}"#.to_owned(), "custom_fields.k".to_owned(), Code::InvalidFormat),
            (r#"{"k":"\u0000"}"#.to_owned(), "custom_fields.k".to_owned(), Code::InvalidFormat),
            ("[]".to_owned(), "custom_fields".to_owned(), Code::InvalidFormat),
        ] {
            assert_eq!(parse_text(&body).unwrap_err(), [(field, code)], "{body:.40}");
        }
    }

    #[test]
    fn stored_custom_fields_keep_their_json_types() {
        let stored = r#"{"a":true,"b":-1,"c":18446744073709551615,"d":0.5,"e":"x"}"#;
        let fields: CustomFields = serde_json::from_str(stored).unwrap();
        assert_eq!(serde_json::to_string(&fields).unwrap(), stored);
        for unsupported in [r#"{"a":null}"#, r#"{"a":[1]}"#, r#"{"a":{"b":1}}"#] {
            assert!(serde_json::from_str::<CustomFields>(unsupported).is_err(), "{unsupported}");
        }
    }

    #[test]
    fn patch_is_merged_per_key_and_null_removes_a_key() {
        let before = CustomFields(
            [("a".to_owned(), Custom::Flag(true)), ("b".to_owned(), Custom::Number(1.into()))].into(),
        );
        let after = before.merged(&parse_text(r#"{"a":null,"c":"x","absent":null}"#).unwrap());
        assert_eq!(serde_json::to_string(&after).unwrap(), r#"{"b":1,"c":"x"}"#);
    }

    #[test]
    fn more_than_32_custom_fields_are_refused() {
        let fields =
            |n: usize| CustomFields((0..n).map(|number| (number.to_string(), Custom::Flag(true))).collect());
        assert_eq!(fields(32).bounded(), Ok(()));
        assert_eq!(fields(33).bounded().unwrap_err().code, Code::TooLong);
    }

    #[test]
    fn digest_depends_on_the_border_of_key_and_value() {
        assert_ne!(digest("ab", "c"), digest("a", "bc"));
        assert_eq!(
            digest("a", "42"),
            CustomFields([("a".to_owned(), Custom::Number(42.into()))].into()).digests()[0]
        );
    }
}
