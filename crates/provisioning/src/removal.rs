//! Removal of a user by the identity provider.

use candor_domain::decision::Decision;
use candor_domain::people::{Employee, Status};
use candor_domain::time::Timestamp;

use super::matching::{ProvisioningError, UserIdentity};
use super::provision::last_admin;
use crate::connector::ScimLink;

/// The change of one person by a removal.
#[derive(Debug, Clone, PartialEq)]
pub struct RemovedUser {
    /// The deactivation; `None` if the person has left already.
    pub decision: Option<Decision<Employee>>,
    /// The link after the removal.
    pub link: ScimLink,
}

/// Decides a DELETE: the person is deactivated, and the connector does not see them any more.
///
/// # Errors
/// `uniqueness` for the last active org admin.
pub fn remove(
    person: &Employee,
    link: &ScimLink,
    has_other_admin: bool,
    at: Timestamp,
) -> Result<RemovedUser, ProvisioningError> {
    if person.is_active_org_admin() && !has_other_admin {
        return Err(last_admin(UserIdentity::from_link(link)));
    }
    let decision = match person.status {
        Status::Deactivated => None,
        Status::Active | Status::PendingInvite => person.deactivate(at).ok(),
    };
    let ended_link = link.end(at);
    let deactivated_at = decision.as_ref().map(|_| at).or(link.deactivated_at);
    Ok(RemovedUser { decision, link: ScimLink { deactivated_at, ..ended_link } })
}
