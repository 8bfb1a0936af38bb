//! The storage port as a whole.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_port_storage::{ChangeSet, CommitError, Committed, Storage, StorageError};

use crate::SqliteStore;
use crate::commit;
use crate::connection::writer;
use crate::sql::Db;

/// Number of writes above which a change set, such as a file or a batch, yields to short ones.
const MANY_WRITES: usize = 16;
/// Number of events above which a change set yields to short ones: each event is queued once per
/// subscription.
const MANY_EVENTS: usize = 4;

#[async_trait]
impl Storage for SqliteStore {
    async fn commit(&self, tenant: Tenant, change: ChangeSet) -> Result<Committed, CommitError> {
        let is_long = change.writes.len() > MANY_WRITES || change.events.len() > MANY_EVENTS;
        writer::ask_for(&self.tasks, is_long, move |db| commit::carry_out(db, tenant, &change)).await
    }

    async fn check(&self, tenant: Tenant, change: &ChangeSet) -> Result<(), CommitError> {
        let conditions = change.conditions().map_err(StorageError::from)?;
        let look = move |db: &mut Db| commit::check::first_broken(db, tenant, conditions);
        let broken = self.look_up_all(tenant, change.writes.len(), look).await?;
        broken.map_or(Ok(()), |condition| Err(condition.error()))
    }

    /// Returns `self`: an embedded database has no replica.
    fn replica(&self) -> &dyn Storage {
        self
    }
}
