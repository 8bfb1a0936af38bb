//! The building blocks of schemas: texts with their bounds, identifiers, times, words.

use candor_domain::id::Kind;
use serde_json::{Value, json};

/// A member of an object.
pub(crate) type Member = (&'static str, Value);

/// Characters that texts do not have (decision A9), for use within brackets.
const CONTROLS: &str = r"\u0000-\u0008\u000B\u000C\u000E-\u001F";

/// Line ends of Unicode, which names in one line do not have either, for use within brackets.
const LINE_ENDS: &str = r"\n\r\u0085\u2028\u2029";

/// A text of so many characters. One that must have a character must have one that is not blank.
pub(crate) fn text(min: usize, max: usize) -> Value {
    let pattern =
        if min == 0 { format!("^[^{CONTROLS}]*$") } else { format!(r"^[^{CONTROLS}]*[^\s{CONTROLS}][^{CONTROLS}]*$") };
    json!({"type": "string", "minLength": min, "maxLength": max, "pattern": pattern})
}

/// A text of so many characters in one line. It has one that is not blank.
pub(crate) fn line(min: usize, max: usize) -> Value {
    let refused = format!("{CONTROLS}{LINE_ENDS}");
    let pattern = format!(r"^[^{refused}]*[^\s{refused}][^{refused}]*$");
    json!({"type": "string", "minLength": min, "maxLength": max, "pattern": pattern})
}

/// A text of so many characters behind a prefix; it has one that is not blank.
pub(crate) fn prefixed(prefix: &str, max: usize) -> Value {
    let pattern = format!(r"^{}[^{CONTROLS}]*[^\s{CONTROLS}][^{CONTROLS}]*$", prefix.replace('.', r"\."));
    json!({"type": "string", "minLength": prefix.len() + 1, "maxLength": prefix.len() + max, "pattern": pattern})
}

/// A text as the service writes it.
pub(crate) fn plain() -> Value {
    json!({"type": "string"})
}

/// An identifier of a kind.
pub(crate) fn id<K: Kind>() -> Value {
    let pattern = format!("^{}_[0-7][0-9A-HJKMNP-TV-Z]{{25}}$", K::PREFIX);
    let example = format!("{}_01KJPWD6M24DF9HWRAYHFSFV52", K::PREFIX);
    json!({"type": "string", "pattern": pattern, "examples": [example]})
}

/// An instant.
pub(crate) fn datetime() -> Value {
    json!({"type": "string", "format": "date-time", "examples": ["2026-03-02T09:00:00.000Z"]})
}

/// A day.
pub(crate) fn date() -> Value {
    json!({"type": "string", "format": "date", "examples": ["2026-03-02"]})
}

/// A whole number from here on.
pub(crate) fn count(least: u8) -> Value {
    json!({"type": "integer", "minimum": least})
}

/// A boolean.
pub(crate) fn flag() -> Value {
    json!({"type": "boolean"})
}

/// The schema, or null.
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

/// A member of an object, with a sentence about it.
pub(crate) fn field(name: &'static str, schema: Value, description: &str) -> Member {
    (name, about(schema, description))
}

/// The schema with a sentence about it.
pub(crate) fn about(mut schema: Value, description: &str) -> Value {
    schema["description"] = json!(description);
    schema
}

/// The schema under the name that generated clients give its type.
pub(crate) fn titled(mut schema: Value, title: &str) -> Value {
    schema["title"] = json!(title);
    schema
}

/// An array.
pub(crate) fn array(items: &Value) -> Value {
    json!({"type": "array", "items": items})
}

/// An array without duplicates.
pub(crate) fn set(items: &Value, min: usize, max: usize) -> Value {
    json!({"type": "array", "items": items, "uniqueItems": true, "minItems": min, "maxItems": max})
}

/// Another schema of the document.
pub(crate) fn named(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// What the service answers: all of these members, and more when the version grows; some only when asked for.
pub(crate) fn answer(always: Vec<Member>, sometimes: Vec<Member>) -> Value {
    let required: Vec<_> = always.iter().map(|(name, _)| *name).collect();
    let properties: serde_json::Map<_, _> =
        always.into_iter().chain(sometimes).map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({"type": "object", "required": required, "properties": properties})
}

/// What a request carries: these members and no others.
pub(crate) fn request(required: Vec<Member>, optional: Vec<Member>) -> Value {
    let names: Vec<_> = required.iter().map(|(name, _)| *name).collect();
    let mut schema = answer(required, optional);
    if names.is_empty() {
        schema.as_object_mut().map(|it| it.remove("required"));
    }
    schema["additionalProperties"] = json!(false);
    schema
}

/// A page of a list (§1).
pub(crate) fn page(items: &Value, cursor: Value) -> Value {
    let members = vec![
        field("data", array(items), "Entries of this page, in order. A page may have fewer than `limit`."),
        ("next_cursor", cursor),
        field("has_more", flag(), "`true` if more entries follow this page."),
    ];
    answer(members, vec![])
}

/// When a resource was created and last changed.
pub(crate) fn times() -> [Member; 2] {
    [
        field("created_at", datetime(), "Creation time."),
        field("updated_at", datetime(), "Time of the last change. It increases with every change."),
    ]
}

/// When a resource was archived.
pub(crate) fn archived_at() -> Member {
    field("archived_at", nullable(datetime()), "Archive time. Null if it is not archived.")
}
