//! Idempotency keys: one effect per key, and an equal response for every retry (§8, decision B2).

use ring::digest::{Context, SHA256, digest};

use crate::id::IdentityProviderId;
use crate::json::Value;
use crate::problem::ValueError;
use crate::time::Timestamp;

/// Length of the longest idempotency key, in characters.
pub const MAX_KEY_CHARS: usize = 255;
/// Time for which a response is stored for retries, in seconds.
pub const RETENTION_SECONDS: i64 = 24 * 3600;

/// A value of the `Idempotency-Key` header.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Parses the header. A quoted key equals the bare one.
    ///
    /// # Errors
    /// Returns `invalid_format` unless the key has 1 to 255 visible ASCII characters.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        let bare = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
        let visible = bare.bytes().all(|byte| byte.is_ascii_graphic());
        if bare.is_empty() || bare.len() > MAX_KEY_CHARS || !visible {
            return Err(ValueError::format(format!("1 to {MAX_KEY_CHARS} visible ASCII characters")));
        }
        Ok(Self(bare.to_owned()))
    }

    /// Returns the key that marks a logout token as used. The key has a blank, so no client can send it.
    #[must_use]
    pub fn from_logout(provider: IdentityProviderId, token_id: &str) -> Self {
        let hash = digest(&SHA256, token_id.as_bytes());
        let digits: String = hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        Self(format!("logout {provider} {digits}"))
    }

    /// Returns the key without quotes.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A digest of method, path, query and canonical body, which tells a retry from a different request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Returns the fingerprint of a request with a JSON body or without a body.
    #[must_use]
    pub fn from_json(method: &str, path: &str, query: &str, body: Option<&Value>) -> Self {
        Self::from_body(method, path, query, body.map(Value::canonical).unwrap_or_default().as_bytes())
    }

    /// Returns the fingerprint of a request with a body that is not JSON.
    #[must_use]
    pub fn from_body(method: &str, path: &str, query: &str, body: &[u8]) -> Self {
        let mut context = Context::new(&SHA256);
        for part in [method.as_bytes(), path.as_bytes(), query.as_bytes(), body] {
            context.update(&(part.len() as u64).to_be_bytes());
            context.update(part);
        }
        let mut bytes = [0; 32];
        bytes.copy_from_slice(context.finish().as_ref());
        Self(bytes)
    }

    /// Returns the bytes that stores keep.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 32] {
        self.0
    }

    /// Creates a fingerprint from the result of [`Fingerprint::to_bytes`].
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

/// A replay: the response to a request, stored for retries with the same idempotency key. The body is sealed, because
/// the creation of a key or webhook returns a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    /// The key that the client sent.
    pub key: IdempotencyKey,
    /// The fingerprint of the first request.
    pub fingerprint: Fingerprint,
    /// HTTP status of the response.
    pub status: u16,
    /// The sealed headers and body of the response.
    pub sealed: Vec<u8>,
    /// Time of the response.
    pub created_at: Timestamp,
}

impl Replay {
    /// Returns the time until which retries get the replay.
    #[must_use]
    pub const fn expires_at(&self) -> Timestamp {
        self.created_at.plus_seconds(RETENTION_SECONDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idempotency_key_needs_1_to_255_visible_ascii_without_quotes() {
        assert_eq!(IdempotencyKey::parse("\"abc\""), IdempotencyKey::parse("abc"));
        assert_eq!(IdempotencyKey::parse("\"abc\"").unwrap().as_str(), "abc");
        assert!(IdempotencyKey::parse(&"k".repeat(255)).is_ok());
        for bad in ["", "\"\"", "a b", "a\tb", "é", &"k".repeat(256)] {
            assert!(IdempotencyKey::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn fingerprint_covers_every_part_and_ignores_json_spelling() {
        let body = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let base = Fingerprint::from_json("POST", "/v1/a", "", Some(&body(r#"{"a":1,"b":2}"#)));
        assert_eq!(base, Fingerprint::from_json("POST", "/v1/a", "", Some(&body("{ \"b\":2, \"a\":1 }"))));
        for other in [
            Fingerprint::from_json("PUT", "/v1/a", "", Some(&body(r#"{"a":1,"b":2}"#))),
            Fingerprint::from_json("POST", "/v1/", "a", Some(&body(r#"{"a":1,"b":2}"#))),
            Fingerprint::from_json("POST", "/v1/a", "", Some(&body(r#"{"a":1,"b":"2"}"#))),
            Fingerprint::from_json("POST", "/v1/a", "", None),
        ] {
            assert_ne!(base, other);
        }
    }
}
