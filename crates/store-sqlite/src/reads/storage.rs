//! The storage port as a whole.

use std::sync::Arc;

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_port_storage::{ChangeSet, CommitError, Committed, Storage, StorageError, Write};

use tracing::Instrument;

use crate::SqliteStore;
use crate::commit::{self, rebuild};
use crate::connection::writer::{self, Tasks};
use crate::sql::Db;

/// Number of writes above which a change set, such as a file or a batch, yields to short ones.
const MANY_WRITES: usize = 16;
/// Number of events above which a change set yields to short ones: each event is queued once per
/// subscription.
const MANY_EVENTS: usize = 4;

/// Returns `true` if the reporting line of a stored person changes.
fn moves_a_person(write: &Write) -> bool {
    matches!(write, Write::PutReporting { row, .. } if row.version_read().is_some())
}

/// Executes a change set that moves people, once the lines of earlier moves are complete. If the change set leaves
/// lines incomplete, starts their rebuild in the background.
async fn carry_out_moves(
    tasks: Arc<Tasks>,
    tenant: Tenant,
    change: ChangeSet,
    is_long: bool,
) -> Result<Committed, CommitError> {
    rebuild::complete(Arc::clone(&tasks), tenant).await?;
    let work = move |db: &mut Db| {
        let commit_result = commit::carry_out(db, tenant, &change)?;
        Ok::<_, CommitError>((commit_result, rebuild::are_complete(db, tenant)?))
    };
    let (committed, is_complete) = writer::ask_for(&tasks, tenant, is_long, work).await?;
    if !is_complete {
        tokio::spawn(async move {
            if let Err(error) = rebuild::complete(tasks, tenant).await {
                tracing::warn!(
                    %error,
                    "cannot rebuild the reporting lines: reads of teams are slower until a rebuild succeeds. The next \
                     start and the next move of a person retry the rebuild"
                );
            }
        });
    }
    Ok(committed)
}

#[async_trait]
impl Storage for SqliteStore {
    async fn commit(&self, tenant: Tenant, change: ChangeSet) -> Result<Committed, CommitError> {
        let is_long = change.writes.len() > MANY_WRITES || change.events.len() > MANY_EVENTS;
        if !change.writes.iter().any(moves_a_person) {
            return writer::ask_for(&self.tasks, tenant, is_long, move |db| {
                commit::carry_out(db, tenant, &change)
            })
            .await;
        }
        // A task of its own, because the change must be executed even if its caller no longer waits.
        let moving = carry_out_moves(Arc::clone(&self.tasks), tenant, change, is_long);
        tokio::spawn(moving.in_current_span())
            .await
            .map_err(|_| StorageError::Failed("a defect ended the change".to_owned()))?
    }

    async fn check(&self, tenant: Tenant, change: &ChangeSet) -> Result<(), CommitError> {
        let conditions = change.conditions().map_err(StorageError::from)?;
        let look = move |db: &mut Db| commit::check::first_broken(db, tenant, conditions);
        let broken_condition = self.look_up_all(tenant, change.writes.len(), look).await?;
        broken_condition.map_or(Ok(()), |condition| Err(condition.error()))
    }

    /// Returns `self`: an embedded database has no replica.
    fn replica(&self) -> &dyn Storage {
        self
    }
}
