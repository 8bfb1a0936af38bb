//! The storage port on PostgreSQL, spoken to by a driver in Rust alone.
//!
//! Reads share a few connections on which statements of many requests are under way at once. A change set is one
//! statement on a connection of its own, run in a task that no dropped request can cancel; those that only add rows and
//! arrive at once share one. The database needs PostgreSQL 14 or newer; poolers in session mode may stand between.

mod commit;
mod failure;
mod flight;
mod lanes;
mod listing;
mod migrations;
mod pool;
mod queue;
mod reads;
mod select;
mod session;
mod sql;
mod store;
mod tls;
mod wire;

pub use migrations::{SchemaError, migrate, pending, revert};
pub use store::PostgresStore;

/// Where the database is, and how many connections it may be given.
#[derive(Clone)]
pub struct Options {
    /// `postgres://user:password@host:port/database?sslmode=…`, or `postgres:///database?host=/folder/of/the/socket`.
    /// `sslmode` is `disable`, `prefer`, `require`, `verify-ca` or `verify-full`; `sslrootcert` names a PEM file.
    pub url: String,
    /// At most this many connections, those that reads share included; at least 3.
    pub pool: usize,
    /// What the server's views call the connections.
    pub application_name: String,
}

impl Options {
    /// The usual options for a database.
    #[must_use]
    pub fn new(url: impl Into<String>, pool: usize) -> Self {
        Self { url: url.into(), pool, application_name: "candor".to_owned() }
    }
}

/// Without the URL, which holds a password.
impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options").field("pool", &self.pool).finish_non_exhaustive()
    }
}

/// Why there is no connection to the database. The text says what to do and holds no secret.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The URL is not one that can be used.
    #[error("the database URL is not valid: {0}")]
    Url(String),
    /// TLS cannot be set up.
    #[error("TLS to the database cannot be set up: {0}")]
    Tls(String),
    /// The pool cannot be made.
    #[error("the connection pool cannot be made: {0}")]
    Pool(String),
    /// The server refuses or does not answer.
    #[error("the database does not answer: {0}")]
    Unreachable(String),
}
