//! Recording what has become of a tenant's leased deliveries, by statements that go to the tenant's node as they are.

use std::collections::BTreeMap;

use candor_domain::access::Tenant;
use candor_domain::fields::Word;
use candor_domain::webhook::{Delivery, HealthDelta, Job};
use candor_port_storage::queue::{AttemptResult, QueueKey, WorkerId};
use candor_tables::Unwritable;
use candor_tables::flat::{Cell, Column, Stored, Type};

use super::record::{AGAIN, GONE, RELEASED, added_to, next};
use crate::sql::Sql;

/// The statements, each with whether its rows are the answer. Subscriptions and deliveries are locked in one order for
/// everybody; then the log is written of those that the worker still has, and these are changed or removed.
pub(super) fn statements(
    worker: WorkerId,
    tenant: Tenant,
    mut results: Vec<(Job, AttemptResult)>,
    health: Vec<(QueueKey, HealthDelta)>,
) -> Result<Vec<(Sql, bool)>, Unwritable> {
    results.sort_by_key(|(job, _)| (job.webhook_id.to_bytes(), job.event_id.to_bytes()));
    let mut merged: BTreeMap<_, (QueueKey, HealthDelta)> = BTreeMap::new();
    for (queue, delta) in health {
        let one = merged.entry(queue.1.to_bytes());
        one.and_modify(|(_, before)| *before = before.and(delta)).or_insert((queue, delta));
    }
    let health: Vec<_> = merged.into_values().collect();
    let mut all = vec![];
    if !health.is_empty() {
        all.push((locked_webhooks(tenant, &health), false));
    }
    if !results.is_empty() {
        all.push((locked_jobs(worker, tenant, &results), false));
        all.extend(logged(worker, tenant, &results)?.map(|it| (it, false)));
        all.extend(changed(worker, tenant, &results).map(|it| (it, true)));
    }
    if !health.is_empty() {
        all.push((added(tenant, &health), true));
    }
    Ok(all)
}

fn locked_webhooks(tenant: Tenant, health: &[(QueueKey, HealthDelta)]) -> Sql {
    let mut sql = Sql::default();
    let tenant = sql.tenant(tenant);
    let ids = sql.ids(health.iter().map(|((_, webhook), _)| webhook.to_bytes()));
    sql.push(&format!(
        "SELECT 1 FROM webhooks WHERE tenant_id = {tenant} AND id = ANY({ids}) ORDER BY id FOR NO KEY UPDATE"
    ));
    sql
}

/// Binds the keys of deliveries and the numbers of their attempts.
fn keys<'a>(sql: &mut Sql, jobs: impl Iterator<Item = &'a Job> + Clone) -> [String; 3] {
    [
        sql.ids(jobs.clone().map(|it| it.webhook_id.to_bytes())),
        sql.ids(jobs.clone().map(|it| it.event_id.to_bytes())),
        sql.many(Type::Int, jobs.map(|it| Cell::Int(i64::from(it.attempt)))),
    ]
}

/// What ties a delivery `j` to the one of `u` that its worker still has.
fn still_had(tenant: &str, worker: &str) -> String {
    format!(
        "j.tenant_id = {tenant} AND j.webhook_id = u.webhook_id AND j.event_id = u.event_id AND j.worker = {worker} \
         AND j.attempt = u.attempt"
    )
}

fn locked_jobs(worker: WorkerId, tenant: Tenant, results: &[(Job, AttemptResult)]) -> Sql {
    let mut sql = Sql::default();
    let (tenant, worker) = (sql.tenant(tenant), sql.id(worker.0));
    let webhooks = sql.ids(results.iter().map(|(job, _)| job.webhook_id.to_bytes()));
    let events = sql.ids(results.iter().map(|(job, _)| job.event_id.to_bytes()));
    sql.push(&format!(
        "SELECT 1 FROM delivery_jobs AS j WHERE j.tenant_id = {tenant} AND j.worker = {worker} \
         AND (j.webhook_id, j.event_id) IN (SELECT u.webhook_id, u.event_id FROM UNNEST({webhooks}, {events}) \
         AS u (webhook_id, event_id)) ORDER BY j.webhook_id, j.event_id FOR UPDATE"
    ));
    sql
}

fn logged(worker: WorkerId, tenant: Tenant, results: &[(Job, AttemptResult)]) -> Result<Option<Sql>, Unwritable> {
    let entries: Vec<_> = results
        .iter()
        .filter_map(|(job, result)| match result {
            AttemptResult::Settled(settled) => Some(settled.entry.cells().map(|cells| (job, cells))),
            AttemptResult::Back(_) | AttemptResult::Released | AttemptResult::Parked | AttemptResult::Gone => None,
        })
        .collect::<Result<_, _>>()?;
    if entries.is_empty() {
        return Ok(None);
    }
    let mut sql = Sql::default();
    let (tenant, worker) = (sql.tenant(tenant), sql.id(worker.0));
    let mut arrays = keys(&mut sql, entries.iter().map(|(job, _)| *job)).to_vec();
    let columns: Vec<&Column> = Delivery::TABLE.columns.iter().chain(Delivery::TABLE.derived).collect();
    for (at, column) in columns.iter().enumerate() {
        let cells = entries.iter().map(|(_, cells)| cells.get(at).cloned().unwrap_or(Cell::Null(column.kind)));
        arrays.push(sql.many(column.kind, cells));
    }
    let list = |prefix: &str| columns.iter().map(|it| format!("{prefix}{}", it.name)).collect::<Vec<_>>().join(", ");
    sql.push(&format!(
        "INSERT INTO deliveries (tenant_id, {}) SELECT j.tenant_id, {} FROM delivery_jobs AS j, \
         UNNEST({}) AS u (webhook_id, event_id, attempt, {}) WHERE {}",
        list(""),
        list("u.new_"),
        arrays.join(", "),
        list("new_"),
        still_had(&tenant, &worker),
    ));
    Ok(Some(sql))
}

/// Changes the deliveries that are to be attempted again, and removes those that are done with.
fn changed(worker: WorkerId, tenant: Tenant, results: &[(Job, AttemptResult)]) -> [Sql; 2] {
    let (gone, kept): (Vec<_>, Vec<_>) =
        results.iter().map(|(job, result)| (job, next(result))).partition(|(_, (what, _))| *what == GONE);
    let mut update = Sql::default();
    let (own, by) = (update.tenant(tenant), update.id(worker.0));
    let jobs = || kept.iter().map(|(job, _)| *job);
    let mut arrays = keys(&mut update, jobs()).to_vec();
    arrays.push(update.many(Type::Int, kept.iter().map(|(_, (what, _))| Cell::Int(*what))));
    let due = kept.iter().map(|(_, (_, at))| at.map_or(Cell::Null(Type::Time), Cell::Time));
    arrays.push(update.many(Type::Time, due));
    let promised = jobs().map(|it| it.delivery_id.map_or(Cell::Null(Type::Id), |it| Cell::Id(it.to_bytes())));
    arrays.push(update.many(Type::Id, promised));
    // What is promised another id than the one that its worker knows of was asked for while the attempt was made.
    let asked = format!("u.next = {AGAIN} AND j.delivery_id IS DISTINCT FROM u.delivery_id");
    update.push(&format!(
        "UPDATE delivery_jobs AS j SET due_at = CASE WHEN u.next = {RELEASED} THEN j.due_at \
         WHEN {asked} THEN LEAST(j.due_at, u.due_at) ELSE u.due_at END, worker = NULL, leased_until = NULL, \
         attempt = CASE WHEN u.next = {AGAIN} THEN j.attempt + 1 ELSE j.attempt END, \
         delivery_id = CASE WHEN u.next = {AGAIN} AND NOT ({asked}) THEN NULL ELSE j.delivery_id END \
         FROM UNNEST({}) AS u (webhook_id, event_id, attempt, next, due_at, delivery_id) WHERE {} {HELD}",
        arrays.join(", "),
        still_had(&own, &by),
    ));
    let mut delete = Sql::default();
    let (own, by) = (delete.tenant(tenant), delete.id(worker.0));
    let arrays = keys(&mut delete, gone.iter().map(|(job, _)| *job));
    delete.push(&format!(
        "DELETE FROM delivery_jobs AS j USING UNNEST({}) AS u (webhook_id, event_id, attempt) WHERE {} {HELD}",
        arrays.join(", "),
        still_had(&own, &by),
    ));
    [update, delete]
}

/// A row of the answer for each delivery that was held.
const HELD: &str = "RETURNING 1::bigint, NULL::uuid, NULL::uuid, NULL::bigint, NULL::timestamptz";

fn added(tenant: Tenant, health: &[(QueueKey, HealthDelta)]) -> Sql {
    let mut sql = Sql::default();
    let tenant = sql.tenant(tenant);
    let all = || health.iter().map(|(_, it)| it);
    let arrays = [
        sql.ids(health.iter().map(|((_, webhook), _)| webhook.to_bytes())),
        sql.many(Type::Time, all().map(|it| Cell::Time(it.last_at))),
        sql.many(Type::Text, all().map(|it| Cell::Text(it.last_status.word().to_owned()))),
        sql.many(Type::Flag, all().map(|it| Cell::Flag(it.ends_streak))),
        sql.many(Type::Int, all().map(|it| Cell::Int(i64::from(it.streak.failures)))),
        sql.many(Type::Time, all().map(|it| it.streak.since.map_or(Cell::Null(Type::Time), Cell::Time))),
    ];
    sql.push(&format!(
        "UPDATE webhooks AS w SET {} FROM UNNEST({}) AS p (id, last_at, last_status, ends_streak, failures, since) \
         WHERE w.tenant_id = {tenant} AND w.id = p.id \
         RETURNING 0::bigint, w.tenant_id, w.id, w.failures, w.failing_since",
        added_to(),
        arrays.join(", "),
    ));
    sql
}
