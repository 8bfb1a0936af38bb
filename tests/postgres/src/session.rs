//! A blocking connection for tests.

use crate::Error;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

/// A blocking connection to a database. It must not be used within a runtime.
#[derive(Debug)]
pub struct TestSession {
    pub(crate) runtime: Runtime,
    pub(crate) client: Client,
}

impl TestSession {
    /// Connects to a database.
    ///
    /// # Errors
    /// The server refuses or does not exist.
    pub fn connect(url: &str) -> Result<Self, Error> {
        let runtime =
            Builder::new_current_thread().enable_all().build().map_err(Error::io("start", "a runtime"))?;
        let connect = tokio_postgres::connect(url, NoTls);
        let (client, connection) =
            runtime.block_on(connect).map_err(Error::sql("cannot connect to the test PostgreSQL"))?;
        runtime.spawn(connection);
        Ok(Self { runtime, client })
    }

    /// Executes statements and discards their results.
    ///
    /// # Errors
    /// The server's refusal.
    pub fn execute(&self, statement: &str) -> Result<(), Error> {
        self.runtime.block_on(self.client.batch_execute(statement)).map_err(Error::sql(statement))
    }

    /// Returns the boolean result of a query.
    ///
    /// # Errors
    /// The server's refusal.
    pub fn is_true(&self, question: &str) -> Result<bool, Error> {
        let row = self.runtime.block_on(self.client.query_one(question, &[])).map_err(Error::sql(question))?;
        row.try_get(0).map_err(Error::sql(question))
    }

    /// Returns the integer result of a query.
    ///
    /// # Errors
    /// The server's refusal.
    pub fn number(&self, question: &str) -> Result<i64, Error> {
        let row = self.runtime.block_on(self.client.query_one(question, &[])).map_err(Error::sql(question))?;
        row.try_get(0).map_err(Error::sql(question))
    }

    /// Returns the first column of every row as text. NULL is an empty text.
    ///
    /// # Errors
    /// The server's refusal.
    pub fn texts(&self, query: &str) -> Result<Vec<String>, Error> {
        let messages = self.runtime.block_on(self.client.simple_query(query)).map_err(Error::sql(query))?;
        let first_column = messages.iter().filter_map(|message| {
            let SimpleQueryMessage::Row(row) = message else { return None };
            Some(row.get(0).unwrap_or_default().to_owned())
        });
        Ok(first_column.collect())
    }
}
