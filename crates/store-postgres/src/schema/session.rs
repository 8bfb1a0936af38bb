//! Sessions that check the schema, or change it one at a time.

use candor_tables::flat::CellReader;
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};

use crate::connection::session::{Session, run};
use crate::failure::Failure;
use crate::options::{ConnectError, PostgresOptions};
use crate::schema::pooler::{expect_own_session, explain_pooler};
use crate::sql::Sql;

/// Key of the advisory lock for schema changes, so that instances started together migrate one after another.
const LOCK: i64 = 0x0063_616e_646f_7201;

/// Reason for a failed change or check of the schema.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// The connection could not be opened.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// A step failed and was rolled back; earlier steps persist.
    #[error("cannot check or change the schema: {0}")]
    Failed(String),
}

/// Creates an error with a text, and the remedy if a pooler is the cause.
pub(crate) fn text(error: impl std::fmt::Display) -> SchemaError {
    SchemaError::Failed(explain_pooler(error.to_string()))
}

pub(crate) fn schema_error(failure: Failure) -> SchemaError {
    SchemaError::Failed(explain_pooler(failure.text()))
}

pub(crate) async fn connect(options: &PostgresOptions) -> Result<AsyncPgConnection, SchemaError> {
    let session = Session::new(&options.url, &options.application_name)?;
    session.connect().await.map_err(|error| ConnectError::Unreachable(explain_pooler(error.text())).into())
}

/// Opens a session with the schema lock, for which it waits without a limit. Statements have no timeout either,
/// but locks on tables do, so that services do not queue behind a waiting step.
pub(crate) async fn open_locked(options: &PostgresOptions) -> Result<AsyncPgConnection, SchemaError> {
    let mut connection = connect(options).await?;
    expect_own_session(options, &connection).await?;
    let lock = format!(
        "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = 0; \
         SELECT pg_advisory_lock({LOCK}); SET lock_timeout = '10s'"
    );
    connection.batch_execute(&lock).await.map_err(|error| schema_error(error.into()))?;
    Ok(connection)
}

pub(crate) async fn one<T: Send>(
    connection: &AsyncPgConnection,
    sql: &str,
    read: impl Fn(&mut dyn CellReader) -> Result<T, Failure> + Send,
) -> Result<T, SchemaError> {
    let rows = run(connection, &Sql::plain(sql), read).await.map_err(schema_error)?;
    rows.into_iter().next().ok_or_else(|| SchemaError::Failed(format!("the query returned no row: {sql}")))
}
