//! Recording of the results of leased deliveries.

use candor_domain::fields::StringEnum;
use candor_port_storage::StorageError;
use candor_port_storage::queue::{AttemptResult, QueueKey, RecordOutcome, WorkerId};
use candor_subscriptions::{AttemptEffect, Delivery, HealthDelta, Job, Streak};
use candor_tables::flat::{CellReader, Stored};

use super::KEY;
use crate::sql::{Db, Sql, Value};

/// Adds a delta to a subscription's health columns. `min` with a null is null, hence the `coalesce`.
const ADD_DELTA: &str = "UPDATE webhooks SET \
    failures = CASE WHEN ?3 THEN ?4 ELSE min(coalesce(failures, 0) + ?4, 4294967295) END, \
    failing_since = CASE WHEN ?3 THEN ?5 ELSE coalesce(min(failing_since, ?5), failing_since, ?5) END, \
    last_delivery_status = CASE WHEN ?6 IS NULL OR last_delivery_at > ?6 THEN last_delivery_status ELSE ?7 END, \
    last_delivery_at = CASE WHEN ?6 IS NULL OR last_delivery_at > ?6 THEN last_delivery_at ELSE ?6 END, \
    is_failing = CASE WHEN ?11 THEN ?8 ELSE coalesce(is_failing, 0) OR ?8 END, \
    failing_due = coalesce(failing_due, CASE WHEN coalesce(is_failing, 0) THEN NULL ELSE ?9 END, ?10) \
    WHERE tenant_id = ?1 AND id = ?2 RETURNING failures, failing_since, is_failing";

/// Schedules the next attempt. If the stored delivery id differs from the worker's, a client requested a
/// redelivery during the attempt. Then the delivery keeps that id, and is due at the earlier one of the requested
/// time and the time of the next attempt.
const AGAIN: &str = "attempt = attempt + 1, worker = NULL, leased_until = NULL, \
    due_at = CASE WHEN delivery_id IS ? THEN ? ELSE min(due_at, ?) END, \
    delivery_id = CASE WHEN delivery_id IS ? THEN NULL ELSE delivery_id END";

/// Records results and health deltas.
pub(crate) fn record(
    db: &mut Db,
    worker: WorkerId,
    results: &[(Job, AttemptResult)],
    health: &[(QueueKey, HealthDelta)],
) -> Result<RecordOutcome, StorageError> {
    let mut outcome = RecordOutcome::default();
    for (job, result) in results {
        if !record_one(db, worker, job, result)? {
            outcome.lost += 1;
        }
    }
    for (queue, delta) in health {
        let Some(streak) = add(db, *queue, delta)? else { continue };
        outcome.streaks.retain(|(streak, _)| streak != queue);
        outcome.streaks.push((*queue, streak));
    }
    Ok(outcome)
}

/// Records one result. Returns `false` if the worker no longer holds the lease, or the attempt number has changed.
fn record_one(db: &mut Db, worker: WorkerId, job: &Job, result: &AttemptResult) -> Result<bool, StorageError> {
    let had = match result {
        AttemptResult::Settled(settled) => match settled.retry_at {
            Some(at) => {
                let had = || job.delivery_id.map_or(Value::Null, Value::from);
                update(db, worker, job, AGAIN, [had(), at.into(), at.into(), had()])?
            }
            None => delete(db, worker, job)?,
        },
        AttemptResult::Back(at) => {
            update(db, worker, job, "due_at = ?, worker = NULL, leased_until = NULL", [(*at).into()])?
        }
        AttemptResult::Released => update(db, worker, job, "worker = NULL, leased_until = NULL", [])?,
        AttemptResult::Parked => update(db, worker, job, "due_at = NULL, worker = NULL, leased_until = NULL", [])?,
        AttemptResult::Gone => delete(db, worker, job)?,
    };
    if let (true, AttemptResult::Settled(settled)) = (had, result) {
        log(db, job, settled)?;
    }
    Ok(had)
}

fn update<const N: usize>(
    db: &mut Db,
    worker: WorkerId,
    job: &Job,
    to: &str,
    values: [Value; N],
) -> Result<bool, StorageError> {
    let text = format!("UPDATE delivery_jobs SET {to} WHERE {KEY} AND worker = ? AND attempt = ?");
    execute_fenced(db, worker, job, Sql::new(text).bind_all(values))
}

fn delete(db: &mut Db, worker: WorkerId, job: &Job) -> Result<bool, StorageError> {
    execute_fenced(
        db,
        worker,
        job,
        Sql::new(format!("DELETE FROM delivery_jobs WHERE {KEY} AND worker = ? AND attempt = ?")),
    )
}

fn execute_fenced(db: &mut Db, worker: WorkerId, job: &Job, sql: Sql) -> Result<bool, StorageError> {
    let sql = sql.bind(job.tenant).bind(job.webhook_id).bind(job.event_id);
    let changed_count = db.run(&sql.bind(worker.0).bind(i64::from(job.attempt)))?;
    Ok(changed_count > 0)
}

fn log(db: &mut Db, job: &Job, settled: &AttemptEffect) -> Result<(), StorageError> {
    let text = db.statements(Delivery::TABLE).insert();
    let sql = Sql::new(text).bind(job.tenant).bind_all(settled.entry.cells()?);
    db.run(&sql).map(drop)
}

/// Adds a health delta to a subscription. Returns its failure streak, or `None` if the subscription is gone.
fn add(db: &mut Db, (tenant, webhook): QueueKey, delta: &HealthDelta) -> Result<Option<Streak>, StorageError> {
    let sql = Sql::new(ADD_DELTA)
        .bind(tenant)
        .bind(webhook)
        .bind(i64::from(delta.ends_streak))
        .bind(i64::from(delta.streak.failures))
        .bind(delta.streak.since.map_or(Value::Null, Value::from))
        .bind(delta.shown.map_or(Value::Null, |(at, _)| at.into()))
        .bind(delta.shown.map_or(Value::Null, |(_, status)| Value::Text(status.word().to_owned())))
        .bind(i64::from(delta.streak.is_failing))
        .bind(delta.fails_at.map_or(Value::Null, Value::from))
        .bind(delta.fails_again_at.map_or(Value::Null, Value::from))
        .bind(i64::from(delta.ends_failing));
    db.first(sql, streak)
}

fn streak(row: &mut dyn CellReader) -> Result<Streak, StorageError> {
    let corrupt = |column| move |reason| StorageError::Corrupt { table: "webhooks", column, reason };
    let failures = row.int().map_err(corrupt("failures"))?.unwrap_or_default();
    let failures =
        u32::try_from(failures).map_err(|_| corrupt("failures")(format!("unexpected value {failures}")))?;
    let failing_since = row.time().map_err(corrupt("failing_since"))?;
    let is_failing = row.int().map_err(corrupt("is_failing"))?.unwrap_or_default() > 0;
    Ok(Streak { failures, since: failing_since, is_failing })
}
