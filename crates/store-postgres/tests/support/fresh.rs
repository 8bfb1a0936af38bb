//! A new database for each case of the suite that every store passes.

use std::sync::Arc;

use candor_fair_share::SlowReads;
use candor_store_testkit::Fresh;
use candor_test_postgres::TestDatabase;

use crate::support;

/// A store on this database, with a way past it.
pub(crate) async fn fresh(database: TestDatabase, limits: SlowReads) -> Fresh {
    let store = support::store(&database, Some(limits)).await;
    let url = database.url().to_owned();
    Fresh {
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
