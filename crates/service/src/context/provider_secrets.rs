//! Seals and opens the client secrets of identity providers (decision B9).

use candor_domain::access::Tenant;
use candor_domain::id::IdentityProviderId;
use candor_domain::secret::Secret;
use candor_port_clock::{Ids, RandomnessError};

use crate::context::vault::{SealContext, UnsealError, Vault};

/// Purpose of the seal context of client secrets.
const CLIENT_SECRET: &str = "identity provider";

/// Key of the provider that owns a secret.
pub(crate) type Owner = (Tenant, IdentityProviderId);

fn in_place<T>((tenant, provider): Owner, act: impl FnOnce(&SealContext<'_>) -> T) -> T {
    act(&SealContext { purpose: CLIENT_SECRET, tenant: Some(tenant), row: &provider.to_bytes() })
}

/// Seals a secret for storage.
///
/// # Errors
/// [`RandomnessError`].
pub(crate) fn seal(
    vault: &Vault,
    ids: &dyn Ids,
    owner: Owner,
    secret: &Secret,
) -> Result<Vec<u8>, RandomnessError> {
    in_place(owner, |place| vault.seal(ids, place, secret.reveal().as_bytes()))
}

/// Opens a stored secret.
///
/// # Errors
/// [`UnsealError`].
pub(crate) fn open(vault: &Vault, owner: Owner, sealed: &[u8]) -> Result<Secret, UnsealError> {
    let plain = in_place(owner, |place| vault.open(place, sealed))?;
    String::from_utf8(plain).map(Secret::new).map_err(|_| UnsealError)
}
