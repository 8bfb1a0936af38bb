//! What a later version adds to a cluster.

use candor_port_storage::store::Storage;
use candor_store_postgres::{PostgresOptions, distribute, pending};
use candor_store_testkit::Fixtures;
use candor_test_postgres::is_spread;

use super::{Poller, announcing, support};

#[tokio::test(flavor = "multi_thread")]
async fn a_function_that_an_older_version_did_not_make_is_named_and_made() {
    let Some(database) = is_spread().then(support::database).flatten() else { return };
    let options = PostgresOptions::new(database.url(), 1);
    assert_eq!(pending(&options).await.unwrap(), Vec::<String>::new());
    support::client(database.url()).await.batch_execute("DROP FUNCTION next_feed_position(uuid)").await.unwrap();
    let missing = ["to be distributed: next_feed_position on every node"];
    assert_eq!(pending(&options).await.unwrap(), missing);

    distribute(&options, 4).await.unwrap();
    assert_eq!(pending(&options).await.unwrap(), Vec::<String>::new());
    let (store, make) = (support::store(&database, None).await, Fixtures::new(1));
    let tenant = make.tenant();
    let (event, change) = announcing(&make);
    store.commit(tenant, change).await.unwrap();
    let mut poller = Poller::new(&store, tenant);
    poller.until(1).await;
    assert_eq!(poller.seen, [event]);
}
