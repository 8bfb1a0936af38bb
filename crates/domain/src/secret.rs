//! Values that must never be printed.

use std::fmt;

/// A secret text. It has no `Display` and no `Serialize`; whoever sends it out must say so with [`Secret::reveal`].
///
/// ```
/// use candor_domain::secret::Secret;
///
/// assert_eq!(format!("{:?}", Secret::new("cdr_live_…".to_owned())), "Secret(***)");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Guards a text.
    #[must_use]
    pub const fn new(text: String) -> Self {
        Self(text)
    }

    /// The text itself, for the one place that needs it.
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
