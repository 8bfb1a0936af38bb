//! Whether the ring of this process is the one that the store was sealed with.
//!
//! A store remembers every key that has ever been the first one of a ring: a value that this key alone opens, and its
//! fingerprint. A process whose ring does not open all of them must not begin: it would seal what the others cannot open,
//! and take deliveries that it cannot sign.

use candor_domain::id::WebhookId;
use candor_port_storage::upkeep::MasterKey;

use crate::context::error::Error;
use crate::context::services::Services;
use crate::context::vault::{KeyName, SealContext, Vault};
use crate::context::webhook_secrets;

/// What the value that a store remembers a key by is sealed for.
const PLACE: &str = "master key";
/// The value itself: what counts is that it opens.
const KNOWN: &[u8] = b"candor";
/// How often a process that begins looks again when others begin at the same time.
const ATTEMPTS: usize = 8;
/// Subscriptions read at once.
const READ: u16 = 200;

/// Why a process must not begin with its ring.
#[derive(Debug, thiserror::Error)]
pub enum WrongKey {
    /// A key that the ring lacks has sealed something in the store.
    #[error("this database was sealed by {sealed_by}, the ring has {}", listed(.ring))]
    Lacking {
        /// The key that is lacking.
        sealed_by: KeyName,
        /// Those that are there.
        ring: Vec<KeyName>,
    },
    /// The store is from before keys were remembered, and no key of the ring opens the secret of any subscription.
    #[error("no key of the ring opens the secret of a webhook, such as {webhook}; the ring has {}", listed(.ring))]
    NothingOpens {
        /// The first subscription that was tried.
        webhook: WebhookId,
        /// The keys of the ring.
        ring: Vec<KeyName>,
    },
    /// It could not be found out.
    #[error(transparent)]
    Failed(#[from] Error),
}

fn listed(ring: &[KeyName]) -> String {
    ring.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

const fn place(key: &MasterKey) -> SealContext<'_> {
    SealContext { purpose: PLACE, tenant: None, row: key.key_id.as_bytes() }
}

/// Compares a ring with what a store remembers, and changes nothing.
///
/// # Errors
/// [`WrongKey::Lacking`].
pub fn examine(vault: &Vault, remembered: &[MasterKey]) -> Result<(), WrongKey> {
    let lacking = |master_key: &&MasterKey| {
        !vault.open(&place(master_key), &master_key.sealed).is_ok_and(|master_key| master_key == KNOWN)
    };
    let Some(key) = remembered.iter().find(lacking) else { return Ok(()) };
    let sealed_by = KeyName { id: key.key_id.clone(), fingerprint: key.fingerprint.clone() };
    Err(WrongKey::Lacking { sealed_by, ring: vault.names().cloned().collect() })
}

/// Compares the ring of this process with what the store remembers, and lets the store remember the first key. Of
/// several processes that begin on a new store with keys of their own, one succeeds.
///
/// # Errors
/// [`WrongKey`].
pub async fn confirm(services: &Services) -> Result<(), WrongKey> {
    for _ in 0..ATTEMPTS {
        let remembered = services.store.master_keys().await.map_err(Error::from)?;
        examine(&services.vault, &remembered)?;
        let first = first(services)?;
        if remembered.iter().any(|master| master.key_id == first.key_id) {
            return Ok(());
        }
        if remembered.is_empty() {
            open_any_secret(services).await?;
        }
        services.store.add_master_key(first, remembered.len()).await.map_err(Error::from)?;
    }
    Err(Error::Contended.into())
}

/// Lets the store remember the first key alone: no other one is needed for what is kept for good.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`].
pub async fn adopt(services: &Services) -> Result<(), Error> {
    Ok(services.store.replace_master_keys(first(services)?).await?)
}

/// The first key of the ring, as the store is to remember it.
fn first(services: &Services) -> Result<MasterKey, Error> {
    let name = services.vault.names().next().ok_or_else(|| Error::Bug("the ring has no key".to_owned()))?;
    let KeyName { id, fingerprint } = name.clone();
    let mut key = MasterKey { key_id: id, fingerprint, sealed: vec![], recorded_at: services.clock.now() };
    key.sealed = services.vault.seal(&*services.ids, &place(&key), KNOWN)?;
    Ok(key)
}

/// A store that remembers no key may be older than that: then the secrets in it tell. Some of them may be lost already,
/// but if none opens, the ring is another one.
async fn open_any_secret(services: &Services) -> Result<(), WrongKey> {
    let (mut after, mut tried) = (None, None);
    loop {
        let some = services.store.every_webhook(after, READ).await.map_err(Error::from)?;
        for (tenant, stored) in &some {
            let id = stored.value.id;
            after = Some((*tenant, id));
            for secret in &stored.value.secrets {
                if webhook_secrets::open(&services.vault, (*tenant, id), &secret.sealed).is_ok() {
                    return Ok(());
                }
                tried = tried.or(Some(id));
            }
        }
        if some.is_empty() {
            let ring = || services.vault.names().cloned().collect();
            return tried.map_or(Ok(()), |webhook| Err(WrongKey::NothingOpens { webhook, ring: ring() }));
        }
    }
}
