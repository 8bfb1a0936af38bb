//! Leases due deliveries. The claim is one task of the writer, so that no two workers get the same delivery.

use std::collections::HashSet;

use candor_domain::access::Tenant;
use candor_domain::id::WebhookId;
use candor_domain::time::Timestamp;
use candor_port_storage::error::Read;
use candor_port_storage::queue::{Claim, ClaimedJobs, Lease, QueueKey, QueueWalk};
use candor_subscriptions::Job;
use candor_tables::flat::{CellReader, Reader};
use candor_tables::rows::{JOB_TABLE, read_job};

use super::UNLEASED;
use crate::sql::{Db, Sql};

/// The queue entries that a walk covers: due or parked ones.
#[derive(Debug, Clone, Copy)]
enum SubscriptionQueues {
    Due(Timestamp),
    Parked,
}

impl SubscriptionQueues {
    /// Returns the table and condition with an index hint: without it, SQLite may choose the primary key and
    /// scan all entries.
    const fn queue(self) -> &'static str {
        match self {
            Self::Due(_) => "delivery_jobs INDEXED BY delivery_jobs_by_lane WHERE due_at IS NOT NULL",
            Self::Parked => "delivery_jobs INDEXED BY delivery_jobs_parked WHERE due_at IS NULL",
        }
    }
}

/// A delivery, or the error that prevents reading it.
type FoundDelivery = Read<Job>;

/// Selects deliveries by the claim and leases them to a worker.
pub(crate) fn claim(db: &mut Db, lease: Lease, now: Timestamp, claim: &Claim) -> Read<ClaimedJobs> {
    let (found, next) = match claim {
        Claim::Oldest { most } => (oldest(db, now, *most)?, None),
        Claim::SubscriptionQueues(walk) => walk_queues(db, SubscriptionQueues::Due(now), walk)?,
        Claim::Parked(walk) => walk_queues(db, SubscriptionQueues::Parked, walk)?,
    };
    let claimed_jobs = ClaimedJobs { jobs: keep_readable(found)?, next };
    // A parked delivery becomes due when the lease ends, in case no result is recorded.
    let due = if matches!(claim, Claim::Parked(_)) { ", due_at = ?2" } else { "" };
    let text = format!(
        "UPDATE delivery_jobs SET worker = ?1, leased_until = ?2{due} WHERE tenant_id = ?3 AND webhook_id = ?4 \
         AND event_id = ?5"
    );
    for job in &claimed_jobs.jobs {
        let sql = Sql::new(text.as_str()).bind(lease.worker.0).bind(lease.until);
        let sql = sql.bind(job.tenant).bind(job.webhook_id).bind(job.event_id);
        db.run(&sql)?;
    }
    Ok(claimed_jobs)
}

fn oldest(db: &mut Db, now: Timestamp, most: u16) -> Read<Vec<FoundDelivery>> {
    let columns = columns(db);
    let text =
        format!("SELECT {columns} FROM delivery_jobs WHERE due_at <= ? AND {UNLEASED} ORDER BY due_at LIMIT ?");
    db.rows(Sql::new(text).bind(now).bind(now).bind(i64::from(most)), |row| Ok(job(row)))
}

/// Walks from one subscription to the next, skipping the rest of each queue. Returns the deliveries, and the queue
/// after which the next walk starts; `None` at the end of the queues.
fn walk_queues(
    db: &mut Db,
    queues: SubscriptionQueues,
    walk: &QueueWalk,
) -> Read<(Vec<FoundDelivery>, Option<QueueKey>)> {
    let busy: HashSet<_> = walk.busy.iter().copied().collect();
    let (mut jobs, mut at) = (vec![], walk.after);
    for _ in 0..walk.queues {
        at = next_subscription(db, queues, at)?;
        let Some(queue) = at else { break };
        if !busy.contains(&queue) {
            jobs.extend(jobs_of(db, queues, queue, walk.most(queue))?);
        }
    }
    Ok((jobs, at))
}

/// Returns the next subscription with queued deliveries: first of the same tenant, then of later tenants. A
/// row-value comparison would make SQLite scan the rest of the current queue. `None` at the end of the queues.
fn next_subscription(db: &mut Db, queues: SubscriptionQueues, after: Option<QueueKey>) -> Read<Option<QueueKey>> {
    let text = |behind| {
        format!(
            "SELECT tenant_id, webhook_id FROM {} AND {behind} ORDER BY tenant_id, webhook_id LIMIT 1",
            queues.queue()
        )
    };
    let Some((tenant, webhook)) = after else { return db.first(Sql::new(text("TRUE")), queue) };
    let same = Sql::new(text("tenant_id = ? AND webhook_id > ?")).bind(tenant).bind(webhook);
    match db.first(same, queue)? {
        Some(found) => Ok(Some(found)),
        None => db.first(Sql::new(text("tenant_id > ?")).bind(tenant), queue),
    }
}

fn queue(row: &mut dyn CellReader) -> Read<QueueKey> {
    let mut reader = Reader::new(row, JOB_TABLE);
    Ok((Tenant::from_bytes(reader.bytes16()?), reader.id()?))
}

fn jobs_of(
    db: &mut Db,
    queues: SubscriptionQueues,
    (tenant, webhook): QueueKey,
    each: u16,
) -> Read<Vec<FoundDelivery>> {
    let (columns, queue) = (columns(db), queues.queue());
    let text =
        |rest: &str| format!("SELECT {columns} FROM {queue} AND tenant_id = ? AND webhook_id = ? {rest} LIMIT ?");
    let sql = match queues {
        SubscriptionQueues::Due(now) => {
            let due = text(&format!("AND due_at <= ? AND {UNLEASED} ORDER BY due_at"));
            Sql::new(due).bind(tenant).bind(webhook).bind(now).bind(now)
        }
        SubscriptionQueues::Parked if is_paused(db, tenant, webhook)? => return Ok(vec![]),
        SubscriptionQueues::Parked => Sql::new(text("ORDER BY event_id")).bind(tenant).bind(webhook),
    };
    db.rows(sql.bind(i64::from(each)), |row| Ok(job(row)))
}

/// Returns the readable deliveries. An unreadable one is logged, and must not hold up the readable ones; it is
/// an error only if no delivery is readable.
fn keep_readable(found: Vec<FoundDelivery>) -> Read<Vec<Job>> {
    let (mut jobs, mut unread) = (vec![], None);
    for job in found {
        match job {
            Ok(job) => jobs.push(job),
            Err(error) => {
                tracing::error!(
                    %error,
                    "cannot read a queued delivery: it stays queued and is not sent, the other deliveries continue. Report \
                     this defect"
                );
                unread = Some(error);
            }
        }
    }
    match unread {
        Some(error) if jobs.is_empty() => Err(error),
        Some(_) | None => Ok(jobs),
    }
}

/// Returns `true` if the subscription exists and is not active. Deliveries of a deleted subscription may be
/// claimed, so that they get removed.
fn is_paused(db: &mut Db, tenant: Tenant, webhook: WebhookId) -> Read<bool> {
    let text = "SELECT 1 FROM webhooks WHERE tenant_id = ? AND id = ? AND wanted = 0";
    db.exists(Sql::new(text).bind(tenant).bind(webhook))
}

fn columns(db: &mut Db) -> String {
    db.statements(JOB_TABLE).columns.clone()
}

fn job(row: &mut dyn CellReader) -> Read<Job> {
    Ok(read_job(&mut Reader::new(row, JOB_TABLE))?)
}
