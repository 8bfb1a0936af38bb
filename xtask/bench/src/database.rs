//! A connection to the database under the service, for loading and looking up rows directly.

use crate::Result;
use crate::store::Store;
use candor_test_postgres::TestSession;
use diesel::connection::{Connection, SimpleConnection};
use diesel::deserialize::QueryableByName;
use diesel::sql_types::Text;
use diesel::sqlite::SqliteConnection;
use diesel::{RunQueryDsl, sql_query};
use std::cell::RefCell;
use std::fs::File;

pub(crate) enum Database {
    Postgres(TestSession),
    Sqlite { path: String, connection: RefCell<SqliteConnection> },
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Text)]
    value: String,
}

impl Database {
    pub(crate) fn connect(url: &str) -> Result<Self> {
        let Some(path) = url.strip_prefix("sqlite://") else {
            return Ok(Self::Postgres(TestSession::connect(url)?));
        };
        let mut connection = SqliteConnection::establish(path)?;
        connection.batch_execute("PRAGMA busy_timeout = 30000; PRAGMA synchronous = off")?;
        Ok(Self::Sqlite { path: path.to_owned(), connection: RefCell::new(connection) })
    }

    pub(crate) const fn store(&self) -> Store {
        match self {
            Self::Postgres(_) => Store::Postgres,
            Self::Sqlite { .. } => Store::Sqlite,
        }
    }

    /// Executes statements without results.
    pub(crate) fn run(&self, statements: &str) -> Result {
        match self {
            Self::Postgres(session) => Ok(session.execute(statements)?),
            Self::Sqlite { connection, .. } => Ok(connection.borrow_mut().batch_execute(statements)?),
        }
    }

    /// Executes the statement for the store of this database, and ignores the other one.
    pub(crate) fn run_by_store(&self, postgres: &str, sqlite: &str) -> Result {
        self.run(self.store().pick(postgres, sqlite))
    }

    /// Returns the column `value` of every row as text.
    pub(crate) fn texts(&self, query: &str) -> Result<Vec<String>> {
        match self {
            Self::Postgres(session) => Ok(session.texts(query)?),
            Self::Sqlite { connection, .. } => {
                let rows: Vec<Row> = sql_query(query).load(&mut *connection.borrow_mut())?;
                Ok(rows.into_iter().map(|row| row.value).collect())
            }
        }
    }

    /// Returns the value of an expression as text.
    pub(crate) fn text(&self, expression: &str) -> Result<String> {
        let query = format!("SELECT CAST({expression} AS text) AS value");
        Ok(self.texts(&query)?.pop().ok_or_else(|| format!("`{query}` has no result"))?)
    }

    /// Returns the value of an expression as a number.
    pub(crate) fn number(&self, expression: &str) -> Result<i64> {
        let text = self.text(expression)?;
        text.parse().map_err(|_| format!("{expression} is {text}, not a number").into())
    }

    /// Prepares the connection for a load of valid rows: no checks of references, no flush for each commit.
    pub(crate) fn begin_load(&self) -> Result {
        self.run_by_store(
            "SET session_replication_role = replica; SET synchronous_commit = off; \
             SET maintenance_work_mem = '256MB'",
            "PRAGMA foreign_keys = off; PRAGMA cache_size = -1000000",
        )
    }

    /// Completes a load, so that no background work is left.
    pub(crate) fn end_load(&self) -> Result {
        match self {
            Self::Postgres(session) => {
                // The checkpoint flushes the commits: VACUUM cannot mark rows of unflushed commits as visible to all.
                session.execute("SET synchronous_commit = on; CHECKPOINT")?;
                session.execute("VACUUM (ANALYZE, FREEZE)")?;
                Ok(session.execute("CHECKPOINT")?)
            }
            Self::Sqlite { path, .. } => {
                self.checkpoint()?;
                Ok(File::open(path)?.sync_all()?)
            }
        }
    }

    /// Moves the write-ahead log of SQLite into the database.
    pub(crate) fn checkpoint(&self) -> Result {
        self.run_by_store("", "PRAGMA wal_checkpoint(TRUNCATE)")
    }
}
