//! Disables a subscription whose deliveries have failed for too long (§3.4, decision F3).

use candor_domain::webhook::Subscription;
use candor_port_storage::StorageExt;
use candor_port_storage::queue::QueueKey;

use crate::context::error::Error;
use crate::context::services::Services;

/// Name of this actor in the audit log.
const DELIVERIES: &str = "deliveries";
/// Maximum attempts if concurrent changes of the subscription are committed first.
const ATTEMPTS: usize = 8;

/// Disables a subscription and notifies the org admins. If this fails, the next failed delivery triggers it
/// again.
pub(super) async fn disable(services: &Services, queue: QueueKey) {
    let (tenant, webhook) = queue;
    match try_to(services, queue).await {
        Ok(false) => {}
        Ok(true) => {
            tracing::warn!(organization = %tenant.organization, %webhook, "a webhook was disabled: its deliveries kept failing");
        }
        Err(error) => {
            tracing::warn!(organization = %tenant.organization, %webhook, %error, "could not disable a webhook that keeps failing");
        }
    }
}

async fn try_to(services: &Services, (tenant, id): QueueKey) -> Result<bool, Error> {
    for _ in 0..ATTEMPTS {
        let Some(stored) = services.store.row::<Subscription>(tenant, id).await? else { return Ok(false) };
        let at = services.clock.now();
        let Some(decision) = stored.value.disable(at) else { return Ok(false) };
        if services.commit_of_system(tenant, DELIVERIES, decision, stored.version, at).await? {
            return Ok(true);
        }
    }
    Err(Error::Contended)
}
