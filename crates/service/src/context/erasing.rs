//! The encrypted address of a person whose data is being erased, and the stored responses that name the person.

use candor_domain::access::Tenant;
use candor_domain::id::ErasureId;
use candor_port_storage::StoredAnswer;

use crate::context::error::Error;
use crate::context::services::Services;
use crate::context::vault::SealContext;

/// Purpose in the seal context of addresses.
const ERASURE: &str = "erasure";

/// Status of a stored response that was removed because it names an erased person.
pub(crate) const REMOVED_ANSWER: u16 = 404;

/// Encrypts the address of a person until the erasure is completed.
///
/// # Errors
/// [`Error::Unavailable`] without randomness for the seal.
pub(crate) fn seal_email(
    services: &Services,
    tenant: Tenant,
    erasure: ErasureId,
    email: &str,
) -> Result<Vec<u8>, Error> {
    let row = erasure.to_bytes();
    let place = SealContext { purpose: ERASURE, tenant: Some(tenant), row: &row };
    Ok(services.vault.seal(&*services.ids, &place, email.as_bytes())?)
}

/// Decrypts the address of a person; `None` if the key of the seal is lost.
pub(crate) fn open_email(
    services: &Services,
    tenant: Tenant,
    erasure: ErasureId,
    sealed: &[u8],
) -> Option<String> {
    let row = erasure.to_bytes();
    let place = SealContext { purpose: ERASURE, tenant: Some(tenant), row: &row };
    String::from_utf8(services.vault.open(&place, sealed).ok()?).ok()
}

/// Returns the id and the body of a stored response as text. `None` if the key of its seal is lost, which makes it
/// unreadable.
pub(crate) fn answer_text(
    services: &Services,
    tenant: Tenant,
    key: &str,
    answer: &StoredAnswer,
) -> Option<String> {
    let place = Services::replay_seal(tenant, key);
    let plain = services.vault.open(&place, &answer.sealed).ok()?;
    Some(String::from_utf8_lossy(&plain).into_owned())
}
