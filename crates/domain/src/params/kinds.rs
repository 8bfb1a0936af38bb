//! The kinds of query parameters, and how documents see them.

use super::Archived;
use crate::fields::Word;
use crate::id::{Id, Kind};
use crate::problem::Flaw;
use crate::text;
use crate::time::{Date, Timestamp};

/// A query parameter: its name, what it takes, and what it means.
#[derive(Debug, Clone, Copy)]
pub struct Param<T> {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) takes: Takes,
    pub(super) parse: fn(&str) -> Result<T, Flaw>,
}

/// What a query parameter takes, as documents show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// An identifier of a resource with this prefix; others match nothing.
    Id(&'static str),
    /// One of the words of the set that documents call this.
    Word(&'static str),
    /// `true` or `false`.
    Flag,
    /// Any text that is not too long to be compared with.
    Text,
    /// Any text.
    Any,
    /// A text of so many characters, from the least to the most.
    Chars(usize, usize),
    /// Some words of the set that documents call this, with commas between them.
    Words(&'static str),
    /// A day.
    Date,
    /// An instant.
    Datetime,
    /// An instant, or `now`.
    Beginning,
}

/// A query parameter as documents show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter {
    /// One value, or any of several.
    Value {
        /// Its name.
        name: &'static str,
        /// What it means, as a sentence.
        about: &'static str,
        /// What it takes.
        takes: Takes,
        /// Whether it may be repeated; an entry matches any of the values.
        is_repeated: bool,
        /// Whether it must be given.
        is_required: bool,
    },
    /// Two values, `[gte]` and `[lte]`.
    Bounds {
        /// Its name without them.
        name: &'static str,
        /// What it means, as a sentence.
        about: &'static str,
        /// What each takes.
        takes: Takes,
    },
    /// A text per key, `filter[<prefix>.<key>]`.
    Keyed {
        /// What stands in front of the key.
        prefix: &'static str,
        /// What it means, as a sentence.
        about: &'static str,
    },
    /// The order: what documents call the set of words, and the one that is meant where none is given.
    Sort(&'static str, &'static str),
    /// Which page of a list: `limit` and `cursor`.
    Page,
    /// What is inlined: what documents call the set of words.
    Expand(&'static str),
}

impl<T> Param<T> {
    /// What it is called.
    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    pub(super) const fn described(&self, is_repeated: bool) -> Parameter {
        let Self { name, about, takes, .. } = *self;
        Parameter::Value { name, about, takes, is_repeated, is_required: false }
    }

    pub(super) const fn described_as_required(&self) -> Parameter {
        let Self { name, about, takes, .. } = *self;
        Parameter::Value { name, about, takes, is_repeated: false, is_required: true }
    }
}

/// A parameter that a function reads.
pub const fn param<T>(
    name: &'static str,
    about: &'static str,
    takes: Takes,
    parse: fn(&str) -> Result<T, Flaw>,
) -> Param<T> {
    Param { name, about, takes, parse }
}

/// One of a closed set of words.
#[must_use]
pub const fn word<T: Word>(name: &'static str, about: &'static str) -> Param<T> {
    param(name, about, Takes::Word(T::NAME), T::from_word)
}

/// The statuses of a resource, as `filter[status]` of its list names them.
pub trait StatusWord: Word {
    /// The name that documents give to the set of the statuses and `all`.
    const FILTER_NAME: &'static str;

    /// Reads a status, or `all`, which is `None`.
    ///
    /// # Errors
    /// `invalid_enum` naming the words that would be right.
    fn from_filter(text: &str) -> Result<Option<Self>, Flaw> {
        if text == ALL {
            return Ok(None);
        }
        Self::from_word(text).map(Some).map_err(|_| Flaw::one_of(&Self::filter_words()))
    }

    /// Returns the words that the filter takes.
    #[must_use]
    fn filter_words() -> Vec<&'static str> {
        Self::words().into_iter().chain([ALL]).collect()
    }
}

/// The word of status filters for every status.
const ALL: &str = "all";

/// Returns the parameter `filter[status]`; `all` is read as `None`.
#[must_use]
pub const fn status<T: StatusWord>(about: &'static str) -> Param<Option<T>> {
    param("filter[status]", about, Takes::Word(T::FILTER_NAME), T::from_filter)
}

/// `true` or `false`.
#[must_use]
pub const fn flag(name: &'static str, about: &'static str) -> Param<bool> {
    param(name, about, Takes::Flag, |text| match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Flaw::one_of(&["true", "false"])),
    })
}

/// An id to compare with. A text that is no id of the kind names nothing, so nothing matches it (decision A2).
#[must_use]
pub const fn id<K: Kind>(name: &'static str, about: &'static str) -> Param<Id<K>> {
    param(name, about, Takes::Id(K::PREFIX), id_of)
}

/// Reads an id to compare with; see [`id`].
///
/// # Errors
/// None; the signature is that of the other parsers.
pub(crate) fn id_of<K: Kind>(text: &str) -> Result<Id<K>, Flaw> {
    Ok(text.parse().unwrap_or(Id::from_bytes([0; 16])))
}

/// A date.
#[must_use]
pub const fn date(name: &'static str, about: &'static str) -> Param<Date> {
    param(name, about, Takes::Date, |text| text.parse().map_err(|_| Flaw::format("a date, YYYY-MM-DD")))
}

/// A datetime with an offset.
#[must_use]
pub const fn datetime(name: &'static str, about: &'static str) -> Param<Timestamp> {
    param(name, about, Takes::Datetime, instant)
}

/// Reads a datetime with an offset.
///
/// # Errors
/// `invalid_format`.
pub fn instant(text: &str) -> Result<Timestamp, Flaw> {
    text.parse().map_err(|_| Flaw::format("an ISO 8601 datetime with an offset, such as Z or %2B02:00"))
}

/// A text to compare with as a whole.
#[must_use]
pub const fn any(name: &'static str, about: &'static str) -> Param<String> {
    param(name, about, Takes::Text, |text| Ok(text.to_owned()))
}

/// A text to compare with as a whole and without case.
#[must_use]
pub const fn folded(name: &'static str, about: &'static str) -> Param<String> {
    param(name, about, Takes::Text, |text| Ok(text::folded(text)))
}

/// A text that is compared with nothing.
#[must_use]
pub const fn plain(name: &'static str, about: &'static str) -> Param<String> {
    param(name, about, Takes::Any, |text| Ok(text.to_owned()))
}

/// Which entries of something archivable.
pub const ARCHIVED: Param<Archived> =
    word("filter[archived]", "`false` lists entries in use, `true` archived entries, `all` both. Default: `false`.");
/// When an entry last changed (decision D10).
pub const UPDATED_AT: Param<Timestamp> =
    datetime("filter[updated_at]", "Only entries whose last change is within the bounds.");
