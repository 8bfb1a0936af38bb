//! Rewrites tables, so that their files no longer contain removed rows.

use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};

use candor_tables::flat::CellReader;

use crate::cluster::distribute::CAN_DISTRIBUTE;
use crate::connection::session::run;
use crate::failure::Failure;
use crate::options::PostgresOptions;
use crate::reads::erasing::REWRITTEN;
use crate::schema::session::{SchemaError, one, open_locked, schema_error};
use crate::sql::Sql;
use crate::sql::row::flag;

/// Table with the statistics of all columns. Databases from before version 0039 of the schema have values of
/// erased people there.
const STATISTICS: &str = "pg_statistic";

/// Query for statements, one for each table, that remove the stored statistics of the columns whose statistics
/// target is 0. Changing a column to its own type removes its statistics and rewrites no row.
const REMOVE_STATISTICS: &str = "SELECT format('ALTER TABLE %s %s', c.oid::regclass, string_agg(format( \
     'ALTER COLUMN %I TYPE %s%s', a.attname, format_type(a.atttypid, a.atttypmod), \
     CASE WHEN k.oid IS NULL THEN '' ELSE format(' COLLATE %s', k.oid::regcollation) END), ', ')) \
     FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid \
     LEFT JOIN pg_collation AS k ON k.oid = a.attcollation \
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attnum > 0 \
     AND NOT a.attisdropped AND a.attstattarget = 0 GROUP BY c.oid ORDER BY c.oid::regclass::text";

/// Query that returns `true` if the role owns the database, and so may rewrite its system tables.
const OWNS_DATABASE: &str =
    "SELECT pg_has_role(datdba, 'USAGE') FROM pg_database WHERE datname = current_database()";

/// Rewrites every table from which erasures remove rows, one after the other, so that their files no longer contain
/// removed rows. Calls `begin` with the name of each table before its rewrite, during which the table is locked.
/// Finally removes the statistics that the server once made of texts. Returns the rewritten tables; the table of
/// the statistics is the last one, if the role may rewrite it.
///
/// # Errors
/// [`SchemaError`], also if a table stays locked for 10 seconds.
pub async fn rewrite_erased(
    options: &PostgresOptions,
    begin: impl Fn(&str),
) -> Result<Vec<&'static str>, SchemaError> {
    let connection = open_locked(options).await?;
    execute(&connection, "SET lock_timeout = '10s'").await?;
    for table in REWRITTEN.iter() {
        begin(table);
        execute(&connection, &format!("VACUUM FULL {table}")).await?;
    }
    let mut tables_to_rewrite = REWRITTEN.to_vec();
    let text = |row: &mut dyn CellReader| row.text().map_err(Failure::Other);
    let removals = run(&connection, &Sql::plain(REMOVE_STATISTICS), text).await.map_err(schema_error)?;
    for removal in removals.into_iter().flatten() {
        execute(&connection, &removal).await?;
    }
    if one(&connection, OWNS_DATABASE, flag).await? {
        begin(STATISTICS);
        let rewrite = format!("VACUUM FULL {STATISTICS}");
        execute(&connection, &rewrite).await?;
        if one(&connection, CAN_DISTRIBUTE, flag).await? {
            execute(&connection, &format!("SELECT run_command_on_workers('{rewrite}')")).await?;
        }
        tables_to_rewrite.push(STATISTICS);
    }
    Ok(tables_to_rewrite)
}

async fn execute(mut connection: &AsyncPgConnection, statement: &str) -> Result<(), SchemaError> {
    connection.batch_execute(statement).await.map_err(|error| schema_error(error.into()))
}
