//! Rewrites tables, so that their files no longer contain removed rows.

use diesel_async::SimpleAsyncConnection;

use crate::options::PostgresOptions;
use crate::reads::erasing::REWRITTEN;
use crate::schema::session::{SchemaError, failed, locked};

/// Rewrites the tables that had rows of erased people, one after the other, so that their files no longer contain
/// removed rows. Calls `begin` before each. A table is locked while it is rewritten.
///
/// # Errors
/// [`SchemaError`], also if a table stays locked for 10 seconds.
pub async fn rewrite_erased(
    options: &PostgresOptions,
    begin: impl Fn(&str),
) -> Result<Vec<&'static str>, SchemaError> {
    let connection = locked(options).await?;
    let mut connection = &connection;
    connection.batch_execute("SET lock_timeout = '10s'").await.map_err(|error| failed(error.into()))?;
    for table in REWRITTEN {
        begin(table);
        let rewrite = format!("VACUUM FULL {table}");
        connection.batch_execute(&rewrite).await.map_err(|error| failed(error.into()))?;
    }
    Ok(REWRITTEN.to_vec())
}
