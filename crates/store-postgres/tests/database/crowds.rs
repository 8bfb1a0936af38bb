//! A change set or a read that waits for a lock does not delay other change sets.

use std::time::Duration;

use candor_domain::access::Tenant;
use candor_domain::catalog::Attribute;
use candor_domain::event::EventType;
use candor_domain::id::EmployeeId;
use candor_domain::observation::Observation;
use candor_port_storage::Row;
use candor_port_storage::Storage;
use candor_port_storage::store::People;
use candor_port_storage::{ChangeSet, CommitError, Committed, Require, Write};
use candor_store_postgres::PostgresStore;
use candor_store_testkit::Fixtures;
use candor_store_testkit::fixtures::joins;
use candor_test_postgres::TestDatabase;
use futures_util::FutureExt;
use futures_util::future::join_all;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_postgres::{Client, Transaction};

use crate::support;

const DEADLINE: Duration = Duration::from_secs(100);
/// Number of reads, higher than the number of connections.
const READS: usize = 40;
/// Number of blocked commits, higher than the number of slots for shared transactions.
const HELD_UP: usize = 5;

struct CrowdTest {
    database: TestDatabase,
    store: PostgresStore,
    fixtures: Fixtures,
    tenant: Tenant,
    person: EmployeeId,
    /// People whose rows another transaction locks.
    others: Vec<EmployeeId>,
}

impl CrowdTest {
    async fn set(seed: u64) -> Option<Self> {
        let database = support::database()?;
        let (store, fixtures) = (support::store(&database, None).await, Fixtures::new(seed));
        let (tenant, person) = (fixtures.tenant(), fixtures.employee());
        let others: Vec<_> = (0..HELD_UP).map(|_| fixtures.employee()).collect();
        let writes = std::iter::once(&person).chain(&others).map(|person| joins(person.clone())).collect();
        store.commit(tenant, fixtures.change(writes)).await.unwrap();
        let others = others.iter().map(|person| person.id).collect();
        Some(Self { database, store, fixtures, tenant, person: person.id, others })
    }

    fn observation_change(&self, key: &str, person: EmployeeId) -> ChangeSet {
        ChangeSet {
            events: vec![self.fixtures.event(EventType::ObservationCreated)],
            replay: Some(self.fixtures.replay(key)),
            ..self.fixtures.change(vec![Write::put(&Row::new(self.fixtures.observation(person)))])
        }
    }

    /// Locks the rows of `others`.
    async fn hold_others(&self, held: &Transaction<'_>) {
        let ids: Vec<_> =
            self.others.iter().map(|id| format!("'{:032x}'", u128::from_be_bytes(id.to_bytes()))).collect();
        let lock = format!("SELECT * FROM employees WHERE id IN ({}) FOR UPDATE", ids.join(", "));
        held.batch_execute(&lock).await.unwrap();
    }

    /// Commits all change sets concurrently.
    fn commit(&self, changes: Vec<ChangeSet>) -> JoinSet<Result<Committed, CommitError>> {
        let mut running = JoinSet::new();
        for change in changes {
            let (store, tenant) = (self.store.clone(), self.tenant);
            running.spawn(async move { store.commit(tenant, change).await });
        }
        running
    }
}

/// Waits until a session of the database waits for a lock.
async fn until_one_waits(watcher: &Client) {
    let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while watcher.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) == 0 {}
}

async fn done(running: JoinSet<Result<Committed, CommitError>>) -> Vec<Result<Committed, CommitError>> {
    timeout(DEADLINE, running.join_all()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn commit_waiting_for_a_lock_does_not_block_another() {
    let Some(scene) = CrowdTest::set(1).await else { return };
    let mut other = support::client(scene.database.url()).await;
    let lock_transaction = other.transaction().await.unwrap();
    scene.hold_others(&lock_transaction).await;

    let others = |from: u32| {
        (from..from + 30)
            .map(|number| scene.observation_change(&format!("other-{number}"), scene.person))
            .collect()
    };
    let waiting = scene.others.iter().map(|id| scene.observation_change(&id.to_string(), *id)).collect();
    let (before, waiting, behind) = (scene.commit(others(0)), scene.commit(waiting), scene.commit(others(30)));
    for running in [before, behind] {
        assert!(done(running).await.iter().all(Result::is_ok), "done while other commits wait");
    }
    lock_transaction.commit().await.unwrap();
    assert!(done(waiting).await.iter().all(Result::is_ok));
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_of_one_tenant_leave_connections_to_commits() {
    let Some(scene) = CrowdTest::set(5).await else { return };
    let mut other = support::client(scene.database.url()).await;
    let lock_transaction = other.transaction().await.unwrap();
    lock_transaction.batch_execute("LOCK TABLE reporting_lines IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let mut reads = JoinSet::new();
    for _ in 0..READS {
        let (store, tenant, person) = (scene.store.clone(), scene.tenant, scene.person);
        reads.spawn(async move { store.lines_above(tenant, &[person]).await.is_ok() });
    }
    let watcher = support::client(scene.database.url()).await;
    timeout(DEADLINE, until_one_waits(&watcher)).await.unwrap();

    let department = Write::put(&Row::new(scene.fixtures.department()));
    scene.store.commit(scene.fixtures.tenant(), scene.fixtures.change(vec![department])).await.unwrap();
    lock_transaction.rollback().await.unwrap();
    assert!(reads.join_all().await.into_iter().all(|is_read| is_read));
}

#[tokio::test(flavor = "multi_thread")]
async fn use_of_an_attribute_does_not_wait_for_its_lock() {
    let Some(scene) = CrowdTest::set(4).await else { return };
    let attribute = scene.fixtures.attribute();
    let write = Write::put(&Row::new(attribute.clone()));
    scene.store.commit(scene.tenant, scene.fixtures.change(vec![write])).await.unwrap();
    let mut other = support::client(scene.database.url()).await;
    let lock_transaction = other.transaction().await.unwrap();
    lock_transaction.batch_execute("SELECT * FROM attributes FOR UPDATE").await.unwrap();
    let change_with_tag = |number: u32| {
        let tagged_observation =
            Observation { attribute_ids: vec![attribute.id], ..scene.fixtures.observation(scene.person) };
        ChangeSet {
            requires: vec![Require::open::<Attribute>(attribute.id)],
            replay: Some(scene.fixtures.replay(&format!("tagged-{number}"))),
            events: vec![scene.fixtures.event(EventType::ObservationCreated)],
            ..scene.fixtures.change(vec![Write::put(&Row::new(tagged_observation))])
        }
    };
    let running = scene.commit((0..30).map(change_with_tag).collect());
    assert!(done(running).await.iter().all(Result::is_ok), "done while the attribute is held");
    lock_transaction.commit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn commit_waiting_for_a_retry_does_not_block_another() {
    let Some(scene) = CrowdTest::set(2).await else { return };
    let mut other = support::client(scene.database.url()).await;
    let lock_transaction = other.transaction().await.unwrap();
    let tenant = u128::from_be_bytes(scene.tenant.to_bytes());
    let values = (0..HELD_UP)
        .map(|number| format!("('{tenant:032x}', 'twin-{number}', '', 201, '', '2026-03-02', '9999-01-01')"));
    let insert =
        "INSERT INTO replays (tenant_id, key, fingerprint, status, sealed, created_at, expires_at) VALUES";
    lock_transaction.batch_execute(&format!("{insert} {}", values.collect::<Vec<_>>().join(", "))).await.unwrap();

    let twins =
        (0..HELD_UP).map(|number| scene.observation_change(&format!("twin-{number}"), scene.person)).collect();
    let others =
        (0..60).map(|number| scene.observation_change(&format!("other-{number}"), scene.person)).collect();
    let (twins, others) = (scene.commit(twins), scene.commit(others));
    assert!(done(others).await.iter().all(Result::is_ok), "done while other commits wait");
    lock_transaction.commit().await.unwrap();
    let twins = done(twins).await;
    assert!(twins.iter().all(|result| matches!(result, Err(CommitError::Replayed))), "{twins:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_with_dropped_callers_are_carried_out() {
    let Some(scene) = CrowdTest::set(3).await else { return };
    let mut other = support::client(scene.database.url()).await;
    let lock_transaction = other.transaction().await.unwrap();
    scene.hold_others(&lock_transaction).await;
    let person = scene.others[0];
    let changes = (0..40).map(|number| scene.observation_change(&format!("{number}"), person));
    let mut running = join_all(changes.map(|change| scene.store.commit(scene.tenant, change)));
    assert!((&mut running).now_or_never().is_none(), "the commits wait for the lock");
    let watcher = support::client(scene.database.url()).await;
    timeout(DEADLINE, until_one_waits(&watcher)).await.unwrap();
    drop(running);
    lock_transaction.commit().await.unwrap();

    let all_there = async {
        while watcher.query_one("SELECT count(*) FROM observations", &[]).await.unwrap().get::<_, i64>(0) < 40 {}
    };
    timeout(DEADLINE, all_there).await.unwrap();
    let count = |table: &str| format!("SELECT count(*) FROM {table}");
    for table in ["events", "replays"] {
        assert_eq!(watcher.query_one(&count(table), &[]).await.unwrap().get::<_, i64>(0), 40, "{table}");
    }
}
