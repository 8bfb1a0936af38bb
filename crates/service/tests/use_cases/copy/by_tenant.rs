//! Copies into distributed databases also fill the lookup tables that only these databases have. The lookup tables are
//! stored separately from the rows of the tenants.

use candor_domain::access::Tenant;
use candor_domain::event::EventType;
use candor_port_storage::Storage;
use candor_port_storage::queue::Lease;
use candor_port_storage::store::Everyone;
use candor_port_storage::{ChangeSet, Row, Write};
use candor_store_testkit::Fixtures;

use super::ends::{File, copied, empty_postgres_by_tenant, source_in, store, target_in};
use super::feed::{commit_events, page};

#[tokio::test(flavor = "multi_thread")]
async fn copy_to_the_cluster_layout_and_back_changes_nothing() {
    let Some(database) = empty_postgres_by_tenant().await else { return };
    let (first, last) = (File::full().await, File::new());
    let report_of_copy = copied(&first.source(), &target_in(&database).await).await.unwrap();
    assert!(report_of_copy.tables.iter().all(|table| table.checksum.rows > 0), "{report_of_copy:?}");
    let report_of_return = copied(&source_in(&database).await, &last.target()).await.unwrap();
    assert_eq!(report_of_return, report_of_copy);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_and_cursors_stay_valid_in_the_cluster_layout() {
    let Some(database) = empty_postgres_by_tenant().await else { return };
    let (file, back, make) = (File::new(), File::new(), Fixtures::new(6));
    let (tenant, other) = (make.tenant(), make.tenant());
    let key = make.api_key();
    let (seen, cursor) = {
        drop(file.target());
        let store = file.store();
        let organization = make.organization(tenant.organization);
        let own = Tenant::live(tenant.organization);
        store
            .commit(
                own,
                make.change(vec![Write::put(&Row::new(organization)), Write::put(&Row::new(key.clone()))]),
            )
            .await
            .unwrap();
        for count in [2, 1] {
            commit_events(&store, &make, tenant, count).await;
            commit_events(&store, &make, other, 4).await;
        }
        page(&store, tenant, None, 50).await
    };
    copied(&file.source(), &target_in(&database).await).await.unwrap();
    {
        let store = store(&database).await;
        let key_id = store.key_by_hash(key.hash).await.unwrap().map(|record| record.key.id);
        assert_eq!(key_id, Some(key.id), "the lookup table of keys has the copied key");
        commit_events(&store, &make, tenant, 2).await;
        assert_eq!(
            page(&store, tenant, Some(cursor.clone()), 50).await.0.len(),
            2,
            "new events come after the cursor"
        );
        commit_events(&store, &make, other, 1).await;
    }
    let page_in_cluster = page(&store(&database).await, tenant, None, 50).await;
    copied(&source_in(&database).await, &back.target()).await.unwrap();
    let store = back.store();
    assert_eq!(page(&store, tenant, None, 50).await.0, page_in_cluster.0);
    assert_eq!(page(&store, tenant, Some(cursor), 50).await.0, page_in_cluster.0[seen.len()..]);
    commit_events(&store, &make, tenant, 1).await;
    assert_eq!(page(&store, tenant, Some(page_in_cluster.1), 50).await.0.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn copied_subscription_receives_events_in_the_cluster_layout() {
    let Some(database) = empty_postgres_by_tenant().await else { return };
    let (file, make) = (File::new(), Fixtures::new(7));
    let tenant = make.tenant();
    let subscription = make.subscription_to(&[EventType::ObservationCreated]);
    {
        drop(file.target());
        let change = make.change(vec![Write::put(&Row::new(subscription.clone()))]);
        file.store().commit(tenant, change).await.unwrap();
    }
    copied(&file.source(), &target_in(&database).await).await.unwrap();
    let event = make.event(EventType::ObservationCreated);
    let lease = Lease { worker: make.worker(), until: event.created_at.plus_seconds(60) };
    let change = ChangeSet { events: vec![event.clone()], lease: Some(lease), ..make.change(vec![]) };
    let leased_jobs = store(&database).await.commit(tenant, change).await.unwrap().leased;
    assert_eq!(leased_jobs, [(subscription.id, event.id)]);
}
