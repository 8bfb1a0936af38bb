//! The members that an action changed, with their values before and after it.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::json::{self, Object, Value};

/// Length of the longest list or object that an entry keeps as it is, in bytes of its JSON.
pub const VALUE_BYTES: usize = 4096;
/// Length of the longest text that an entry keeps as it is, in bytes of its JSON: enough for the body of a summary.
pub const TEXT_BYTES: usize = 128 * 1024;

/// The members of a resource that a change touched, by name.
pub type Changes = BTreeMap<String, Change>;

/// The values of one member before and after a change. Decimals are exact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "FieldChange", description = "The values of one member before and after a change.")]
pub struct Change {
    /// Value before the change, of any type. Null if there was none. `{bytes, sha256}` for a list or an object of
    /// more than 4096 bytes of JSON, and for a text of more than 131,072.
    #[serde(deserialize_with = "read_exactly")]
    #[schemars(with = "serde_json::Value")]
    pub from: Value,
    /// Value after the change, of any type. Null if there is none. `{bytes, sha256}` for a list or an object of more
    /// than 4096 bytes of JSON, and for a text of more than 131,072.
    #[serde(deserialize_with = "read_exactly")]
    #[schemars(with = "serde_json::Value")]
    pub to: Value,
}

impl Change {
    /// Creates a change from one value to another.
    #[must_use]
    pub fn new(from: &impl Serialize, to: &impl Serialize) -> Self {
        Self { from: shorten_value(&text_of(from)), to: shorten_value(&text_of(to)) }
    }

    /// Creates the change of a member that was null.
    #[must_use]
    pub fn from_null(to: &impl Serialize) -> Self {
        Self::new(&(), to)
    }
}

/// Reads a value with the texts of its numbers: binary floating point would change some of them.
fn read_exactly<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    json::parse(raw.get().as_bytes()).map_err(serde::de::Error::custom)
}

/// Returns the members of two JSON objects that differ.
#[must_use]
pub fn difference(before: &impl Serialize, after: &impl Serialize) -> Changes {
    let (before, after) = (text_of(before), text_of(after));
    let (mut before, after) = (members(&before), members(&after));
    let mut changes = Changes::new();
    for (name, to) in after {
        let from = before.remove(&name).map_or(NULL, RawValue::get);
        if from != to.get() {
            changes.insert(name, Change { from: shorten_value(from), to: shorten_value(to.get()) });
        }
    }
    for (name, from) in before {
        changes.insert(name, Change { from: shorten_value(from.get()), to: Value::Null });
    }
    changes
}

/// A resource before or after a change: as it is, and as a reader sees it.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a, T> {
    /// The resource as stored.
    pub whole: &'a T,
    /// The resource without what the reader may not see.
    pub shown: &'a T,
}

/// Restricts changes to what a reader sees of the resource before and after them (decision B5). A member that looks
/// the same to the reader is removed.
pub fn narrow<T: Serialize>(changes: &mut Changes, before: Side<'_, T>, after: Side<'_, T>) {
    let hidden_keys = |side: Side<'_, T>| difference(side.whole, side.shown).into_keys();
    let mut visible_changes = difference(before.shown, after.shown);
    // A set: a member that is hidden on both sides would otherwise be handled twice.
    let names: BTreeSet<_> = hidden_keys(before).chain(hidden_keys(after)).collect();
    for name in names {
        if changes.remove(&name).is_some() {
            changes.extend(visible_changes.remove_entry(&name));
        }
    }
}

/// JSON text of the value null.
const NULL: &str = "null";

fn text_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| NULL.to_owned())
}

fn members(text: &str) -> BTreeMap<String, &RawValue> {
    let members = serde_json::from_str(text);
    debug_assert!(members.is_ok(), "only JSON objects have members: {text}");
    members.unwrap_or_default()
}

/// Returns the value of a JSON text as an entry keeps it, with the members of objects sorted by name. A list or
/// object above [`VALUE_BYTES`], or a text above [`TEXT_BYTES`], is replaced by its length and its digest: the
/// digest proves the value, and each entry stays small. The limit of texts is larger, because texts may be
/// evidence.
fn shorten_value(text: &str) -> Value {
    let value = json::parse(text.as_bytes()).unwrap_or(Value::Null);
    let most = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => return value,
        Value::Text(_) => TEXT_BYTES,
        Value::List(_) | Value::Object(_) => VALUE_BYTES,
    };
    let text = value.canonical();
    if text.len() <= most {
        return json::parse(text.as_bytes()).unwrap_or(value);
    }
    let digest = hex(ring::digest::digest(&ring::digest::SHA256, text.as_bytes()).as_ref());
    let members =
        [("bytes".to_owned(), Value::Number(text.len().into())), ("sha256".to_owned(), Value::Text(digest))];
    Value::Object(Object::from(members))
}

/// Returns `true` if only the length and the digest of a value are kept.
pub(super) fn is_shortened(value: &Value) -> bool {
    let Value::Object(members) = value else { return false };
    let mut names = members.iter().map(|(name, _)| name.as_str());
    (names.next(), names.next(), names.next()) == (Some("bytes"), Some("sha256"), None)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decimal::Decimal;
    use serde_json::json;

    #[test]
    fn large_values_are_kept_as_length_and_digest() {
        let text = "x".repeat(TEXT_BYTES - 2);
        let fits = difference(&json!({"body": ""}), &json!({"body": text}));
        assert_eq!(fits["body"].to, Value::Text(text), "texts of people may be evidence");
        let large = json!({"body": "x".repeat(TEXT_BYTES - 1), "fields": vec![0; VALUE_BYTES], "count": 1});
        let changes = serde_json::to_value(difference(&large, &json!({"count": 2}))).unwrap();
        assert!(is_shortened(&difference(&large, &json!({}))["fields"].from));
        assert_eq!(changes["body"]["from"]["bytes"], TEXT_BYTES + 1);
        assert_eq!(changes["body"]["from"]["sha256"].as_str().unwrap().len(), 64);
        assert_eq!(changes["fields"]["from"]["bytes"], 2 * VALUE_BYTES + 1);
        assert_eq!(changes["count"], json!({"from": 1, "to": 2}));
    }

    #[test]
    fn narrowed_changes_are_those_that_the_reader_sees() {
        let states = [json!({"a": 1, "b": [1, 2], "c": [3]}), json!({"a": 2, "b": [1, 4], "c": [3, 5, 6]})];
        let changed_values = [json!({"a": 1, "b": [1], "c": [3]}), json!({"a": 2, "b": [1], "c": [3, 5]})];
        let side = |at: usize| Side { whole: &states[at], shown: &changed_values[at] };
        let mut changes = difference(&states[0], &states[1]);
        narrow(&mut changes, side(0), side(1));
        let expected_changes = json!({"a": {"from": 1, "to": 2}, "c": {"from": [3], "to": [3, 5]}});
        assert_eq!(serde_json::to_value(changes).unwrap(), expected_changes);
    }

    #[test]
    fn changed_decimals_are_exact_and_survive_a_round_trip() {
        let measure = |text: &str| BTreeMap::from([("current", vec![Decimal::parse(text).unwrap()])]);
        // Both numbers have the same value in binary floating point.
        let changes = difference(&measure("-999999999999.9997"), &measure("-999999999999.9998"));
        let text = serde_json::to_string(&changes).unwrap();
        assert_eq!(text, r#"{"current":{"from":[-999999999999.9997],"to":[-999999999999.9998]}}"#);
        let read_back: Changes = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&read_back).unwrap(), text);
        assert_eq!(difference(&measure("0.5"), &measure("0.50")), Changes::new());
    }

    #[test]
    fn absent_member_is_null_and_members_of_objects_are_sorted() {
        let change = &difference(&json!({}), &json!({"a": null, "b": {"d": 1, "c": 2}}))["b"];
        assert_eq!(serde_json::to_string(change).unwrap(), r#"{"from":null,"to":{"c":2,"d":1}}"#);
        assert_eq!(*change, Change::from_null(&json!({"d": 1, "c": 2})));
    }
}
