//! The manager of a SCIM user, in the forms that identity providers send.

use candor_forms::json::{Object, Value};

use super::UserDocument;
use crate::error::ScimError;
use crate::operations::member;

/// Returns the reference in the last segment of a URL, or the text itself.
fn reference(text: &str) -> &str {
    let text = text.trim();
    if text.contains("://") || text.starts_with('/') || text.contains("Users/") {
        text.trim_end_matches('/').rsplit('/').next().unwrap_or(text)
    } else {
        text
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::List(_) | Value::Object(_) => None,
    }
}

/// Returns the text that refers to the manager: `value`, else the last segment of `$ref`.
#[must_use]
pub fn manager_text(manager: &Value) -> Option<String> {
    let Value::Object(members) = manager else { return None };
    let value = member(members, "value").and_then(text);
    let from_url = || member(members, "$ref").and_then(text).map(|url| reference(&url).to_owned());
    value.or_else(from_url).filter(|text| !text.is_empty())
}

/// Returns the manager as an object, or `None` if the value names no manager.
fn manager(value: Value) -> Result<Option<Object>, ScimError> {
    let invalid = || ScimError::value("`manager` must name one person: {\"value\": \"…\"}.");
    match value {
        Value::Null => Ok(None),
        Value::List(mut items) => match (items.pop(), items.is_empty()) {
            (None, _) => Ok(None),
            (Some(Value::List(_)), _) | (Some(_), false) => Err(invalid()),
            (Some(item), true) => manager(item),
        },
        Value::Text(_) | Value::Number(_) => {
            let reference_text = text(&value).map(|text| reference(&text).to_owned());
            Ok(reference_text.map(|text| [("value".to_owned(), Value::Text(text))].into()))
        }
        Value::Object(members) => {
            let member_of = |name: &str| member(&members, name).filter(|value| **value != Value::Null).cloned();
            let mut remaining_members = Object::new();
            for name in ["value", "$ref"] {
                match member_of(name) {
                    Some(Value::List(_) | Value::Object(_) | Value::Bool(_)) => return Err(invalid()),
                    Some(value) => {
                        remaining_members.extend(text(&value).map(|text| (name.to_owned(), Value::Text(text))))
                    }
                    None => {}
                }
            }
            let text = manager_text(&Value::Object(remaining_members.clone()));
            Ok(text.map(|text| {
                remaining_members.set("value", Value::Text(text));
                remaining_members
            }))
        }
        Value::Bool(_) => Err(invalid()),
    }
}

impl UserDocument {
    /// Sets the manager, or removes it if the value names none. The display name is read-only and ignored.
    pub(super) fn set_manager(&mut self, sub: Option<&str>, value: Option<Value>) -> Result<(), ScimError> {
        let manager_value = match (sub, value) {
            (Some("displayName"), _) => return Ok(()),
            (None | Some("value"), value) => manager(value.unwrap_or(Value::Null))?,
            (Some("$ref"), Some(url @ Value::Text(_))) => {
                manager(Value::Object([("$ref".to_owned(), url)].into()))?
            }
            (Some("$ref"), None) => None,
            (Some("$ref"), Some(_)) => return Err(ScimError::value("`manager.$ref` must be a string.")),
            (Some(_), _) => {
                return Err(ScimError::value("`manager` has only the attributes value, $ref and displayName."));
            }
        };
        match manager_value {
            Some(members) => self.set_enterprise("manager", Value::Object(members)),
            None => *self = std::mem::take(self).without_attributes(&[], &["manager"]),
        }
        Ok(())
    }
}
