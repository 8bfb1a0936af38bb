//! Values that must never be printed.

use std::fmt;

/// A secret text without `Display` and `Serialize`. Code that sends the text must call [`Secret::reveal`].
///
/// ```
/// use candor_forms::secret::Secret;
///
/// assert_eq!(format!("{:?}", Secret::new("cdr_live_…".to_owned())), "Secret(***)");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret text.
    #[must_use]
    pub const fn new(text: String) -> Self {
        Self(text)
    }

    /// Returns the secret text. Call this only where the text leaves the service or is hashed.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}
