//! Change sets on a distributed database assume that no subscription wants their events until the store finds one.
//! A subscriber must get its events even if the committing process does not know of the subscription.

use candor_domain::access::Tenant;
use candor_domain::event::EventType;
use candor_port_storage::ChangeSet;
use candor_port_storage::Storage;
use candor_port_storage::{Row, Version, Write};
use candor_store_testkit::{Fixtures, eventually};
use candor_subscriptions::Subscription;
use candor_test_postgres::{TestDatabase, is_spread};
use tokio_postgres::Client;

use crate::{by_tenant, support};

/// Numbers of events in one change set: few events are written as rows of values, many by one statement.
const SOME: [usize; 2] = [1, 20];

struct AudienceTest {
    database: TestDatabase,
    admin: Client,
    make: Fixtures,
    tenant: Tenant,
}

impl AudienceTest {
    async fn new() -> Option<Self> {
        let database = by_tenant::database()?;
        let (admin, make) = (support::client(database.url()).await, Fixtures::new(1));
        let tenant = make.tenant();
        Some(Self { database, admin, make, tenant })
    }

    /// Commits a change through a new store, which has no cached knowledge of subscribers.
    async fn save(&self, change: ChangeSet) {
        support::store(&self.database, None).await.commit(self.tenant, change).await.unwrap();
    }

    async fn write(&self, write: Write) {
        self.save(self.make.change(vec![write])).await;
    }

    /// Returns the number of deliveries queued for `count` events of a kind, committed by a store with an empty
    /// cache.
    async fn count_queued(&self, kind: EventType, count: usize) -> i64 {
        let count_before = self.number("SELECT count(*) FROM delivery_jobs").await;
        let events = (0..count).map(|_| self.make.event(kind)).collect();
        self.save(ChangeSet { events, ..self.make.change(vec![]) }).await;
        self.number("SELECT count(*) FROM delivery_jobs").await - count_before
    }

    async fn number(&self, question: &str) -> i64 {
        self.admin.query_one(question, &[]).await.unwrap().get(0)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_queued_for_subscriptions_active_at_commit_time() {
    let Some(it) = AudienceTest::new().await else { return };
    let (wanted, other) = (EventType::ObservationCreated, EventType::EmployeeCreated);
    let first = it.make.subscription_to(&[wanted]);
    let (paused, late) = (Subscription { active: false, ..first.clone() }, it.make.subscription_to(&[wanted]));
    let changes = [
        (Write::put(&Row::new(first.clone())), 1),
        (Write::put(&Row::at_version(paused, Version::FIRST)), 0),
        (Write::put(&Row::new(late)), 1),
        (Write::put(&Row::at_version(first.clone(), Version(2))), 2),
        (Write::WebhookRemoved(first.id, Version(3)), 1),
    ];
    assert_eq!(it.count_queued(wanted, 1).await, 0);
    for (change, subscribers) in changes {
        it.write(change).await;
        for some in SOME {
            assert_eq!(it.count_queued(wanted, some).await, subscribers * i64::try_from(some).unwrap());
            assert_eq!(it.count_queued(other, some).await, 0);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_subscriptions_both_receive_events() {
    let Some(it) = AudienceTest::new().await else { return };
    // Not on a cluster: there the transactions wait on the node of the tenant, and the test sees only this server.
    if is_spread() {
        return;
    }
    let kinds = [EventType::ObservationCreated, EventType::EmployeeCreated];
    assert_eq!(it.count_queued(kinds[0], 1).await, 0);
    let mut holding = support::client(it.database.url()).await;
    let lock_transaction = holding.transaction().await.unwrap();
    lock_transaction.batch_execute("SELECT 1 FROM feed_positions FOR UPDATE").await.unwrap();
    let store = support::store(&it.database, None).await;
    let subscribing = kinds.map(|kind| {
        let change = it.make.change(vec![Write::put(&Row::new(it.make.subscription_to(&[kind])))]);
        let (store, tenant) = (store.clone(), it.tenant);
        tokio::spawn(async move { store.commit(tenant, change).await })
    });
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                   AND application_name = 'candor' AND wait_event_type = 'Lock'";
    eventually("both wait", || async { it.number(waiting).await == 2 }).await;
    lock_transaction.commit().await.unwrap();
    for one in subscribing {
        one.await.unwrap().unwrap();
    }
    for kind in kinds {
        assert_eq!(it.count_queued(kind, 1).await, 1, "{kind:?}");
    }
}
