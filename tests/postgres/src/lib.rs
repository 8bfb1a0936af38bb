//! A temporary PostgreSQL server for tests, and one database per test.
//!
//! ```no_run
//! use candor_test_postgres::TestDatabase;
//!
//! # fn migrate(_url: &str) -> Result<(), std::io::Error> { Ok(()) }
//! # fn main() -> Result<(), candor_test_postgres::Error> {
//! // The name of the template carries a hash of what `migrate` does.
//! let Some(database) = TestDatabase::create("candor_5f2a", migrate)? else { return Ok(()) };
//! println!("connect to {}", database.url());
//! # Ok(())
//! # }
//! ```
//!
//! Tests use the server at `CANDOR_TEST_DATABASE_URL`, which `cargo xtask test` sets. Without it, each process
//! starts a server from the programs of the machine. Without programs, the tests print a notice and are skipped.

mod cluster;
mod database;
mod nodes;
mod programs;
mod server;
mod session;

pub use cluster::Cluster;
pub use database::TestDatabase;
pub use nodes::{ARCHIVE_VARIABLE, Nodes};
pub use server::{NODES_VARIABLE, Server, URL_VARIABLE, is_spread, shared};
pub use session::TestSession;

use std::fmt::Display;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Returns a template name for the schema of this checkout. It contains a hash of the migrations.
///
/// # Errors
/// The migrations cannot be read.
pub fn template(kind: &str) -> Result<String, Error> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations/postgres");
    let entries = |folder: &Path| -> io::Result<Vec<PathBuf>> {
        let mut all: Vec<_> =
            fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
        all.sort();
        Ok(all)
    };
    let mut hasher = DefaultHasher::new();
    for migration in entries(&folder).map_err(Error::io("read", &folder))? {
        let script = migration.join("up.sql");
        fs::read(&script).map_err(Error::io("read", &script))?.hash(&mut hasher);
    }
    Ok(format!("candor{kind}_{:016x}", hasher.finish()))
}

/// Failure to provide a database although a server is installed or configured.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or program could not be used.
    #[error("cannot {what}: {source}")]
    Io {
        /// The operation, as a verb and its object, such as `create /tmp/x`.
        what: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// PostgreSQL refuses to run as root, and no unprivileged account exists.
    #[error("PostgreSQL does not run as root, and /etc/passwd has no user postgres or nobody; create one")]
    NoAccount,
    /// The server ended or did not start in time.
    #[error("the temporary PostgreSQL did not start; the end of its log:\n{log}")]
    Start {
        /// The end of the server's log.
        log: String,
    },
    /// `CANDOR_TEST_DATABASE_URL` has a form into which database names cannot be inserted.
    #[error("{URL_VARIABLE} must be a URL of the form postgres://user:password@host/database, not {0:?}")]
    Url(String),
    /// The template name would need quotes.
    #[error("{0:?} cannot name a template: use 1 to 40 of a-z, 0-9 and _")]
    TemplateName(String),
    /// The server refused a statement or the connection.
    #[error("{what}: {}", with_causes(.source))]
    Sql {
        /// The statement or other operation.
        what: String,
        /// Error of the database driver.
        source: tokio_postgres::Error,
    },
    /// The caller's migration failed.
    #[error("cannot migrate the template database: {0}")]
    Migrate(String),
}

impl Error {
    fn io(verb: &str, object: impl AsRef<std::path::Path>) -> impl FnOnce(io::Error) -> Self {
        let what = format!("{verb} {}", object.as_ref().display());
        move |source| Self::Io { what, source }
    }

    fn sql(what: impl Into<String>) -> impl FnOnce(tokio_postgres::Error) -> Self {
        let what = what.into();
        move |source| Self::Sql { what, source }
    }

    fn migrate(cause: impl Display) -> Self {
        Self::Migrate(cause.to_string())
    }
}

/// Returns an error with its sources: the driver's own message is only a category such as `db error`.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(it) = cause {
        text = format!("{text}: {it}");
        cause = it.source();
    }
    text
}
