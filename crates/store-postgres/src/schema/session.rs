//! Sessions that look at the schema, or change it one at a time.

use candor_tables::flat::Fetch;
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};

use crate::connection::session::{Session, run};
use crate::failure::Failure;
use crate::options::{ConnectError, PostgresOptions};
use crate::schema::pooler::{expect_own_session, explained};
use crate::sql::Sql;

/// Whoever changes the schema holds this advisory lock, so that instances started together do it one after another.
const LOCK: i64 = 0x0063_616e_646f_7201;

/// Why the schema could not be changed or judged.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// There is no connection.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// A step failed; the steps before it stay done, this one is undone.
    #[error("the schema could not be brought up to date: {0}")]
    Failed(String),
}

/// Error with a text, and the remedy where a pooler is the cause.
pub(crate) fn text(error: impl std::fmt::Display) -> SchemaError {
    SchemaError::Failed(explained(error.to_string()))
}

pub(crate) fn failed(failure: Failure) -> SchemaError {
    SchemaError::Failed(explained(failure.text()))
}

pub(crate) async fn connect(options: &PostgresOptions) -> Result<AsyncPgConnection, SchemaError> {
    let session = Session::new(&options.url, &options.application_name)?;
    session.connect().await.map_err(|it| ConnectError::Unreachable(explained(it.text())).into())
}

/// Waits for its turn without a limit, and lets a step take its time, but never makes the service wait long for a lock
/// that a step waits for.
pub(crate) async fn locked(options: &PostgresOptions) -> Result<AsyncPgConnection, SchemaError> {
    let mut connection = connect(options).await?;
    expect_own_session(options, &connection).await?;
    let lock = format!(
        "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = 0; \
         SELECT pg_advisory_lock({LOCK}); SET lock_timeout = '10s'"
    );
    connection.batch_execute(&lock).await.map_err(|it| failed(it.into()))?;
    Ok(connection)
}

pub(crate) async fn one<T: Send>(
    connection: &AsyncPgConnection,
    sql: &str,
    read: impl Fn(&mut dyn Fetch) -> Result<T, Failure> + Send,
) -> Result<T, SchemaError> {
    let rows = run(connection, &Sql::plain(sql), read).await.map_err(failed)?;
    rows.into_iter().next().ok_or_else(|| SchemaError::Failed(format!("no answer to {sql}")))
}
