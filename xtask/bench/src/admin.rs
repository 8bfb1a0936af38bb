//! Statements of this program's own on the PostgreSQL under measure.

use crate::Outcome;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

/// A connection, with the runtime that drives it while one of its methods runs.
#[derive(Debug)]
pub(crate) struct Admin {
    runtime: Runtime,
    client: Client,
}

impl Admin {
    pub(crate) fn connect(url: &str) -> Outcome<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (client, connection) = runtime.block_on(tokio_postgres::connect(url, NoTls))?;
        runtime.spawn(async move { drop(connection.await) });
        Ok(Self { runtime, client })
    }

    /// Runs statements without an answer.
    pub(crate) fn run(&self, statements: &str) -> Outcome {
        let done = self.runtime.block_on(self.client.batch_execute(statements));
        done.map_err(|error| refused(statements, &error).into())
    }

    /// The first column of every row, as text.
    pub(crate) fn texts(&self, query: &str) -> Outcome<Vec<String>> {
        let rows = self.runtime.block_on(self.client.simple_query(query)).map_err(|error| refused(query, &error))?;
        let first = rows.iter().filter_map(|it| {
            let SimpleQueryMessage::Row(row) = it else { return None };
            Some(row.get(0).unwrap_or_default().to_owned())
        });
        Ok(first.collect())
    }

    /// The only value of the only row.
    pub(crate) fn number(&self, query: &str) -> Outcome<u64> {
        let texts = self.texts(query)?;
        let first = texts.first().ok_or_else(|| format!("no answer to {query}"))?;
        first.parse().map_err(|_| format!("no number: {query} gave {first}").into())
    }
}

/// The driver's own words are only a category; the reason is in what caused it.
fn refused(statement: &str, error: &tokio_postgres::Error) -> String {
    const SHOWN: usize = 200;
    let reason = error.as_db_error().map_or_else(|| error.to_string(), ToString::to_string);
    let shown: String = statement.chars().take(SHOWN).collect();
    format!("PostgreSQL: {reason}: {shown}")
}
