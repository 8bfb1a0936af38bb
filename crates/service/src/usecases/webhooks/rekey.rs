//! Seals every webhook secret with the first key of the ring, so that the other keys can be removed.

use candor_domain::access::Tenant;
use candor_domain::id::WebhookId;
use candor_domain::time::Timestamp;
use candor_domain::webhook::{CustomHeaders, SealedSecret, Subscription};
use candor_port_storage::{ChangeSet, Row, StorageExt, Write};

use crate::change::Attempt;
use crate::context::error::Error;
use crate::context::services::Services;
use crate::context::vault::UnsealError;
use crate::context::{master_key, webhook_secrets};

/// Number of subscriptions read per query.
const READ: u16 = 200;
/// Name of this actor in the audit log.
const REKEY: &str = "rekey";

/// Counts of subscriptions by result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RekeyCounts {
    /// Subscriptions whose secrets were sealed again.
    pub rekeyed: u64,
    /// Subscriptions whose secrets were already sealed by the first key.
    pub unchanged: u64,
    /// Subscriptions with a secret or a custom header that no key opens. They are unchanged and need new ones.
    pub lost: u64,
}

/// Reason why secrets were not or not all sealed.
#[derive(Debug, thiserror::Error)]
pub enum Unsealable {
    /// No key of the ring opens a secret or a custom header of this subscription, which is unchanged.
    #[error("no key of the ring opens a secret or a custom header of {0}")]
    NoKey(WebhookId),
    /// Any other error, such as a failed commit.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// Seals the secrets of all subscriptions of all tenants with the first key of the ring.
///
/// Saves each subscription separately. An interrupted run can be repeated, and skips secrets sealed by the first
/// key. At the end, the record of the first key replaces all key records of the store.
///
/// # Errors
/// [`Unsealable`]; secrets sealed until then stay so.
pub async fn rekey(services: &Services) -> Result<RekeyCounts, Unsealable> {
    reseal(services, Err).await
}

/// Seals all secrets like [`rekey`] after a key was lost: skips and counts secrets that no key of the ring
/// opens.
///
/// # Errors
/// [`Unsealable::Failed`].
pub async fn rekey_accepting_loss(services: &Services) -> Result<RekeyCounts, Unsealable> {
    let pass_over = |error| match error {
        Unsealable::NoKey(webhook) => {
            tracing::warn!(
                %webhook,
                "cannot open a secret or a custom header of this webhook: no key of the ring encrypted it; rotate \
                 the secret, and set the custom headers again"
            );
            Ok(())
        }
        failed @ Unsealable::Failed(_) => Err(failed),
    };
    reseal(services, pass_over).await
}

async fn reseal(
    services: &Services,
    lost: impl Fn(Unsealable) -> Result<(), Unsealable>,
) -> Result<RekeyCounts, Unsealable> {
    let (mut done, mut after) = (RekeyCounts::default(), None);
    loop {
        let some = services.store.every_webhook(after, READ).await.map_err(Error::from)?;
        let Some((tenant, last)) = some.last() else {
            master_key::adopt(services).await?;
            return Ok(done);
        };
        after = Some((*tenant, last.value.id));
        for (tenant, stored) in some {
            match reseal_one(services, tenant, stored.value.id).await {
                Ok(Some(true)) => done.rekeyed += 1,
                Ok(Some(false)) => done.unchanged += 1,
                Ok(None) => {}
                Err(error) => {
                    lost(error)?;
                    done.lost += 1;
                }
            }
        }
    }
}

/// Seals the secrets of one subscription. Returns `false` if that was not needed, and `None` if the subscription
/// was removed.
async fn reseal_one(services: &Services, tenant: Tenant, id: WebhookId) -> Result<Option<bool>, Unsealable> {
    let plan = async |at: Timestamp| {
        let Some(subscription) = services.store.row::<Subscription>(tenant, id).await.map_err(Error::from)? else {
            return Ok(Attempt::Done(None));
        };
        let Some((secrets, headers)) = reseal_subscription(services, tenant, &subscription.value)? else {
            return Ok(Attempt::Done(Some(false)));
        };
        let decision = subscription.value.with_resealed_secrets(secrets, headers);
        let mut change = ChangeSet::new(services.entry_of_system(REKEY, decision.audit, at));
        change.writes = vec![Write::put(&Row::at_version(decision.state, subscription.version))];
        Ok(Attempt::Commit(tenant, Box::new(change), Some(true)))
    };
    services.retry(plan).await
}

/// Returns the current secrets and headers sealed again, or `None` if that is not needed. Opens every secret and
/// header, so that a ring without the needed key is detected here and not by the next delivery.
fn reseal_subscription(
    services: &Services,
    tenant: Tenant,
    subscription: &Subscription,
) -> Result<Option<(Vec<SealedSecret>, CustomHeaders)>, Unsealable> {
    let no_key = |_: UnsealError| Unsealable::NoKey(subscription.id);
    let owner = (tenant, subscription.id);
    let mut has_former = false;
    let mut new_secrets = Vec::new();
    for it in subscription.signing_secrets(services.clock.now()) {
        let secret = webhook_secrets::open(&services.vault, owner, &it.sealed).map_err(no_key)?;
        has_former |= !services.vault.is_current(&it.sealed);
        let sealed_secret =
            webhook_secrets::seal(&services.vault, &*services.ids, owner, &secret).map_err(Error::from)?;
        new_secrets.push(SealedSecret { sealed: sealed_secret, ends_at: it.ends_at });
    }
    let mut headers = CustomHeaders::default();
    for (name, header) in &subscription.headers.0 {
        let (vault, ids) = (&services.vault, &*services.ids);
        let value = webhook_secrets::open_header(vault, owner, name, header).map_err(no_key)?;
        has_former |= !vault.is_current(&header.sealed);
        let header = webhook_secrets::seal_header(vault, ids, owner, name, &value).map_err(Error::from)?;
        headers.0.insert(name.clone(), header);
    }
    Ok(has_former.then_some((new_secrets, headers)))
}
