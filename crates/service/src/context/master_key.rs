//! Checks at startup that the master key ring of this process matches the store.
//!
//! A store records each key that was first in a ring since the last rekey: a fingerprint and a sealed value.
//! A process whose ring cannot open all of these values must not start. Other processes could not open the values that
//! it seals, and it could not sign deliveries that it claims.

use candor_domain::id::WebhookId;
use candor_port_storage::upkeep::MasterKey;

use crate::context::error::Error;
use crate::context::sealed_secrets;
use crate::context::services::{ATTEMPTS, Services};
use crate::context::vault::{KeyName, SealContext, Vault};

/// Purpose of the seal context of the check value.
const PLACE: &str = "master key";
/// Plaintext of the check value. Only the ability to open it matters.
const KNOWN: &[u8] = b"candor";
/// Number of subscriptions read per query.
const READ: u16 = 200;

/// Reason why a process must not start with its ring.
#[derive(Debug, thiserror::Error)]
pub enum MasterKeyError {
    /// The store has data sealed by a key that the ring lacks.
    #[error("the secrets of this database were encrypted with {sealed_by}, the ring has {}", join_names(.ring))]
    Lacking {
        /// Name of the key that the ring lacks.
        sealed_by: KeyName,
        /// The keys of the ring.
        ring: Vec<KeyName>,
    },
    /// The store predates key records, and no key of the ring opens the secret of any subscription.
    #[error("no key of the ring opens the secret of a webhook, such as {webhook}; the ring has {}", join_names(.ring))]
    NothingOpens {
        /// The first subscription that was tried.
        webhook: WebhookId,
        /// The keys of the ring.
        ring: Vec<KeyName>,
    },
    /// The check itself failed.
    #[error(transparent)]
    Failed(#[from] Error),
}

fn join_names(ring: &[KeyName]) -> String {
    ring.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

const fn place(key: &MasterKey) -> SealContext<'_> {
    SealContext { purpose: PLACE, tenant: None, row: key.key_id.as_bytes() }
}

/// Compares a ring with the key records of a store, without changing anything.
///
/// # Errors
/// [`MasterKeyError::Lacking`].
pub fn examine(vault: &Vault, remembered: &[MasterKey]) -> Result<(), MasterKeyError> {
    let lacking = |master_key: &&MasterKey| {
        !vault.open(&place(master_key), &master_key.sealed).is_ok_and(|master_key| master_key == KNOWN)
    };
    let Some(key) = remembered.iter().find(lacking) else { return Ok(()) };
    let sealed_by = KeyName { id: key.key_id.clone(), fingerprint: key.fingerprint.clone() };
    Err(MasterKeyError::Lacking { sealed_by, ring: vault.names().cloned().collect() })
}

/// Compares the ring of this process with the key records of the store, and records the ring's first key. If
/// several processes start on a new store with different keys, one succeeds.
///
/// # Errors
/// [`MasterKeyError`].
pub async fn confirm(services: &Services) -> Result<(), MasterKeyError> {
    for _ in 0..ATTEMPTS {
        let stored_keys = services.store.master_keys().await.map_err(Error::from)?;
        examine(&services.vault, &stored_keys)?;
        let first = first_record(services)?;
        if stored_keys.iter().any(|master| master.key_id == first.key_id) {
            return Ok(());
        }
        if stored_keys.is_empty() {
            open_any_secret(services).await?;
        }
        services.store.add_master_key(first, stored_keys.len()).await.map_err(Error::from)?;
    }
    Err(Error::Contended.into())
}

/// Replaces all key records by the record of the ring's first key. Call it only when that key has sealed all
/// stored values.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`].
pub async fn adopt(services: &Services) -> Result<(), Error> {
    Ok(services.store.replace_master_keys(first_record(services)?).await?)
}

/// Returns the key record of the ring's first key.
fn first_record(services: &Services) -> Result<MasterKey, Error> {
    let name = services.vault.names().next().ok_or_else(|| Error::Bug("the ring has no key".to_owned()))?;
    let KeyName { id, fingerprint } = name.clone();
    let mut key = MasterKey { key_id: id, fingerprint, sealed: vec![], recorded_at: services.clock.now() };
    key.sealed = services.vault.seal(&*services.ids, &place(&key), KNOWN)?;
    Ok(key)
}

/// Checks that at least one webhook secret can be opened, for stores that predate key records. Single secrets may
/// be lost already; if none opens, the ring is wrong. A store without secrets passes the check.
async fn open_any_secret(services: &Services) -> Result<(), MasterKeyError> {
    let (mut after, mut tried) = (None, None);
    loop {
        let some = services.store.every_webhook(after, READ).await.map_err(Error::from)?;
        for (tenant, stored) in &some {
            let id = stored.value.id;
            after = Some((*tenant, id));
            for secret in &stored.value.secrets {
                if sealed_secrets::open(&services.vault, (*tenant, id), &secret.sealed).is_ok() {
                    return Ok(());
                }
                tried = tried.or(Some(id));
            }
        }
        if some.is_empty() {
            let ring = || services.vault.names().cloned().collect();
            return tried.map_or(Ok(()), |webhook| Err(MasterKeyError::NothingOpens { webhook, ring: ring() }));
        }
    }
}
