//! The server that the tests of this process share.

use crate::{Cluster, Error};
use std::env;
use std::io::Write;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The environment variable that names a server to use; its role must be allowed to create databases.
pub const URL_VARIABLE: &str = "CANDOR_TEST_DATABASE_URL";

/// A server that tests may create databases on.
#[derive(Debug)]
pub struct Server {
    url: String,
    /// Held for its guard: the server stops when this process ends.
    _cluster: Option<Cluster>,
}

impl Server {
    /// The URL of the database from which the others are created.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The same server's URL with another database's name.
    #[must_use]
    pub fn url_of(&self, database: &str) -> String {
        let authority = self.url.find("://").map_or(0, |at| at + "://".len());
        let end = |from: usize, stops: &[char]| self.url[from..].find(stops).map_or(self.url.len(), |at| from + at);
        let (path, query) = (end(authority, &['/', '?']), end(authority, &['?']));
        format!("{}/{database}{}", &self.url[..path], &self.url[query..])
    }

    fn find() -> Result<Option<Self>, Error> {
        if let Some(url) = env::var(URL_VARIABLE).ok().filter(|it| !it.is_empty()) {
            return Self::at(url).map(Some);
        }
        let cluster = Cluster::start()?;
        if cluster.is_none() {
            // Written past the test harness, which shows what a test prints only when it fails.
            let _ = writeln!(
                std::io::stderr(),
                "skipped: the tests on PostgreSQL, for there is none; set {URL_VARIABLE} or PG_BIN_DIR, or run `cargo xtask test`"
            );
        }
        Ok(cluster.map(|cluster| Self { url: cluster.url(), _cluster: Some(cluster) }))
    }

    fn at(url: String) -> Result<Self, Error> {
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(Error::Url(url));
        }
        Ok(Self { url, _cluster: None })
    }
}

/// The server that all tests of this process use; `None`, after saying so once, when the machine has none.
///
/// # Errors
/// When a server is named or installed and cannot be used.
pub fn shared() -> Result<Option<&'static Server>, Error> {
    static STARTING: Mutex<()> = Mutex::new(());
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let _one_at_a_time = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = SERVER.get() {
        return Ok(found.as_ref());
    }
    let found = Server::find()?;
    Ok(SERVER.get_or_init(|| found).as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_database_is_replaced_and_the_rest_kept() {
        for (given, wanted) in [
            ("postgres://a:b@host:5433/postgres", "postgres://a:b@host:5433/mine"),
            ("postgres://host", "postgres://host/mine"),
            ("postgres://host?sslmode=require", "postgres://host/mine?sslmode=require"),
            ("postgresql://a@%2Ftmp%2Fx/old?options=-c%20a/b", "postgresql://a@%2Ftmp%2Fx/mine?options=-c%20a/b"),
        ] {
            let server = Server::at(given.to_owned()).unwrap();
            assert_eq!(server.url_of("mine"), wanted);
        }
    }

    #[test]
    fn a_list_of_keywords_is_no_url() {
        assert!(matches!(Server::at("host=localhost".to_owned()), Err(Error::Url(_))));
    }
}
