//! Creates the secrets that sign deliveries, and seals and opens the values of custom headers (§2.4, decision F5).

use candor_domain::access::Tenant;
use candor_domain::id::WebhookId;
use candor_domain::secret::Secret;
use candor_domain::signature::generate;
use candor_domain::time::Timestamp;
use candor_port_clock::{Ids, RandomnessError, random32};
use candor_subscriptions::{
    CustomHeaders, HeaderChange, HeaderPatch, SealedHeader, SealedHeaderPatch, Subscription, mask_value,
};

use crate::context::error::Error;
use crate::context::sealed_secrets;
use crate::context::vault::{SealContext, UnsealError, Vault};

/// Purpose of the seal context of the values of custom headers.
const HEADER: &str = "webhook header";

/// Key of the subscription that owns a secret.
pub(crate) type Owner = (Tenant, WebhookId);

/// Creates a random secret.
///
/// # Errors
/// [`RandomnessError`].
pub(crate) fn make(ids: &dyn Ids) -> Result<Secret, RandomnessError> {
    Ok(generate(random32(ids)?))
}

fn in_header<T>((tenant, webhook): Owner, name: &str, act: impl FnOnce(&SealContext<'_>) -> T) -> T {
    // The name is part of the context, so that the value of one header does not open as that of another one.
    let row = [&webhook.to_bytes(), name.as_bytes()].concat();
    act(&SealContext { purpose: HEADER, tenant: Some(tenant), row: &row })
}

/// Seals the value of a custom header for storage.
///
/// # Errors
/// [`RandomnessError`].
pub(crate) fn seal_header(
    vault: &Vault,
    ids: &dyn Ids,
    owner: Owner,
    name: &str,
    value: &Secret,
) -> Result<SealedHeader, RandomnessError> {
    let sealed_header = in_header(owner, name, |place| vault.seal(ids, place, value.reveal().as_bytes()))?;
    Ok(SealedHeader { masked: mask_value(value), sealed: sealed_header })
}

/// Opens the stored value of a custom header.
///
/// # Errors
/// [`UnsealError`].
pub(crate) fn open_header(
    vault: &Vault,
    owner: Owner,
    name: &str,
    header: &SealedHeader,
) -> Result<Secret, UnsealError> {
    let plain = in_header(owner, name, |place| vault.open(place, &header.sealed))?;
    String::from_utf8(plain).map(Secret::new).map_err(|_| UnsealError)
}

/// Seals the values of a patch. Leaves out headers that the patch does not change: an equal value that is sealed again
/// would look like a change.
///
/// # Errors
/// [`RandomnessError`].
pub(crate) fn seal_headers(
    vault: &Vault,
    ids: &dyn Ids,
    owner: Owner,
    stored: &CustomHeaders,
    patch: &HeaderPatch,
) -> Result<SealedHeaderPatch, RandomnessError> {
    let mut sealed_patch = SealedHeaderPatch::new();
    for (name, change) in patch {
        let value = match change {
            HeaderChange::Keep(_) => continue,
            HeaderChange::Remove => None,
            HeaderChange::Set(value) => {
                let value_before = stored.0.get(name).map(|header| open_header(vault, owner, name, header));
                if value_before == Some(Ok(value.clone())) {
                    continue;
                }
                Some(seal_header(vault, ids, owner, name, value)?)
            }
        };
        sealed_patch.insert(name.clone(), value);
    }
    Ok(sealed_patch)
}

/// Checks that a delivery could be signed at this time and could carry its custom headers.
///
/// # Errors
/// [`Error::Bug`] if no key opens a secret: only an operator can restore the missing key.
pub(crate) fn check(
    vault: &Vault,
    tenant: Tenant,
    subscription: &Subscription,
    at: Timestamp,
) -> Result<(), Error> {
    let owner = (tenant, subscription.id);
    let mut headers = subscription.headers.0.iter();
    let opens = headers.all(|(name, header)| open_header(vault, owner, name, header).is_ok())
        && subscription
            .signing_secrets(at)
            .any(|secret| sealed_secrets::open(vault, owner, &secret.sealed).is_ok());
    let lost_key =
        || Error::Bug(format!("no key of CANDOR_MASTER_KEY opens a secret or header of {}", subscription.id));
    opens.then_some(()).ok_or_else(lost_key)
}
