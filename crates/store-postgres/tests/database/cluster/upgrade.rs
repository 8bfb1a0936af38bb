//! Additions of later versions to the schema of a cluster.

use candor_domain::event::EventType;
use candor_port_storage::Storage;
use candor_port_storage::{Row, Write};
use candor_store_postgres::{PostgresOptions, distribute, pending};
use candor_store_testkit::Fixtures;
use candor_test_postgres::is_spread;

use super::{Poller, announcement};
use crate::support;

#[tokio::test(flavor = "multi_thread")]
async fn missing_database_function_is_named_and_created() {
    let Some(database) = is_spread().then(support::database).flatten() else { return };
    let options = PostgresOptions::new(database.url(), 1);
    assert_eq!(pending(&options).await.unwrap(), Vec::<String>::new());
    let (older, make) = (support::store(&database, None).await, Fixtures::new(1));
    let tenant = make.tenant();
    let subscription = make.subscription_to(&[EventType::EmployeeUpdated]);
    older.commit(tenant, make.change(vec![Write::put(&Row::new(subscription))])).await.unwrap();
    let admin = support::client(database.url()).await;
    // The state before the upgrade: the function has one argument, and the column `wanted` is missing.
    for change in [
        "DROP FUNCTION next_feed_position(uuid, bigint)",
        "ALTER TABLE feed_positions DROP COLUMN wanted",
        "CREATE FUNCTION next_feed_position(tenant uuid) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'",
    ] {
        admin.batch_execute(change).await.unwrap();
    }
    let missing = ["to be distributed: next_feed_position on every node"];
    assert_eq!(pending(&options).await.unwrap(), missing);

    distribute(&options, 4).await.unwrap();
    assert_eq!(pending(&options).await.unwrap(), Vec::<String>::new());
    let store = support::store(&database, None).await;
    let (event, change) = announcement(&make);
    store.commit(tenant, change).await.unwrap();
    let queued_count: i64 = admin.query_one("SELECT count(*) FROM delivery_jobs", &[]).await.unwrap().get(0);
    assert_eq!(queued_count, 1, "for the subscription from before the upgrade");
    let mut poller = Poller::new(&store, tenant);
    poller.collect_events(1).await;
    assert_eq!(poller.seen, [event]);
}
