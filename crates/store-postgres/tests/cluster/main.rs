//! What holds on a cluster alone, while its nodes are used, moved between and killed. `cargo xtask cluster` runs it.

#![cfg(test)]

#[path = "../support/mod.rs"]
mod support;

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

/// The longest wait for anything.
const DEADLINE: Duration = Duration::from_secs(60);
const MOST: u16 = 100;

/// A change set that adds an event and nothing else but its entry in the audit log.
fn announcing(make: &Fixtures) -> (Event, ChangeSet) {
    let event = make.event(EventType::EmployeeUpdated);
    (event.clone(), ChangeSet { events: vec![event], ..make.change(vec![]) })
}

/// Whoever follows the feed of a tenant.
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

    /// Polls, whatever fails meanwhile, until it has seen so many.
    async fn until(&mut self, count: usize) {
        let begun = Instant::now();
        while self.seen.len() < count {
            assert!(begun.elapsed() < DEADLINE, "{} events of {count}", self.seen.len());
            let _ = self.poll().await;
            tokio::task::yield_now().await;
        }
    }
}

/// The number of a tenant's part of a table, and the port and host of the node where it is.
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
