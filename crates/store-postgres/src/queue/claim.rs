//! Leases of due deliveries. A lease locks rows that no other transaction has locked, and changes only those.

use candor_domain::access::Tenant;
use candor_domain::id::Id;
use candor_domain::time::Timestamp;
use candor_port_storage::StorageError;
use candor_port_storage::error::Read;
use candor_port_storage::queue::{Claim, ClaimedJobs, Lease, QueueKey, QueueWalk};
use candor_subscriptions::Job;
use candor_tables::flat::{CellReader, Reader, SqlValue, Type};
use candor_tables::rows::{JOB_TABLE, read_job};

use super::without_lease;
use crate::failure::Failure;
use crate::layout::{Address, SharedLayout};
use crate::sql::Sql;
use crate::sql::planner_settings::webhook;
use crate::sql::row::flag;

/// Limits of the inner query that locks rows. The smallest one that fits is a literal in the SQL, so that the
/// planner knows it. The exact number of rows is a parameter of the outer query, which reads and locks rows one by
/// one.
const BOUNDS: [u32; 3] = [64, 1024, 65_536];

/// Set of rows that a lease statement may take.
pub(super) enum LeaseScope {
    /// Deliveries of all tenants; the statement selects them itself.
    AllTenants,
    /// Deliveries of a tenant by webhook and event, if they are still due.
    Deliveries(Tenant, Vec<([u8; 16], [u8; 16])>),
    /// Deliveries of each of these subscriptions of a tenant.
    Queues(Tenant, Vec<[u8; 16]>),
}

/// Builds the statement of a lease. Each row of its result has the queue after which the next walk starts, and a
/// leased delivery if there is one.
pub(super) fn lease(
    layout: SharedLayout,
    (lease, now): (Lease, Timestamp),
    claim: &Claim,
    scope: &LeaseScope,
) -> Sql {
    let mut sql = Sql::default();
    let (worker, until) = (sql.id(lease.worker.0), sql.bind(SqlValue::Time(lease.until)));
    let mut set = format!("worker = {worker}, leased_until = {until}");
    let tenant = match scope {
        LeaseScope::AllTenants => String::new(),
        LeaseScope::Deliveries(tenant, _) | LeaseScope::Queues(tenant, _) => sql.tenant(*tenant),
    };
    let mut builder = LeaseBuilder { sql, tenant, address: layout.address(&["webhook_id", "event_id"]) };
    let (with, next) = match claim {
        Claim::Oldest { most } => (builder.oldest(now, *most, scope), NO_QUEUE.to_owned()),
        Claim::SubscriptionQueues(walk) => {
            let now = builder.sql.bind(SqlValue::Time(now));
            let due_jobs = LeaseQueues::due(&now, &builder.tenant);
            builder.queues(walk, &due_jobs, scope)
        }
        Claim::Parked(walk) => {
            // A parked delivery becomes due when the lease ends, in case no result is recorded.
            set.push_str(&format!(", due_at = {until}"));
            let parked_jobs = LeaseQueues::new_parked(&builder.tenant);
            builder.queues(walk, &parked_jobs, scope)
        }
    };
    builder.finish(&set, &with, &next)
}

/// Query that returns no queue, for a lease statement that does not know after which queue the next walk starts.
const NO_QUEUE: &str = "SELECT NULL::uuid AS tenant_id, NULL::uuid AS webhook_id";

/// SQL for the queues that a lease takes deliveries from.
///
/// Over all tenants, exactly one index has each order. With equalities instead of row comparisons, any index that
/// begins with a queue's ids would do, and the planner might read the whole queue.
struct LeaseQueues {
    /// Condition on deliveries; a walk steps along the deliveries that meet it.
    condition: &'static str,
    /// Order of a walk.
    order: &'static str,
    /// Condition of the deliveries to take from the queue `o`.
    of_queue: String,
    /// Order in which deliveries of a queue are taken.
    order_in_queue: &'static str,
    /// Additional condition on a queue `l`.
    open: String,
}

impl LeaseQueues {
    fn due(now: &str, tenant: &str) -> Self {
        let free = without_lease(now);
        let (place, first) = ("(tenant_id, webhook_id, due_at)", "(o.tenant_id, o.webhook_id, '-infinity')");
        let (of_queue, order_in_queue) = if tenant.is_empty() {
            (
                format!("{place} >= {first} AND {place} <= (o.tenant_id, o.webhook_id, {now}) AND {free}"),
                "tenant_id, webhook_id, due_at",
            )
        } else {
            (
                format!("tenant_id = {tenant} AND webhook_id = o.webhook_id AND due_at <= {now} AND {free}"),
                "due_at",
            )
        };
        let (condition, order) = ("due_at IS NOT NULL", "tenant_id, webhook_id, due_at");
        Self { condition, order, of_queue, order_in_queue, open: String::new() }
    }

    /// Returns the queues of parked deliveries that need not wait any more: the subscription is active again or no
    /// longer exists.
    fn new_parked(tenant: &str) -> Self {
        let (place, queue) = ("(tenant_id, webhook_id)", "(o.tenant_id, o.webhook_id)");
        let (of_queue, order_in_queue, wanted) = if tenant.is_empty() {
            let webhook_state = webhook("wanted", "l.tenant_id", "l.webhook_id", "");
            (
                format!("{place} >= {queue} AND {place} <= {queue}"),
                "tenant_id, webhook_id, event_id",
                webhook_state,
            )
        } else {
            let webhook_state =
                format!("(SELECT wanted FROM webhooks WHERE tenant_id = {tenant} AND id = l.webhook_id)");
            (format!("tenant_id = {tenant} AND webhook_id = o.webhook_id"), "event_id", webhook_state)
        };
        let (condition, order) = ("due_at IS NULL", "tenant_id, webhook_id, event_id");
        Self { condition, order, of_queue, order_in_queue, open: format!(" AND {wanted} IS DISTINCT FROM 0") }
    }
}

/// A lease statement under construction.
struct LeaseBuilder {
    sql: Sql,
    /// Placeholder of the only tenant; empty if the statement concerns all tenants.
    tenant: String,
    address: Address,
}

impl LeaseBuilder {
    /// SQL that locks the deliveries with the earliest due times.
    fn oldest(&mut self, now: Timestamp, most: u16, scope: &LeaseScope) -> String {
        let mut these = String::new();
        if let LeaseScope::Deliveries(_, keys) = scope {
            let webhooks = self.sql.ids(keys.iter().map(|(webhook, _)| *webhook));
            let events = self.sql.ids(keys.iter().map(|(_, event)| *event));
            these = format!(
                "tenant_id = {} AND (webhook_id, event_id) IN (SELECT u.webhook_id, u.event_id \
                 FROM UNNEST({webhooks}, {events}) AS u (webhook_id, event_id)) AND ",
                self.tenant
            );
        }
        let now = self.sql.bind(SqlValue::Time(now));
        let oldest =
            self.lock_rows_query(&format!("{these}due_at <= {now} AND {}", without_lease(&now)), "due_at", most);
        format!("found AS MATERIALIZED ({oldest})")
    }

    /// Query that locks rows in an order; it skips rows that another transaction has locked.
    fn lock_rows_query(&mut self, condition: &str, order: &str, most: u16) -> String {
        let row_limit = BOUNDS.into_iter().find(|bound| u32::from(most) <= *bound).unwrap_or(u32::MAX);
        let most = self.sql.bind(SqlValue::Int(i64::from(most)));
        let (columns, names) = (self.address.columns(), self.address.names("s"));
        format!(
            "SELECT {names}, s.due_at FROM (SELECT {columns}, due_at FROM delivery_jobs WHERE {condition} \
             ORDER BY {order} LIMIT {row_limit} FOR UPDATE SKIP LOCKED) AS s LIMIT {most}"
        )
    }

    /// SQL that locks some deliveries of each queue. Returns the parts, and the query for the queue after which
    /// the next walk starts.
    fn queues(&mut self, walk: &QueueWalk, queued: &LeaseQueues, scope: &LeaseScope) -> (String, String) {
        let (queues, next) = match scope {
            LeaseScope::Queues(_, ids) => {
                let (tenant, ids) = (self.tenant.clone(), self.sql.ids(ids.iter().copied()));
                let queue =
                    format!("SELECT {tenant}::uuid AS tenant_id, u.id AS webhook_id FROM UNNEST({ids}) AS u (id)");
                let open = format!("open AS (SELECT l.webhook_id FROM ({queue}) AS l WHERE true{})", queued.open);
                (open, NO_QUEUE.to_owned())
            }
            LeaseScope::AllTenants | LeaseScope::Deliveries(..) => self.walk(walk, queued),
        };
        let condition = format!("{} AND {}", queued.condition, queued.of_queue);
        let queue_query = self.lock_rows_query(&condition, queued.order_in_queue, walk.each);
        let queue_query = self.apply_own_limits(walk, &queue_query);
        let names = self.address.names("d");
        let due_jobs = format!("SELECT {names}, d.due_at FROM open AS o CROSS JOIN LATERAL ({queue_query}) AS d");
        (format!("{queues}, found AS MATERIALIZED ({due_jobs})"), next)
    }

    /// Limits the query of a queue to the maximum of that queue in `walk.limited`, if it has one. `o` is the SQL alias
    /// of the queue.
    fn apply_own_limits(&mut self, walk: &QueueWalk, queue_query: &str) -> String {
        if walk.limited.is_empty() {
            return queue_query.to_owned();
        }
        let limited_queues = &walk.limited;
        let most = limited_queues.iter().map(|(_, most)| SqlValue::Int((*most).min(walk.each).into()));
        let arrays = [
            self.sql.many(Type::Id, limited_queues.iter().map(|((tenant, _), _)| SqlValue::Id(tenant.to_bytes()))),
            self.sql
                .many(Type::Id, limited_queues.iter().map(|((_, webhook), _)| SqlValue::Id(webhook.to_bytes()))),
            self.sql.many(Type::Int, most),
        ];
        let is_same = if self.tenant.is_empty() {
            "b.tenant_id = o.tenant_id AND b.webhook_id = o.webhook_id"
        } else {
            "b.webhook_id = o.webhook_id"
        };
        // A null limits nothing. This `LIMIT` may refer to the queue `o`, because it stands outside of the query
        // that it limits.
        format!(
            "SELECT * FROM ({queue_query}) AS r LIMIT (SELECT b.most FROM UNNEST({}) AS b (tenant_id, webhook_id, most) \
             WHERE {is_same})",
            arrays.join(", ")
        )
    }

    /// SQL of a walk, which steps from queue to queue at a cost that does not depend on their lengths. Returns the
    /// parts, of which `open` is the last, and the query for the queue after which the next walk starts.
    fn walk(
        &mut self,
        walk: &QueueWalk,
        LeaseQueues { condition, order, open, .. }: &LeaseQueues,
    ) -> (String, String) {
        let sql = &mut self.sql;
        let ids = |(tenant, webhook): &QueueKey| (tenant.to_bytes(), webhook.to_bytes());
        let (tenant, webhook) = walk.after.as_ref().map_or_else(Default::default, ids);
        let (tenant, webhook) = (sql.id(tenant), sql.id(webhook));
        let queues = sql.bind(SqlValue::Int(i64::from(walk.queues)));
        let busy = [
            sql.many(Type::Id, walk.busy.iter().map(|queue| SqlValue::Id(ids(queue).0))),
            sql.many(Type::Id, walk.busy.iter().map(|queue| SqlValue::Id(ids(queue).1))),
        ];
        let next = |tenant: &str, webhook: &str| {
            format!(
                "(SELECT tenant_id, webhook_id FROM delivery_jobs WHERE {condition} \
                 AND (tenant_id, webhook_id) > ({tenant}, {webhook}) ORDER BY {order} LIMIT 1) AS n"
            )
        };
        let (first, then) = (next(&tenant, &webhook), next("l.tenant_id", "l.webhook_id"));
        let parts = format!(
            "RECURSIVE queue (tenant_id, webhook_id, number) AS (\
             SELECT n.tenant_id, n.webhook_id, 1::bigint FROM {first} UNION ALL \
             SELECT n.tenant_id, n.webhook_id, l.number + 1 FROM queue AS l CROSS JOIN LATERAL {then} \
             WHERE l.number < {queues}), \
             open AS MATERIALIZED (SELECT l.tenant_id, l.webhook_id FROM queue AS l \
             WHERE (l.tenant_id, l.webhook_id) NOT IN \
             (SELECT b.tenant_id, b.webhook_id FROM UNNEST({}) AS b (tenant_id, webhook_id)){open})",
            busy.join(", "),
        );
        (parts, format!("SELECT l.tenant_id, l.webhook_id FROM queue AS l WHERE l.number = {queues}"))
    }

    /// Completes the statement, which leases the rows of `found` and returns them.
    fn finish(mut self, set: &str, with: &str, next: &str) -> Sql {
        let columns = |of: &str| {
            let names = JOB_TABLE.columns.iter().map(|column| format!("{of}.{}", column.name));
            names.collect::<Vec<_>>().join(", ")
        };
        self.sql.push(&format!(
            "WITH {with}, leased AS (UPDATE delivery_jobs AS j SET {set} FROM found AS f WHERE {} \
             RETURNING f.due_at AS was, {}) SELECT n.tenant_id, n.webhook_id, l.attempt IS NOT NULL, l.was, {} \
             FROM (SELECT 1) AS one LEFT JOIN ({next}) AS n ON true LEFT JOIN leased AS l ON true",
            self.address.is_same("j", "f", &self.tenant),
            columns("j"),
            columns("l"),
        ));
        self.sql
    }
}

/// A row of the result of a lease.
pub(super) struct Row {
    next: Option<QueueKey>,
    /// The previous due time and the delivery, or the error of one that cannot be read.
    leased: Option<(Option<Timestamp>, Result<Job, StorageError>)>,
}

/// Reads a row of the result of a lease.
pub(super) fn read_row(row: &mut dyn CellReader) -> Result<Row, Failure> {
    let tenant = row.id().map_err(Failure::Other)?.map(Tenant::from_bytes);
    let next = tenant.zip(row.id().map_err(Failure::Other)?.map(Id::from_bytes));
    let is_there = flag(row)?;
    let was = row.time().map_err(Failure::Other)?;
    let job = |row| read_job(&mut Reader::new(row, JOB_TABLE)).map_err(StorageError::from);
    let leased_job = is_there.then(|| (was, job(row)));
    Ok(Row { next, leased: leased_job })
}

/// Converts the rows of a lease to jobs, sorted by queue for a walk, then by due time.
///
/// A delivery that cannot be read must not discard the other deliveries of the claim, which are already leased. It
/// is due again when its lease ends. The claim fails only if none of the leased deliveries can be read.
pub(super) fn merge(rows: Vec<Row>, claim: &Claim) -> Read<ClaimedJobs> {
    let next = rows.first().and_then(|row| row.next);
    let (mut jobs, mut unread) = (vec![], None);
    for (was, job) in rows.into_iter().filter_map(|row| row.leased) {
        match job {
            Ok(job) => jobs.push((was, job)),
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
    if let (true, Some(error)) = (jobs.is_empty(), unread) {
        return Err(error);
    }
    let by_lane = !matches!(claim, Claim::Oldest { .. });
    jobs.sort_by_key(|(was, job)| {
        let queue = (job.tenant.to_bytes(), job.webhook_id.to_bytes());
        (by_lane.then_some(queue), *was, queue, job.event_id.to_bytes())
    });
    Ok(ClaimedJobs { jobs: jobs.into_iter().map(|(_, job)| job).collect(), next })
}
