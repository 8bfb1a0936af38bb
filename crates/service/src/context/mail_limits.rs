//! The limits of invitation mails that apply to one organization and one address (decisions G).

use candor_domain::access::Tenant;
use candor_domain::people::invitation::{
    ACCEPTED_TO_TRUST, MailCounter, MailLimit, organization_limit, recipient_limits,
};
use candor_domain::time::Timestamp;
use candor_port_storage::StorageExt;
use candor_port_storage::error::Read;
use candor_tables::rows::invitations::list_accepted;

use crate::context::services::Services;

/// Returns the limit of an organization. It grows with the number of accepted invitations.
pub(crate) async fn find_organization_limit(services: &Services, tenant: Tenant) -> Read<MailLimit> {
    let accepted_invitations = services.store.entries(tenant, list_accepted(None, ACCEPTED_TO_TRUST)).await?;
    Ok(organization_limit(tenant.organization, accepted_invitations.len(), services.settings.mails_per_day))
}

/// Returns the limits of a mailbox.
pub(crate) async fn find_recipient_limits(
    services: &Services,
    tenant: Tenant,
    email: &str,
) -> Read<Vec<MailLimit>> {
    let to_domain = list_accepted(Some(MailCounter::for_domain(email)), 1);
    let is_known_domain = services.store.first(tenant, to_domain).await?.is_some();
    Ok(recipient_limits(tenant.organization, email, is_known_domain))
}

/// Returns a limit of a mailbox that is reached today.
pub(crate) async fn find_reached(
    services: &Services,
    tenant: Tenant,
    email: &str,
    at: Timestamp,
) -> Read<Option<MailLimit>> {
    for limit in find_recipient_limits(services, tenant, email).await? {
        if services.store.counted_mails(limit.counter, at.date()).await? >= limit.most {
            return Ok(Some(limit));
        }
    }
    Ok(None)
}
