//! The stores that the service runs on.

use clap::ValueEnum;
use std::fmt;

/// A store that the service runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Store {
    Postgres,
    Sqlite,
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.pick("PostgreSQL", "SQLite"))
    }
}

impl Store {
    /// Returns the value for this store.
    pub(crate) fn pick<T>(self, postgres: T, sqlite: T) -> T {
        match self {
            Self::Postgres => postgres,
            Self::Sqlite => sqlite,
        }
    }
}
