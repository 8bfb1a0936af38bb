//! Errors of encoding and decoding rows.

/// A stored value that cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("corrupt value in {table}.{column}: {reason}")]
pub struct CorruptRowError {
    /// Name of the table.
    pub table: &'static str,
    /// Name of the column.
    pub column: &'static str,
    /// Description of the invalid value, for logs.
    pub reason: String,
}

/// A value that cannot be encoded for its column, which is a defect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot write the value of {table}.{column}: {reason}")]
pub struct RowWriteError {
    pub(crate) table: &'static str,
    pub(crate) column: &'static str,
    pub(crate) reason: String,
}
