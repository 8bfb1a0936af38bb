//! The end of a subscription's activity after its deliveries have failed for too long (§3.4, decision F3).

use candor_domain::webhook::Subscription;
use candor_port_storage::queue::QueueKey;
use candor_port_storage::{ChangeSet, CommitError, Row, StorageExt, Write};

use crate::notifications::addressed;
use crate::{Error, Shell};

/// What the audit log calls this.
const DELIVERIES: &str = "deliveries";
/// How often it is decided anew when another change came first.
const ATTEMPTS: usize = 8;

/// Disables a subscription and tells the org admins. If that fails, the next failure leads here again.
pub(super) async fn disable(shell: &Shell, queue: QueueKey) {
    let (tenant, webhook) = queue;
    match try_to(shell, queue).await {
        Ok(false) => {}
        Ok(true) => {
            tracing::warn!(organization = %tenant.organization, %webhook, "a webhook was disabled: its deliveries kept failing");
        }
        Err(error) => {
            tracing::warn!(organization = %tenant.organization, %webhook, %error, "could not disable a webhook that keeps failing");
        }
    }
}

async fn try_to(shell: &Shell, (tenant, id): QueueKey) -> Result<bool, Error> {
    for _ in 0..ATTEMPTS {
        let Some(stored) = shell.store.row::<Subscription>(tenant, id).await? else { return Ok(false) };
        let at = shell.clock.now();
        let Some(decision) = stored.value.disable(at) else { return Ok(false) };
        let mut change = ChangeSet::new(shell.entry_of_system(DELIVERIES, decision.audit, decision.state.updated_at));
        change.notices = addressed(shell, tenant, &decision.notices, at).await?;
        change.writes = vec![Write::put(&Row::seen(decision.state, stored.version))];
        match shell.commit(tenant, change).await {
            Ok(()) => return Ok(true),
            Err(CommitError::Stale) => {}
            Err(CommitError::Storage(error)) => return Err(error.into()),
            Err(other) => return Err(Error::Bug(other.to_string())),
        }
    }
    Err(Error::Contended)
}
