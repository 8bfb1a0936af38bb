//! The delivery queue and the delivery log. All changes go through the one writer, so claims never conflict.

mod claim;
mod clock;
mod enqueue;
mod mails;
mod rate;
mod record;

pub(crate) use claim::claim;
pub(crate) use enqueue::{bring_forward, enqueue, fan_out, remove, report_failing, reset_streak};
#[cfg(test)]
pub(crate) use mails::claim as claim_mails;
pub(crate) use record::record;

use async_trait::async_trait;

use candor_domain::id::EventId;
use candor_domain::time::Timestamp;
use candor_port_storage::StorageError;
use candor_port_storage::error::Read;
use candor_port_storage::queue::{
    AttemptResult, Claim, ClaimedJobs, Lease, Queue, QueueKey, QueueState, RateLease, RecordOutcome, WorkerId,
};
use candor_subscriptions::{HealthDelta, Job};
use candor_tables::flat::{CellReader, Reader};
use candor_tables::rows::{JOB_TABLE, read_job};

use crate::SqliteStore;
use crate::connection::writer;
use crate::sql::{Db, Sql};

/// Condition on the primary key of a queued delivery.
const KEY: &str = "tenant_id = ? AND webhook_id = ? AND event_id = ?";

/// Number of results per batch. All other writers wait while a batch is recorded.
const BATCH: usize = 128;
/// Number of results above which a batch gets its own transaction, so that no caller waits for two batches.
const FEW: usize = 32;

/// Condition of a delivery that is not leased. No index covers it: the leased rows that a scan skips are few.
const UNLEASED: &str = "(leased_until IS NULL OR leased_until <= ?)";

const STATE: &str = "SELECT (SELECT count(*) FROM (SELECT 1 FROM delivery_jobs WHERE due_at <= ?1 \
    AND (leased_until IS NULL OR leased_until <= ?1) LIMIT ?2)), (SELECT min(due_at) FROM delivery_jobs \
    WHERE due_at <= ?1 AND (leased_until IS NULL OR leased_until <= ?1))";

const FORGET: &str = "DELETE FROM deliveries WHERE rowid IN \
    (SELECT rowid FROM deliveries WHERE created_at < ? ORDER BY created_at LIMIT ?)";

#[async_trait]
impl Queue for SqliteStore {
    fn record_batch_size(&self) -> usize {
        BATCH
    }

    async fn claim(&self, lease: Lease, now: Timestamp, claim: &Claim) -> Read<ClaimedJobs> {
        let claim = claim.clone();
        // A walk along many queues takes hundreds of steps.
        let is_long = !matches!(claim, Claim::Oldest { .. });
        writer::ask_for(&self.tasks, None, is_long, move |db| self::claim(db, lease, now, &claim)).await
    }

    async fn record(
        &self,
        worker: WorkerId,
        results: Vec<(Job, AttemptResult)>,
        health: Vec<(QueueKey, HealthDelta)>,
    ) -> Read<RecordOutcome> {
        let is_long = results.len() > FEW;
        writer::ask_for(&self.tasks, None, is_long, move |db| self::record(db, worker, &results, &health)).await
    }

    async fn lease_rate(&self, queue: QueueKey, lease: Lease, now: Timestamp) -> Read<RateLease> {
        writer::ask(&self.tasks, None, move |db| rate::lease_rate(db, queue, lease, now)).await
    }

    async fn correct_times(&self, now: Timestamp, lease: Timestamp) -> Read<()> {
        writer::ask_for(&self.tasks, None, true, move |db| clock::correct(db, now, lease)).await
    }

    async fn queue_state(&self, now: Timestamp) -> Read<QueueState> {
        self.read(None, move |db| state(db, now)).await
    }

    async fn keep_log(&self, _: Timestamp, before: Timestamp, most: u32) -> Read<u64> {
        writer::ask(&self.tasks, None, move |db| forget(db, before, most)).await
    }
}

/// Returns the queued delivery of an event. `None` if the delivery is not queued.
pub(crate) fn read_queued(db: &mut Db, (tenant, webhook): QueueKey, event: EventId) -> Read<Option<Job>> {
    let columns = db.statements(JOB_TABLE).columns.clone();
    let sql = Sql::new(format!("SELECT {columns} FROM delivery_jobs WHERE {KEY}"));
    let job = |row: &mut dyn CellReader| Ok(read_job(&mut Reader::new(row, JOB_TABLE))?);
    db.first(sql.bind(tenant).bind(webhook).bind(event), job)
}

/// Removes log entries from before a time.
pub(crate) fn forget(db: &mut Db, before: Timestamp, most: u32) -> Read<u64> {
    Ok(db.run(&Sql::new(FORGET).bind(before).bind(i64::from(most)))? as u64)
}

/// Returns length and age of the queue.
pub(crate) fn state(db: &mut Db, now: Timestamp) -> Read<QueueState> {
    let most = i64::try_from(QueueState::COUNTED).unwrap_or(i64::MAX);
    let state = db.first(Sql::new(STATE).bind(now).bind(most), |row| queue_state(row, JOB_TABLE.name))?;
    Ok(state.unwrap_or_default())
}

/// Reads a [`QueueState`] from a row of a query on `table`.
fn queue_state(row: &mut dyn CellReader, table: &'static str) -> Read<QueueState> {
    let corrupt = |reason| StorageError::Corrupt { table, column: "due_at", reason };
    let due = row.int().map_err(corrupt)?.unwrap_or_default();
    Ok(QueueState { due: due.unsigned_abs(), oldest_due_at: row.time().map_err(corrupt)? })
}
