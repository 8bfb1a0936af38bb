//! Seals the token of an invitation for storage until its mail is sent.

use candor_domain::id::InvitationId;
use candor_domain::secret::Secret;
use candor_port_clock::{Ids, RandomnessError};
use candor_port_storage::mail_queue::MailKey;

use crate::context::vault::{SealContext, UnsealError, Vault};

/// Purpose of the seal context of tokens.
const INVITATION: &str = "invitation";

fn in_place<T>((tenant, invitation): MailKey, act: impl FnOnce(&SealContext<'_>) -> T) -> T {
    let row: InvitationId = invitation;
    act(&SealContext { purpose: INVITATION, tenant: Some(tenant), row: &row.to_bytes() })
}

/// Seals a token for storage.
///
/// # Errors
/// [`RandomnessError`].
pub(crate) fn seal(vault: &Vault, ids: &dyn Ids, of: MailKey, token: &Secret) -> Result<Vec<u8>, RandomnessError> {
    in_place(of, |place| vault.seal(ids, place, token.reveal().as_bytes()))
}

/// Opens a stored token.
///
/// # Errors
/// [`UnsealError`].
pub(crate) fn open(vault: &Vault, of: MailKey, sealed: &[u8]) -> Result<Secret, UnsealError> {
    let plain = in_place(of, |place| vault.open(place, sealed))?;
    String::from_utf8(plain).map(Secret::new).map_err(|_| UnsealError)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::vault;
    use candor_domain::access::Tenant;
    use candor_domain::id::OrganizationId;
    use candor_port_clock::SeededIds;
    use ulid::Ulid;

    #[test]
    fn sealed_token_opens_for_its_invitation_only() {
        let ids = SeededIds::new(1);
        let vault = Vault::parse(&vault::generate(&ids).unwrap()).unwrap();
        let token = Secret::new("token".to_owned());
        let mail = |organization, invitation| {
            (
                Tenant::live(OrganizationId::from_ulid(Ulid(organization))),
                InvitationId::from_ulid(Ulid(invitation)),
            )
        };
        let sealed_token = seal(&vault, &ids, mail(1, 2), &token).unwrap();
        assert_eq!(open(&vault, mail(1, 2), &sealed_token), Ok(token));
        assert_eq!(open(&vault, mail(1, 3), &sealed_token), Err(UnsealError));
        assert_eq!(open(&vault, mail(2, 2), &sealed_token), Err(UnsealError));
        assert!(!sealed_token.windows(5).any(|window| window == b"token"));
    }
}
