//! The queue where tenants are spread over nodes: what is due is looked for on every node, and leased or recorded on the
//! node of its tenant.

use std::collections::BTreeMap;

use candor_domain::access::Tenant;
use candor_domain::id::Id;
use candor_domain::time::Timestamp;
use candor_domain::webhook::{HealthDelta, Job};
use candor_port_storage::StorageError;
use candor_port_storage::error::Read;
use candor_port_storage::queue::{AttemptResult, Claim, Claimed, Lease, QueueKey, Recorded, Walk, WorkerId};
use candor_tables::flat::{Cell, Fetch};
use candor_tables::rows::JOB_TABLE;
use futures_util::{StreamExt, stream};

use super::record_by_tenant::statements;
use super::{claim, record, unleased};
use crate::PostgresStore;
use crate::connection::transaction::Transaction;
use crate::failure::Failure;
use crate::select::{id, owner};
use crate::sql::Sql;

/// So many tenants' parts of a claim or a record are under way at once.
const AT_ONCE: usize = 4;

/// What another worker leases between the look and the lease is looked for again so often.
const LOOKS: u32 = 3;

/// A tenant's ids of subscriptions, or of deliveries with the ids of their events.
type Of<T> = BTreeMap<[u8; 16], Vec<T>>;
type DeliveryKey = ([u8; 16], [u8; 16]);

impl PostgresStore {
    /// Leases what is due.
    pub(super) async fn claim_by_tenant(&self, lease: Lease, now: Timestamp, claim: &Claim) -> Read<Claimed> {
        let (leases, next) = match claim {
            Claim::Oldest { most } => return self.claim_oldest(lease, now, *most).await,
            Claim::SubscriptionQueues(walk) => {
                let (queues, next) = self.queues(walk, "due_at IS NOT NULL").await?;
                (self.lease_all(queues, |tenant, queues| due(lease, now, tenant, queues, walk.each)).await?, next)
            }
            Claim::Parked(walk) => {
                let (queues, next) = self.queues(walk, "due_at IS NULL").await?;
                (self.lease_all(queues, |tenant, queues| parked(lease, tenant, queues, walk.each)).await?, next)
            }
        };
        Ok(Claimed { next, ..claim::claimed(leases, claim)? })
    }

    async fn claim_oldest(&self, lease: Lease, now: Timestamp, most: u16) -> Read<Claimed> {
        let mut claimed = Claimed::default();
        for _ in 0..LOOKS {
            let wanted = usize::from(most).saturating_sub(claimed.jobs.len());
            let mut sql = Sql::default();
            let (at, limit) =
                (sql.bind(Cell::Time(now)), sql.bind(Cell::Int(i64::try_from(wanted).unwrap_or_default())));
            sql.push(&format!(
                "SELECT tenant_id, webhook_id, event_id FROM delivery_jobs WHERE due_at <= {at} AND {} \
                 ORDER BY due_at LIMIT {limit}",
                unleased(&at)
            ));
            let oldest = self.in_turn(Transaction::alone(sql), delivery_key).await?;
            let found = oldest.len();
            let mut of: Of<DeliveryKey> = BTreeMap::new();
            for (tenant, key) in oldest {
                of.entry(tenant).or_default().push(key);
            }
            let leased = self.lease_all(of, |tenant, keys| these(lease, now, tenant, keys)).await?;
            let some = claim::claimed(leased, &Claim::Oldest { most })?.jobs;
            let is_all = found < wanted || some.len() == found;
            claimed.jobs.extend(some);
            if is_all {
                break;
            }
        }
        Ok(claimed)
    }

    /// The queues that a walk passes, without the busy ones, and where the next one begins.
    async fn queues(&self, walk: &Walk, condition: &str) -> Read<(Of<[u8; 16]>, Option<QueueKey>)> {
        let ids = |(tenant, webhook): &QueueKey| (tenant.to_bytes(), webhook.to_bytes());
        let (tenant, webhook) = walk.after.as_ref().map_or_else(Default::default, ids);
        let mut sql = Sql::default();
        let (tenant, webhook) = (sql.id(tenant), sql.id(webhook));
        let most = sql.bind(Cell::Int(i64::from(walk.queues)));
        sql.push(&format!(
            "SELECT DISTINCT tenant_id, webhook_id FROM delivery_jobs WHERE {condition} \
             AND (tenant_id, webhook_id) > ({tenant}, {webhook}) ORDER BY tenant_id, webhook_id LIMIT {most}"
        ));
        let passed = self.in_turn(Transaction::alone(sql), queue_key).await?;
        let next = if passed.len() == usize::from(walk.queues) { passed.last().copied() } else { None };
        let mut queues: Of<_> = BTreeMap::new();
        for (tenant, webhook) in passed.into_iter().filter(|it| !walk.busy.contains(it)) {
            queues.entry(tenant.to_bytes()).or_default().push(webhook.to_bytes());
        }
        Ok((queues, next))
    }

    /// Leases something of each tenant. Where a tenant's node does not answer, the others' deliveries go out all the same.
    async fn lease_all<T>(&self, of: Of<T>, sql: impl Fn([u8; 16], Vec<T>) -> Sql) -> Read<Vec<claim::Row>> {
        let statements: Vec<_> = of.into_iter().map(|(tenant, some)| sql(tenant, some)).collect();
        let leases = statements.into_iter().map(|it| self.in_turn(Transaction::alone(it), claim::row));
        let leased: Vec<_> = stream::iter(leases).buffered(AT_ONCE).collect().await;
        what_was_done(leased).map(|(done, _)| done.into_iter().flatten().collect())
    }

    /// Records what has become of leased deliveries, the ones of each tenant in a transaction.
    pub(super) async fn record_by_tenant(
        &self,
        worker: WorkerId,
        results: Vec<(Job, AttemptResult)>,
        health: Vec<(QueueKey, HealthDelta)>,
    ) -> Read<Recorded> {
        let mut of: BTreeMap<_, (Vec<_>, Vec<_>)> = BTreeMap::new();
        let count = results.len();
        for it in results {
            of.entry(it.0.tenant.to_bytes()).or_default().0.push(it);
        }
        for it in health {
            of.entry(it.0.0.to_bytes()).or_default().1.push(it);
        }
        let mut transactions = vec![];
        for (tenant, (results, health)) in of {
            let tenant = Tenant::from_bytes(tenant);
            transactions.push(statements(worker, tenant, results, health).map_err(StorageError::from)?);
        }
        let records = transactions.into_iter().map(|it| self.in_turn(Transaction::of_some(it), record::row));
        let recorded: Vec<_> = stream::iter(records).buffered(AT_ONCE).collect().await;
        let (done, _) = what_was_done(recorded)?;
        let (mut held, mut streaks) = (0, vec![]);
        for (some, streak) in done.into_iter().flatten() {
            held += usize::try_from(some).unwrap_or_default();
            streaks.extend(streak);
        }
        Ok(Recorded { streaks, lost: u64::try_from(count.saturating_sub(held)).unwrap_or_default() })
    }
}

/// What could be done of several tenants' parts, and how many could not; an error where nothing could. What was not
/// recorded counts as lost: its lease ends, and it comes round again.
fn what_was_done<T>(parts: Vec<Read<Vec<T>>>) -> Read<(Vec<Vec<T>>, usize)> {
    let (mut done, mut failed) = (vec![], vec![]);
    for part in parts {
        match part {
            Ok(it) => done.push(it),
            Err(error) => failed.push(error),
        }
    }
    let count = failed.len();
    match failed.into_iter().next() {
        Some(error) if done.is_empty() => return Err(error),
        Some(error) => tracing::warn!(%error, tenants = count, "the queue of some tenants could not be worked on"),
        None => {}
    }
    Ok((done, count))
}

/// Leases what a subquery of keys finds, in the form of a claim's answer.
fn leasing(sql: &mut Sql, tenant: &str, set: &str, found: &str) {
    let names =
        |of: &str| JOB_TABLE.columns.iter().map(|it| format!("{of}.{}", it.name)).collect::<Vec<_>>().join(", ");
    sql.push(&format!(
        "WITH found AS MATERIALIZED ({found}), leased AS (UPDATE delivery_jobs AS j SET {set} FROM found AS f \
         WHERE j.tenant_id = {tenant} AND j.webhook_id = f.webhook_id AND j.event_id = f.event_id \
         RETURNING f.due_at AS was, {}) \
         SELECT NULL::uuid, NULL::uuid, true, l.was, {} FROM leased AS l",
        names("j"),
        names("l"),
    ));
}

fn whose(sql: &mut Sql, lease: Lease) -> (String, String) {
    let (worker, until) = (sql.id(lease.worker.0), sql.bind(Cell::Time(lease.until)));
    (format!("worker = {worker}, leased_until = {until}"), until)
}

/// Leases deliveries that are still due.
fn these(lease: Lease, now: Timestamp, tenant: [u8; 16], keys: Vec<DeliveryKey>) -> Sql {
    let mut sql = Sql::default();
    let ((set, _), tenant) = (whose(&mut sql, lease), sql.tenant(Tenant::from_bytes(tenant)));
    let (webhooks, events): (Vec<_>, Vec<_>) = keys.into_iter().unzip();
    let (webhooks, events, now) = (sql.ids(webhooks), sql.ids(events), sql.bind(Cell::Time(now)));
    let found = format!(
        "SELECT webhook_id, event_id, due_at FROM delivery_jobs WHERE tenant_id = {tenant} AND (webhook_id, event_id) IN \
         (SELECT u.webhook_id, u.event_id FROM UNNEST({webhooks}, {events}) AS u (webhook_id, event_id)) \
         AND due_at <= {now} AND {} ORDER BY due_at FOR UPDATE SKIP LOCKED",
        unleased(&now)
    );
    leasing(&mut sql, &tenant, &set, &found);
    sql
}

/// Leases some of each queue, the longest due first.
fn due(lease: Lease, now: Timestamp, tenant: [u8; 16], queues: Vec<[u8; 16]>, each: u16) -> Sql {
    let mut sql = Sql::default();
    let ((set, _), tenant, queues) = (whose(&mut sql, lease), sql.tenant(Tenant::from_bytes(tenant)), sql.ids(queues));
    let (now, each) = (sql.bind(Cell::Time(now)), sql.bind(Cell::Int(i64::from(each))));
    let found = format!(
        "SELECT d.webhook_id, d.event_id, d.due_at FROM UNNEST({queues}) AS q (id) CROSS JOIN LATERAL \
         (SELECT webhook_id, event_id, due_at FROM delivery_jobs WHERE tenant_id = {tenant} AND webhook_id = q.id \
         AND due_at <= {now} AND {} ORDER BY due_at LIMIT {each} FOR UPDATE SKIP LOCKED) AS d",
        unleased(&now)
    );
    leasing(&mut sql, &tenant, &set, &found);
    sql
}

/// Leases some of each parked queue whose subscription is active again, or gone: the oldest events first. If nothing else
/// becomes of a delivery, it is due when the lease ends.
fn parked(lease: Lease, tenant: [u8; 16], queues: Vec<[u8; 16]>, each: u16) -> Sql {
    let mut sql = Sql::default();
    let ((set, until), tenant, queues) =
        (whose(&mut sql, lease), sql.tenant(Tenant::from_bytes(tenant)), sql.ids(queues));
    let each = sql.bind(Cell::Int(i64::from(each)));
    let found = format!(
        "SELECT d.webhook_id, d.event_id, d.due_at FROM UNNEST({queues}) AS q (id) CROSS JOIN LATERAL \
         (SELECT webhook_id, event_id, due_at FROM delivery_jobs WHERE tenant_id = {tenant} AND webhook_id = q.id \
         AND due_at IS NULL ORDER BY event_id LIMIT {each} FOR UPDATE SKIP LOCKED) AS d \
         WHERE (SELECT wanted FROM webhooks WHERE tenant_id = {tenant} AND id = q.id) IS DISTINCT FROM 0"
    );
    leasing(&mut sql, &tenant, &format!("{set}, due_at = {until}"), &found);
    sql
}

fn delivery_key(row: &mut dyn Fetch) -> Result<([u8; 16], DeliveryKey), Failure> {
    Ok((id(row)?, (id(row)?, id(row)?)))
}

fn queue_key(row: &mut dyn Fetch) -> Result<QueueKey, Failure> {
    Ok((owner(row)?, Id::from_bytes(id(row)?)))
}
