//! Schemas of the values that the service serializes, for the OpenAPI document.
//!
//! The type of an answer derives [`schemars::JsonSchema`]. The docs of its members are their descriptions in the
//! document, also where a request sets them. Bounds are not repeated there: they follow from the rules of the
//! fields.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use crate::id::{EventKind, Id, Kind};
use crate::time::{Date, Timestamp};

/// Implements [`schemars::JsonSchema`] for a value that is described in place.
#[doc(hidden)]
#[macro_export]
macro_rules! __inline_schema {
    ($type:ty $(where $parameter:ident: $bound:ident)?, $name:literal, |$generator:pat_param| $schema:expr) => {
        impl$(<$parameter: $bound>)? schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn json_schema($generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $schema
            }
        }
    };
}
pub use __inline_schema as inline_schema;

inline_schema!(Id<K> where K: Kind, "Id", |_| id_after(K::PREFIX, "", "01KJPWD6M24DF9HWRAYHFSFV52"));
inline_schema!(Timestamp, "Timestamp", |_| json_schema!({
    "type": "string", "format": "date-time", "examples": ["2026-03-02T09:00:00.000Z"],
}));
inline_schema!(Date, "Date", |_| json_schema!({
    "type": "string", "format": "date", "examples": ["2026-03-02"],
}));

/// The id of an event as receivers see it, for `#[schemars(with = "PublicEventId")]`: the id of a test has its own
/// prefix.
#[derive(Debug)]
pub struct PublicEventId;

inline_schema!(PublicEventId, "PublicEventId", |_| id_after(
    EventKind::PREFIX,
    "(test_)?",
    "01KJPWD6M2D4QPFJQ4CNK9WK64"
));

/// Returns the schema of a text in an answer: one of the words of a set, or any other text. Later versions may have more
/// words, and clients must accept them. `name` is the name of the set in the document.
pub fn open(generator: &SchemaGenerator, name: &str) -> Schema {
    let set = format!("#{}/{name}", generator.settings().definitions_path);
    json_schema!({"anyOf": [{"$ref": set}, {"type": "string"}]})
}

/// Returns the schema of an array.
pub fn array(items: &Schema) -> Schema {
    json_schema!({"type": "array", "items": items})
}

/// Returns the schema of an object without one of its members.
pub fn without_member(mut schema: Schema, name: &str) -> Schema {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.remove(name);
    }
    if let Some(required_members) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required_members.retain(|member| member != name);
    }
    schema
}

/// Returns the schema of ids with a prefix, and with this pattern between prefix and ULID.
fn id_after(prefix: &str, infix: &str, example: &str) -> Schema {
    let pattern = format!("^{prefix}_{infix}[0-7][0-9A-HJKMNP-TV-Z]{{25}}$");
    json_schema!({"type": "string", "pattern": pattern, "examples": [format!("{prefix}_{example}")]})
}
