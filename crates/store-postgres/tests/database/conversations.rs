//! The archive of a conversation follows the messages in the feed.

use candor_port_storage::{Row, Storage, Version, Write};
use candor_store_testkit::Fixtures;
use candor_store_testkit::fixtures::joins;
use candor_test_postgres::is_spread;

use crate::support;

/// Query for the number of sessions that wait for the lock of a row, and the number of these that have a
/// transaction id.
const WAITING: &str = "SELECT count(*), count(backend_xid) FROM pg_stat_activity \
                       WHERE datname = current_database() AND wait_event_type = 'Lock'";

#[tokio::test(flavor = "multi_thread")]
async fn archive_waits_for_a_message_without_a_position() {
    // Skipped on a cluster, which counts positions in the order of the commits.
    let Some(database) = support::database().filter(|_| !is_spread()) else { return };
    let (store, make) = (support::store(&database, None).await, Fixtures::new(1));
    let tenant = make.tenant();
    let person = make.employee();
    let talk = make.conversation(vec![person.id]);
    let first_change = make.change(vec![joins(person), Write::put(&Row::new(talk.clone()))]);
    store.commit(tenant, first_change).await.unwrap();
    let (mut message, watcher) = (support::client(database.url()).await, support::client(database.url()).await);
    let open = message.transaction().await.unwrap();
    open.execute("UPDATE conversations SET last_message_at = created_at", &[]).await.unwrap();
    let mut archived_talk = talk;
    archived_talk.archived_at = Some(make.tick());
    let change = make.change(vec![Write::put(&Row::at_version(archived_talk, Version::FIRST))]);
    let archive = tokio::spawn(async move { store.commit(tenant, change).await.map(drop) });
    let start = std::time::Instant::now();
    loop {
        let waiting = watcher.query_one(WAITING, &[]).await.unwrap();
        if waiting.get::<_, i64>(0) > 0 {
            // The transaction id becomes the position of the event, which must be after the position of the
            // message.
            assert_eq!(waiting.get::<_, i64>(1), 0, "the archive has its position before it holds the row");
            break;
        }
        assert!(start.elapsed().as_secs() < 60 && !archive.is_finished(), "the archive does not wait");
        tokio::task::yield_now().await;
    }
    open.commit().await.unwrap();
    archive.await.unwrap().unwrap();
}
