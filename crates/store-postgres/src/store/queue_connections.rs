//! Share of the connections that the queue may use.

use std::sync::Arc;
use std::time::Duration;

use candor_port_storage::error::Read;
use candor_tables::flat::CellReader;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::connection::rows::{RawRow, values};
use crate::failure::Failure;
use crate::nodes::transaction::{Transaction, run_to_completion, send_raw};
use crate::store::PostgresStore;

/// Divisor for the queue's share of pooled connections, so that change sets need not wait behind deliveries.
const SHARE: usize = 3;

/// Maximum wait of the queue for a connection.
const WAIT: Duration = Duration::from_secs(5);

/// Semaphore for the queue's share of connections.
#[derive(Clone)]
pub(crate) struct QueueConnections(Arc<Semaphore>);

impl QueueConnections {
    /// Creates the semaphore for a pool of this size.
    pub(crate) fn new(pool: usize) -> Self {
        Self(Arc::new(Semaphore::new((pool / SHARE).max(1))))
    }

    async fn next(self) -> Result<OwnedSemaphorePermit, Failure> {
        match timeout(WAIT, self.0.acquire_owned()).await {
            Ok(permit) => permit.map_err(|error| Failure::Other(error.to_string())),
            Err(_) => Err(Failure::Busy("the queue's connections did not become free in time".to_owned())),
        }
    }
}

impl PostgresStore {
    /// Sends a transaction when a connection of the queue's share is free. The transaction runs to its end even if
    /// the caller goes away.
    pub(crate) async fn in_turn<T>(
        &self,
        transaction: Transaction,
        read: impl Fn(&mut dyn CellReader) -> Result<T, Failure>,
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
        run_to_completion(&self.home, work).await
    }

    /// Sends a transaction outside the queue's share of connections.
    pub(crate) async fn send<T>(
        &self,
        transaction: Transaction,
        read: impl Fn(&mut dyn CellReader) -> Result<T, Failure>,
    ) -> Read<Vec<T>> {
        values(self.send_raw(transaction).await?, read).map_err(Failure::into_storage)
    }

    async fn send_raw(&self, transaction: Transaction) -> Read<Vec<RawRow>> {
        let nodes = self.nodes.clone();
        run_to_completion(&self.home, async move {
            send_raw(&nodes, &transaction).await.map_err(Failure::into_storage)
        })
        .await
    }
}
