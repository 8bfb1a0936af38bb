//! What the service asks of a store, in the service's own words.
//!
//! A store keeps whole decisions ([`ChangeSet`]) and answers typed reads. It decides nothing: what may happen was
//! settled in the domain, and what a decision relied upon travels with it as [`Require`].

pub mod access_path;
pub mod backlog;
pub mod change;
pub mod copy;
pub mod flat;
pub mod large_work;
pub mod listing;
pub mod mail_queue;
pub mod places;
pub mod plan;
pub mod put;
pub mod queue;
pub mod read;
mod row_sizes;
pub mod rows;
pub mod schema;
pub mod search_index;
pub mod sizes;
pub mod store;
mod turns;
pub mod upkeep;

pub use change::{ChangeSet, CommitError, Committed, Lines, Require, Row, Sooner, Unique, Write};
pub use large_work::LargeWork;
pub use places::{Places, SlowReadPermit, SlowReads};
pub use put::AnyRow;
pub use read::StorageExt;
pub use row_sizes::RowSizes;
pub use store::{SlowCause, Storage, StorageError, StoredAnswer, TooSlow};
pub use turns::TenantQueue;

/// How often a resource was written; every write counts one up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub i64);

impl Version {
    /// The version of a new resource.
    pub const FIRST: Self = Self(1);

    /// The version after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// A resource as it was read, with the version it had then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versioned<T> {
    /// The resource.
    pub value: T,
    /// Its version.
    pub version: Version,
}
