//! Options of the store, and the error of connecting with them.

use candor_fair_share::SlowReads;

/// Where the database is, and how many connections it may be given.
#[derive(Clone)]
pub struct PostgresOptions {
    /// `postgres://user:password@host:port/database?sslmode=…`, or `postgres:///database?host=/folder/of/the/socket`.
    /// `sslmode` is `disable`, `prefer`, `require`, `verify-ca` or `verify-full`; `sslrootcert` names a PEM file.
    pub url: String,
    /// At most this many connections, those that reads share and those for slow reads included; at least 4.
    pub pool: usize,
    /// What of them reads get that no index answers, and for how long.
    pub slow_reads: SlowReads,
    /// What the server's views call the connections.
    pub application_name: String,
    /// A standby of the server, for reads that may show what was there a moment ago; written as [`PostgresOptions::url`]. It
    /// gets connections of its own, at most half as many as the server.
    pub replica_url: Option<String>,
}

impl PostgresOptions {
    /// The usual options for a database.
    #[must_use]
    pub fn new(url: impl Into<String>, pool: usize) -> Self {
        let slow_reads = SlowReads::with_places(slow_places(pool));
        Self { url: url.into(), pool, slow_reads, application_name: "candor".to_owned(), replica_url: None }
    }
}

/// One connection of so many is for slow reads,
const SLOW_SHARE: usize = 6;
/// and two at least, so that half of them is one,
const LEAST_SLOW_PLACES: usize = 2;
/// unless there are fewer than so many altogether.
const FEW: usize = 6;

fn slow_places(pool: usize) -> usize {
    if pool < FEW { 1 } else { (pool / SLOW_SHARE).max(LEAST_SLOW_PLACES) }
}

/// Without the URL, which holds a password.
impl std::fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresOptions").field("pool", &self.pool).finish_non_exhaustive()
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
    /// There is no server there, or it is starting or stopping: it may answer soon.
    #[error("the database does not answer yet: {0}")]
    NotYet(String),
    /// The server refuses or does not answer.
    #[error("the database does not answer: {0}")]
    Unreachable(String),
    /// There is a replica, and it cannot be one of this database.
    #[error("CANDOR_DATABASE_REPLICA_URL cannot be used: {0}")]
    Replica(String),
}
