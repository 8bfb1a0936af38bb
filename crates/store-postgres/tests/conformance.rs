//! PostgreSQL passes the suite that every store passes.

#![cfg(test)]

mod support;

use std::process::ExitCode;
use std::sync::Arc;

use candor_port_storage::SlowReads;
use candor_store_testkit::{Fresh, run};

fn main() -> ExitCode {
    run(fresh)
}

async fn fresh(limits: SlowReads) -> Option<Fresh> {
    let database = support::database()?;
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
