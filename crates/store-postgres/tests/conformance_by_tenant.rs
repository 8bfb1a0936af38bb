//! PostgreSQL passes the suite that every store passes, also with the tables laid out as for a cluster: the statements that
//! a cluster gets do on one server what the others do.

#![cfg(test)]

#[path = "support/fresh.rs"]
mod fresh;
mod support;

use std::process::ExitCode;

use candor_store_postgres::{PostgresOptions, SchemaError, lay_out_by_tenant};
use candor_store_testkit::run;
use candor_test_postgres::{TestDatabase, is_spread};

fn laid_out(url: &str) -> Result<(), SchemaError> {
    support::migrated(url)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(lay_out_by_tenant(&PostgresOptions::new(url, 1)))
}

/// On a cluster every database is laid out like this.
fn database() -> Option<TestDatabase> {
    if is_spread() { support::database() } else { support::database_of("_by_tenant", laid_out) }
}

fn main() -> ExitCode {
    run(async |limits| Some(fresh::fresh(database()?, limits).await))
}
