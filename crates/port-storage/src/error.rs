//! Errors of stores.

use candor_tables::{CorruptRowError, RowWriteError};

/// Reason why a store operation failed.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// Transient failure, such as a lost connection, a full pool or a timeout.
    #[error("the store is not available: {0}")]
    Unavailable(String),
    /// The machine of the store lacks disk space or memory, or its disk fails. Transient: the operator can make
    /// room or replace the disk.
    #[error("the store has no room: {0}")]
    NoRoom(String),
    /// Unindexed list that was aborted to protect other requests.
    #[error(transparent)]
    TooSlow(#[from] TooSlowError),
    /// A stored value that cannot be decoded.
    #[error("corrupt value in {table}.{column}: {reason}")]
    Corrupt {
        /// Table of the value.
        table: &'static str,
        /// Column of the value.
        column: &'static str,
        /// Cause of the failure.
        reason: String,
    },
    /// Any other failure, which is a defect.
    #[error("the store failed: {0}")]
    Failed(String),
}

/// An unindexed list that was not completed (decision A17).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot complete {}: {cause}", describe_list(conditions))]
pub struct TooSlowError {
    /// Cause of the abort.
    pub cause: SlowListError,
    /// Parameters that the client should narrow, such as `filter[type]`. Empty if only the caller's
    /// permissions make the list slow.
    pub conditions: Vec<String>,
}

fn describe_list(conditions: &[String]) -> String {
    if conditions.is_empty() {
        return "a list within the permissions of the caller".to_owned();
    }
    format!("a list by {}", conditions.join(", "))
}

/// Cause of an aborted slow list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SlowListError {
    /// The deadline of the read passed.
    #[error("the read took too long")]
    OutOfTime,
    /// No slot of the tenant's share became free.
    #[error("no slot for slow reads became free")]
    NoPlace,
}

/// Result of a read.
pub type Read<T> = Result<T, StorageError>;

impl From<CorruptRowError> for StorageError {
    fn from(CorruptRowError { table, column, reason }: CorruptRowError) -> Self {
        Self::Corrupt { table, column, reason }
    }
}

impl From<RowWriteError> for StorageError {
    fn from(value: RowWriteError) -> Self {
        Self::Failed(value.to_string())
    }
}
