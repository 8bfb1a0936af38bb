//! Search: which resources have which words, how well they match, and what of them is shown (decision G, "Search").
//!
//! Indexes of stores find candidates by the words that [`words`] makes of texts; [`SearchQuery::find`] scores what is found
//! and shows where the words are. Both read texts in the same way, so that stores cannot disagree.

mod query;
mod request;
mod resources;
mod words;

pub use query::{Highlight, MAX_WORDS, QUERY_CHARS, Score, SearchQuery, WantedWord, WantedWords};
pub use request::{Filter, SearchRequest, required_permissions};
pub use resources::{SearchHit, Searchable, SearchedResource};
pub use words::{MAX_WORD_BYTES, TextWord, words};

use strum::{IntoStaticStr, VariantArray};

use crate::access::Permission;
use crate::fields::Word;

/// What can be searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Type {
    /// Observations that are not archived.
    Observations,
    /// Objectives that are not archived.
    Objectives,
    /// People who have not left.
    Employees,
    /// Summaries that are not archived.
    Summaries,
}

impl Word for Type {
    const NAME: &'static str = "SearchType";
}

impl Type {
    /// What a key needs to search them.
    #[must_use]
    pub const fn permission(self) -> Permission {
        match self {
            Self::Observations => Permission::ObservationsRead,
            Self::Objectives => Permission::ObjectivesRead,
            Self::Employees => Permission::EmployeesRead,
            Self::Summaries => Permission::SummariesRead,
        }
    }

    /// Returns `true` if a bound key sees only some of them (decision B5). People are read by every key.
    #[must_use]
    pub const fn is_narrowed(self) -> bool {
        match self {
            Self::Observations | Self::Objectives | Self::Summaries => true,
            Self::Employees => false,
        }
    }
}
