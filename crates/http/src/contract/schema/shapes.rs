//! Building blocks of schemas: bounded texts, identifiers, timestamps, enumerations.

use candor_domain::id::{Id, Kind};
use candor_domain::retention::Period;
use candor_domain::time::{Date, Timestamp};
use serde_json::{Value, json};

use super::responses::response_of;

/// A member of an object.
pub(crate) type Member = (&'static str, Value);

/// Control characters that texts exclude (decision A9), for use within brackets.
const CONTROLS: &str = r"\u0000-\u0008\u000B\u000C\u000E-\u001F";

/// Unicode line ends that single-line texts exclude as well, for use within brackets.
const LINE_ENDS: &str = r"\n\r\u0085\u2028\u2029";

/// Returns the schema of a text with length bounds. If `min` is positive, the text must have a non-blank
/// character.
pub(crate) fn text(min: usize, max: usize) -> Value {
    let pattern = if min == 0 {
        format!("^[^{CONTROLS}]*$")
    } else {
        format!(r"^[^{CONTROLS}]*[^\s{CONTROLS}][^{CONTROLS}]*$")
    };
    json!({"type": "string", "minLength": min, "maxLength": max, "pattern": pattern})
}

/// Returns the schema of a non-blank single-line text with length bounds.
pub(crate) fn line(min: usize, max: usize) -> Value {
    let refused_characters = format!("{CONTROLS}{LINE_ENDS}");
    let pattern = format!(r"^[^{refused_characters}]*[^\s{refused_characters}][^{refused_characters}]*$");
    json!({"type": "string", "minLength": min, "maxLength": max, "pattern": pattern})
}

/// Returns the schema of a non-blank text behind a prefix.
pub(crate) fn prefixed_text(prefix: &str, max: usize) -> Value {
    let pattern = format!(r"^{}[^{CONTROLS}]*[^\s{CONTROLS}][^{CONTROLS}]*$", prefix.replace('.', r"\."));
    json!({"type": "string", "minLength": prefix.len() + 1, "maxLength": prefix.len() + max, "pattern": pattern})
}

/// Returns the schema of an unbounded text in an answer.
pub(crate) fn plain() -> Value {
    json!({"type": "string"})
}

/// Returns the schema of an identifier.
pub(crate) fn id<K: Kind>() -> Value {
    response_of::<Id<K>>()
}

/// Returns the schema of a timestamp.
pub(crate) fn datetime() -> Value {
    response_of::<Timestamp>()
}

/// Returns the schema of a date.
pub(crate) fn date() -> Value {
    response_of::<Date>()
}

/// Returns the schema of a period of a retention rule.
pub(crate) fn period() -> Value {
    response_of::<Period>()
}

/// Returns the schema of an integer with a minimum.
pub(crate) fn count(least: u8) -> Value {
    json!({"type": "integer", "minimum": least})
}

/// Returns the schema of a boolean.
pub(crate) fn flag() -> Value {
    json!({"type": "boolean"})
}

/// Makes a schema nullable.
pub(crate) fn nullable(mut schema: Value) -> Value {
    if schema.get("$ref").is_some() {
        return json!({"anyOf": [schema, {"type": "null"}]});
    }
    if let Some(choices) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        choices.push(json!({"type": "null"}));
    } else if let Some(kind) = schema.get("type").cloned() {
        schema["type"] = json!([kind, "null"]);
    }
    schema
}

/// Returns an object member with a description.
pub(crate) fn field(name: &'static str, schema: Value, description: &str) -> Member {
    (name, describe(schema, description))
}

/// Adds a description to a schema.
pub(crate) fn describe(mut schema: Value, description: &str) -> Value {
    schema["description"] = json!(description);
    schema
}

/// Returns the schema of an array.
pub(crate) fn array(items: &Value) -> Value {
    json!({"type": "array", "items": items})
}

/// Returns the schema of an array without duplicates.
pub(crate) fn set(items: &Value, min: usize, max: usize) -> Value {
    json!({"type": "array", "items": items, "uniqueItems": true, "minItems": min, "maxItems": max})
}

/// Returns a reference to another schema.
pub(crate) fn reference_to(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// Returns the object schema of an answer: `always` is required, `sometimes` depends on the request, and later
/// versions may add members.
pub(crate) fn response(always: Vec<Member>, sometimes: Vec<Member>) -> Value {
    let required_names: Vec<_> = always.iter().map(|(name, _)| *name).collect();
    let properties: serde_json::Map<_, _> =
        always.into_iter().chain(sometimes).map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({"type": "object", "required": required_names, "properties": properties})
}

/// Returns the closed object schema of a request.
pub(crate) fn request(required: Vec<Member>, optional: Vec<Member>) -> Value {
    let names: Vec<_> = required.iter().map(|(name, _)| *name).collect();
    let mut schema = response(required, optional);
    if names.is_empty() {
        schema.as_object_mut().map(|schema| schema.remove("required"));
    }
    schema["additionalProperties"] = json!(false);
    schema
}

/// Returns the schema of a page of a list (§1).
pub(crate) fn page(items: &Value, cursor: Value) -> Value {
    let members = vec![
        field("data", array(items), "Entries of this page, in order. A page may have fewer than `limit`."),
        ("next_cursor", cursor),
        field("has_more", flag(), "`true` if more entries follow this page."),
    ];
    response(members, vec![])
}
