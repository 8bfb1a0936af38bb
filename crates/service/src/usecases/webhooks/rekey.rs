//! Moves every secret of every webhook to the first key of the ring, so that the others can go.

use candor_domain::access::Tenant;
use candor_domain::id::WebhookId;
use candor_domain::webhook::{SealedSecret, Subscription};
use candor_port_storage::{ChangeSet, CommitError, Row, StorageExt, Versioned, Write};

use crate::context::error::Error;
use crate::context::services::Services;
use crate::context::vault::CannotOpen;
use crate::context::{master_key, webhook_secrets};

/// Subscriptions read at once.
const READ: u16 = 200;
/// How often one subscription is tried when others keep changing it.
const ATTEMPTS: usize = 8;
/// What the audit log calls this.
const REKEY: &str = "rekey";

/// What was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rekeyed {
    /// Subscriptions whose secrets were sealed anew.
    pub rekeyed: u64,
    /// Subscriptions whose secrets the first key had sealed before.
    pub unchanged: u64,
    /// Subscriptions with a secret that no key opens; they stay as they are, and need a new secret.
    pub lost: u64,
}

/// Why it was not done, or not for all.
#[derive(Debug, thiserror::Error)]
pub enum Unsealable {
    /// No key of the ring opens a secret of this subscription, which stays as it is.
    #[error("no key of the ring opens the secret of {0}")]
    NoKey(WebhookId),
    /// Anything else.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// Seals the secrets of all subscriptions of all tenants with the first key of the ring.
///
/// Each subscription is saved by itself. Ended anywhere, it can be called again: what the first key has sealed is left
/// alone. In the end the store remembers the first key alone.
///
/// # Errors
/// [`Unsealable`]; what was sealed until then stays so.
pub async fn rekey(services: &Services) -> Result<Rekeyed, Unsealable> {
    reseal(services, Err).await
}

/// The same after a key was lost: what no key of the ring opens is passed over and counted.
///
/// # Errors
/// [`Unsealable::Failed`].
pub async fn rekey_accepting_loss(services: &Services) -> Result<Rekeyed, Unsealable> {
    let pass_over = |error| match error {
        Unsealable::NoKey(webhook) => {
            tracing::warn!(%webhook, "no key of the ring opens a secret of this webhook: it needs a new one");
            Ok(())
        }
        failed @ Unsealable::Failed(_) => Err(failed),
    };
    reseal(services, pass_over).await
}

async fn reseal(
    services: &Services,
    lost: impl Fn(Unsealable) -> Result<(), Unsealable>,
) -> Result<Rekeyed, Unsealable> {
    let (mut done, mut after) = (Rekeyed::default(), None);
    loop {
        let some = services.store.every_webhook(after, READ).await.map_err(Error::from)?;
        let Some((tenant, last)) = some.last() else {
            master_key::adopt(services).await?;
            return Ok(done);
        };
        after = Some((*tenant, last.value.id));
        for (tenant, stored) in some {
            match one(services, tenant, stored).await {
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

/// Whether a subscription had to be sealed anew; `None` if it is gone.
async fn one(
    services: &Services,
    tenant: Tenant,
    mut stored: Versioned<Subscription>,
) -> Result<Option<bool>, Unsealable> {
    let id = stored.value.id;
    for _ in 0..ATTEMPTS {
        let Some(secrets) = resealed(services, tenant, &stored.value)? else { return Ok(Some(false)) };
        match save(services, tenant, &stored, secrets).await {
            Ok(()) => return Ok(Some(true)),
            Err(CommitError::Stale) => {}
            Err(CommitError::Storage(error)) => return Err(Error::from(error).into()),
            Err(other) => return Err(Error::Bug(other.to_string()).into()),
        }
        let Some(now) = services.store.row::<Subscription>(tenant, id).await.map_err(Error::from)? else {
            return Ok(None);
        };
        stored = now;
    }
    Err(Error::Contended.into())
}

/// The secrets that still sign, sealed anew; `None` if that is not needed. All of them are opened, so that a ring that
/// lacks a key is found out here and not by the next delivery.
fn resealed(
    services: &Services,
    tenant: Tenant,
    subscription: &Subscription,
) -> Result<Option<Vec<SealedSecret>>, Unsealable> {
    let no_key = |_: CannotOpen| Unsealable::NoKey(subscription.id);
    let owner = (tenant, subscription.id);
    let mut before = false;
    let mut anew = Vec::new();
    for it in subscription.signing(services.clock.now()) {
        let secret = webhook_secrets::open(&services.vault, owner, &it.sealed).map_err(no_key)?;
        before |= !services.vault.is_current(&it.sealed);
        let sealed = webhook_secrets::seal(&services.vault, &*services.ids, owner, &secret).map_err(Error::from)?;
        anew.push(SealedSecret { sealed, ends_at: it.ends_at });
    }
    Ok(before.then_some(anew))
}

async fn save(
    services: &Services,
    tenant: Tenant,
    stored: &Versioned<Subscription>,
    secrets: Vec<SealedSecret>,
) -> Result<(), CommitError> {
    let at = services.clock.now();
    let decision = stored.value.resealed(secrets);
    let mut change = ChangeSet::new(services.entry_of_system(REKEY, decision.audit, at));
    change.writes = vec![Write::put(&Row::seen(decision.state, stored.version))];
    services.commit(tenant, change).await
}
