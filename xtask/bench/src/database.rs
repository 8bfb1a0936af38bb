//! The database under the service, for what is put into it directly and looked up there.

use crate::Outcome;
use crate::admin::Admin;
use crate::data::Dialect;
use diesel::connection::{Connection, SimpleConnection};
use diesel::deserialize::QueryableByName;
use diesel::sql_types::Text;
use diesel::sqlite::SqliteConnection;
use diesel::{RunQueryDsl, sql_query};
use std::cell::RefCell;

/// A connection of this program's own.
pub(crate) struct Database {
    pub(crate) dialect: Dialect,
    connection: Either,
}

enum Either {
    Postgres(Admin),
    Sqlite(RefCell<SqliteConnection>),
}

#[derive(QueryableByName)]
struct Only {
    #[diesel(sql_type = Text)]
    only: String,
}

impl Database {
    pub(crate) fn on_postgres(url: &str) -> Outcome<Self> {
        Ok(Self { dialect: Dialect::Postgres, connection: Either::Postgres(Admin::connect(url)?) })
    }

    pub(crate) fn on_sqlite(path: &str) -> Outcome<Self> {
        let mut connection = SqliteConnection::establish(path)?;
        connection.batch_execute("PRAGMA busy_timeout = 30000; PRAGMA synchronous = off")?;
        Ok(Self { dialect: Dialect::Sqlite, connection: Either::Sqlite(RefCell::new(connection)) })
    }

    /// Runs a statement, and leaves nothing of it to be done in the background.
    pub(crate) fn run(&self, statement: &str) -> Outcome {
        match &self.connection {
            Either::Postgres(admin) => admin.run(statement),
            Either::Sqlite(connection) => {
                let mut connection = connection.borrow_mut();
                connection.batch_execute(statement)?;
                Ok(connection.batch_execute("PRAGMA wal_checkpoint(TRUNCATE)")?)
            }
        }
    }

    /// What an expression comes to, as text.
    pub(crate) fn text(&self, expression: &str) -> Outcome<String> {
        let query = format!("SELECT CAST(({expression}) AS text) AS only");
        match &self.connection {
            Either::Postgres(admin) => {
                Ok(admin.texts(&query)?.into_iter().next().ok_or_else(|| format!("no answer to {query}"))?)
            }
            Either::Sqlite(connection) => {
                let mut rows: Vec<Only> = sql_query(&query).load(&mut *connection.borrow_mut())?;
                Ok(rows.pop().ok_or_else(|| format!("no answer to {query}"))?.only)
            }
        }
    }

    /// What an expression comes to, as a number.
    pub(crate) fn number(&self, expression: &str) -> Outcome<u64> {
        let text = self.text(expression)?;
        text.parse().map_err(|_| format!("no number: {expression} is {text}").into())
    }
}
