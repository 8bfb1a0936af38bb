//! Statements go directly to the node of their tenant, after moves and while other nodes are down.

use std::time::Instant;

use candor_domain::access::Tenant;
use candor_store_postgres::PostgresStore;
use tokio_postgres::Client;

use super::nodes::{ClusterTest, announce, own, retry_announcement, url};
use super::{DEADLINE, Poller, place};
use crate::support;

const COUNTING: &str = "shared_preload_libraries=citus,pg_stat_statements";
/// Query for the number of statements on the tests' tables, from all connections.
const CALLS: &str = "SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements \
    WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) \
    AND query ~ 'audit_entries|events' AND query NOT LIKE '%pg_stat_statements%'";
/// Number of counted changes.
const CHANGES: usize = 5;

/// Direct connections to all nodes, the coordinator first.
struct Counters(Vec<Client>);

impl Counters {
    async fn new(scene: &ClusterTest) -> Self {
        let mut all = vec![];
        for node in &scene.nodes.all {
            all.push(support::client(&own(node)).await);
        }
        all[0].batch_execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements").await.unwrap();
        Self(all)
    }

    /// Returns the number of statements per node for [`CHANGES`] changes of a tenant and reads of its feed.
    async fn count_statements(&self, store: &PostgresStore, scene: &ClusterTest, tenant: Tenant) -> Vec<i64> {
        for node in &self.0 {
            node.batch_execute("SELECT pg_stat_statements_reset()").await.unwrap();
        }
        for _ in 0..CHANGES {
            announce(store, &scene.make, tenant).await.unwrap();
            Poller::new(store, tenant).poll().await.unwrap();
        }
        let mut counts = vec![];
        for node in &self.0 {
            counts.push(node.query_one(CALLS, &[]).await.unwrap().get(0));
        }
        counts
    }

    /// Repeats the count until only this node gets statements.
    async fn until_alone(&self, store: &PostgresStore, scene: &ClusterTest, tenant: Tenant, node: usize) {
        let start = Instant::now();
        loop {
            let counts = self.count_statements(store, scene, tenant).await;
            if is_alone(&counts, node) {
                return;
            }
            assert!(start.elapsed() < DEADLINE, "statements by node: {counts:?}; only node {node} should get any");
        }
    }
}

fn is_alone(counted: &[i64], node: usize) -> bool {
    counted.iter().enumerate().all(|(at, calls)| (*calls > 0) == (at == node))
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_go_only_to_the_tenants_node_also_after_a_move() {
    let Some(scene) = ClusterTest::set_with(&[COUNTING]).await else { return };
    let (counters, store) = (Counters::new(&scene).await, scene.store(&url(&scene.nodes.all)).await);
    for (tenant, node) in scene.tenants.into_iter().zip(1..) {
        announce(&store, &scene.make, tenant).await.unwrap();
        let counts = counters.count_statements(&store, &scene, tenant).await;
        assert!(is_alone(&counts, node), "{counts:?} statements for a tenant on node {node}");
    }

    let [tenant, _] = scene.tenants;
    let (shard, host, port) = place(&counters.0[0], tenant).await;
    let to = scene.nodes.all[2].folder().display();
    let move_query =
        format!("SELECT citus_move_shard_placement({shard}, '{host}', {port}, '{to}', 5432, 'block_writes')");
    counters.0[0].batch_execute(&move_query).await.unwrap();
    announce(&store, &scene.make, tenant).await.unwrap();
    counters.until_alone(&store, &scene, tenant, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn node_missing_at_start_is_used_once_available() {
    let Some(mut scene) = ClusterTest::set_with(&[COUNTING]).await else { return };
    let [first, second] = scene.tenants;
    scene.nodes.all[1].kill().unwrap();
    let store = scene.store(&url(&scene.nodes.all)).await;
    announce(&store, &scene.make, second).await.unwrap();
    announce(&store, &scene.make, first).await.unwrap_err();
    announce(&store, &scene.make, second).await.unwrap();

    scene.nodes.all[1].start_again().unwrap();
    retry_announcement(&store, &scene.make, first).await;
    let counters = Counters::new(&scene).await;
    counters.until_alone(&store, &scene, first, 1).await;

    // Reads also survive the loss of the first node of the URL.
    scene.nodes.all[0].kill().unwrap();
    for tenant in scene.tenants {
        retry_announcement(&store, &scene.make, tenant).await;
    }
}
