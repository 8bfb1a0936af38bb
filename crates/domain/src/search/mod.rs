//! Search: the resources that a search covers, their texts and their conditions (decision G, "Search").
//!
//! The crate `candor-search-words` splits texts into words, scores the matches of a
//! [`SearchQuery`](candor_search_words::SearchQuery) and finds the highlights.

mod request;
mod resources;

pub use request::{Filter, SearchRequest, required_permissions};
pub use resources::{SearchHit, Searchable, SearchedResource};

use strum::{IntoStaticStr, VariantArray};

use crate::access::Permission;
use crate::fields::string_enum;

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

string_enum!(Type, "SearchType");

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
