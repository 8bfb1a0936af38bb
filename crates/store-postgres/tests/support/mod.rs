//! A migrated database for each test.

use candor_fair_share::SlowReads;
use candor_store_postgres::{PostgresOptions, PostgresStore, SchemaError, distribute, migrate};
use candor_test_postgres::{TestDatabase, is_spread, template};
use tokio_postgres::{Client, NoTls};

/// Pool size of a store under test.
pub(crate) const POOL: usize = 12;

/// Number of shards per table on a cluster: enough that two tenants are usually on different shards.
const SHARDS: u16 = 4;

/// Creates a migrated database. Prints a notice and returns `None` without PostgreSQL.
pub(crate) fn database() -> Option<TestDatabase> {
    database_of("", migrated)
}

/// Creates a database from the template `kind`, which `migrate` fills.
pub(crate) fn database_of(kind: &str, migrate: fn(&str) -> Result<(), SchemaError>) -> Option<TestDatabase> {
    TestDatabase::create(&template(kind).expect("migrations"), migrate).expect("a database")
}

pub(crate) fn migrated(url: &str) -> Result<(), SchemaError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let options = PostgresOptions::new(url, 1);
    runtime.block_on(async {
        migrate(&options).await?;
        // On a cluster, the same tests run on distributed tables.
        if is_spread() { distribute(&options, SHARDS).await.map(drop) } else { Ok(()) }
    })
}

/// Connects a store to a database, with the given or the default limits on slow reads.
pub(crate) async fn store(database: &TestDatabase, slow_reads: Option<SlowReads>) -> PostgresStore {
    let usual = PostgresOptions::new(database.url(), POOL);
    let slow_reads = slow_reads.unwrap_or(usual.slow_reads);
    PostgresStore::connect(&PostgresOptions { slow_reads, ..usual }).await.expect("a store")
}

/// Connects to the database directly, bypassing the store.
pub(crate) async fn client(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("a connection");
    tokio::spawn(connection);
    client
}
