//! A new database for each case of the conformance suite.

use std::sync::Arc;

use candor_fair_share::SlowReads;
use candor_store_testkit::EmptyStore;
use candor_test_postgres::TestDatabase;

use crate::support;

/// Creates a store on this database, with direct access to the tables.
pub(crate) async fn fresh(database: TestDatabase, limits: SlowReads) -> EmptyStore {
    let store = support::store(&database, Some(limits)).await;
    let url = database.url().to_owned();
    EmptyStore {
        store: Arc::new(store),
        sql: Arc::new(move |statement| {
            let url = url.clone();
            Box::pin(async move {
                support::client(&url).await.batch_execute(&statement).await.expect("a statement");
            })
        }),
        keep: Box::new(database),
    }
}
