//! Disables a subscription whose deliveries have failed for too long, or whose receiver is gone (§3.4, decision
//! F3).

use candor_domain::time::Timestamp;
use candor_port_storage::StorageExt;
use candor_port_storage::queue::QueueKey;
use candor_subscriptions::{DisableReason, Subscription};

use crate::change::Attempt;
use crate::context::error::Error;
use crate::context::services::{Services, render};

/// Name of this actor in the audit log.
const DELIVERIES: &str = "deliveries";

/// Disables a subscription for this reason, notifies the org admins and fires the event. If the change cannot be
/// saved, the next failed delivery of the subscription disables it.
pub(super) async fn disable(services: &Services, queue: QueueKey, why: &DisableReason) {
    let (tenant, webhook) = queue;
    let cause = match why {
        DisableReason::Failing => "its deliveries kept failing",
        DisableReason::Gone { .. } => "its receiver responded with 410",
    };
    match try_to(services, queue, why).await {
        Ok(false) => {}
        Ok(true) => {
            tracing::warn!(
                organization = %tenant.organization, %webhook,
                "disabled a webhook: {cause}; correct the receiver, then set `active` to true"
            );
        }
        Err(error) => {
            tracing::warn!(
                organization = %tenant.organization, %webhook, %error,
                "cannot disable a webhook, although {cause}; the next failed delivery retries"
            );
        }
    }
}

async fn try_to(services: &Services, (tenant, id): QueueKey, why: &DisableReason) -> Result<bool, Error> {
    let plan = async |at: Timestamp| {
        let Some(subscription) = services.store.row::<Subscription>(tenant, id).await? else {
            return Ok(Attempt::Done(false));
        };
        let Some(decision) = subscription.value.disable(why, at) else { return Ok(Attempt::Done(false)) };
        let events = services.events(&decision.events, &render(&decision.state.for_events())?, at);
        let change =
            services.change_of_system(tenant, DELIVERIES, decision, events, subscription.version, at).await?;
        Ok(Attempt::Commit(tenant, Box::new(change), true))
    };
    services.retry(plan).await
}
