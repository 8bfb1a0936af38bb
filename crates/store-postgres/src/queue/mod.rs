//! The queue of deliveries: short transactions on connections of their own, of which it takes a share only.

mod by_tenant;
mod claim;
mod log;
mod mails;
mod planner_settings;
mod record;
mod record_by_tenant;

use async_trait::async_trait;
use candor_domain::time::Timestamp;
use candor_domain::webhook::{HealthDelta, Job};
use candor_port_storage::StorageError;
use candor_port_storage::error::Read;
use candor_port_storage::queue::{
    AttemptResult, Claim, Claimed, Lease, Queue, QueueKey, QueueState, Recorded, WorkerId,
};
use candor_tables::flat::{Cell, Fetch};

use crate::PostgresStore;
use crate::connection::transaction::carried_out;
use crate::failure::Failure;
use crate::select::int;
use crate::sql::Sql;

pub(crate) use log::{Warned, name as day_partition};
pub(crate) use planner_settings::{STEER, Turns, steered};

/// So many results are recorded by one round trip.
const BATCH: usize = 256;

#[async_trait]
impl Queue for PostgresStore {
    fn batch(&self) -> usize {
        BATCH
    }

    async fn claim(&self, lease: Lease, now: Timestamp, claim: &Claim) -> Read<Claimed> {
        if self.layout.is_by_tenant() {
            return self.claim_by_tenant(lease, now, claim).await;
        }
        let transaction = planner_settings::leasing(claim::sql(lease, now, claim));
        claim::claimed(self.in_turn(transaction, claim::row).await?, claim)
    }

    async fn record(
        &self,
        worker: WorkerId,
        results: Vec<(Job, AttemptResult)>,
        health: Vec<(QueueKey, HealthDelta)>,
    ) -> Read<Recorded> {
        if self.layout.is_by_tenant() {
            return self.record_by_tenant(worker, results, health).await;
        }
        let count = results.len();
        let transaction = steered(record::statements(worker, results, health).map_err(StorageError::from)?);
        Ok(record::recorded(self.in_turn(transaction, record::row).await?, count))
    }

    async fn queue_state(&self, now: Timestamp) -> Read<QueueState> {
        if let Some(rows) = self.replica_answer(&state_sql(now).planned_anew(), &state).await {
            return Ok(rows.into_iter().next().unwrap_or_default());
        }
        let transaction = steered(vec![state_sql(now)]);
        Ok(self.send(transaction, state).await?.into_iter().next().unwrap_or_default())
    }

    async fn keep_log(&self, now: Timestamp, before: Timestamp, most: u32) -> Read<u64> {
        let (nodes, layout, warned) = (self.nodes.clone(), self.layout, self.warned.clone());
        let work = async move {
            log::keep((&nodes, layout), &warned, (now, before), most).await.map_err(Failure::into_storage)
        };
        carried_out(&self.home, work).await
    }
}

/// What nobody has at this time. The condition has no index: what it passes over is in memory somewhere.
fn unleased(now: &str) -> String {
    format!("(leased_until IS NULL OR leased_until <= {now})")
}

fn state_sql(now: Timestamp) -> Sql {
    let mut sql = Sql::default();
    let now = sql.bind(Cell::Time(now));
    let due = format!("delivery_jobs WHERE due_at <= {now} AND {}", unleased(&now));
    sql.push(&state_of(&due, "due_at"));
    sql
}

/// How a queue does, where this is due by this column.
fn state_of(due: &str, by: &str) -> String {
    format!(
        "SELECT (SELECT count(*) FROM (SELECT 1 FROM {due} LIMIT {}) AS counted), (SELECT min({by}) FROM {due})",
        QueueState::COUNTED
    )
}

fn state(row: &mut dyn Fetch) -> Result<QueueState, Failure> {
    Ok(QueueState { due: int(row)?.unsigned_abs(), oldest_due_at: row.time().map_err(Failure::Other)? })
}
