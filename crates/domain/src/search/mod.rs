//! Search: the words of resources, the quality of a match, and the highlights of a hit (decision G, "Search").
//!
//! Indexes of stores find candidates by the result of [`words`]; [`SearchQuery::find`] scores them and finds the
//! highlights. Both split texts into words in the same way, so that all stores return equal hits.

mod query;
mod request;
mod resources;
mod words;

pub use crate::page::Score;
pub use query::{Highlight, MAX_WORDS, QUERY_CHARS, QueryWord, SearchQuery, WordLookup};
pub use request::{Filter, SearchRequest, required_permissions};
pub use resources::{SearchHit, Searchable, SearchedResource};
pub use words::{MAX_WORD_BYTES, TextWord, words};

use strum::{IntoStaticStr, VariantArray};

use crate::access::Permission;
use crate::fields::StringEnum;

/// The types of resources that searches cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Type {
    /// Observations that are not archived.
    Observations,
    /// Objectives that are not archived.
    Objectives,
    /// Employees who are not deactivated.
    Employees,
    /// Summaries that are not archived.
    Summaries,
}

impl StringEnum for Type {
    const NAME: &'static str = "SearchType";
}

impl Type {
    /// Returns the permission that a search of this type requires.
    #[must_use]
    pub const fn permission(self) -> Permission {
        match self {
            Self::Observations => Permission::ObservationsRead,
            Self::Objectives => Permission::ObjectivesRead,
            Self::Employees => Permission::EmployeesRead,
            Self::Summaries => Permission::SummariesRead,
        }
    }

    /// Returns `true` if a bound key sees only a part of these resources (decision B5). All keys can read
    /// employees.
    #[must_use]
    pub const fn is_narrowed(self) -> bool {
        match self {
            Self::Observations | Self::Objectives | Self::Summaries => true,
            Self::Employees => false,
        }
    }
}
