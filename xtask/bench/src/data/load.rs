//! Runs the statements in a database that has been migrated.

use super::Size;
use super::sql::{Dialect, Rows};
use crate::Outcome;
use crate::admin::Admin;
use candor_domain::id::AttributeId;
use diesel::connection::{Connection, SimpleConnection};
use diesel::deserialize::QueryableByName;
use diesel::sql_types::{BigInt, Binary};
use diesel::sqlite::SqliteConnection;
use diesel::{RunQueryDsl, sql_query};
use std::fs::File;

/// Fills a database on a server and answers the attributes of the tenant.
pub(crate) fn into_postgres(admin: &Admin, tenant: [u8; 16], size: Size) -> Outcome<Vec<AttributeId>> {
    let tenant_text = Dialect::Postgres.bytes(tenant);
    let select =
        format!("SELECT replace(id::text, '-', '') FROM attributes WHERE tenant_id = {tenant_text} ORDER BY id");
    let digits = admin.texts(&select)?;
    let attributes = digits.iter().map(|it| Ok(AttributeId::from_bytes(u128::from_str_radix(it, 16)?.to_be_bytes())));
    let attributes = attributes.collect::<Outcome<Vec<_>>>()?;
    // The rows are known to be right, and are not worth a flush each.
    admin.run(
        "SET session_replication_role = replica; SET synchronous_commit = off; SET maintenance_work_mem = '256MB'",
    )?;
    for statement in (Rows { dialect: Dialect::Postgres, size, tenant, attributes: &attributes }).statements() {
        admin.run(&statement)?;
    }
    // Beside commits that are not flushed, rows are not marked as visible to all.
    admin.run("SET synchronous_commit = on; CHECKPOINT")?;
    admin.run("VACUUM (ANALYZE, FREEZE)")?;
    admin.run("CHECKPOINT")?;
    Ok(attributes)
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Binary)]
    id: Vec<u8>,
}

/// Fills a database file and answers the attributes of the tenant.
pub(crate) fn into_sqlite(path: &str, tenant: [u8; 16], size: Size) -> Outcome<Vec<AttributeId>> {
    let mut connection = SqliteConnection::establish(path)?;
    connection.batch_execute(
        "PRAGMA busy_timeout = 5000; PRAGMA synchronous = off; PRAGMA foreign_keys = off; PRAGMA cache_size = -1000000",
    )?;
    let tenant_text = Dialect::Sqlite.bytes(tenant);
    let select = format!("SELECT id FROM attributes WHERE tenant_id = {tenant_text} ORDER BY id");
    let rows: Vec<Row> = sql_query(select).load(&mut connection)?;
    let attributes = rows
        .into_iter()
        .map(|it| Ok(AttributeId::from_bytes(<[u8; 16]>::try_from(it.id).map_err(|_| "an id of another length")?)));
    let attributes = attributes.collect::<Outcome<Vec<_>>>()?;
    let statements = Rows { dialect: Dialect::Sqlite, size, tenant, attributes: &attributes }.statements();
    connection.batch_execute(&format!("BEGIN; {}; COMMIT", statements.join("; ")))?;
    connection.batch_execute("PRAGMA wal_checkpoint(TRUNCATE)")?;
    // What is still on its way to the disk would disturb what is measured.
    File::open(path)?.sync_all()?;
    Ok(attributes)
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

/// Runs statements beside the service.
pub(crate) fn run_in_sqlite(path: &str, statements: &str) -> Outcome {
    Ok(beside(path)?.batch_execute(statements)?)
}

/// The value that an expression has, read beside the service.
pub(crate) fn number_in_sqlite(path: &str, expression: &str) -> Outcome<i64> {
    let row: Number = sql_query(format!("SELECT {expression} AS number")).get_result(&mut beside(path)?)?;
    Ok(row.number)
}

fn beside(path: &str) -> Outcome<SqliteConnection> {
    let mut connection = SqliteConnection::establish(path)?;
    connection.batch_execute("PRAGMA busy_timeout = 5000")?;
    Ok(connection)
}
