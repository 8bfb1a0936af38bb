//! A database with the table layout of a cluster.

use candor_store_postgres::{PostgresOptions, SchemaError, lay_out_by_tenant};
use candor_test_postgres::{TestDatabase, is_spread};

use crate::support;

fn migrate_and_lay_out(url: &str) -> Result<(), SchemaError> {
    support::migrated(url)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(lay_out_by_tenant(&PostgresOptions::new(url, 1)))
}

/// Creates a database with the cluster's layout. On a cluster, every database has it.
pub(crate) fn database() -> Option<TestDatabase> {
    if is_spread() { support::database() } else { support::database_of("_by_tenant", migrate_and_lay_out) }
}
