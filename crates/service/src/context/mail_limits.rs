//! The limits of invitation mails that apply to one organization and one address (decisions G).

use candor_domain::access::Tenant;
use candor_domain::people::invitation::{
    ACCEPTED_TO_TRUST, MailCounter, MailLimit, organization_limit, recipient_limits,
};
use candor_domain::time::Timestamp;
use candor_port_storage::StorageExt;
use candor_port_storage::error::Read;
use candor_sign_in::{IdentityProof, proof_id_of_address};
use candor_tables::rows::invitations::list_accepted;

use crate::context::services::Services;

/// Returns the limit of an organization, which is ten times as high once ten of its invitations were accepted.
pub(crate) async fn find_organization_limit(services: &Services, tenant: Tenant) -> Read<MailLimit> {
    let accepted_invitations = services.store.entries(tenant, list_accepted(None, ACCEPTED_TO_TRUST)).await?;
    Ok(organization_limit(tenant.organization, accepted_invitations.len(), services.settings.mails_per_day))
}

/// Returns `true` if the organization is known at the domain of an address: an invitation to the domain was accepted,
/// or the organization has proven the domain.
pub(crate) async fn is_known_domain(services: &Services, tenant: Tenant, email: &str) -> Read<bool> {
    let to_domain = list_accepted(Some(MailCounter::for_domain(email)), 1);
    if services.store.first(tenant, to_domain).await?.is_some() {
        return Ok(true);
    }
    let Some(proof) = proof_id_of_address(email) else { return Ok(false) };
    Ok(services.store.row::<IdentityProof>(tenant, proof).await?.is_some())
}

/// Returns a limit that the organization's mails to a mailbox have reached today, if there is one. Limits that
/// organizations share only delay a mail, so this function does not check them.
pub(crate) async fn find_reached(
    services: &Services,
    tenant: Tenant,
    email: &str,
    at: Timestamp,
) -> Read<Option<MailLimit>> {
    let is_known_domain = is_known_domain(services, tenant, email).await?;
    for limit in recipient_limits(tenant.organization, email, is_known_domain) {
        if services.store.counted_mails(limit.counter, at.date()).await? >= limit.most {
            return Ok(Some(limit));
        }
    }
    Ok(None)
}
