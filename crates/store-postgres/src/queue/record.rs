//! Recording what has become of leased deliveries.

use std::collections::BTreeMap;

use candor_domain::access::Tenant;
use candor_domain::fields::Word;
use candor_domain::id::Id;
use candor_domain::time::Timestamp;
use candor_domain::webhook::{Delivery, HealthDelta, Job, Streak};
use candor_port_storage::queue::{AttemptResult, QueueKey, Recorded, WorkerId};
use candor_tables::Unwritable;
use candor_tables::flat::{Cell, Column, Fetch, Stored, Type};

use super::planner_settings::webhook;
use crate::failure::Failure;
use crate::select::int;
use crate::sql::Sql;

/// The delivery is done with.
pub(super) const GONE: i64 = 0;
/// It stays as it is, but for its due time.
const STAYS: i64 = 1;
/// It is to be attempted once more.
pub(super) const AGAIN: i64 = 2;
/// It stays as it is, its due time included.
pub(super) const RELEASED: i64 = 3;

/// The statements that record results and health deltas. The first one locks the subscriptions, in one order for everybody, so
/// that the second one sees what others have added to them before it adds to that.
pub(super) fn statements(
    worker: WorkerId,
    mut results: Vec<(Job, AttemptResult)>,
    health: Vec<(QueueKey, HealthDelta)>,
) -> Result<Vec<Sql>, Unwritable> {
    let mut merged: BTreeMap<_, (QueueKey, HealthDelta)> = BTreeMap::new();
    for (queue, delta) in health {
        let one = merged.entry((queue.0.to_bytes(), queue.1.to_bytes()));
        one.and_modify(|(_, before)| *before = before.and(delta)).or_insert((queue, delta));
    }
    let health: Vec<_> = merged.into_values().collect();
    results.sort_by_key(|(job, _)| (job.tenant.to_bytes(), job.webhook_id.to_bytes(), job.event_id.to_bytes()));
    let mut changes = Sql::default();
    let parts = [fenced(&mut changes, worker, &results), logged(&mut changes, &results)?, added(&mut changes, &health)];
    changes.push(&format!(
        "WITH {} SELECT (SELECT count(*) FROM held), a.tenant_id, a.id, a.failures, a.failing_since \
         FROM (SELECT 1) AS one LEFT JOIN added AS a ON true",
        parts.join(", ")
    ));
    Ok(vec![lock(&health), changes])
}

fn lock(health: &[(QueueKey, HealthDelta)]) -> Sql {
    let mut sql = Sql::default();
    let [tenants, ids] = queues(&mut sql, health);
    sql.push(&format!(
        "SELECT count(*) FROM UNNEST({tenants}, {ids}) AS p (tenant_id, id) CROSS JOIN LATERAL {} AS locked",
        webhook("1", "p.tenant_id", "p.id", " FOR NO KEY UPDATE"),
    ));
    sql
}

fn queues(sql: &mut Sql, health: &[(QueueKey, HealthDelta)]) -> [String; 2] {
    let tenants = sql.ids(health.iter().map(|((tenant, _), _)| tenant.to_bytes()));
    [tenants, sql.ids(health.iter().map(|((_, webhook), _)| webhook.to_bytes()))]
}

/// Locks the deliveries that the worker still has, in the order of their keys, and removes or changes them. An order
/// that only their key has keeps the planner from every other index, of which one may lead past a whole backlog.
fn fenced(sql: &mut Sql, worker: WorkerId, results: &[(Job, AttemptResult)]) -> String {
    let next = results.iter().map(|(_, result)| next(result)).collect::<Vec<_>>();
    let jobs = || results.iter().map(|(job, _)| job);
    let arrays = [
        sql.ids(jobs().map(|it| it.tenant.to_bytes())),
        sql.ids(jobs().map(|it| it.webhook_id.to_bytes())),
        sql.ids(jobs().map(|it| it.event_id.to_bytes())),
        sql.many(Type::Int, jobs().map(|it| Cell::Int(i64::from(it.attempt)))),
        sql.many(Type::Int, (0..).zip(results).map(|(place, _)| Cell::Int(place))),
        sql.many(Type::Int, next.iter().map(|(what, _)| Cell::Int(*what))),
        sql.many(Type::Time, next.iter().map(|(_, at)| at.map_or(Cell::Null(Type::Time), Cell::Time))),
        sql.many(Type::Id, jobs().map(|it| it.delivery_id.map_or(Cell::Null(Type::Id), |it| Cell::Id(it.to_bytes())))),
    ];
    let worker = sql.id(worker.0);
    // What is promised another id than the one that its worker knows of was asked for while the attempt was made.
    let asked = format!("m.next = {AGAIN} AND j.delivery_id IS DISTINCT FROM m.delivery_id");
    format!(
        "mine AS MATERIALIZED (SELECT u.place, u.next, u.due_at, u.delivery_id, j.tuple FROM UNNEST({arrays}) \
         AS u (tenant_id, webhook_id, event_id, attempt, place, next, due_at, delivery_id) CROSS JOIN LATERAL \
         (SELECT ctid AS tuple FROM delivery_jobs AS j WHERE j.tenant_id = u.tenant_id AND j.webhook_id = u.webhook_id \
         AND j.event_id >= u.event_id AND j.event_id <= u.event_id AND j.worker = {worker} AND j.attempt = u.attempt \
         ORDER BY j.event_id LIMIT 1 FOR UPDATE) AS j), \
         gone AS (DELETE FROM delivery_jobs AS j USING mine AS m WHERE j.ctid = m.tuple AND m.next = {GONE} RETURNING m.place), \
         kept AS (UPDATE delivery_jobs AS j SET due_at = CASE WHEN m.next = {RELEASED} THEN j.due_at \
         WHEN {asked} THEN LEAST(j.due_at, m.due_at) ELSE m.due_at END, worker = NULL, leased_until = NULL, \
         attempt = CASE WHEN m.next = {AGAIN} THEN j.attempt + 1 ELSE j.attempt END, \
         delivery_id = CASE WHEN m.next = {AGAIN} AND NOT ({asked}) THEN NULL ELSE j.delivery_id END \
         FROM mine AS m WHERE j.ctid = m.tuple AND m.next <> {GONE} RETURNING m.place), \
         held AS MATERIALIZED (SELECT place FROM gone UNION ALL SELECT place FROM kept)",
        arrays = arrays.join(", "),
    )
}

/// What becomes of the queued delivery, and when it is due then.
pub(super) const fn next(result: &AttemptResult) -> (i64, Option<Timestamp>) {
    match result {
        AttemptResult::Settled(settled) => match settled.retry_at {
            Some(at) => (AGAIN, Some(at)),
            None => (GONE, None),
        },
        AttemptResult::Back(at) => (STAYS, Some(*at)),
        AttemptResult::Released => (RELEASED, None),
        AttemptResult::Parked => (STAYS, None),
        AttemptResult::Gone => (GONE, None),
    }
}

/// Writes the entries of the log whose deliveries were held.
fn logged(sql: &mut Sql, results: &[(Job, AttemptResult)]) -> Result<String, Unwritable> {
    let entries: Vec<_> = (0..)
        .zip(results)
        .filter_map(|(place, (job, result))| match result {
            AttemptResult::Settled(settled) => Some(settled.entry.cells().map(|cells| (place, job.tenant, cells))),
            AttemptResult::Back(_) | AttemptResult::Released | AttemptResult::Parked | AttemptResult::Gone => None,
        })
        .collect::<Result<_, _>>()?;
    let columns: Vec<&Column> = Delivery::TABLE.columns.iter().chain(Delivery::TABLE.derived).collect();
    let mut arrays = vec![
        sql.many(Type::Int, entries.iter().map(|(place, _, _)| Cell::Int(*place))),
        sql.ids(entries.iter().map(|(_, tenant, _)| tenant.to_bytes())),
    ];
    for (at, column) in columns.iter().enumerate() {
        let cells = entries.iter().map(|(_, _, cells)| cells.get(at).cloned().unwrap_or(Cell::Null(column.kind)));
        arrays.push(sql.many(column.kind, cells));
    }
    let names = columns.iter().map(|it| it.name).collect::<Vec<_>>().join(", ");
    Ok(format!(
        "logged AS (INSERT INTO deliveries (tenant_id, {names}) SELECT tenant_id, {names} \
         FROM UNNEST({}) AS u (place, tenant_id, {names}) WHERE (u.place IN (SELECT h.place FROM held AS h)) IS TRUE)",
        arrays.join(", ")
    ))
}

/// Adds the health deltas to their subscriptions, as [`HealthDelta::after`] does.
fn added(sql: &mut Sql, health: &[(QueueKey, HealthDelta)]) -> String {
    let [tenants, ids] = queues(sql, health);
    let all = || health.iter().map(|(_, it)| it);
    let arrays = [
        tenants,
        ids,
        sql.many(Type::Time, all().map(|it| Cell::Time(it.last_at))),
        sql.many(Type::Text, all().map(|it| Cell::Text(it.last_status.word().to_owned()))),
        sql.many(Type::Flag, all().map(|it| Cell::Flag(it.ends_streak))),
        sql.many(Type::Int, all().map(|it| Cell::Int(i64::from(it.streak.failures)))),
        sql.many(Type::Time, all().map(|it| it.streak.since.map_or(Cell::Null(Type::Time), Cell::Time))),
    ];
    format!(
        "pulsed AS MATERIALIZED (SELECT p.*, w.tuple FROM UNNEST({arrays}) \
         AS p (tenant_id, id, last_at, last_status, ends_streak, failures, since) CROSS JOIN LATERAL \
         {found} AS w), \
         added AS (UPDATE webhooks AS w SET {sets} FROM pulsed AS p WHERE w.ctid = p.tuple RETURNING w.tenant_id, w.id, w.failures, w.failing_since)",
        arrays = arrays.join(", "),
        found = webhook("ctid AS tuple", "p.tenant_id", "p.id", ""),
        sets = added_to(),
    )
}

/// What deltas `p` make of subscriptions `w`. LEAST and GREATEST pass over nulls.
pub(super) fn added_to() -> String {
    format!(
        "failures = CASE WHEN p.ends_streak THEN p.failures ELSE LEAST(COALESCE(w.failures, 0) + p.failures, {MOST}) END, \
         failing_since = CASE WHEN p.ends_streak THEN p.since ELSE LEAST(w.failing_since, p.since) END, \
         last_delivery_status = CASE WHEN w.last_delivery_at > p.last_at THEN w.last_delivery_status ELSE p.last_status END, \
         last_delivery_at = GREATEST(w.last_delivery_at, p.last_at)",
        MOST = u32::MAX,
    )
}

/// A row of the answer: how many results hold, and a streak, if there is one.
pub(super) type Row = (i64, Option<(QueueKey, Streak)>);

/// Reads a row of the answer.
pub(super) fn row(row: &mut dyn Fetch) -> Result<Row, Failure> {
    let held = int(row)?;
    let tenant = row.id().map_err(Failure::Other)?.map(Tenant::from_bytes);
    let queue = tenant.zip(row.id().map_err(Failure::Other)?.map(Id::from_bytes));
    let failures = u32::try_from(int(row)?).unwrap_or(u32::MAX);
    let since = row.time().map_err(Failure::Other)?;
    Ok((held, queue.map(|it| (it, Streak { failures, since }))))
}

/// Puts the answer together.
pub(super) fn recorded(rows: Vec<Row>, results: usize) -> Recorded {
    let held = rows.first().map_or(0, |(held, _)| held.unsigned_abs());
    let results = u64::try_from(results).unwrap_or(u64::MAX);
    Recorded { streaks: rows.into_iter().filter_map(|(_, it)| it).collect(), lost: results.saturating_sub(held) }
}
