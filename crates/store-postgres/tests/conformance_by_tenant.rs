//! PostgreSQL passes the suite that every store passes, also with the tables laid out as for a cluster: the statements that
//! a cluster gets do on one server what the others do.

#![cfg(test)]

mod support;

use std::process::ExitCode;
use std::sync::Arc;

use candor_port_storage::SlowReads;
use candor_store_postgres::{PostgresOptions, SchemaError, lay_out_by_tenant};
use candor_store_testkit::{Fresh, run};
use candor_test_postgres::is_spread;

fn laid_out(url: &str) -> Result<(), SchemaError> {
    support::migrated(url)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(lay_out_by_tenant(&PostgresOptions::new(url, 1)))
}

fn main() -> ExitCode {
    run(fresh)
}

async fn fresh(limits: SlowReads) -> Option<Fresh> {
    // On a cluster every database is laid out like this.
    let database = if is_spread() { support::database()? } else { support::database_of("_by_tenant", laid_out)? };
    let store = support::store(&database, Some(limits)).await;
    let url = database.url().to_owned();
    Some(Fresh {
        store: Arc::new(store),
        sql: Arc::new(move |statement| {
            let url = url.clone();
            Box::pin(async move {
                support::client(&url).await.batch_execute(&statement).await.expect("a statement");
            })
        }),
        keep: Box::new(database),
    })
}
