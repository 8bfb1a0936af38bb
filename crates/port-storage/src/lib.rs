//! The storage port: the operations that the service requires of a store.
//!
//! A store saves whole decisions ([`ChangeSet`]) and answers typed reads. It makes no decisions: the domain does,
//! and passes the conditions that a decision relied on as [`Require`]. `candor-tables` declares the mapping of
//! resources to tables.

pub mod change;
pub mod check;
pub mod copy;
pub mod erasing;
pub mod error;
pub mod mail_queue;
pub mod provisioning;
pub mod queue;
pub mod read;
pub mod replay;
pub mod request_counts;
pub mod search_index;
pub mod store;
pub mod upkeep;

pub use candor_tables::{Row, Unique, Version, Versioned};
pub use change::{ChangeSet, CommitError, Committed, ExpediteDelivery, ReportingLineChange, Require, Write};
pub use check::CommitCondition;
pub use error::{SlowListError, StorageError, TooSlowError};
pub use read::StorageExt;
pub use replay::StoredReplay;
pub use store::Storage;
