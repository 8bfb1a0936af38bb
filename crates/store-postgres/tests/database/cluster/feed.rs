//! The feed loses no events when a transaction commits late or its tenant is moved to another node.

use std::sync::atomic::{AtomicBool, Ordering};

use candor_port_storage::Storage;
use candor_store_testkit::Fixtures;
use candor_test_postgres::is_spread;
use futures_util::future::join_all;

use super::{Poller, announcement, place, uuid};
use crate::support;

/// Number of times a stalled feed is polled.
const LOOKS: usize = 20;
/// Number of moves: to the other node and back.
const MOVES: usize = 2;
const WRITERS: u64 = 4;

#[tokio::test(flavor = "multi_thread")]
async fn late_commit_is_behind_events_already_read() {
    let Some(database) = is_spread().then(support::database).flatten() else { return };
    let (store, make) = (support::store(&database, None).await, Fixtures::new(1));
    let tenant = make.tenant();
    let (first, change) = announcement(&make);
    store.commit(tenant, change).await.unwrap();

    // The statements of a commit without its end: it takes the next position and inserts an event.
    let mut slow = support::client(database.url()).await;
    let late = make.event(first.kind);
    let open = slow.transaction().await.unwrap();
    let (tenant_id, late_id) = (uuid(tenant), format!("{:032x}", u128::from_be_bytes(late.id.to_bytes())));
    let next = format!("UPDATE feed_positions SET position = position + 1 WHERE tenant_id = '{tenant_id}'");
    open.batch_execute(&next).await.unwrap();
    let insert = format!(
        "INSERT INTO events (tenant_id, id, type, created_at, data, position) \
         SELECT f.tenant_id, '{late_id}', e.type, e.created_at, e.data, f.position FROM feed_positions AS f \
         JOIN events AS e ON e.tenant_id = f.tenant_id WHERE f.tenant_id = '{tenant_id}'"
    );
    open.batch_execute(&insert).await.unwrap();

    let (second, change) = announcement(&make);
    let quick = tokio::spawn({
        let store = store.clone();
        async move { store.commit(tenant, change).await }
    });
    let mut poller = Poller::new(&store, tenant);
    for _ in 0..LOOKS {
        poller.poll().await.unwrap();
        assert_eq!(poller.seen, std::slice::from_ref(&first), "no event of a transaction that is still open");
    }
    open.commit().await.unwrap();
    quick.await.unwrap().unwrap();
    poller.collect_events(3).await;
    let ids: Vec<_> = poller.seen.iter().map(|event| event.id).collect();
    assert_eq!(ids, [first.id, late.id, second.id]);
}

#[tokio::test(flavor = "multi_thread")]
async fn tenant_move_under_load_keeps_every_event_in_order() {
    let Some(database) = is_spread().then(support::database).flatten() else { return };
    let store = support::store(&database, None).await;
    let make = Fixtures::new(2);
    let (tenant, is_over) = (make.tenant(), AtomicBool::new(false));
    let (_, change) = announcement(&make);
    store.commit(tenant, change).await.unwrap();

    let admin = support::client(database.url()).await;
    let nodes = admin.query("SELECT nodename, nodeport FROM pg_dist_node WHERE groupid > 0", &[]).await.unwrap();
    let moves = async {
        for _ in 0..MOVES {
            let (shard, host, port) = place(&admin, tenant).await;
            let other = nodes.iter().map(|node| (node.get::<_, String>(0), node.get::<_, i32>(1)));
            let (to, to_port) = other.into_iter().find(|node| *node != (host.clone(), port)).unwrap();
            let text = format!(
                "SELECT citus_move_shard_placement({shard}, '{host}', {port}, '{to}', {to_port}, 'block_writes')"
            );
            admin.batch_execute(&text).await.unwrap();
            assert_eq!(place(&admin, tenant).await.1, to);
        }
        is_over.store(true, Ordering::Relaxed);
    };
    let writers = (0..WRITERS).map(|number| {
        let (store, make, is_over) = (store.clone(), Fixtures::new(10 + number), &is_over);
        async move {
            let (mut written, mut refused) = (vec![], 0);
            while !is_over.load(Ordering::Relaxed) {
                let (event, change) = announcement(&make);
                match store.commit(tenant, change).await {
                    Ok(_) => written.push(event.id),
                    Err(_) => refused += 1,
                }
            }
            (written, refused)
        }
    });
    let reader = async {
        let mut poller = Poller::new(&store, tenant);
        while !is_over.load(Ordering::Relaxed) {
            let _ = poller.poll().await;
        }
        poller
    };
    let (_, written, mut poller) = tokio::join!(moves, join_all(writers), reader);
    let acknowledged_count: usize = 1 + written.iter().map(|(ids, _)| ids.len()).sum::<usize>();
    poller.collect_events(acknowledged_count).await;
    let seen_ids: Vec<_> = poller.seen.iter().map(|event| event.id).collect();
    let refused_count: usize = written.iter().map(|(_, count)| count).sum();
    assert!(seen_ids.len() <= acknowledged_count + refused_count, "no event comes twice");
    for (own, _) in &written {
        let places: Vec<_> = own.iter().map(|id| seen_ids.iter().position(|seen| seen == id).unwrap()).collect();
        assert!(places.is_sorted(), "in the order of the commits");
    }
    let mut second_poller = Poller::new(&store, tenant);
    second_poller.collect_events(seen_ids.len()).await;
    assert_eq!(second_poller.seen, poller.seen, "a later reader sees the same order");
}
