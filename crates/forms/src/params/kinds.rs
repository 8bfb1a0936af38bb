//! Kinds of query parameters, and their form in the OpenAPI document.

use super::Archived;
use crate::fields::StringEnum;
use crate::id::{Id, Kind};
use crate::problem::ValueError;
use crate::text;
use crate::time::{Date, Timestamp};

/// A query parameter: its name, its parser and its description.
#[derive(Debug, Clone, Copy)]
pub struct Param<T> {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) takes: ValueForm,
    pub(super) parse: fn(&str) -> Result<T, ValueError>,
}

/// The form of a query parameter's value in the OpenAPI document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueForm {
    /// An id with this prefix. Other texts are accepted and match nothing.
    Id(&'static str),
    /// One word of an enumeration, which has this name in the OpenAPI document.
    Word(&'static str),
    /// A boolean, `true` or `false`.
    Flag,
    /// The boolean `true`.
    True,
    /// Text to compare with, limited to the length of stored texts.
    Text,
    /// Text of any length.
    Any,
    /// Text with a minimum and a maximum number of characters.
    Chars(usize, usize),
    /// Comma-separated words of an enumeration, which has this name in the OpenAPI document.
    Words(&'static str),
    /// Comma-separated different words of an enumeration, and their maximum number.
    DistinctWords(&'static str, usize),
    /// An ISO 8601 duration of at least 30 days.
    Period,
    /// A calendar date, `YYYY-MM-DD`.
    Date,
    /// A datetime with an offset.
    Datetime,
    /// A datetime with an offset, `now`, or `newest`.
    Beginning,
}

/// A query parameter in the OpenAPI document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter {
    /// A parameter with one value, or with several if it may be repeated.
    Value {
        /// The full name of the parameter.
        name: &'static str,
        /// The description, as a sentence.
        about: &'static str,
        /// The form of the value.
        takes: ValueForm,
        /// `true` if the parameter may be repeated. An entry then matches any of the values.
        is_repeated: bool,
        /// `true` if a request must have the parameter.
        is_required: bool,
    },
    /// A pair of parameters, `[gte]` and `[lte]`.
    Bounds {
        /// The name without the suffixes.
        name: &'static str,
        /// The description, as a sentence.
        about: &'static str,
        /// The form of each value.
        takes: ValueForm,
    },
    /// A parameter per key, `filter[<prefix>.<key>]`, with a text as its value.
    Keyed {
        /// Name before the key, such as `custom_fields`.
        prefix: &'static str,
        /// The description, as a sentence.
        about: &'static str,
        /// Maximum length of the key, in characters.
        key_chars: usize,
    },
    /// The order of a list: the name of its enumeration in the OpenAPI document, and the default.
    Sort(&'static str, &'static str),
    /// The two parameters of a page, `limit` and `cursor`.
    Page,
    /// The resources to inline: the name of their enumeration in the OpenAPI document.
    Expand(&'static str),
}

impl<T> Param<T> {
    /// Returns the name of the parameter.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    pub(super) const fn describe(&self, is_repeated: bool) -> Parameter {
        let Self { name, about, takes, .. } = *self;
        Parameter::Value { name, about, takes, is_repeated, is_required: false }
    }

    pub(super) const fn described_as_required(&self) -> Parameter {
        let Self { name, about, takes, .. } = *self;
        Parameter::Value { name, about, takes, is_repeated: false, is_required: true }
    }
}

/// Creates a parameter that `parse` reads.
pub const fn param<T>(
    name: &'static str,
    about: &'static str,
    takes: ValueForm,
    parse: fn(&str) -> Result<T, ValueError>,
) -> Param<T> {
    Param { name, about, takes, parse }
}

/// Creates a parameter that takes one word of an enumeration.
#[must_use]
pub const fn word<T: StringEnum>(name: &'static str, about: &'static str) -> Param<T> {
    param(name, about, ValueForm::Word(T::NAME), T::from_word)
}

/// The statuses of a resource, as values of `filter[status]`.
pub trait StatusWord: StringEnum {
    /// Name of the enumeration of the statuses and `all` in the OpenAPI document.
    const FILTER_NAME: &'static str;

    /// Reads a status. `all` is `None`.
    ///
    /// # Errors
    /// `invalid_enum` with the accepted words.
    fn from_filter(text: &str) -> Result<Option<Self>, ValueError> {
        if text == ALL {
            return Ok(None);
        }
        Self::from_word(text).map(Some).map_err(|_| ValueError::one_of(&Self::filter_words()))
    }

    /// Returns the words that the filter takes.
    #[must_use]
    fn filter_words() -> Vec<&'static str> {
        Self::words().into_iter().chain([ALL]).collect()
    }
}

/// The word of status filters for every status.
const ALL: &str = "all";

/// Creates the parameter `filter[status]`; `all` is read as `None`.
#[must_use]
pub const fn status<T: StatusWord>(about: &'static str) -> Param<Option<T>> {
    param("filter[status]", about, ValueForm::Word(T::FILTER_NAME), T::from_filter)
}

/// Creates a parameter that takes `true` or `false`.
#[must_use]
pub const fn flag(name: &'static str, about: &'static str) -> Param<bool> {
    param(name, about, ValueForm::Flag, |text| match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(ValueError::one_of(&["true", "false"])),
    })
}

/// Creates a parameter that takes an id. A text that is not an id of the kind is accepted and matches nothing
/// (decision A2).
#[must_use]
pub const fn id<K: Kind>(name: &'static str, about: &'static str) -> Param<Id<K>> {
    param(name, about, ValueForm::Id(K::PREFIX), parse_id)
}

/// Reads an id to compare with. A malformed id becomes the zero id, which no resource has.
///
/// # Errors
/// Returns no error. The `Result` gives it the signature of the other parsers.
pub fn parse_id<K: Kind>(text: &str) -> Result<Id<K>, ValueError> {
    Ok(text.parse().unwrap_or(Id::from_bytes([0; 16])))
}

/// Creates a parameter that takes a calendar date.
#[must_use]
pub const fn date(name: &'static str, about: &'static str) -> Param<Date> {
    param(name, about, ValueForm::Date, |text| text.parse().map_err(|_| ValueError::format("a date, YYYY-MM-DD")))
}

/// Creates a parameter that takes a datetime with an offset.
#[must_use]
pub const fn datetime(name: &'static str, about: &'static str) -> Param<Timestamp> {
    param(name, about, ValueForm::Datetime, instant)
}

/// Reads a datetime with an offset.
///
/// # Errors
/// `invalid_format`.
pub fn instant(text: &str) -> Result<Timestamp, ValueError> {
    text.parse().map_err(|_| ValueError::format("an ISO 8601 datetime with an offset, such as Z or %2B02:00"))
}

/// Creates a filter whose value must equal a whole stored text.
#[must_use]
pub const fn any(name: &'static str, about: &'static str) -> Param<String> {
    param(name, about, ValueForm::Text, |text| Ok(text.to_owned()))
}

/// Creates a filter whose value must equal a whole stored identifier. Ignores white space around the value.
#[must_use]
pub const fn identifier_param(name: &'static str, about: &'static str) -> Param<String> {
    param(name, about, ValueForm::Text, |text| Ok(text.trim().to_owned()))
}

/// Creates a filter whose value must be an address of the stored mailbox. Ignores white space around the value.
#[must_use]
pub const fn address(name: &'static str, about: &'static str) -> Param<String> {
    param(name, about, ValueForm::Text, |text| Ok(text::address_key(text.trim())))
}

/// Creates a filter whose value must be a whole stored name, compared by its key.
#[must_use]
pub const fn identifying_name(name: &'static str, about: &'static str) -> Param<String> {
    param(name, about, ValueForm::Text, |text| Ok(text::name_key(text)))
}

/// Creates a parameter that takes any text and filters nothing, such as the name of a connector.
#[must_use]
pub const fn plain(name: &'static str, about: &'static str) -> Param<String> {
    param(name, about, ValueForm::Any, |text| Ok(text.to_owned()))
}

/// The parameter that selects entries in use, archived ones, or both.
pub const ARCHIVED: Param<Archived> = word(
    "filter[archived]",
    "`false` lists entries in use, `true` archived entries, `all` both. Default: `false`.",
);
/// The parameter for bounds of the last change (decision D10).
pub const UPDATED_AT: Param<Timestamp> =
    datetime("filter[updated_at]", "Only entries whose last change is within the bounds.");
/// The parameter that asks for the effects of a write without carrying it out (decision A18).
pub const DRY_RUN: Param<bool> = flag(
    "dry_run",
    "`true` returns the effects of the request and changes nothing: see `DryRun`. Default: `false`.",
);
