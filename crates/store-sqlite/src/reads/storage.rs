//! The store as a whole.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_port_storage::{ChangeSet, CommitError, Committed, Storage};

use crate::SqliteStore;
use crate::commit;
use crate::connection::writer;

/// A change set with more writes is for a file or a batch, and others go first.
const MANY_WRITES: usize = 16;
/// The same for events, each of which is queued for as many receivers as want it.
const MANY_EVENTS: usize = 4;

#[async_trait]
impl Storage for SqliteStore {
    async fn commit(&self, tenant: Tenant, change: ChangeSet) -> Result<Committed, CommitError> {
        let is_long = change.writes.len() > MANY_WRITES || change.events.len() > MANY_EVENTS;
        writer::ask_for(&self.tasks, is_long, move |db| commit::carry_out(db, tenant, &change)).await
    }

    /// A file has no copy that could be asked.
    fn replica(&self) -> &dyn Storage {
        self
    }
}
