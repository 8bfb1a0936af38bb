//! Seals and opens the secrets of rows: of webhooks (§2.4, decision F5), identity providers (decision B9) and
//! invitations whose mail is not sent yet.

use candor_domain::access::Tenant;
use candor_domain::id::{Id, IdentityProviderKind, InvitationKind, Kind, WebhookKind};
use candor_domain::secret::Secret;
use candor_port_clock::{Ids, RandomnessError};

use crate::context::vault::{SealContext, UnsealError, Vault};

/// A kind of rows with a secret.
pub(crate) trait SecretOwner: Kind {
    /// Purpose of the seal context, so that the secret of one kind does not open as that of another one.
    const PURPOSE: &'static str;
}

impl SecretOwner for WebhookKind {
    const PURPOSE: &'static str = "webhook";
}

impl SecretOwner for IdentityProviderKind {
    const PURPOSE: &'static str = "identity provider";
}

impl SecretOwner for InvitationKind {
    const PURPOSE: &'static str = "invitation";
}

fn in_place<K: SecretOwner, T>((tenant, id): (Tenant, Id<K>), act: impl FnOnce(&SealContext<'_>) -> T) -> T {
    act(&SealContext { purpose: K::PURPOSE, tenant: Some(tenant), row: &id.to_bytes() })
}

/// Seals a secret for storage in the row of its owner.
///
/// # Errors
/// [`RandomnessError`].
pub(crate) fn seal<K: SecretOwner>(
    vault: &Vault,
    ids: &dyn Ids,
    owner: (Tenant, Id<K>),
    secret: &Secret,
) -> Result<Vec<u8>, RandomnessError> {
    in_place(owner, |place| vault.seal(ids, place, secret.reveal().as_bytes()))
}

/// Opens a secret that was sealed for this owner.
///
/// # Errors
/// [`UnsealError`].
pub(crate) fn open<K: SecretOwner>(
    vault: &Vault,
    owner: (Tenant, Id<K>),
    sealed: &[u8],
) -> Result<Secret, UnsealError> {
    let plain = in_place(owner, |place| vault.open(place, sealed))?;
    String::from_utf8(plain).map(Secret::new).map_err(|_| UnsealError)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::vault;
    use candor_domain::id::{InvitationId, OrganizationId, WebhookId};
    use candor_port_clock::SeededIds;
    use ulid::Ulid;

    #[test]
    fn sealed_secret_opens_for_its_owner_only() {
        let ids = SeededIds::new(1);
        let vault = Vault::parse(&vault::generate(&ids).unwrap()).unwrap();
        let secret = Secret::new("token".to_owned());
        let tenant = |organization| Tenant::live(OrganizationId::from_ulid(Ulid(organization)));
        let owner = |organization, webhook| (tenant(organization), WebhookId::from_ulid(Ulid(webhook)));
        let sealed_secret = seal(&vault, &ids, owner(1, 2), &secret).unwrap();
        assert!(!sealed_secret.windows(5).any(|window| window == b"token"));
        assert_eq!(open(&vault, owner(1, 2), &sealed_secret), Ok(secret.clone()));
        assert_eq!(open(&vault, owner(1, 3), &sealed_secret), Err(UnsealError));
        assert_eq!(open(&vault, owner(2, 2), &sealed_secret), Err(UnsealError));
        assert_eq!(open(&vault, (tenant(1), InvitationId::from_ulid(Ulid(2))), &sealed_secret), Err(UnsealError));
        let place = SealContext { purpose: "replay", tenant: Some(tenant(1)), row: &owner(1, 2).1.to_bytes() };
        assert_eq!(vault.open(&place, &sealed_secret), Err(UnsealError));
        let other = vault.seal(&ids, &place, secret.reveal().as_bytes()).unwrap();
        assert_eq!(open(&vault, owner(1, 2), &other), Err(UnsealError));
    }
}
