//! The server that all tests of this process share.

use crate::{Cluster, Error};
use std::env;
use std::io::Write;
use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Environment variable with the URL of a server to use; its role must be allowed to create databases.
pub const URL_VARIABLE: &str = "CANDOR_TEST_DATABASE_URL";

/// Environment variable with the URLs of a cluster's nodes (Citus), separated by spaces, the coordinator first.
pub const NODES_VARIABLE: &str = "CANDOR_TEST_NODES";

/// Returns `true` if tests run on a cluster, on which tables are distributed.
#[must_use]
pub fn is_spread() -> bool {
    env::var_os(NODES_VARIABLE).is_some_and(|value| !value.is_empty())
}

/// A server on which tests may create databases.
#[derive(Debug)]
pub struct Server {
    url: String,
    /// URLs of the other nodes, if the server is the coordinator of a cluster.
    others: Vec<String>,
    /// Held for its guard: the server stops when this process ends.
    _cluster: Option<Cluster>,
}

impl Server {
    /// Returns the URL of the maintenance database.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the URL of a database on this server; for a cluster, on the coordinator.
    #[must_use]
    pub fn url_of(&self, database: &str) -> String {
        with_database(&self.url, database)
    }

    /// Returns the URL of a database with all nodes as hosts.
    pub(crate) fn url_of_all(&self, database: &str) -> String {
        let url = self.url_of(database);
        let hosts = |text: &str| text.get(hosts(text)).unwrap_or_default().to_owned();
        let all: Vec<_> = self.nodes().map(hosts).collect();
        format!("{}{}{}", &url[..self::hosts(&url).start], all.join(","), &url[self::hosts(&url).end..])
    }

    /// Returns the URLs of all nodes, this server first.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.url).chain(&self.others).map(String::as_str)
    }

    fn find() -> Result<Option<Self>, Error> {
        if let Some(urls) = env::var(NODES_VARIABLE).ok().filter(|value| !value.is_empty()) {
            let mut nodes = urls.split_whitespace().map(|url| Self::at(url.to_owned()));
            let coordinator = nodes.next().transpose()?.ok_or_else(|| Error::Url(urls.clone()))?;
            let others = nodes.map(|node| node.map(|node| node.url)).collect::<Result<_, _>>()?;
            return Ok(Some(Self { others, ..coordinator }));
        }
        if let Some(url) = env::var(URL_VARIABLE).ok().filter(|value| !value.is_empty()) {
            return Self::at(url).map(Some);
        }
        let cluster = Cluster::start()?;
        if cluster.is_none() {
            // Written to standard error directly, because the test harness shows captured output only of failed
            // tests.
            let _ = writeln!(
                std::io::stderr(),
                "skipped: the tests on PostgreSQL: no server found; set {URL_VARIABLE} or PG_BIN_DIR, or run \
                 `cargo xtask test`"
            );
        }
        Ok(cluster.map(|cluster| Self { url: cluster.url(), others: vec![], _cluster: Some(cluster) }))
    }

    fn at(url: String) -> Result<Self, Error> {
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(Error::Url(url));
        }
        Ok(Self { url, others: vec![], _cluster: None })
    }
}

/// Replaces the database name of a URL.
pub(crate) fn with_database(url: &str, database: &str) -> String {
    let authority = url.find("://").map_or(0, |at| at + "://".len());
    let end = |from: usize, stops: &[char]| url[from..].find(stops).map_or(url.len(), |at| from + at);
    let (path, query) = (end(authority, &['/', '?']), end(authority, &['?']));
    format!("{}/{database}{}", &url[..path], &url[query..])
}

/// Returns the range of the hosts in a URL that names a database.
fn hosts(url: &str) -> Range<usize> {
    let authority = url.find("://").map_or(0, |at| at + "://".len());
    let end = url[authority..].find('/').map_or(url.len(), |at| authority + at);
    url[authority..end].rfind('@').map_or(authority, |at| authority + at + 1)..end
}

/// Returns the server that all tests of this process use. Prints a notice once and returns `None` without
/// PostgreSQL.
///
/// # Errors
/// A server is configured or installed, but cannot be used.
pub fn shared() -> Result<Option<&'static Server>, Error> {
    static STARTING: Mutex<()> = Mutex::new(());
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let _one_at_a_time = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(server) = SERVER.get() {
        return Ok(server.as_ref());
    }
    let server = Server::find()?;
    Ok(SERVER.get_or_init(|| server).as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn database_name_of_a_url_is_replaced_and_the_rest_kept() {
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
    fn cluster_url_names_all_nodes_in_order() {
        let others = ["postgres://a@two:2/postgres".to_owned(), "postgres://a@%2Ftmp%2Fx/postgres".to_owned()];
        let one = Server::at("postgres://a:b@one/postgres?sslmode=disable".to_owned()).unwrap();
        assert_eq!(one.url_of_all("mine"), "postgres://a:b@one/mine?sslmode=disable");
        let cluster = Server { others: others.into(), ..one };
        assert_eq!(cluster.url_of_all("mine"), "postgres://a:b@one,two:2,%2Ftmp%2Fx/mine?sslmode=disable");
    }

    #[test]
    fn keyword_list_is_refused_as_a_url() {
        assert!(matches!(Server::at("host=localhost".to_owned()), Err(Error::Url(_))));
    }
}
