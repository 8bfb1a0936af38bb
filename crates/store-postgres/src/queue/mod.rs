//! Queues of deliveries and mails, and the delivery log. Their transactions are short, use exclusive connections, and
//! get only a share of these.
//!
//! A claim and a record each have one builder. If the layout allows locks on rows of several tenants, each is one
//! statement. Otherwise a claim first reads the queues of all tenants, and the rows of each tenant are leased or
//! recorded by separate statements.

mod claim;
mod clock;
mod log;
mod look;
mod mails;
mod rate;
mod record;

use async_trait::async_trait;
use candor_domain::time::Timestamp;
use candor_port_storage::StorageError;
use candor_port_storage::error::Read;
use candor_port_storage::queue::{
    AttemptResult, Claim, ClaimedJobs, Lease, Queue, QueueKey, QueueState, RateLease, RecordOutcome, WorkerId,
};
use candor_subscriptions::{HealthDelta, Job};
use candor_tables::flat::{CellReader, SqlValue};
use futures_util::{StreamExt, stream};

use crate::failure::Failure;
use crate::nodes::transaction::{Transaction, run_to_completion};
use crate::sql::Sql;
use crate::sql::row::int;
use crate::store::PostgresStore;
use record::Results;

pub(crate) use log::name as day_partition;

/// Maximum number of results recorded in one round trip.
const BATCH: usize = 256;

/// Maximum number of tenants whose parts of a claim or record run concurrently.
const AT_ONCE: usize = 4;

/// Maximum number of attempts of a claim, if other workers lease the found deliveries first.
const LOOKS: u32 = 3;

#[async_trait]
impl Queue for PostgresStore {
    fn record_batch_size(&self) -> usize {
        BATCH
    }

    async fn claim(&self, lease: Lease, now: Timestamp, claim: &Claim) -> Read<ClaimedJobs> {
        let mut claimed_jobs = ClaimedJobs::default();
        for _ in 0..LOOKS {
            let plan = self.plan_leases(lease, now, claim, claimed_jobs.jobs.len()).await?;
            let transactions = plan.leases.into_iter().map(|sql| self.lease_transaction(sql));
            let parts = self.all_in_turn(transactions, claim::read_row).await?;
            let leased_jobs = claim::merge(parts.into_iter().flatten().collect(), claim)?;
            let is_overtaken = plan.expected.is_some_and(|expected| leased_jobs.jobs.len() < expected);
            claimed_jobs.next = leased_jobs.next.or(plan.next);
            claimed_jobs.jobs.extend(leased_jobs.jobs);
            if !is_overtaken {
                break;
            }
        }
        Ok(claimed_jobs)
    }

    async fn record(
        &self,
        worker: WorkerId,
        results: Vec<(Job, AttemptResult)>,
        health: Vec<(QueueKey, HealthDelta)>,
    ) -> Read<RecordOutcome> {
        let count = results.len();
        let tenants =
            results.iter().map(|(job, _)| job.tenant).chain(health.iter().map(|((tenant, _), _)| *tenant));
        let scopes = self.layout.scopes(tenants.collect::<Vec<_>>());
        let all = Results::new(results, health);
        let mut transactions = vec![];
        for scope in scopes {
            let statements = record::statements(worker, scope, &all.slice(scope)).map_err(StorageError::from)?;
            transactions.push(Transaction::with_settings(self.layout.record_settings(), statements));
        }
        let parts = self.all_in_turn(transactions.into_iter(), record::read_row).await?;
        Ok(record::merge(parts, count))
    }

    async fn lease_rate(&self, queue: QueueKey, lease: Lease, now: Timestamp) -> Read<RateLease> {
        let lease_rows =
            self.send(Transaction::single_statement(rate::lease(queue, lease, now)), |_| Ok(())).await?;
        if !lease_rows.is_empty() {
            return Ok(RateLease::Held);
        }
        let end_of_lease = self
            .send(Transaction::single_statement(rate::held_until(queue)), rate::read_lease_end)
            .await?
            .pop()
            .flatten();
        Ok(end_of_lease.map_or(RateLease::Held, |until| RateLease::HeldElsewhere { until }))
    }

    async fn correct_times(&self, now: Timestamp, lease: Timestamp) -> Read<()> {
        // Each is a transaction of its own, so that no lock is held while another table is read.
        for statement in clock::corrections(now, lease) {
            self.send(Transaction::single_statement(statement), |_| Ok(())).await?;
        }
        Ok(())
    }

    async fn queue_state(&self, now: Timestamp) -> Read<QueueState> {
        if let Some(rows) = self.read_replica_values(&state_sql(now).planned_anew(), &state).await {
            return Ok(rows.into_iter().next().unwrap_or_default());
        }
        let transaction = Transaction::with_index_plans(vec![state_sql(now)]);
        Ok(self.send(transaction, state).await?.into_iter().next().unwrap_or_default())
    }

    async fn keep_log(&self, now: Timestamp, before: Timestamp, most: u32) -> Read<u64> {
        let (nodes, layout, warned) = (self.nodes.clone(), self.layout, self.warned.clone());
        let work = async move {
            log::keep((&nodes, layout), &warned, (now, before), most).await.map_err(Failure::into_storage)
        };
        run_to_completion(&self.home, work).await
    }
}

impl PostgresStore {
    /// Wraps a lease in a transaction with the settings of the layout.
    fn lease_transaction(&self, lease: Sql) -> Transaction {
        Transaction::with_settings(self.layout.lease_settings(), vec![(lease, true)])
    }

    /// Sends transactions of several tenants, at most [`AT_ONCE`] concurrently, and returns the rows of each.
    /// Failed transactions are skipped: the leases of those tenants expire, and their deliveries are claimed
    /// again.
    ///
    /// # Errors
    /// The first failure, if all of them failed.
    async fn all_in_turn<T>(
        &self,
        transactions: impl Iterator<Item = Transaction>,
        read: fn(&mut dyn CellReader) -> Result<T, Failure>,
    ) -> Read<Vec<Vec<T>>> {
        let sent_rows = transactions.map(|transaction| self.in_turn(transaction, read)).collect::<Vec<_>>();
        let parts: Vec<_> = stream::iter(sent_rows).buffered(AT_ONCE).collect().await;
        let (mut done, mut failed) = (vec![], vec![]);
        for part in parts {
            match part {
                Ok(rows) => done.push(rows),
                Err(error) => failed.push(error),
            }
        }
        let tenants = failed.len();
        match failed.into_iter().next() {
            Some(error) if done.is_empty() => return Err(error),
            Some(error) => tracing::warn!(
                %error, tenants,
                "cannot process the delivery queue of some organizations; retrying soon"
            ),
            None => {}
        }
        Ok(done)
    }
}

/// Condition of rows without a lease at this time. No index covers it: the leased rows that a scan skips are few.
fn without_lease(now: &str) -> String {
    format!("(leased_until IS NULL OR leased_until <= {now})")
}

fn state_sql(now: Timestamp) -> Sql {
    let mut sql = Sql::default();
    let now = sql.bind(SqlValue::Time(now));
    let due = format!("delivery_jobs WHERE due_at <= {now} AND {}", without_lease(&now));
    sql.push(&state_of(&due, "due_at"));
    sql
}

/// Query for the state of a queue, given its due rows and their due-time column.
fn state_of(due: &str, by: &str) -> String {
    format!(
        "SELECT (SELECT count(*) FROM (SELECT 1 FROM {due} LIMIT {}) AS counted), (SELECT min({by}) FROM {due})",
        QueueState::COUNTED
    )
}

fn state(row: &mut dyn CellReader) -> Result<QueueState, Failure> {
    Ok(QueueState { due: int(row)?.unsigned_abs(), oldest_due_at: row.time().map_err(Failure::Other)? })
}
