//! API keys that commands hold for their user.

use std::fmt;

use candor_client::Secret;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::RemoteError;

/// Prefix of every API key.
const PREFIX: &str = "cdr_";
/// Prefix of the keys of test data sets (decision B4).
const TEST_PREFIX: &str = "cdr_test_";

/// An API key. Neither `Debug` nor an error shows it; it has no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ApiKey(Secret);

impl ApiKey {
    /// Reads a key. Spaces and line ends around it are ignored.
    ///
    /// # Errors
    /// [`RemoteError::MalformedKey`] if the text is no API key.
    pub(crate) fn parse(text: &str) -> Result<Self, RemoteError> {
        let text = text.trim();
        let rest = text.strip_prefix(PREFIX).unwrap_or_default();
        let is_key = !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if is_key { Ok(Self(Secret::from(text))) } else { Err(RemoteError::MalformedKey) }
    }

    /// Returns `true` for a key of a test data set.
    pub(crate) fn is_test(&self) -> bool {
        self.0.expose().starts_with(TEST_PREFIX)
    }

    /// Returns the key for requests.
    pub(crate) fn secret(&self) -> Secret {
        self.0.clone()
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// Writes the key to the file of profiles, the only place where it is stored.
impl Serialize for ApiKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.expose())
    }
}

impl<'de> Deserialize<'de> for ApiKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_parsed_trimmed_and_never_shown() {
        let key = ApiKey::parse(" cdr_live_abc123\n").unwrap();
        assert_eq!(key.secret().expose(), "cdr_live_abc123");
        assert_eq!(format!("{key:?}"), "ApiKey(…)");
    }

    #[test]
    fn malformed_key_is_refused_without_being_repeated() {
        for text in ["", "cdr_", "hunter2", "cdr_live_a b", "cdr_live_a\nb", "Bearer cdr_live_a", "cdr_live_ä"] {
            let error = ApiKey::parse(text).unwrap_err().to_string();
            assert!(!error.contains("hunter2") && error.contains("cdr_live_"), "{error}");
        }
    }
}
