//! One database per test, cloned from a template that is migrated once.

use crate::cluster::unique_name;
use crate::server::with_database;
use crate::{Error, Server, TestSession, shared};
use std::fmt::Display;
use std::io::Write;
use std::iter::repeat;
use std::panic::resume_unwind;
use std::thread;
use tokio_postgres::config::Host;
use tokio_postgres::{Config, error::SqlState};

/// Advisory lock of the process that builds a template, so that concurrent test processes build it only once.
const BUILDING: i64 = 0x0063_616e_646f_7200;
/// Maximum length of a template name, which leaves room for [`UNFINISHED`] below PostgreSQL's 63 bytes.
const LONGEST_NAME: usize = 40;
/// Advisory lock of the process that joins the databases of several nodes. Nodes notify each other while
/// joining, and cannot do so for two databases at once.
const JOINING: i64 = 0x0063_616e_646f_7202;
const UNFINISHED: &str = "_unfinished";
/// The first version whose `CREATE DATABASE` can copy files, which halves the time for a small database.
const WITH_STRATEGY: u32 = 15;

/// A database that belongs to one test and is dropped with this value.
#[derive(Debug)]
pub struct TestDatabase {
    server: &'static Server,
    name: String,
    url: String,
}

impl TestDatabase {
    /// Creates a copy of the database `template`. Prints a notice and returns `None` without PostgreSQL.
    ///
    /// The first test that asks for a template builds it: `migrate` gets the URL of an empty database. The name
    /// must change whenever `migrate` does, because a server that outlives the tests keeps its templates.
    /// `migrate` runs on a thread without a runtime, so it may block and may start a runtime.
    ///
    /// # Errors
    /// A server exists, but the server or `migrate` fails.
    pub fn create<E: Display>(
        template: &str,
        migrate: impl FnOnce(&str) -> Result<(), E> + Send,
    ) -> Result<Option<Self>, Error> {
        if !is_plain(template) {
            return Err(Error::TemplateName(template.to_owned()));
        }
        Self::new(|server, name| {
            let nodes = Nodes::connect(server)?;
            if !nodes.copy(template, name)? {
                nodes.build(template, migrate)?;
                nodes.copy(template, name)?;
            }
            Ok(())
        })
    }

    /// Creates an empty database. Prints a notice and returns `None` without PostgreSQL.
    ///
    /// # Errors
    /// A server exists, but fails.
    pub fn empty() -> Result<Option<Self>, Error> {
        Self::new(|server, name| Nodes::connect(server)?.make(name))
    }

    /// Returns the database's URL, with all nodes of a cluster as hosts, the coordinator first.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    fn new(create: impl FnOnce(&Server, &str) -> Result<(), Error> + Send) -> Result<Option<Self>, Error> {
        let Some(server) = shared()? else { return Ok(None) };
        let name = unique_name();
        on_a_plain_thread(|| create(server, &name))?;
        let url = server.url_of_all(&name);
        Ok(Some(Self { server, name, url }))
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let removal = on_a_plain_thread(|| Nodes::connect(self.server)?.remove(&self.name));
        if let Err(error) = removal {
            let _ = writeln!(std::io::stderr(), "cannot drop the test database {}: {error}", self.name);
        }
    }
}

/// Returns `true` for names that need no quotes.
fn is_plain(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Runs work on a new thread, because callers may be inside a runtime, and runtimes cannot be nested.
pub(crate) fn on_a_plain_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(work).join()).unwrap_or_else(|panic| resume_unwind(panic))
}

/// Blocking connections to the maintenance database of each node; a single server counts as one node.
struct Nodes<'a> {
    server: &'a Server,
    all: Vec<Admin>,
}

impl<'a> Nodes<'a> {
    fn connect(server: &'a Server) -> Result<Self, Error> {
        Ok(Self { server, all: server.nodes().map(Admin::connect).collect::<Result<_, _>>()? })
    }

    fn first(&self) -> Result<&Admin, Error> {
        self.all.first().ok_or_else(|| Error::Url(self.server.url().to_owned()))
    }

    /// Creates a database from a template on each node. Returns `false` if the template does not exist.
    fn copy(&self, template: &str, name: &str) -> Result<bool, Error> {
        for node in &self.all {
            if !node.copy(template, name)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn remove(&self, name: &str) -> Result<(), Error> {
        self.all.iter().try_for_each(|node| node.remove(name))
    }

    /// Creates an empty database, joined across the nodes of a cluster.
    fn make(&self, name: &str) -> Result<(), Error> {
        self.copy("template0", name)?;
        if self.all.len() == 1 {
            return Ok(());
        }
        let first = self.first()?;
        first.execute(&format!("SELECT pg_advisory_lock({JOINING})"))?;
        let join_result = self.join(name);
        first.execute(&format!("SELECT pg_advisory_unlock({JOINING})"))?;
        join_result
    }

    /// Joins the databases of this name on all nodes into one.
    fn join(&self, name: &str) -> Result<(), Error> {
        let nodes: Vec<_> = self.server.nodes().map(|node| with_database(node, name)).collect();
        for url in &nodes {
            Admin::connect(url)?.execute("CREATE EXTENSION citus")?;
        }
        let coordinator = Admin::connect(&nodes[0])?;
        for (url, function) in
            nodes.iter().zip(std::iter::once("citus_set_coordinator_host").chain(repeat("citus_add_node")))
        {
            let (host, port) = place(url)?;
            coordinator.execute(&format!("SELECT {function}('{host}', {port})"))?;
        }
        Ok(())
    }

    /// Builds the template unless another process has just built it. The template gets its final name only when
    /// complete, so tests never use the unfinished template of a killed process.
    fn build<E: Display>(&self, template: &str, migrate: impl FnOnce(&str) -> Result<(), E>) -> Result<(), Error> {
        let first = self.first()?;
        first.execute(&format!("SELECT pg_advisory_lock({BUILDING})"))?;
        let build_result = if first.exists(template)? { Ok(()) } else { self.build_alone(template, migrate) };
        first.execute(&format!("SELECT pg_advisory_unlock({BUILDING})"))?;
        build_result
    }

    fn build_alone<E: Display>(
        &self,
        template: &str,
        migrate: impl FnOnce(&str) -> Result<(), E>,
    ) -> Result<(), Error> {
        let partial_template = format!("{template}{UNFINISHED}");
        self.remove(&partial_template)?;
        self.make(&partial_template)?;
        migrate(&self.server.url_of(&partial_template)).map_err(Error::migrate)?;
        // The first node comes last: a template on the first node exists on all nodes.
        self.all.iter().rev().try_for_each(|node| node.finish(&partial_template, template))
    }
}

/// Returns host and port of a URL, as the nodes of a cluster name each other.
fn place(url: &str) -> Result<(String, u16), Error> {
    let config: Config = url.parse().map_err(Error::sql("the URL of a node"))?;
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(folder)) => folder.display().to_string(),
        None => return Err(Error::Url(url.to_owned())),
    };
    Ok((host, config.get_ports().first().copied().unwrap_or(USUAL_PORT)))
}

/// Default port of PostgreSQL.
const USUAL_PORT: u16 = 5432;

/// A connection that creates and drops databases.
struct Admin(TestSession);

impl Admin {
    fn connect(url: &str) -> Result<Self, Error> {
        TestSession::connect(url).map(Self)
    }

    /// Creates a database from a template. Returns `false` if the template does not exist.
    fn copy(&self, template: &str, name: &str) -> Result<bool, Error> {
        let strategy = if self.version()? >= WITH_STRATEGY { " STRATEGY FILE_COPY" } else { "" };
        let statement = format!("CREATE DATABASE {name} TEMPLATE {template}{strategy}");
        match self.0.runtime.block_on(self.0.client.batch_execute(&statement)) {
            Ok(()) => Ok(true),
            Err(error) if error.code() == Some(&SqlState::UNDEFINED_DATABASE) => Ok(false),
            Err(error) => Err(Error::sql(statement)(error)),
        }
    }

    fn remove(&self, name: &str) -> Result<(), Error> {
        self.execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
    }

    /// Renames a complete template and disconnects its sessions. A template in use cannot be copied, and a
    /// connection pool of the migration may still be closing.
    fn finish(&self, unfinished: &str, template: &str) -> Result<(), Error> {
        self.execute(&format!("ALTER DATABASE {unfinished} WITH ALLOW_CONNECTIONS false"))?;
        self.execute(&format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{unfinished}'"
        ))?;
        self.execute(&format!("ALTER DATABASE {unfinished} RENAME TO {template}"))
    }

    fn exists(&self, name: &str) -> Result<bool, Error> {
        let query = "SELECT 1 FROM pg_database WHERE datname = $1";
        let row = self.0.runtime.block_on(self.0.client.query_opt(query, &[&name]));
        row.map(|row| row.is_some()).map_err(Error::sql(query))
    }

    fn version(&self) -> Result<u32, Error> {
        let query = "SELECT current_setting('server_version_num')::int / 10000";
        let row = self.0.runtime.block_on(self.0.client.query_one(query, &[])).map_err(Error::sql(query))?;
        Ok(u32::try_from(row.get::<_, i32>(0)).unwrap_or_default())
    }

    fn execute(&self, statement: &str) -> Result<(), Error> {
        self.0.execute(statement)
    }
}
