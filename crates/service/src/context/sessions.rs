//! Reads of the rows on which the sessions of people depend (decision B10).

use candor_domain::access::Tenant;
use candor_domain::access::api_key::{ApiKey, ApiKeyKind};
use candor_domain::id::OrganizationId;
use candor_port_storage::{Storage, StorageError, StorageExt};
use candor_sign_in::session::SessionBasis;
use candor_sign_in::{IdentityLink, IdentityProvider};

/// Returns the rows on which a session, or a key created with a session, depends. Returns `None` if one of the rows
/// is gone, so that the session has ended.
///
/// # Errors
/// [`StorageError`] if the store does not answer.
pub(crate) async fn load_basis(
    store: &dyn Storage,
    organization: OrganizationId,
    key: &ApiKey,
) -> Result<Option<SessionBasis>, StorageError> {
    let tenant = Tenant::live(organization);
    let session = match (key.kind, key.session_id) {
        (ApiKeyKind::Session, _) => Some(key.clone()),
        (ApiKeyKind::Key, None) => None,
        (ApiKeyKind::Key, Some(id)) => store.row::<ApiKey>(tenant, id).await?.map(|row| row.value),
    };
    let Some(session) = session else { return Ok(None) };
    let (Some(provider), Some(subject)) = (session.identity_provider_id, &session.identity_subject) else {
        return Ok(None);
    };
    let link = store.row::<IdentityLink>(tenant, IdentityLink::id_of(provider, subject)).await?;
    let provider = store.row::<IdentityProvider>(tenant, provider).await?;
    let basis = provider.zip(link).map(|(provider, link)| (provider.value, link.value));
    Ok(basis.map(|(provider, link)| SessionBasis { session, provider, link }))
}
