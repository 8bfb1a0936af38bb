//! Strict reading of JSON documents of other systems: one object, within a size, and no member twice.

use std::collections::BTreeSet;

use candor_forms::json::{Object, Value};

/// Maximum size of a discovery document and of the response of a token endpoint, in bytes. They are read beside other
/// requests; those of real providers have less than 16 KiB.
pub const MAX_SMALL_DOCUMENT_BYTES: usize = 64 * 1024;
/// Maximum size of a document of a provider, in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 256 * 1024;

/// The reason why a document cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// The document is longer than allowed.
    #[error("the document is too long")]
    TooLarge,
    /// The document is not a JSON object.
    #[error("the document is not a JSON object")]
    NotAnObject,
    /// An object has a member twice, so that two readers could see different values.
    #[error("the document contains a JSON member twice")]
    RepeatedMember,
}

/// Reads an object of at most `max_bytes`.
///
/// ```
/// use candor_tokens::strict_json::{DocumentError, read_object};
///
/// assert!(read_object(br#"{"issuer": "https://id.example.com"}"#, 100).is_ok());
/// assert_eq!(read_object(br#"{"a": 1, "\u0061": 2}"#, 100), Err(DocumentError::RepeatedMember));
/// assert_eq!(read_object(b"[]", 100), Err(DocumentError::NotAnObject));
/// assert_eq!(read_object(b"{}", 1), Err(DocumentError::TooLarge));
/// ```
///
/// # Errors
/// Returns the reason why the document cannot be read.
pub fn read_object(document: &[u8], max_bytes: usize) -> Result<Object, DocumentError> {
    if document.len() > max_bytes {
        return Err(DocumentError::TooLarge);
    }
    let object: Object = serde_json::from_slice(document).map_err(|_| DocumentError::NotAnObject)?;
    if has_repeated_member(&object) { Err(DocumentError::RepeatedMember) } else { Ok(object) }
}

/// Returns `true` if this object, or an object inside it, has a member twice.
fn has_repeated_member(object: &Object) -> bool {
    let mut names = BTreeSet::new();
    object.iter().any(|(name, value)| !names.insert(name) || repeats_member(value))
}

fn repeats_member(value: &Value) -> bool {
    match value {
        Value::Object(members) => has_repeated_member(members),
        Value::List(items) => items.iter().any(repeats_member),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => false,
    }
}

/// Returns the text of a member. `None` if it is missing or not a text.
pub(super) fn text<'o>(object: &'o Object, name: &str) -> Option<&'o str> {
    match object.get(name) {
        Some(Value::Text(text)) => Some(text),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Object(_)) | None => None,
    }
}

/// Returns the texts of a list. `None` if the member is missing or has another type.
pub(super) fn texts<'o>(object: &'o Object, name: &str) -> Option<Vec<&'o str>> {
    let Some(Value::List(items)) = object.get(name) else { return None };
    let as_text = |item: &'o Value| if let Value::Text(text) = item { Some(text.as_str()) } else { None };
    items.iter().map(as_text).collect()
}
