//! Leasing what is due. Whoever claims locks what nobody else is just claiming, and changes that alone.

use candor_domain::access::Tenant;
use candor_domain::id::Id;
use candor_domain::time::Timestamp;
use candor_domain::webhook::Job;
use candor_port_storage::StorageError;
use candor_port_storage::error::Read;
use candor_port_storage::queue::{Claim, Claimed, Lease, QueueKey, Walk};
use candor_tables::flat::{Cell, Fetch, Reader, Type};
use candor_tables::rows::{JOB_TABLE, read_job};

use super::planner_settings::webhook;
use super::unleased;
use crate::failure::Failure;
use crate::select::flag;
use crate::sql::Sql;

/// Bounds that the planner knows beforehand. How many are wanted is a parameter: rows are locked one by one, as they
/// are asked for.
const BOUNDS: [u32; 3] = [64, 1024, 65_536];

/// What a walk takes. The orders are such that one index has them and no other: with equalities in place of compared
/// rows, any index would do that begins with a queue's ids, and the whole of the queue would be read.
struct Queued {
    /// Which deliveries there are to walk along.
    condition: &'static str,
    order: &'static str,
    /// Those of the queue `o` that are taken.
    of_queue: String,
    /// What must hold for the queue `l`, besides.
    open: String,
}

impl Queued {
    fn due(now: &str) -> Self {
        let (place, first) = ("(tenant_id, webhook_id, due_at)", "(o.tenant_id, o.webhook_id, '-infinity')");
        let free = unleased(now);
        Self {
            condition: "due_at IS NOT NULL",
            order: "tenant_id, webhook_id, due_at",
            of_queue: format!("{place} >= {first} AND {place} <= (o.tenant_id, o.webhook_id, {now}) AND {free}"),
            open: String::new(),
        }
    }

    fn parked() -> Self {
        let (place, queue) = ("(tenant_id, webhook_id)", "(o.tenant_id, o.webhook_id)");
        Self {
            condition: "due_at IS NULL",
            order: "tenant_id, webhook_id, event_id",
            of_queue: format!("{place} >= {queue} AND {place} <= {queue}"),
            // It waits for as long as its subscription is there and not active.
            open: format!(" AND {} IS DISTINCT FROM 0", webhook("wanted", "l.tenant_id", "l.webhook_id", "")),
        }
    }
}

/// The statement of a claim. Each row of its answer says where a walk goes on, and has a delivery, if there is one.
pub(super) fn sql(lease: Lease, now: Timestamp, claim: &Claim) -> Sql {
    let mut sql = Sql::default();
    let (worker, until) = (sql.id(lease.worker.0), sql.bind(Cell::Time(lease.until)));
    let mut leased = format!("worker = {worker}, leased_until = {until}");
    let (found, next) = match claim {
        Claim::Oldest { most } => {
            let now = sql.bind(Cell::Time(now));
            let condition = format!("due_at <= {now} AND {}", unleased(&now));
            let oldest = locked(&mut sql, &condition, "due_at", *most);
            (
                format!("found AS MATERIALIZED ({oldest})"),
                "SELECT NULL::uuid AS tenant_id, NULL::uuid AS webhook_id".to_owned(),
            )
        }
        Claim::SubscriptionQueues(walk) => {
            let now = sql.bind(Cell::Time(now));
            along(&mut sql, walk, &Queued::due(&now))
        }
        Claim::Parked(walk) => {
            // If nothing else becomes of it, it is due when the lease ends.
            leased.push_str(&format!(", due_at = {until}"));
            along(&mut sql, walk, &Queued::parked())
        }
    };
    let columns = |of: &str| {
        let names = JOB_TABLE.columns.iter().map(|it| format!("{of}.{}", it.name));
        names.collect::<Vec<_>>().join(", ")
    };
    sql.push(&format!(
        "WITH RECURSIVE {found}, leased AS (UPDATE delivery_jobs AS j SET {leased} \
         FROM found AS f WHERE j.ctid = f.place RETURNING f.due_at AS was, {}) \
         SELECT n.tenant_id, n.webhook_id, l.attempt IS NOT NULL, l.was, {} \
         FROM (SELECT 1) AS one LEFT JOIN ({next}) AS n ON true LEFT JOIN leased AS l ON true",
        columns("j"),
        columns("l"),
    ));
    sql
}

/// Locks rows in an order; those that somebody else has locked are passed over.
fn locked(sql: &mut Sql, condition: &str, order: &str, most: u16) -> String {
    let bound = BOUNDS.into_iter().find(|it| u32::from(most) <= *it).unwrap_or(u32::MAX);
    let most = sql.bind(Cell::Int(i64::from(most)));
    format!(
        "SELECT s.place, s.due_at FROM (SELECT ctid AS place, due_at FROM delivery_jobs WHERE {condition} \
         ORDER BY {order} LIMIT {bound} FOR UPDATE SKIP LOCKED) AS s LIMIT {most}"
    )
}

/// Steps from queue to queue, whatever each of them holds, and takes some of each. Answers the parts that do so, and the
/// queue where the next walk begins.
fn along(sql: &mut Sql, walk: &Walk, queued: &Queued) -> (String, String) {
    let Queued { condition, order, of_queue, open } = queued;
    let ids = |(tenant, webhook): &QueueKey| (tenant.to_bytes(), webhook.to_bytes());
    let (tenant, webhook) = walk.after.as_ref().map_or_else(Default::default, ids);
    let (tenant, webhook) = (sql.id(tenant), sql.id(webhook));
    let queues = sql.bind(Cell::Int(i64::from(walk.queues)));
    let busy = [
        sql.many(Type::Id, walk.busy.iter().map(|it| Cell::Id(ids(it).0))),
        sql.many(Type::Id, walk.busy.iter().map(|it| Cell::Id(ids(it).1))),
    ];
    let next = |tenant: &str, webhook: &str| {
        format!(
            "(SELECT tenant_id, webhook_id FROM delivery_jobs WHERE {condition} \
             AND (tenant_id, webhook_id) > ({tenant}, {webhook}) ORDER BY {order} LIMIT 1) AS n"
        )
    };
    let (first, then) = (next(&tenant, &webhook), next("l.tenant_id", "l.webhook_id"));
    let each = locked(sql, &format!("{condition} AND {of_queue}"), order, walk.each);
    let parts = format!(
        "queue (tenant_id, webhook_id, number) AS (\
         SELECT n.tenant_id, n.webhook_id, 1::bigint FROM {first} UNION ALL \
         SELECT n.tenant_id, n.webhook_id, l.number + 1 FROM queue AS l CROSS JOIN LATERAL {then} WHERE l.number < {queues}), \
         open AS MATERIALIZED (SELECT l.tenant_id, l.webhook_id FROM queue AS l WHERE (l.tenant_id, l.webhook_id) NOT IN \
         (SELECT b.tenant_id, b.webhook_id FROM UNNEST({}) AS b (tenant_id, webhook_id)){open}), \
         found AS MATERIALIZED (SELECT d.place, d.due_at FROM open AS o CROSS JOIN LATERAL ({each}) AS d)",
        busy.join(", "),
    );
    (parts, format!("SELECT l.tenant_id, l.webhook_id FROM queue AS l WHERE l.number = {queues}"))
}

/// A row of the answer.
pub(super) struct Row {
    next: Option<QueueKey>,
    /// Since when it is due, and what it is; an error for one that cannot be read.
    leased: Option<(Option<Timestamp>, Result<Job, StorageError>)>,
}

/// Reads a row of the answer.
pub(super) fn row(row: &mut dyn Fetch) -> Result<Row, Failure> {
    let tenant = row.id().map_err(Failure::Other)?.map(Tenant::from_bytes);
    let next = tenant.zip(row.id().map_err(Failure::Other)?.map(Id::from_bytes));
    let is_there = flag(row)?;
    let was = row.time().map_err(Failure::Other)?;
    let job = |row| read_job(&mut Reader::new(row, JOB_TABLE)).map_err(StorageError::from);
    let leased = is_there.then(|| (was, job(row)));
    Ok(Row { next, leased })
}

/// Puts the answer together, queue by queue where queues were walked along, and the longest due first.
///
/// A delivery that cannot be read must not hold up the others, which are leased already. It comes round again when its
/// lease ends, and is an error by itself.
pub(super) fn claimed(rows: Vec<Row>, claim: &Claim) -> Read<Claimed> {
    let next = rows.first().and_then(|it| it.next);
    let (mut jobs, mut unread) = (vec![], None);
    for (was, job) in rows.into_iter().filter_map(|it| it.leased) {
        match job {
            Ok(job) => jobs.push((was, job)),
            Err(error) => {
                tracing::error!(%error, "a queued delivery cannot be read");
                unread = Some(error);
            }
        }
    }
    if let (true, Some(error)) = (jobs.is_empty(), unread) {
        return Err(error);
    }
    let by_lane = !matches!(claim, Claim::Oldest { .. });
    jobs.sort_by_key(|(was, job)| {
        let queue = (job.tenant.to_bytes(), job.webhook_id.to_bytes());
        (by_lane.then_some(queue), *was, queue, job.event_id.to_bytes())
    });
    Ok(Claimed { jobs: jobs.into_iter().map(|(_, job)| job).collect(), next })
}
