//! Errors of stores.

use candor_tables::{Corrupt, Unwritable};

/// Why a store did not answer.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// It may work again soon: a lost connection, a full pool, a wait that took too long.
    #[error("the store is not available: {0}")]
    Unavailable(String),
    /// A list that no index answers was given up, so that others are not kept waiting.
    #[error(transparent)]
    TooSlow(#[from] TooSlow),
    /// A stored value is not what was ever written there.
    #[error("corrupt value in {table}.{column}: {reason}")]
    Corrupt {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// Anything else, which is a defect.
    #[error("the store failed: {0}")]
    Failed(String),
}

/// A list whose conditions no index answers, which was not put together (decision A17).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a list by {} was given up: {cause}", conditions.join(", "))]
pub struct TooSlow {
    /// Why.
    pub cause: SlowCause,
    /// The parameters that would have to be narrowed, such as `filter[type]`; none if only what the caller may see makes
    /// it slow.
    pub conditions: Vec<String>,
}

/// Why a slow list was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SlowCause {
    /// Its deadline came.
    #[error("it took too long")]
    OutOfTime,
    /// The tenant's share of the places for such lists was taken.
    #[error("no place became free")]
    NoPlace,
}

/// The result of a read.
pub type Read<T> = Result<T, StorageError>;

impl From<Corrupt> for StorageError {
    fn from(Corrupt { table, column, reason }: Corrupt) -> Self {
        Self::Corrupt { table, column, reason }
    }
}

impl From<Unwritable> for StorageError {
    fn from(value: Unwritable) -> Self {
        Self::Failed(value.to_string())
    }
}
