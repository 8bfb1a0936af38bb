//! Errors of `candor copy`, each with cause and remedy in one line.

use candor_cli::error::CommandFailure;

/// Failure of a copy.
#[derive(Debug, thiserror::Error)]
pub(super) enum CopyCommandError {
    /// Source and target are the same database.
    #[error("--from and --to are both {0}; name another target database")]
    Same(String),
    /// A service or another copy uses the database.
    #[error("{database} is in use: {reason}; stop the programs that use the database, and run this command again")]
    InUse {
        /// The database, with secrets masked.
        database: String,
        /// The process that uses the database, as a clause of the message.
        reason: String,
    },
    /// The schema of the source is older than the program.
    #[error(
        "the schema of {database} is older than this program: the database lacks {}; run `candor migrate` on it first",
        crate::store::shorten(.pending)
    )]
    SourceOld {
        /// The source, with secrets masked.
        database: String,
        /// Names of the missing migrations.
        pending: Vec<String>,
    },
    /// The target is not empty.
    #[error(
        "{database} is not empty: it has rows in {table}; a copy needs an empty database, so name another one"
    )]
    NotEmpty {
        /// The target, with secrets masked.
        database: String,
        /// A table with rows.
        table: &'static str,
    },
    /// The target contains an incomplete copy of another source.
    #[error("a copy from {other} into {database} is not complete; continue that copy, or use a new target")]
    Other {
        /// The target, with secrets masked.
        database: String,
        /// The source of the incomplete copy.
        other: String,
    },
    /// Source and target differ after the copy.
    #[error(
        "{from} and {to} differ in: {tables}; probably one of them was changed during the copy: stop the services, \
         and copy again into a new database"
    )]
    Differs {
        /// The source, with secrets masked.
        from: String,
        /// The target, with secrets masked.
        to: String,
        /// Names of the tables that differ, each with its numbers of rows.
        tables: String,
    },
    /// A database failed during the copy.
    #[error(
        "{database} failed during the copy: {reason}; correct the cause, and run the same command again to continue"
    )]
    Stopped {
        /// The database, with secrets masked.
        database: String,
        /// Error message of the database.
        reason: String,
    },
}

impl CommandFailure for CopyCommandError {}
