//! The query parameters of a route, as values that the document is made from.

use candor_domain::fields::Word;
use candor_domain::page::Sorts;

/// The query parameters of a route.
pub struct Query {
    /// The orders of a list, the default first.
    pub sorts: Option<Sorts>,
    /// Whether the answer is a page of a list.
    pub is_list: bool,
    /// The filters of a list.
    pub filters: &'static [Filter],
    /// What can be inlined.
    pub expand: Option<fn() -> Vec<&'static str>>,
}

/// One filter of a list.
pub struct Filter {
    /// The name within the brackets.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// Whether it may be repeated; an entry matches any of the values.
    pub repeatable: bool,
}

/// What a filter takes.
#[derive(Clone, Copy)]
pub enum Takes {
    /// An identifier of a resource with this prefix; others match nothing.
    Id(&'static str),
    /// One of these words.
    Word(fn() -> Vec<&'static str>),
    /// Any text, compared as a whole.
    Text,
    /// Two dates, `[gte]` and `[lte]`.
    Dates,
    /// Two datetimes, `[gte]` and `[lte]`.
    Datetimes,
    /// A text per custom field, `[custom_fields.<key>]`.
    CustomFields,
}

/// The words of a closed set.
pub(super) fn words<T: Word>() -> Vec<&'static str> {
    T::WORDS.iter().map(|(word, _)| *word).collect()
}

impl Filter {
    /// A filter that may be given once.
    pub(super) const fn once(name: &'static str, takes: Takes) -> Self {
        Self { name, takes, repeatable: false }
    }

    /// A filter that may be repeated.
    pub(super) const fn repeated(name: &'static str, takes: Takes) -> Self {
        Self { name, takes, repeatable: true }
    }
}
