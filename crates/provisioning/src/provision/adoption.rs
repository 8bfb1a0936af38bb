//! The requests of an identity provider that an administrator confirms first.

use candor_domain::people::{Role, Status};

use super::{ProvisioningError, ProvisioningInput, WriteKind};
use crate::connector::{IssueDraft, IssueKind, SyncIssue};

impl ProvisioningInput<'_> {
    /// Refuses a request that needs a confirmation, until an admin has resolved the issue of the request. A
    /// confirmation is needed to take over an org admin or a person with another address, to give a managed org admin
    /// another address, or another external id in the record or the link, and to reactivate an org admin. Reason: an
    /// account finds its person by address or by the external id of the link, so its holder sees what the person may see.
    pub(super) fn require_confirmed_adoption(&self) -> Result<(), ProvisioningError> {
        match self.adoption() {
            Some(draft) if self.confirmation().is_none() => {
                Err(self.identity().into_refusal(draft.kind, draft.message))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the issue that confirms the request, if the request needs a confirmation.
    #[must_use]
    pub fn confirmation(&self) -> Option<&SyncIssue> {
        let draft = self.adoption()?;
        self.issues.iter().find(|issue| issue.confirms(self.connector.id, &draft, self.at))
    }

    /// Returns the issue that an admin resolves before the request is accepted; `None` if the request needs no
    /// confirmation.
    fn adoption(&self) -> Option<IssueDraft> {
        let person = self.person?;
        let address = &self.user.email;
        let (is_admin, is_own) = (person.role == Role::OrgAdmin, person.has_mailbox(address));
        let is_managed = person.connector_id.is_some();
        let active = self.user.active.or((self.kind == WriteKind::Create).then_some(true));
        let returns = active == Some(true) && person.status != Status::Active;
        let external_id = self.new_external_id();
        let reason = match (is_managed, is_admin, is_own) {
            (true, false, _) | (false, false, true) => return None,
            (true, true, true) => match external_id {
                _ if returns => format!("`{address}` is an org admin who would be active again"),
                Some(_) => format!("`{address}` is an org admin"),
                None => return None,
            },
            (true, true, false) => format!("An org admin would get the address `{address}`"),
            (false, true, true) => format!("`{address}` is an org admin"),
            (false, false, false) => format!("The person of this request has another address than `{address}`"),
            (false, true, false) => {
                format!("The person of this request is an org admin with another address than `{address}`")
            }
        };
        // The issue mentions API keys if the address is new: the holder of the keys may be another human than its
        // owner.
        let keys = if is_own {
            ""
        } else {
            " API keys that act for this person stay valid; revoke those that others use."
        };
        // The issue confirms what its message says, so the message says everything that the request takes over.
        let activation = if returns && !(is_managed && is_own) { " The person would become active." } else { "" };
        let id = external_id.map_or_else(String::new, |id| {
            format!(" The person would get the external id `{id}` at the identity provider.")
        });
        let message = format!(
            "{reason}.{activation}{id}{keys} To accept this change by the identity provider, an administrator \
             resolves this issue. The provider then repeats the request."
        );
        Some(self.identity().issue(IssueKind::AdoptionUnconfirmed, message))
    }

    /// Returns the external id that the request gives to the link or to the person. The link counts whatever the id of
    /// the person is, because a sign-in finds the person by the id of the link.
    fn new_external_id(&self) -> Option<&String> {
        let linked_id = self.own_link().and_then(|link| link.external_id.as_ref());
        let own_id = self.person.and_then(|person| person.external_id.as_ref());
        let is_new_for_link = self.user.external_id.as_ref().filter(|id| linked_id != Some(*id));
        is_new_for_link.or_else(|| self.external_id().filter(|id| own_id != Some(*id)))
    }
}
