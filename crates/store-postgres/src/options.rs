//! Options of the store, and the error of connecting with them.

use candor_fair_share::SlowReads;

/// Address of the database, and limits for its connections.
#[derive(Clone)]
pub struct PostgresOptions {
    /// `postgres://user:password@host:port/database?sslmode=…`, or
    /// `postgres:///database?host=/folder/of/the/socket`. `sslmode` is `disable`, `prefer`, `require`, `verify-ca`
    /// or `verify-full`; `sslrootcert` names a PEM file.
    pub url: String,
    /// Maximum number of connections, including those shared by reads and those for slow reads; at least 4.
    pub pool: usize,
    /// Connections reserved for unindexed lists, and their timeout.
    pub slow_reads: SlowReads,
    /// Application name of the connections in the server's views.
    pub application_name: String,
    /// A standby of the server, for reads that may be slightly stale; has the form of [`PostgresOptions::url`].
    /// The standby gets connections of its own, at most half as many as the server.
    pub replica_url: Option<String>,
}

impl PostgresOptions {
    /// Returns the default options for a database.
    #[must_use]
    pub fn new(url: impl Into<String>, pool: usize) -> Self {
        let slow_reads = SlowReads::with_places(slow_places(pool));
        Self { url: url.into(), pool, slow_reads, application_name: "candor".to_owned(), replica_url: None }
    }
}

/// Divisor for the share of connections that serve slow reads.
const SLOW_SHARE: usize = 6;
/// Minimum number of connections for slow reads in a pool of at least [`FEW`]. One organization may use half of them,
/// which is at least one.
const LEAST_SLOW_PLACES: usize = 2;
/// Size under which a pool reserves only one connection for slow reads.
const FEW: usize = 6;

fn slow_places(pool: usize) -> usize {
    if pool < FEW { 1 } else { (pool / SLOW_SHARE).max(LEAST_SLOW_PLACES) }
}

/// Omits the URL, which contains a password.
impl std::fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresOptions").field("pool", &self.pool).finish_non_exhaustive()
    }
}

/// Reason for a failed connection to the database. The text contains no secret.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The URL is invalid.
    #[error("the database URL is not valid: {0}")]
    Url(String),
    /// TLS cannot be set up.
    #[error("cannot set up TLS to the database: {0}")]
    Tls(String),
    /// The pool cannot be created.
    #[error("cannot create the connection pool: {0}")]
    Pool(String),
    /// No server listens at the address, its host name is unknown, or the server is starting, stopping or full; a
    /// retry may succeed soon.
    #[error("the database does not answer yet: {0}")]
    NotYet(String),
    /// The server refuses connections or does not answer.
    #[error("the connection failed: {0}")]
    Unreachable(String),
    /// The configured replica is not a standby of this database.
    #[error("cannot use CANDOR_DATABASE_REPLICA_URL: {0}")]
    Replica(String),
}
