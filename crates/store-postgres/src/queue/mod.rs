//! The queue of deliveries.

use async_trait::async_trait;
use candor_domain::time::Timestamp;
use candor_domain::webhook::{Job, Pulse};
use candor_port_storage::queue::{Claim, Claimed, Fate, Lane, Lease, Queue, QueueState, Recorded, WorkerId};
use candor_port_storage::store::{Read, StorageError};

use crate::PostgresStore;

#[async_trait]
impl Queue for PostgresStore {
    async fn claim(&self, _: Lease, _: Timestamp, _: &Claim) -> Read<Claimed> {
        Err(StorageError::Failed("not there yet".to_owned()))
    }

    async fn record(&self, _: WorkerId, _: Vec<(Job, Fate)>, _: Vec<(Lane, Pulse)>) -> Read<Recorded> {
        Err(StorageError::Failed("not there yet".to_owned()))
    }

    async fn queue_state(&self, _: Timestamp) -> Read<QueueState> {
        Err(StorageError::Failed("not there yet".to_owned()))
    }

    async fn keep_log(&self, _: Timestamp, _: Timestamp, _: u32) -> Read<u64> {
        Err(StorageError::Failed("not there yet".to_owned()))
    }
}
