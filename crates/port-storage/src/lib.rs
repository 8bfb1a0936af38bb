//! The operations that the service requires of a store, in the service's own words.
//!
//! A store keeps whole decisions ([`ChangeSet`]) and answers typed reads. It decides nothing: what may happen was
//! settled in the domain, and what a decision relied upon travels with it as [`Require`]. How resources are laid out in
//! tables is declared in `candor-tables`.

pub mod change;
pub mod copy;
pub mod error;
pub mod mail_queue;
pub mod queue;
pub mod read;
pub mod search_index;
pub mod store;
pub mod upkeep;

pub use candor_tables::{Row, Unique, Version, Versioned};
pub use change::{ChangeSet, CommitError, Committed, Lines, Require, Sooner, Write};
pub use error::{SlowCause, StorageError, TooSlow};
pub use read::StorageExt;
pub use store::{Storage, StoredAnswer};
