//! Cluster tests, run while nodes serve, shards move and nodes are killed. `cargo xtask cluster` runs them.

mod feed;
mod nodes;
mod own_node;
mod upgrade;

use std::time::{Duration, Instant};

use candor_domain::access::Tenant;
use candor_domain::event::{Event, EventType, FeedFilter, FeedStart};
use candor_domain::page::Position;
use candor_domain::time::Timestamp;
use candor_port_storage::ChangeSet;
use candor_port_storage::Storage;
use candor_port_storage::error::Read;
use candor_store_testkit::Fixtures;

/// Limit on every wait of a test.
const DEADLINE: Duration = Duration::from_secs(60);
const MOST: u16 = 100;

/// Creates a change set with one event and its audit entry.
fn announcement(make: &Fixtures) -> (Event, ChangeSet) {
    let event = make.event(EventType::EmployeeUpdated);
    (event.clone(), ChangeSet { events: vec![event], ..make.change(vec![]) })
}

/// A client that follows a tenant's feed.
struct Poller<'s> {
    store: &'s dyn Storage,
    tenant: Tenant,
    at: Option<Position>,
    seen: Vec<Event>,
}

impl<'s> Poller<'s> {
    fn new(store: &'s dyn Storage, tenant: Tenant) -> Self {
        Self { store, tenant, at: None, seen: vec![] }
    }

    async fn poll(&mut self) -> Read<()> {
        let start: FeedStart = self.at.clone().into();
        let ever = Timestamp::from_millis(0);
        let page = self.store.feed(self.tenant, &FeedFilter::default(), ever, &start, MOST).await?;
        self.seen.extend(page.events);
        self.at = page.next;
        Ok(())
    }

    /// Polls until `count` events have been seen. Errors are retried.
    async fn collect_events(&mut self, count: usize) {
        let start = Instant::now();
        while self.seen.len() < count {
            assert!(start.elapsed() < DEADLINE, "{} events of {count}", self.seen.len());
            let _ = self.poll().await;
            tokio::task::yield_now().await;
        }
    }
}

/// Returns the id of the tenant's shard of `events`, with host and port of its node.
async fn place(client: &tokio_postgres::Client, tenant: Tenant) -> (i64, String, i32) {
    let id = uuid(tenant);
    let shard = format!("SELECT get_shard_id_for_distribution_column('events', '{id}'::uuid)");
    let shard: i64 = client.query_one(&shard, &[]).await.unwrap().get(0);
    let node = "SELECT nodename, nodeport FROM citus_shards WHERE shardid = $1";
    let node = client.query_one(node, &[&shard]).await.unwrap();
    (shard, node.get(0), node.get(1))
}

fn uuid(tenant: Tenant) -> String {
    format!("{:032x}", u128::from_be_bytes(tenant.to_bytes()))
}
