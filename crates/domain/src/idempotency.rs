//! Idempotency keys: one effect per key, and the same answer for every retry (§8, decision B2).

use ring::digest::{Context, SHA256};

use crate::json::Value;
use crate::problem::Flaw;
use crate::time::Timestamp;

/// The longest key.
pub const MAX_KEY_CHARS: usize = 255;
/// How long an answer is kept.
pub const RETENTION_SECONDS: i64 = 24 * 3600;

/// A key that a client chose.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Reads the header: bare, or quoted, which is the same key.
    ///
    /// # Errors
    /// `invalid_format` unless it has 1 to 255 visible ASCII characters.
    pub fn parse(text: &str) -> Result<Self, Flaw> {
        let bare = text.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(text);
        let visible = bare.bytes().all(|it| it.is_ascii_graphic());
        if bare.is_empty() || bare.len() > MAX_KEY_CHARS || !visible {
            return Err(Flaw::format(format!("1 to {MAX_KEY_CHARS} visible ASCII characters")));
        }
        Ok(Self(bare.to_owned()))
    }

    /// The key without quotes.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Tells whether a retry asks for the same thing: method, path, query and canonical body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The fingerprint of a request with a JSON body, or none.
    #[must_use]
    pub fn of_json(method: &str, path: &str, query: &str, body: Option<&Value>) -> Self {
        Self::of_bytes(method, path, query, body.map(Value::canonical).unwrap_or_default().as_bytes())
    }

    /// The fingerprint of a request with any other body.
    #[must_use]
    pub fn of_bytes(method: &str, path: &str, query: &str, body: &[u8]) -> Self {
        let mut context = Context::new(&SHA256);
        for part in [method.as_bytes(), path.as_bytes(), query.as_bytes(), body] {
            context.update(&(part.len() as u64).to_be_bytes());
            context.update(part);
        }
        let mut bytes = [0; 32];
        bytes.copy_from_slice(context.finish().as_ref());
        Self(bytes)
    }

    /// The bytes that a store keeps.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 32] {
        self.0
    }

    /// The fingerprint that [`Fingerprint::to_bytes`] was called on.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

/// An answer that is kept for retries. Its body is sealed: the answer of a key or webhook creation holds a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// The client's key.
    pub key: IdempotencyKey,
    /// What was asked.
    pub fingerprint: Fingerprint,
    /// The status of the answer.
    pub status: u16,
    /// The sealed headers and body of the answer.
    pub sealed: Vec<u8>,
    /// When it was given.
    pub created_at: Timestamp,
}

impl IdempotencyRecord {
    /// Until when the answer is given again.
    #[must_use]
    pub const fn expires_at(&self) -> Timestamp {
        self.created_at.plus_seconds(RETENTION_SECONDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_1_to_255_visible_characters_and_quotes_do_not_count() {
        assert_eq!(IdempotencyKey::parse("\"abc\""), IdempotencyKey::parse("abc"));
        assert!(IdempotencyKey::parse(&"k".repeat(255)).is_ok());
        for bad in ["", "\"\"", "a b", "a\tb", "é", &"k".repeat(256)] {
            assert!(IdempotencyKey::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_fingerprint_sees_every_part_and_no_difference_in_spelling() {
        let body = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let base = Fingerprint::of_json("POST", "/v1/a", "", Some(&body(r#"{"a":1,"b":2}"#)));
        assert_eq!(base, Fingerprint::of_json("POST", "/v1/a", "", Some(&body("{ \"b\":2, \"a\":1 }"))));
        for other in [
            Fingerprint::of_json("PUT", "/v1/a", "", Some(&body(r#"{"a":1,"b":2}"#))),
            Fingerprint::of_json("POST", "/v1/", "a", Some(&body(r#"{"a":1,"b":2}"#))),
            Fingerprint::of_json("POST", "/v1/a", "", Some(&body(r#"{"a":1,"b":"2"}"#))),
            Fingerprint::of_json("POST", "/v1/a", "", None),
        ] {
            assert_ne!(base, other);
        }
    }
}
