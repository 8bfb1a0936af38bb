//! Seals every secret of webhooks and identity providers, and the names that running erasures keep, with the first key of
//! the ring, so that the other keys can be removed.

use candor_domain::access::Tenant;
use candor_domain::erasure::Erasure;
use candor_domain::id::{ErasureId, IdentityProviderId, OrganizationId, WebhookId};
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, Row, StorageExt, Write};
use candor_sign_in::IdentityProvider;
use candor_subscriptions::{CustomHeaders, SealedSecret, Subscription};
use candor_tables::listing::TypedListing;
use candor_tables::rows;

use crate::change::Attempt;
use crate::context::error::Error;
use crate::context::services::Services;
use crate::context::vault::UnsealError;
use crate::context::{erasing, master_key, sealed_secrets, webhook_secrets};

/// Number of subscriptions read per query.
const READ: u16 = 200;
/// Name of this actor in the audit log.
const REKEY: &str = "rekey";

/// Counts of subscriptions, of identity providers with a secret, and of running erasures, by result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RekeyCounts {
    /// Number of subscriptions, identity providers and running erasures whose secrets were sealed again.
    pub rekeyed: u64,
    /// Number of those whose secrets were already sealed by the first key.
    pub unchanged: u64,
    /// Number of those with a secret, a custom header or names that no key opens. Subscriptions and identity providers
    /// are unchanged, and their secrets and headers must be set again. Erasures go on without the names.
    pub lost: u64,
}

/// Reason why secrets were not or not all sealed.
#[derive(Debug, thiserror::Error)]
pub enum UnsealableError {
    /// No key of the ring opens a secret or a custom header of this subscription, which is unchanged.
    #[error("no key of the ring opens a secret or a custom header of {0}")]
    NoKey(WebhookId),
    /// No key of the ring opens the client secret of this identity provider, which is unchanged.
    #[error("no key of the ring opens the client secret of {0}")]
    NoProviderKey(IdentityProviderId),
    /// No key of the ring opens the names that this running erasure searches for.
    #[error("no key of the ring opens the names that {0} searches for")]
    NoErasureKey(ErasureId),
    /// Any other error, such as a failed commit.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// Seals the secrets of all subscriptions, identity providers and running erasures of all tenants with the first key of
/// the ring.
///
/// Saves each of them separately. An interrupted run can be repeated, and skips secrets sealed by
/// the first key. At the end, the record of the first key replaces all key records of the store.
///
/// # Errors
/// [`UnsealableError`]; secrets sealed until then stay so.
pub async fn rekey(services: &Services) -> Result<RekeyCounts, UnsealableError> {
    reseal(services, IfLost::Stop, Err).await
}

/// Seals all secrets like [`rekey`] after a key was lost: skips and counts secrets that no key of the ring
/// opens, and removes names of running erasures that no key opens.
///
/// # Errors
/// [`UnsealableError::Failed`].
pub async fn rekey_accepting_loss(services: &Services) -> Result<RekeyCounts, UnsealableError> {
    let pass_over = |error| match error {
        UnsealableError::NoKey(webhook) => {
            tracing::warn!(
                %webhook,
                "cannot open a secret or a custom header of this webhook: no key of the ring encrypted it; rotate \
                 the secret, and set the custom headers again"
            );
            Ok(())
        }
        UnsealableError::NoProviderKey(provider) => {
            tracing::warn!(
                %provider,
                "cannot open the client secret of this identity provider: no key of the ring encrypted it; set the client \
                 secret again"
            );
            Ok(())
        }
        UnsealableError::NoErasureKey(erasure) => {
            tracing::warn!(
                %erasure,
                "cannot open the names that this erasure searches for: no key of the ring encrypted them; the erasure goes \
                 on without them, so search replays and issues for the person"
            );
            Ok(())
        }
        failed @ UnsealableError::Failed(_) => Err(failed),
    };
    reseal(services, IfLost::Forget, pass_over).await
}

/// Handling of names of a running erasure that no key opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IfLost {
    Stop,
    Forget,
}

async fn reseal(
    services: &Services,
    if_lost: IfLost,
    lost: impl Fn(UnsealableError) -> Result<(), UnsealableError>,
) -> Result<RekeyCounts, UnsealableError> {
    let (mut done, mut after) = (RekeyCounts::default(), None);
    loop {
        let some = services.store.every_webhook(after, READ).await.map_err(Error::from)?;
        let Some((tenant, last)) = some.last() else { break };
        after = Some((*tenant, last.value.id));
        for (tenant, stored) in some {
            done.count(reseal_one(services, tenant, stored.value.id).await, &lost)?;
        }
    }
    let mut last_organization = None;
    loop {
        let organizations = services.store.organizations(last_organization, READ).await.map_err(Error::from)?;
        let Some(last) = organizations.last() else { break };
        last_organization = Some(last.id);
        for organization in &organizations {
            reseal_providers(services, organization.id, &mut done, &lost).await?;
            reseal_erasures(services, organization.id, if_lost, (&mut done, &lost)).await?;
        }
    }
    master_key::adopt(services).await?;
    Ok(done)
}

impl RekeyCounts {
    /// Counts a result: `true` if secrets were sealed, `false` if that was not needed, `None` if their owner is gone.
    fn count(
        &mut self,
        result: Result<Option<bool>, UnsealableError>,
        lost: impl Fn(UnsealableError) -> Result<(), UnsealableError>,
    ) -> Result<(), UnsealableError> {
        match result {
            Ok(Some(true)) => self.rekeyed += 1,
            Ok(Some(false)) => self.unchanged += 1,
            Ok(None) => {}
            Err(error) => {
                lost(error)?;
                self.lost += 1;
            }
        }
        Ok(())
    }
}

/// Seals the client secrets of the identity providers of an organization. Reads them at once, because they are few.
async fn reseal_providers(
    services: &Services,
    organization: OrganizationId,
    done: &mut RekeyCounts,
    lost: impl Fn(UnsealableError) -> Result<(), UnsealableError>,
) -> Result<(), UnsealableError> {
    let tenant = Tenant::live(organization);
    let providers = services.store.entries(tenant, rows::identity_providers::all()).await;
    for provider in providers.map_err(Error::from)? {
        done.count(reseal_provider(services, tenant, provider.value.id).await, &lost)?;
    }
    Ok(())
}

/// Seals the names that the running erasures of an organization search for: an erasure that waits for the end of a legal
/// hold keeps them for as long as the hold.
async fn reseal_erasures(
    services: &Services,
    organization: OrganizationId,
    if_lost: IfLost,
    (done, lost): (&mut RekeyCounts, impl Fn(UnsealableError) -> Result<(), UnsealableError>),
) -> Result<(), UnsealableError> {
    let (tenant, mut after) = (Tenant::live(organization), [0; 16]);
    loop {
        let erasures = services.store.entries(tenant, TypedListing::<Erasure>::after_id(after, READ)).await;
        let erasures = erasures.map_err(Error::from)?;
        let Some(last) = erasures.last() else { return Ok(()) };
        after = last.value.id.to_bytes();
        for erasure in erasures.iter().filter(|erasure| erasure.value.sealed_email.is_some()) {
            done.count(reseal_erasure(services, tenant, erasure.value.id, if_lost).await, &lost)?;
        }
    }
}

/// Seals the names that one erasure searches for. Returns `false` if that was not needed, and `None` if the erasure has
/// ended. Names that no key opens are an error, with [`IfLost::Forget`] after they were removed.
async fn reseal_erasure(
    services: &Services,
    tenant: Tenant,
    id: ErasureId,
    if_lost: IfLost,
) -> Result<Option<bool>, UnsealableError> {
    let plan = async |at: Timestamp| {
        let erasure = services.store.row::<Erasure>(tenant, id).await.map_err(Error::from)?;
        let Some(erasure) = erasure.filter(|erasure| erasure.value.sealed_email.is_some()) else {
            return Ok(Attempt::Done(Ok(None)));
        };
        let (names, result) = match erasing::reseal_names(services, tenant, &erasure.value) {
            Ok(None) => return Ok(Attempt::Done(Ok(Some(false)))),
            Ok(Some(names)) => (Some(names?), Ok(Some(true))),
            Err(UnsealError) if if_lost == IfLost::Stop => return Err(UnsealableError::NoErasureKey(id)),
            Err(UnsealError) => (None, Err(UnsealableError::NoErasureKey(id))),
        };
        let decision = erasure.value.with_resealed_names(names);
        let mut change = ChangeSet::new(services.entry_of_system(REKEY, decision.audit, at));
        change.writes = vec![Write::put(&Row::at_version(decision.state, erasure.version))];
        Ok(Attempt::Commit(tenant, Box::new(change), result))
    };
    services.retry(plan).await?
}

/// Seals the client secret of one identity provider. Returns `false` if that was not needed, and `None` if the provider
/// was removed or has no client secret.
async fn reseal_provider(
    services: &Services,
    tenant: Tenant,
    id: IdentityProviderId,
) -> Result<Option<bool>, UnsealableError> {
    let plan = async |at: Timestamp| {
        let provider = services.store.row::<IdentityProvider>(tenant, id).await.map_err(Error::from)?;
        let sealed_secret = provider.as_ref().and_then(|provider| provider.value.client_secret.as_deref());
        let (Some(provider), Some(sealed_secret)) = (&provider, sealed_secret) else {
            return Ok(Attempt::Done(None));
        };
        let owner = (tenant, id);
        let secret = sealed_secrets::open(&services.vault, owner, sealed_secret)
            .map_err(|_: UnsealError| UnsealableError::NoProviderKey(id))?;
        if services.vault.is_current(sealed_secret) {
            return Ok(Attempt::Done(Some(false)));
        }
        let new_secret =
            sealed_secrets::seal(&services.vault, &*services.ids, owner, &secret).map_err(Error::from)?;
        let decision = provider.value.with_resealed_secret(new_secret);
        let mut change = ChangeSet::new(services.entry_of_system(REKEY, decision.audit, at));
        change.writes = vec![Write::put(&Row::at_version(decision.state, provider.version))];
        Ok(Attempt::Commit(tenant, Box::new(change), Some(true)))
    };
    services.retry(plan).await
}

/// Seals the secrets of one subscription. Returns `false` if that was not needed, and `None` if the subscription
/// was removed.
async fn reseal_one(services: &Services, tenant: Tenant, id: WebhookId) -> Result<Option<bool>, UnsealableError> {
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
) -> Result<Option<(Vec<SealedSecret>, CustomHeaders)>, UnsealableError> {
    let no_key = |_: UnsealError| UnsealableError::NoKey(subscription.id);
    let owner = (tenant, subscription.id);
    let mut has_former = false;
    let mut new_secrets = Vec::new();
    for it in subscription.signing_secrets(services.clock.now()) {
        let secret = sealed_secrets::open(&services.vault, owner, &it.sealed).map_err(no_key)?;
        has_former |= !services.vault.is_current(&it.sealed);
        let sealed_secret =
            sealed_secrets::seal(&services.vault, &*services.ids, owner, &secret).map_err(Error::from)?;
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
