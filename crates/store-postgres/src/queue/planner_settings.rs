//! How statements about the queue are planned and carried out.

use std::sync::Arc;
use std::time::Duration;

use candor_port_storage::error::Read;
use candor_tables::flat::Fetch;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::PostgresStore;
use crate::connection::rows::{RawRow, values};
use crate::connection::transaction::{Transaction, carried_out, send_raw};
use crate::failure::Failure;
use crate::sql::Sql;

/// A plan is made when a statement is first seen, and the queue is empty then as a rule: reading all of it and putting
/// it in order looks as good as any index, and stays the plan until the server looks at the table again, when a million
/// deliveries may have been queued. So only plans that do well with a long queue are left to choose from: along an
/// index, in its order, one row after the other.
pub(crate) const STEER: &str = "SELECT set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true), \
    set_config('enable_incremental_sort', 'off', true), set_config('enable_bitmapscan', 'off', true), \
    set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), \
    set_config('enable_hashagg', 'off', true)";

/// A lease need not outlive a crash of the server: what was leased is then due at once instead of at its end, and what
/// was sent meanwhile is sent once more, as after a crash of the service. Everything that is recorded later is written
/// to the disk together with it.
const UNFLUSHED: &str = "SET LOCAL synchronous_commit = off";

/// The queue has at most one of so many pooled connections, so that change sets need not wait behind deliveries.
const SHARE: usize = 3;

/// The longest wait for a turn.
const WAIT: Duration = Duration::from_secs(5);

/// A transaction whose statements are planned for a long queue; the last one's rows are the answer.
pub(crate) fn steered(statements: Vec<Sql>) -> Transaction {
    let last = statements.len();
    let mut all = vec![Sql::plain(STEER)];
    all.extend(statements);
    Transaction::of(all, last)
}

/// The same for a lease, whose commit waits for no disk.
pub(super) fn leasing(statement: Sql) -> Transaction {
    steered(vec![Sql::plain(UNFLUSHED), statement])
}

/// The subscription with these ids, as a subquery. An order that only its key has keeps the planner from the indexes of
/// the lists, which begin with the tenant too.
pub(super) fn webhook(wanted: &str, tenant: &str, id: &str, lock: &str) -> String {
    format!(
        "(SELECT {wanted} FROM webhooks WHERE tenant_id = {tenant} AND id >= {id} AND id <= {id} ORDER BY id LIMIT 1{lock})"
    )
}

/// Whose turn it is to have a connection for the queue.
#[derive(Clone)]
pub(crate) struct Turns(Arc<Semaphore>);

impl Turns {
    /// For a pool of this many connections.
    pub(crate) fn of(pool: usize) -> Self {
        Self(Arc::new(Semaphore::new((pool / SHARE).max(1))))
    }

    async fn next(self) -> Result<OwnedSemaphorePermit, Failure> {
        match timeout(WAIT, self.0.acquire_owned()).await {
            Ok(permit) => permit.map_err(|it| Failure::Other(it.to_string())),
            Err(_) => Err(Failure::Busy("the queue's connections did not become free in time".to_owned())),
        }
    }
}

impl PostgresStore {
    /// Sends a transaction when it is its turn. Once called it is carried out, whoever waits for it.
    pub(crate) async fn in_turn<T>(
        &self,
        transaction: Transaction,
        read: impl Fn(&mut dyn Fetch) -> Result<T, Failure>,
    ) -> Read<Vec<T>> {
        values(self.raw_in_turn(transaction).await?, read).map_err(Failure::into_storage)
    }

    async fn raw_in_turn(&self, transaction: Transaction) -> Read<Vec<RawRow>> {
        let (nodes, turns) = (self.nodes.clone(), self.turns.clone());
        let work = async move {
            let turn = turns.next().await.map_err(Failure::into_storage)?;
            let rows = send_raw(&nodes, &transaction).await.map_err(Failure::into_storage);
            drop(turn);
            rows
        };
        carried_out(&self.home, work).await
    }

    /// Sends a transaction that may take long, beside the others.
    pub(crate) async fn send<T>(
        &self,
        transaction: Transaction,
        read: impl Fn(&mut dyn Fetch) -> Result<T, Failure>,
    ) -> Read<Vec<T>> {
        values(self.send_raw(transaction).await?, read).map_err(Failure::into_storage)
    }

    async fn send_raw(&self, transaction: Transaction) -> Read<Vec<RawRow>> {
        let nodes = self.nodes.clone();
        carried_out(&self.home, async move { send_raw(&nodes, &transaction).await.map_err(Failure::into_storage) })
            .await
    }
}
