//! What keeps a copy from being made or completed: what, why, and what to do, in one line.

/// Why there is no complete copy.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CopyFailure {
    /// It is copied from and to the same place.
    #[error("--from and --to are both {0}; name another target database")]
    Same(String),
    /// A service runs, or another copy.
    #[error("{database} is in use: {reason}; stop whatever uses it, and run this again")]
    InUse {
        /// Which database.
        database: String,
        /// By whom.
        reason: String,
    },
    /// The schema of what is to be copied is old.
    #[error(
        "the schema of {database} is older than this program: it lacks {}; run `candor migrate` there first",
        .pending.join(", ")
    )]
    SourceOld {
        /// Which database.
        database: String,
        /// The migrations that are missing.
        pending: Vec<String>,
    },
    /// What is to be copied is not complete itself, or a service was to open a database that is not.
    #[error(
        "a copy into {0} is not complete; run the same `candor copy` again until it is, or remove that database and make a \
         new one"
    )]
    Unfinished(String),
    /// There is something in the target.
    #[error("{database} is not empty: it has rows in {table}; a copy needs an empty database, so name another one")]
    NotEmpty {
        /// Which database.
        database: String,
        /// A table with rows.
        table: &'static str,
    },
    /// A copy of something else is in the target.
    #[error("a copy from {other} into {database} is not complete; continue that copy, or use a new target")]
    Other {
        /// Which database.
        database: String,
        /// What it was begun from.
        other: String,
    },
    /// Both sides are not the same.
    #[error(
        "{from} and {to} are not the same in: {tables}; something has changed one of them meanwhile: keep services stopped, \
         and copy once more into a new database"
    )]
    Differs {
        /// The source.
        from: String,
        /// The target.
        to: String,
        /// What differs.
        tables: String,
    },
    /// A database failed.
    #[error("the copy stopped at {database}: {reason}; correct that, and run the same command again to continue")]
    Stopped {
        /// Which database.
        database: String,
        /// What it said.
        reason: String,
    },
}
