//! Links of accounts at identity providers to people (decision B9).

use candor_domain::access::{Caller, Grant};
use candor_domain::audit::{AuditDraft, Change};
use candor_domain::decision::{Resource, identity};
use candor_domain::fields::{Fields, Reference};
use candor_domain::id::{EmployeeId, EmployeeKind, IdentityLinkId, IdentityLinkKind, IdentityProviderId};
use candor_domain::json::Object;
use candor_domain::page::{Key, SortBy, SortKey, Sortable};
use candor_domain::params::{ListRequest, Params};
use candor_domain::people::{Employee, Status};
use candor_domain::problem::{Code, ValidationErrors, ValueError};
use candor_domain::refusal::DomainError;
use candor_domain::rule::{self, Field, Line, ReferenceRule};
use candor_domain::time::Timestamp;
use candor_tokens::claims::{IdClaims, LogoutClaims, SUBJECT_CHARS, TOLERANCE_SECONDS};
use ring::digest::{SHA256, digest};
use schemars::JsonSchema;
use serde::Serialize;

use super::IdentityProvider;

const EMPLOYEE: Field<ReferenceRule<EmployeeKind>> = Field::new("employee_id", rule::reference());
const SUBJECT: Field<Line> =
    Field::with_about("subject", rule::line(1..=SUBJECT_CHARS), "It is compared letter by letter.");

/// The link of an account to a person. An account signs in as at most one person, and a person has at most one account
/// of a provider.
///
/// A removed link stays as the mark of its account: tokens from before the removal stay refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct IdentityLink {
    /// Digest of provider and subject, see [`IdentityLink::id_of`].
    #[serde(skip)]
    pub id: IdentityLinkId,
    /// Provider of the account.
    pub identity_provider_id: IdentityProviderId,
    /// Person that the account signs in as.
    pub employee_id: EmployeeId,
    /// Claim `sub` of the account.
    pub subject: String,
    /// Time of creation of the link.
    pub created_at: Timestamp,
    /// Time at which an admin confirmed the link after the person was reactivated or rehired. Null if there was none.
    pub confirmed_at: Option<Timestamp>,
    /// Time of the last change. It increases with every change.
    pub updated_at: Timestamp,
    /// Latest time of issue at which tokens of the account are refused. `None` for no such limit.
    #[serde(skip)]
    pub tokens_after: Option<Timestamp>,
    /// Latest time of issue at which bearer tokens of the account are refused after the logout of one session. Other
    /// sessions of the account last.
    #[serde(skip)]
    pub bearer_tokens_after: Option<Timestamp>,
    /// Time of the removal of the link.
    #[serde(skip)]
    pub removed_at: Option<Timestamp>,
}

impl Resource for IdentityLink {
    identity!(IdentityLinkKind);
}

impl Sortable for IdentityLink {
    const ORDERS_NAME: &'static str = "IdentityLinkSort";
    const ORDERS: &'static [SortKey<Self>] =
        &[SortKey::descending_by(SortBy::CreatedAt, |link| Key::Time(link.created_at))];
}

/// The body of a link, validated on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityLinkDraft {
    employee: Reference<EmployeeKind>,
    /// Claim `sub` of the account.
    pub subject: String,
}

impl IdentityLinkDraft {
    /// Declares and reads the fields of a link.
    pub fn read(fields: &mut Fields) -> Option<Self> {
        let (employee, subject) = (fields.required(&EMPLOYEE), fields.required(&SUBJECT));
        Some(Self { employee: employee?, subject: subject? })
    }

    /// Reads the body of a link.
    ///
    /// # Errors
    /// Returns every invalid field.
    pub fn parse(body: Object) -> Result<Self, ValidationErrors> {
        Fields::parse_new(body, &["identity_provider_id", "created_at", "confirmed_at", "updated_at"], Self::read)
    }

    /// Returns the id of the person, if the text of the request is one.
    #[must_use]
    pub const fn person(&self) -> Option<EmployeeId> {
        self.employee.id
    }
}

/// The stored facts that a link is decided with.
#[derive(Debug, Clone, Copy, Default)]
pub struct StoredLinks<'a> {
    /// The link of the account, also a removed one.
    pub of_account: Option<&'a IdentityLink>,
    /// The link of the person at this provider.
    pub of_person: Option<&'a IdentityLink>,
}

impl IdentityLink {
    /// Returns the id of the link of an account: the beginning of the digest of provider and subject, so that there is
    /// one link for each account.
    #[must_use]
    pub fn id_of(provider: IdentityProviderId, subject: &str) -> IdentityLinkId {
        let hash = digest(&SHA256, [&provider.to_bytes(), subject.as_bytes()].concat().as_slice());
        let mut bytes = [0; 16];
        bytes.iter_mut().zip(hash.as_ref()).for_each(|(byte, part)| *byte = *part);
        IdentityLinkId::from_bytes(bytes)
    }

    /// Returns the value by which the link of a person at a provider is found.
    #[must_use]
    pub fn person_key(provider: IdentityProviderId, person: EmployeeId) -> String {
        format!("{provider}:{person}")
    }

    /// Reads the parameters of `GET /identity-providers/{id}/links`. A cursor is for one provider.
    pub fn read_list(provider: IdentityProviderId, params: &mut Params) -> ListRequest<(), ()> {
        params.list::<Self, _, _>(&format!("{provider}/links"), (), vec![])
    }

    /// Returns `true` if the person came back after the link was made or confirmed. The link then serves again when an
    /// admin confirms it.
    #[must_use]
    pub fn needs_confirmation(&self, returned_at: Option<Timestamp>) -> bool {
        let valid_since = self.confirmed_at.unwrap_or(self.created_at).max(self.created_at);
        returned_at.is_some_and(|returned_at| returned_at > valid_since)
    }

    /// Links an account to a person, or confirms the link. Returns `None` if the account is already linked to the
    /// person and the link needs no confirmation.
    ///
    /// # Errors
    /// Returns [`DomainError::Denied`] for a caller without [`Grant::ALL`]: a link lasts when the provider gives more
    /// access, and when the person becomes an org admin. Returns [`DomainError::Unprocessable`] for a person who does not exist or has left, [`DomainError::Conflict`] for an erased
    /// person, an account of another person, and a person with another account.
    pub fn create(
        provider: &IdentityProvider,
        draft: &IdentityLinkDraft,
        person: Option<&Employee>,
        stored: StoredLinks<'_>,
        caller: &Caller,
        at: Timestamp,
    ) -> Result<Option<(Self, AuditDraft)>, DomainError> {
        caller.may_grant(&Grant::ALL)?;
        let Some(person) = person else {
            return Err(DomainError::unprocessable("employee_id", draft.employee.not_found()));
        };
        person.must_exist("link")?;
        let live_link = stored.of_account.filter(|link| link.removed_at.is_none());
        if let Some(other) = live_link.filter(|link| link.employee_id != person.id) {
            return Err(DomainError::already_taken("subject", &draft.subject, Some(other.employee_id)));
        }
        if let Some(other) = stored.of_person.filter(|link| link.subject != draft.subject) {
            return Err(DomainError::already_taken("subject", &other.subject, Some(person.id)));
        }
        if person.status == Status::Deactivated {
            let flaw = ValueError::new(Code::InvalidState, "must not be deactivated");
            return Err(DomainError::unprocessable("employee_id", flaw));
        }
        match live_link {
            Some(link) if !link.needs_confirmation(person.returned_at) => Ok(None),
            Some(link) => {
                let updated_at = at.strictly_after(link.updated_at);
                let confirmed_link = Self { confirmed_at: Some(updated_at), updated_at, ..link.clone() };
                let mut audit = AuditDraft::new(person, "employee.confirm_identity");
                audit.changes = confirmed_link.changes_from(Some(link));
                Ok(Some((confirmed_link, audit)))
            }
            None => Ok(Some(Self::link_account(provider.id, &draft.subject, person, stored.of_account, at))),
        }
    }

    /// Creates the link of an account, which has no link yet, to a person. `before` is the removed link of the
    /// account: tokens that it refuses stay refused.
    #[must_use]
    pub fn link_account(
        provider: IdentityProviderId,
        subject: &str,
        person: &Employee,
        before: Option<&Self>,
        at: Timestamp,
    ) -> (Self, AuditDraft) {
        let created_at = before.map_or(at, |link| at.strictly_after(link.updated_at));
        let link = Self {
            id: Self::id_of(provider, subject),
            identity_provider_id: provider,
            employee_id: person.id,
            subject: subject.to_owned(),
            created_at,
            confirmed_at: None,
            updated_at: created_at,
            tokens_after: before.and_then(|link| link.tokens_after),
            bearer_tokens_after: before.and_then(|link| link.bearer_tokens_after),
            removed_at: None,
        };
        let mut audit = AuditDraft::new(person, "employee.link_identity");
        audit.changes = link.changes_from(None);
        (link, audit)
    }

    /// Removes the link of a person. Tokens of the account that were issued until then are refused for good, also by a
    /// provider whose clock is ahead by the tolerance.
    #[must_use]
    pub fn remove(&self, person: &Employee, at: Timestamp) -> (Self, AuditDraft) {
        let removal_time = at.strictly_after(self.updated_at);
        let last_issue_time = removal_time.plus_seconds(TOLERANCE_SECONDS);
        let (removed_at, tokens_after) = (Some(removal_time), self.tokens_after.max(Some(last_issue_time)));
        let state = Self { removed_at, tokens_after, updated_at: removal_time, ..self.clone() };
        let mut audit = AuditDraft::new(person, "employee.unlink_identity");
        let members = [self.identity_provider_id.to_string(), self.subject.clone()];
        audit.changes = ["identity_provider_id", "subject"]
            .into_iter()
            .zip(members)
            .map(|(name, value)| (name.to_owned(), Change::new(&value, &())))
            .collect();
        (state, audit)
    }

    /// Refuses the bearer tokens of the account that were issued up to a logout at the provider. A logout without a session
    /// at the provider also refuses sign-ins from before it; the caller revokes the sessions that have begun. Returns `None`
    /// if nothing changes.
    #[must_use]
    pub fn log_out(&self, person: &Employee, logout: &LogoutClaims, at: Timestamp) -> Option<(Self, AuditDraft)> {
        let mut state = self.clone();
        let end = match logout.session_id {
            Some(_) => &mut state.bearer_tokens_after,
            None => &mut state.tokens_after,
        };
        // The `iat` has whole seconds, so a session of the same second may be older.
        *end = (*end).max(Some(Timestamp::from_millis(logout.issued_at.millis() + 999)));
        if state == *self {
            return None;
        }
        state.updated_at = at.strictly_after(self.updated_at);
        let mut audit = AuditDraft::new(person, "employee.log_out_identity");
        audit.changes = state.changes_from(None);
        Some((state, audit))
    }

    /// Returns `true` if a sign-in is refused because its ID token is from before a logout of all sessions, or from before
    /// the removal of an earlier link. The sign-in was on its way when the account was logged out.
    #[must_use]
    pub fn is_after_sign_in(&self, claims: &IdClaims) -> bool {
        self.tokens_after.is_some_and(|end| claims.issued_at <= end)
    }

    fn changes_from(&self, before: Option<&Self>) -> candor_domain::audit::Changes {
        match before {
            None => [
                ("identity_provider_id".to_owned(), Change::from_null(&self.identity_provider_id)),
                ("subject".to_owned(), Change::from_null(&self.subject)),
            ]
            .into(),
            Some(before) => [
                (
                    "identity_provider_id".to_owned(),
                    Change::new(&self.identity_provider_id, &self.identity_provider_id),
                ),
                ("confirmed_at".to_owned(), Change::new(&before.confirmed_at, &self.confirmed_at)),
            ]
            .into(),
        }
    }
}

/// The links of a deleted provider, which are removed in pieces after the deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProviderRemoval {
    /// Id of the deleted provider.
    pub id: IdentityProviderId,
    /// Time of the deletion.
    pub deleted_at: Timestamp,
}

#[cfg(test)]
mod tests;
