//! First step of a claim on a cluster: it reads the queues of all tenants, because a lease statement can only
//! lease the deliveries of one tenant.

use std::collections::BTreeMap;

use candor_domain::access::Tenant;
use candor_domain::id::Id;
use candor_domain::time::Timestamp;
use candor_port_storage::error::Read;
use candor_port_storage::queue::{Claim, Lease, QueueKey, QueueWalk};
use candor_tables::flat::{CellReader, SqlValue};

use super::claim::{LeaseScope, lease};
use super::without_lease;
use crate::failure::Failure;
use crate::nodes::transaction::Transaction;
use crate::sql::Sql;
use crate::sql::row::{id, owner};
use crate::store::PostgresStore;

/// Ids of a tenant's subscriptions, or keys of its deliveries.
type ByTenant<T> = BTreeMap<[u8; 16], Vec<T>>;

/// Webhook and event of a delivery.
type DeliveryKey = ([u8; 16], [u8; 16]);

/// Lease statements of a claim.
pub(super) struct LeasePlan {
    pub(super) leases: Vec<Sql>,
    /// Last queue of this walk; the next walk continues after it. `None` at the end of the queues, for claims of
    /// the oldest deliveries, and if the lease statement returns the queue.
    pub(super) next: Option<QueueKey>,
    /// Number of deliveries to lease, if there may be more. If fewer are leased, another worker took the missing ones.
    pub(super) expected: Option<usize>,
}

impl PostgresStore {
    /// Plans the leases of a claim that has leased `already` deliveries: one statement, or one for each tenant
    /// with due deliveries.
    pub(super) async fn plan_leases(
        &self,
        leased_as: Lease,
        now: Timestamp,
        claim: &Claim,
        already: usize,
    ) -> Read<LeasePlan> {
        let build = |scope: &LeaseScope| lease(self.layout, (leased_as, now), claim, scope);
        if self.layout.spans_tenants() {
            return Ok(LeasePlan { leases: vec![build(&LeaseScope::AllTenants)], next: None, expected: None });
        }
        let (walk, condition) = match claim {
            Claim::Oldest { most } => {
                let places = usize::from(*most).saturating_sub(already);
                let oldest =
                    self.in_turn(Transaction::single_statement(oldest(now, places)), delivery_key).await?;
                let expected_count = (oldest.len() == places).then_some(places);
                let mut keys_by_tenant: ByTenant<DeliveryKey> = BTreeMap::new();
                for (tenant, key) in oldest {
                    keys_by_tenant.entry(tenant).or_default().push(key);
                }
                let scopes = keys_by_tenant
                    .into_iter()
                    .map(|(id, keys)| LeaseScope::Deliveries(Tenant::from_bytes(id), keys));
                return Ok(LeasePlan {
                    leases: scopes.map(|scope| build(&scope)).collect(),
                    next: None,
                    expected: expected_count,
                });
            }
            Claim::SubscriptionQueues(walk) => (walk, "due_at IS NOT NULL"),
            Claim::Parked(walk) => (walk, "due_at IS NULL"),
        };
        let passed_queues =
            self.in_turn(Transaction::single_statement(queues(walk, condition)), queue_key).await?;
        let next =
            if passed_queues.len() == usize::from(walk.queues) { passed_queues.last().copied() } else { None };
        let mut ids_by_tenant: ByTenant<[u8; 16]> = BTreeMap::new();
        for (tenant, webhook) in passed_queues.into_iter().filter(|queue| !walk.busy.contains(queue)) {
            ids_by_tenant.entry(tenant.to_bytes()).or_default().push(webhook.to_bytes());
        }
        let scopes =
            ids_by_tenant.into_iter().map(|(id, queues)| LeaseScope::Queues(Tenant::from_bytes(id), queues));
        Ok(LeasePlan { leases: scopes.map(|scope| build(&scope)).collect(), next, expected: None })
    }
}

/// Query for the deliveries with the earliest due times.
fn oldest(now: Timestamp, wanted: usize) -> Sql {
    let mut sql = Sql::default();
    let (at, limit) =
        (sql.bind(SqlValue::Time(now)), sql.bind(SqlValue::Int(i64::try_from(wanted).unwrap_or_default())));
    sql.push(&format!(
        "SELECT tenant_id, webhook_id, event_id FROM delivery_jobs WHERE due_at <= {at} AND {} \
         ORDER BY due_at LIMIT {limit}",
        without_lease(&at)
    ));
    sql
}

/// Query for the queues of a walk.
fn queues(walk: &QueueWalk, condition: &str) -> Sql {
    let ids = |(tenant, webhook): &QueueKey| (tenant.to_bytes(), webhook.to_bytes());
    let (tenant, webhook) = walk.after.as_ref().map_or_else(Default::default, ids);
    let mut sql = Sql::default();
    let (tenant, webhook) = (sql.id(tenant), sql.id(webhook));
    let most = sql.bind(SqlValue::Int(i64::from(walk.queues)));
    sql.push(&format!(
        "SELECT DISTINCT tenant_id, webhook_id FROM delivery_jobs WHERE {condition} \
         AND (tenant_id, webhook_id) > ({tenant}, {webhook}) ORDER BY tenant_id, webhook_id LIMIT {most}"
    ));
    sql
}

fn delivery_key(row: &mut dyn CellReader) -> Result<([u8; 16], DeliveryKey), Failure> {
    Ok((id(row)?, (id(row)?, id(row)?)))
}

fn queue_key(row: &mut dyn CellReader) -> Result<QueueKey, Failure> {
    Ok((owner(row)?, Id::from_bytes(id(row)?)))
}
