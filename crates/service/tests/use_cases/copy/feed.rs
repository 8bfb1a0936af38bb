//! Clients of the event feed continue on the copy with their cursors.

use candor_domain::access::Tenant;
use candor_domain::event::{Event, EventType, FeedFilter, FeedStart};
use candor_domain::page::{Key, Position};
use candor_domain::time::Timestamp;
use candor_port_storage::copy::CopyTarget;
use candor_port_storage::store::History;
use candor_port_storage::{ChangeSet, Storage};
use candor_port_storage::{Row, Write};
use candor_store_testkit::{Fixtures, eventually};
use candor_tables::copy::tables;
use candor_tables::flat::{SqlValue, Stored};

use super::ends::{File, copied, empty_postgres, source_in, store, target_in};

/// Commits events in one transaction and waits until the feed shows them. PostgreSQL shows them once all
/// earlier transactions on the server have ended, including those of other databases.
pub(crate) async fn commit_events(store: &dyn Storage, make: &Fixtures, tenant: Tenant, count: usize) {
    let events: Vec<_> = (0..count).map(|_| make.event(EventType::ObservationCreated)).collect();
    let all: Vec<_> = events.iter().map(|event| event.id.to_bytes()).collect();
    let change = ChangeSet { events, ..make.change(vec![]) };
    store.commit(tenant, change).await.unwrap();
    let are_shown = || async {
        let (shown, _) = page(store, tenant, None, 200).await;
        all.iter().all(|id| shown.contains(id))
    };
    eventually("the feed shows the events", are_shown).await;
}

/// Returns the event ids of a feed page, and its end position.
pub(crate) async fn page(
    store: &dyn History,
    tenant: Tenant,
    after: Option<Position>,
    limit: u16,
) -> (Vec<[u8; 16]>, Position) {
    let start = after.clone().map_or(FeedStart::Oldest, FeedStart::After);
    let page = store.feed(tenant, &FeedFilter::default(), Timestamp::from_millis(0), &start, limit).await.unwrap();
    let ids = page.events.iter().map(|event| event.id.to_bytes()).collect();
    (ids, page.next.or(after).unwrap_or(Position { key: Key::Rank(0), id: [0; 16] }))
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_cursor_continues_on_postgres() {
    let Some(database) = empty_postgres() else { return };
    let (file, make) = (File::new(), Fixtures::new(1));
    let (tenant, other) = (make.tenant(), make.tenant());
    let (first, cursor, left) = {
        drop(file.target());
        let store = file.store();
        for count in [2, 1, 3] {
            commit_events(&store, &make, tenant, count).await;
            commit_events(&store, &make, other, 1).await;
        }
        let (first, cursor) = page(&store, tenant, None, 3).await;
        let (left, _) = page(&store, tenant, Some(cursor.clone()), 50).await;
        (first, cursor, left)
    };
    assert_eq!((first.len(), left.len()), (3, 3));
    copied(&file.source(), &target_in(&database).await).await.unwrap();
    let store = store(&database).await;
    assert_eq!(page(&store, tenant, Some(cursor.clone()), 50).await.0, left);
    let (_, last) = page(&store, tenant, Some(cursor.clone()), 50).await;
    commit_events(&store, &make, tenant, 2).await;
    let (new, _) = page(&store, tenant, Some(last), 50).await;
    assert_eq!(new.len(), 2, "new events come after the cursor");
    assert_eq!(page(&store, tenant, None, 50).await.0, [first, left, new].concat());
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_cursor_continues_on_sqlite_within_a_transaction() {
    let Some(database) = empty_postgres() else { return };
    let (file, make) = (File::new(), Fixtures::new(2));
    let (tenant, other) = (make.tenant(), make.tenant());
    drop(target_in(&database).await);
    let (pages, all) = {
        let store = store(&database).await;
        for count in [5, 1, 4] {
            commit_events(&store, &make, tenant, count).await;
            commit_events(&store, &make, other, 3).await;
        }
        let mut pages = vec![];
        for limit in 1..10 {
            pages.push(page(&store, tenant, None, limit).await);
        }
        (pages, page(&store, tenant, None, 50).await.0)
    };
    assert_eq!(all.len(), 10);
    copied(&source_in(&database).await, &file.target()).await.unwrap();
    let store = file.store();
    assert_eq!(page(&store, tenant, None, 50).await.0, all, "the copy has the same order");
    for (seen, cursor) in &pages {
        let (left, _) = page(&store, tenant, Some(cursor.clone()), 50).await;
        assert_eq!([seen.clone(), left].concat(), all, "from the cursor after {} events", seen.len());
    }
    let (_, last) = page(&store, tenant, None, 50).await;
    commit_events(&store, &make, tenant, 1).await;
    assert_eq!(page(&store, tenant, Some(last), 50).await.0.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn new_events_come_behind_a_cursor_of_expired_events() {
    let Some(database) = empty_postgres() else { return };
    let (file, make) = (File::new(), Fixtures::new(4));
    let tenant = make.tenant();
    let far = 5_000_000_000_000;
    {
        // An empty feed with a high position, as after retention has removed all events.
        drop(file.target());
        let organization = Write::put(&Row::new(make.organization(tenant.organization)));
        file.store().commit(tenant, make.change(vec![organization])).await.unwrap();
        let target = file.target();
        target.begin(("source".to_owned(), "nowhere".to_owned())).await.unwrap();
        target.finish(far).await.unwrap();
        target.accept().await.unwrap();
    }
    let cursor = Position { key: Key::Rank(far), id: make.event(EventType::ObservationCreated).id.to_bytes() };
    copied(&file.source(), &target_in(&database).await).await.unwrap();
    let last_file = File::new();
    {
        let store = store(&database).await;
        commit_events(&store, &make, tenant, 1).await;
        assert_eq!(page(&store, tenant, Some(cursor.clone()), 50).await.0.len(), 1);
    }
    copied(&source_in(&database).await, &last_file.target()).await.unwrap();
    let store = last_file.store();
    let (seen, last) = page(&store, tenant, Some(cursor), 50).await;
    commit_events(&store, &make, tenant, 1).await;
    assert_eq!((seen.len(), page(&store, tenant, Some(last), 50).await.0.len()), (1, 1));
}

#[test]
fn events_are_copied_in_feed_order() {
    let all = tables();
    let events = all.iter().find(|table| table.name == Event::TABLE.name).unwrap();
    let row: Vec<_> = events.columns.iter().map(|column| SqlValue::Null(column.kind)).collect();
    assert_eq!(events.key_of(&row).len(), 3);
}
