//! The person that a creation is about.

use candor_domain::id::{ConnectorId, EmployeeId};
use candor_domain::people::{Employee, Status};
use candor_domain::text::address_key;
use candor_scim::{ScimError, ScimErrorType};

use super::mapping::ScimUser;
use crate::connector::{IssueDraft, IssueKind, ScimLink};

/// People who already have an identifier of the user in a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IdentifierHolders {
    /// The person who has the e-mail address.
    pub email: Option<EmployeeId>,
    /// The person who has the external id.
    pub external_id: Option<EmployeeId>,
    /// The person that the connector knows by the `userName`.
    pub user_name_link: Option<EmployeeId>,
    /// The person that the connector knows by the `externalId`.
    pub external_id_link: Option<EmployeeId>,
}

impl IdentifierHolders {
    /// Returns the holder of the external id, unless the connector knows a person by it. A creation refers to the
    /// holder only if no connector manages them.
    #[must_use]
    pub const fn unlinked_holder(&self) -> Option<EmployeeId> {
        match self.external_id_link {
            Some(_) => None,
            None => self.external_id,
        }
    }

    /// Returns the people that a creation refers to. `owner` is the connector of the [unlinked
    /// holder](Self::unlinked_holder), `addressed` the person whose address is the `userName`.
    #[must_use]
    pub fn candidates(&self, owner: Option<ConnectorId>, addressed: Option<EmployeeId>) -> Candidates {
        Candidates {
            linked_external_id: self.external_id_link,
            external_id: self.unlinked_holder().filter(|_| owner.is_none()),
            user_name: self.user_name_link.or(addressed),
            email: self.email,
        }
    }
}

/// People that the identifiers of a creation refer to, in the order of their precedence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Candidates {
    /// The person that the connector knows by this `externalId`.
    pub linked_external_id: Option<EmployeeId>,
    /// The person without a connector who has this external id.
    pub external_id: Option<EmployeeId>,
    /// The person that the connector knows by this `userName`, else the person with this address.
    pub user_name: Option<EmployeeId>,
    /// The person with the address of the request.
    pub email: Option<EmployeeId>,
}

/// A refusal, and the issue that the administrator sees.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct ProvisioningError {
    /// The response to the identity provider.
    pub error: ScimError,
    /// The issue; `None` if the response says everything.
    pub issue: Option<Box<IssueDraft>>,
}

impl From<ScimError> for ProvisioningError {
    fn from(error: ScimError) -> Self {
        Self { error, issue: None }
    }
}

/// The identifiers of a user, by which an issue names the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserIdentity<'a> {
    /// Name by which the identity provider knows the person.
    pub user_name: &'a str,
    /// Id of the person at the identity provider.
    pub external_id: Option<&'a str>,
    /// The person, if they are known.
    pub person: Option<EmployeeId>,
}

impl<'a> UserIdentity<'a> {
    pub(super) fn from_user(user: &'a ScimUser, person: Option<EmployeeId>) -> Self {
        Self { user_name: &user.user_name, external_id: user.external_id.as_deref(), person }
    }

    /// Returns the identifiers of a link.
    #[must_use]
    pub fn from_link(link: &'a ScimLink) -> Self {
        Self { user_name: &link.user_name, external_id: link.external_id.as_deref(), person: Some(link.id) }
    }

    /// Creates an issue about the user.
    #[must_use]
    pub fn issue(self, kind: IssueKind, message: String) -> IssueDraft {
        IssueDraft {
            kind,
            user_name: Some(self.user_name.to_owned()),
            external_id: self.external_id.map(str::to_owned),
            employee_id: self.person,
            message,
        }
    }

    pub(super) fn into_refusal(self, kind: IssueKind, message: String) -> ProvisioningError {
        let error = ScimError::new(ScimErrorType::Uniqueness, message.clone());
        ProvisioningError { error, issue: Some(Box::new(self.issue(kind, message))) }
    }
}

impl Candidates {
    /// Returns the person that the identifiers refer to, or `None` for a new person.
    ///
    /// # Errors
    /// `uniqueness` if the identifiers belong to several people. No person changes then.
    pub fn person(&self, user: &ScimUser) -> Result<Option<EmployeeId>, ProvisioningError> {
        let all = [self.linked_external_id, self.external_id, self.user_name, self.email];
        let mut people = all.into_iter().flatten();
        let Some(first) = people.next() else { return Ok(None) };
        if people.all(|person| person == first) {
            return Ok(Some(first));
        }
        let message = "externalId, userName and e-mail address of the request belong to several people. Correct them \
                       at the identity provider, or remove the wrong identifier from the person who has it.";
        let identity = UserIdentity::from_user(user, Some(first));
        Err(identity.into_refusal(IssueKind::IdentityConflict, message.to_owned()))
    }
}

/// Returns `true` if a connector sees a person: they are linked to it, or no connector manages them.
#[must_use]
pub fn is_visible(person: &Employee, link: Option<&ScimLink>, connector: ConnectorId) -> bool {
    match person.connector_id {
        None => true,
        Some(owner) => owner == connector && link.is_some_and(|link| link.is_live_of(connector)),
    }
}

/// Returns the names of the identifiers of a creation that a person has.
fn shared_identifiers(user: &ScimUser, person: &Employee, link: Option<&ScimLink>) -> String {
    let has_external_id = user.external_id.is_some()
        && (link.is_some_and(|link| link.external_id == user.external_id)
            || person.external_id == user.external_id);
    let name = user.user_name_key();
    let has_name =
        link.is_some_and(|link| address_key(&link.user_name) == name) || address_key(&person.email) == name;
    let names = [
        ("externalId", has_external_id),
        ("userName", has_name),
        ("e-mail address", person.has_mailbox(&user.email)),
    ];
    let shared_names = names.into_iter().filter(|(_, is_shared)| *is_shared).map(|(name, _)| name);
    shared_names.collect::<Vec<_>>().join(" and ")
}

/// Decides if a creation may take the person that it matches.
///
/// # Errors
/// `uniqueness` for a person of this connector that has not left and is visible to the connector, and for a person of
/// another connector.
pub fn admit_match(
    user: &ScimUser,
    person: &Employee,
    link: Option<&ScimLink>,
    connector: ConnectorId,
) -> Result<(), ProvisioningError> {
    match person.connector_id {
        Some(owner) if owner != connector => {
            let message = format!(
                "Another connector ({}) manages the person. Release the person there first.",
                person.hris_source
            );
            Err(UserIdentity::from_user(user, Some(person.id)).into_refusal(IssueKind::ManagedElsewhere, message))
        }
        Some(_) if person.status != Status::Deactivated && is_visible(person, link, connector) => {
            let detail = format!(
                "A user with this {} exists already: {}.",
                shared_identifiers(user, person, link),
                person.id
            );
            Err(ScimError::new(ScimErrorType::Uniqueness, detail).into())
        }
        Some(_) | None => Ok(()),
    }
}
