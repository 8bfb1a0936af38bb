//! Enumerations that later versions of the service may extend, and members that may be null.

#[cfg(feature = "operations")]
use serde::{Deserialize, Deserializer};

/// Declares an enumeration of words, with a variant for words that this version does not know.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $(#[doc = concat!("`", $word, "`")] $variant,)*
            /// A word that a later version of the service adds.
            Unknown(String),
        }

        impl $name {
            /// The words that this version knows.
            pub const KNOWN: &'static [&'static str] = &[$($word),*];

            /// Returns the word as the API spells it.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)*
                    Self::Unknown(word) => word,
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word {
                    $($word => Self::$variant,)*
                    other => Self::Unknown(other.to_owned()),
                }
            }
        }

        impl From<String> for $name {
            fn from(word: String) -> Self {
                Self::from(word.as_str())
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Ok(Self::from(String::deserialize(deserializer)?))
            }
        }
    };
}

pub(crate) use words;

/// Deserializes a present member to `Some`, so that null differs from an absent member.
#[cfg(feature = "operations")]
pub(crate) fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
