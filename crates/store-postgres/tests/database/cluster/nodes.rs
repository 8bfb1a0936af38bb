//! A killed node makes only its own tenants unavailable, until it is back.

use std::time::{Duration, Instant};

use candor_domain::access::Tenant;
use candor_port_storage::CommitError;
use candor_port_storage::StorageExt;
use candor_port_storage::{Storage, StorageError};
use candor_store_postgres::{PostgresOptions, PostgresStore};
use candor_store_testkit::Fixtures;
use candor_tables::flat::SqlValue;
use candor_tables::rows;
use candor_test_postgres::{Cluster, Nodes, is_spread};
use futures_util::future::{join, join_all};

use super::{DEADLINE, Poller, announcement, place};
use crate::support;

/// Number of tenants created to have at least one on each node.
const TENANTS: u32 = 64;
const DATABASE: &str = "kills";
/// Limit on the time until a refusal, even on a busy machine.
const SOON: Duration = Duration::from_secs(1);
const CLIENTS: usize = 4;
const REQUESTS: usize = 10;

/// A cluster for one test, whose nodes the test may kill.
pub(super) struct ClusterTest {
    pub(super) nodes: Nodes,
    pub(super) make: Fixtures,
    /// One tenant on each worker node, in the order of the nodes.
    pub(super) tenants: [Tenant; 2],
}

/// Returns a URL with the sockets of all nodes as hosts.
pub(super) fn url(nodes: &[Cluster]) -> String {
    let hosts: Vec<_> = nodes.iter().map(|node| node.folder().to_string_lossy().replace('/', "%2F")).collect();
    format!("postgres://candor@{}/{DATABASE}", hosts.join(","))
}

impl ClusterTest {
    async fn set() -> Option<Self> {
        Self::set_with(&[]).await
    }

    /// Starts a cluster with additional server settings.
    pub(super) async fn set_with(settings: &[&str]) -> Option<Self> {
        // If the suite runs on a cluster, the engine must be available.
        let nodes = is_spread().then(|| Nodes::start_with(settings))?.unwrap().ok()?;
        for node in &nodes.all {
            support::client(&node.url())
                .await
                .batch_execute(&format!("CREATE DATABASE {DATABASE}"))
                .await
                .unwrap();
            support::client(&own(node)).await.batch_execute("CREATE EXTENSION citus").await.unwrap();
        }
        let [coordinator, workers @ ..] = nodes.all.as_slice() else { return None };
        let admin = support::client(&own(coordinator)).await;
        let folder = |cluster: &Cluster| cluster.folder().display().to_string();
        let join = format!("SELECT citus_set_coordinator_host('{}', 5432)", folder(coordinator));
        admin.batch_execute(&join).await.unwrap();
        for it in workers {
            admin.batch_execute(&format!("SELECT citus_add_node('{}', 5432)", folder(it))).await.unwrap();
        }
        let url = own(coordinator);
        tokio::task::spawn_blocking(move || support::migrated(&url).unwrap()).await.unwrap();
        let make = Fixtures::new(1);
        let mut tenants_of_workers = [None; 2];
        for _ in 0..TENANTS {
            let tenant = make.tenant();
            let (_, host, _) = place(&admin, tenant).await;
            let worker_index = workers.iter().position(|worker| folder(worker) == host).unwrap();
            tenants_of_workers[worker_index] = Some(tenant);
        }
        let tenants = tenants_of_workers.map(|row| row.unwrap());
        Some(Self { nodes, make, tenants })
    }

    pub(super) async fn store(&self, url: &str) -> PostgresStore {
        PostgresStore::connect(&PostgresOptions::new(url, 8))
            .await
            .unwrap_or_else(|error| panic!("{error} ({:?})", self.tenants))
    }
}

pub(super) fn own(node: &Cluster) -> String {
    url(std::slice::from_ref(node))
}

pub(super) async fn announce(store: &PostgresStore, make: &Fixtures, tenant: Tenant) -> Result<(), CommitError> {
    store.commit(tenant, announcement(make).1).await.map(drop)
}

/// Retries a commit until it succeeds.
pub(super) async fn retry_announcement(store: &PostgresStore, make: &Fixtures, tenant: Tenant) {
    let start = Instant::now();
    while let Err(error) = announce(store, make, tenant).await {
        assert!(start.elapsed() < DEADLINE, "{error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_worker_blocks_only_its_own_tenants() {
    let Some(mut scene) = ClusterTest::set().await else { return };
    let store = scene.store(&own(&scene.nodes.all[0])).await;
    let [first, second] = scene.tenants;
    for tenant in [first, second] {
        announce(&store, &scene.make, tenant).await.unwrap();
    }
    scene.nodes.all[1].kill().unwrap();
    // The first error may come from the broken connection; later errors report that the node is down.
    for _ in 0..3 {
        let refusal = announce(&store, &scene.make, first).await;
        assert!(matches!(refusal, Err(CommitError::Storage(StorageError::Unavailable(_)))), "{refusal:?}");
        retry_announcement(&store, &scene.make, second).await;
    }
    let mut poller = Poller::new(&store, second);
    poller.collect_events(4).await;
    scene.nodes.all[1].start_again().unwrap();
    retry_announcement(&store, &scene.make, first).await;
    let mut poller = Poller::new(&store, first);
    poller.collect_events(2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_coordinator_is_bypassed_through_other_nodes() {
    let Some(mut scene) = ClusterTest::set().await else { return };
    let store = scene.store(&url(&scene.nodes.all)).await;
    for tenant in scene.tenants {
        announce(&store, &scene.make, tenant).await.unwrap();
    }
    scene.nodes.all[0].kill().unwrap();
    for tenant in scene.tenants {
        retry_announcement(&store, &scene.make, tenant).await;
        let mut poller = Poller::new(&store, tenant);
        poller.collect_events(2).await;
    }
    scene.nodes.all[0].start_again().unwrap();
    let second_store = scene.store(&own(&scene.nodes.all[0])).await;
    for tenant in scene.tenants {
        retry_announcement(&second_store, &scene.make, tenant).await;
        let mut poller = Poller::new(&second_store, tenant);
        poller.collect_events(3).await;
    }
}

/// Retries until a commit is refused immediately instead of after a timeout. The first commits may run before
/// the process has received the signal.
async fn await_refusal(store: &PostgresStore, make: &Fixtures, tenant: Tenant) {
    let start = Instant::now();
    loop {
        match tokio::time::timeout(SOON, announce(store, make, tenant)).await {
            Ok(Err(CommitError::Storage(StorageError::Unavailable(_)))) => return,
            Ok(Err(other)) => panic!("{other:?}"),
            Ok(Ok(())) | Err(_) => {
                assert!(start.elapsed() < DEADLINE, "the commits are not refused before the deadline")
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn frozen_worker_blocks_only_its_own_tenants() {
    let Some(mut scene) = ClusterTest::set().await else { return };
    let store = scene.store(&url(&scene.nodes.all)).await;
    let [first, second] = scene.tenants;
    for tenant in [first, second] {
        announce(&store, &scene.make, tenant).await.unwrap();
    }
    scene.nodes.all[1].freeze().unwrap();
    await_refusal(&store, &scene.make, first).await;

    let its_own = join_all((0..CLIENTS).map(|_| async {
        for _ in 0..REQUESTS {
            let read = Poller::new(&store, first).poll().await;
            assert!(matches!(read, Err(StorageError::Unavailable(_))), "{read:?}");
        }
    }));
    let others = join_all((0..CLIENTS).map(|_| async {
        for _ in 0..REQUESTS {
            announce(&store, &scene.make, second).await.unwrap();
            // The tenant of a secret is looked up on the first node, which must not wait for the other nodes.
            let unknown_hash = SqlValue::Bytes(vec![0; 32]);
            assert_eq!(store.row_in_any_tenant(rows::invitations::BY_TOKEN, unknown_hash).await.unwrap(), None);
        }
    }));
    tokio::time::timeout(DEADLINE, join(its_own, others)).await.expect("no request waits for the frozen node");
    scene.nodes.all[1].thaw().unwrap();
    retry_announcement(&store, &scene.make, first).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn frozen_coordinator_is_bypassed_through_other_nodes() {
    let Some(mut scene) = ClusterTest::set().await else { return };
    let store = scene.store(&url(&scene.nodes.all)).await;
    for tenant in scene.tenants {
        announce(&store, &scene.make, tenant).await.unwrap();
    }
    scene.nodes.all[0].freeze().unwrap();
    for tenant in scene.tenants {
        retry_announcement(&store, &scene.make, tenant).await;
        Poller::new(&store, tenant).collect_events(2).await;
        let start = Instant::now();
        let unknown_hash = || SqlValue::Bytes(vec![0; 32]);
        while !matches!(store.row_in_any_tenant(rows::invitations::BY_TOKEN, unknown_hash()).await, Ok(None)) {
            assert!(start.elapsed() < DEADLINE, "another node answers the lookup of a secret");
        }
    }
    scene.nodes.all[0].thaw().unwrap();
}
