//! Creation, update and deletion of identity providers (decision B9).

use candor_domain::access::{AccessLevel, Caller, Grant, Permission, PermissionError, Permissions, Reach};
use candor_domain::audit::{AuditDraft, Change, difference};
use candor_domain::decision::Decision;
use candor_domain::event::EventType;
use candor_domain::id::{IdentityProviderId, OrganizationId};
use candor_domain::problem::{Code, ValueError};
use candor_domain::refusal::DomainError;
use candor_domain::time::Timestamp;
use serde_json::json;

use super::{Draft, EmailDomain, IdentityProvider, Patch, Status};

/// Maximum number of identity providers of an organization.
pub const MAX_PROVIDERS: u32 = 5;

/// Scopes that sessions of org admins have in addition, if the provider has admin sessions.
const ADMIN_SCOPES: Permissions = Permissions::NONE
    .with(Permission::SettingsRead)
    .with(Permission::SettingsWrite)
    .with(Permission::AuditRead)
    .with(Permission::WebhooksRead)
    .with(Permission::WebhooksWrite)
    .with(Permission::EventsRead)
    .with(Permission::EmployeesWrite);

impl IdentityProvider {
    /// Checks that one more provider is allowed beside `count` others.
    ///
    /// # Errors
    /// Returns [`DomainError::Unprocessable`] at the limit.
    pub fn admit(count: usize) -> Result<(), DomainError> {
        if usize::try_from(MAX_PROVIDERS).is_ok_and(|most| count < most) {
            return Ok(());
        }
        let message =
            format!("must be at most {MAX_PROVIDERS} identity providers in an organization; delete one first");
        Err(DomainError::unprocessable("identity_providers", ValueError::new(Code::LimitReached, message)))
    }

    /// Creates a provider that proves nothing yet. `sealed` is the client secret in its stored form.
    ///
    /// # Errors
    /// Returns [`DomainError::Denied`] for more access than the caller has.
    pub fn create(
        id: IdentityProviderId,
        draft: Draft,
        sealed: Option<Vec<u8>>,
        caller: &Caller,
        at: Timestamp,
    ) -> Result<Decision<Self>, DomainError> {
        let (content, organization) = (draft.content, caller.tenant.organization);
        let domains =
            content.email_domains.iter().map(|domain| EmailDomain::new(organization, domain.clone())).collect();
        let state = Self {
            id,
            name: content.name,
            issuer: content.issuer,
            client_id: content.client_id,
            client_secret: sealed,
            audiences: content.audiences,
            authorized_parties: content.authorized_parties,
            link_by: content.link_by,
            subject_claim: content.subject_claim,
            email_domains: content.email_domains,
            domains,
            proven_audiences: vec![],
            scopes: content.scopes,
            scopes_from_token: content.scopes_from_token,
            admin_sessions: content.admin_sessions,
            session_lifetime: content.session_lifetime,
            required_acr: content.required_acr,
            status: Status::Pending,
            disabled_at: None,
            last_sign_in_at: None,
            created_at: at,
            updated_at: at,
        };
        state.may_be_granted_by(caller)?;
        Ok(Decision::for_creation(state, "identity_provider.create", vec![EventType::IdentityProviderCreated]))
    }

    /// Checks that the caller has all the access that the provider gives. A provider gives access without an end and
    /// without networks, so a caller with an end or networks has less (decisions B7, B12).
    ///
    /// # Errors
    /// [`PermissionError::CannotGrant`].
    pub fn may_be_granted_by(&self, caller: &Caller) -> Result<(), PermissionError> {
        caller.may_grant(&self.grant())
    }

    /// Returns the most access that the provider gives.
    fn grant(&self) -> Grant {
        let (scopes, level) = self.session_rights(true);
        Grant { scopes, level, person: None, reach: Reach::UNLIMITED }
    }

    /// Returns the scopes and the level of the sessions of an org admin, or of other people.
    #[must_use]
    pub const fn session_rights(&self, is_org_admin: bool) -> (Permissions, AccessLevel) {
        if self.admin_sessions && is_org_admin {
            (self.scopes.with_all(ADMIN_SCOPES), AccessLevel::Admin)
        } else {
            (self.scopes, AccessLevel::Standard)
        }
    }

    /// Updates a provider, or returns `None` if nothing changes. `sealed` is the new client secret in its stored form;
    /// `Some(None)` removes it, `None` keeps it.
    ///
    /// Every caller may rename or disable the provider. To reduce the access that it gives, the caller must have this
    /// access, see [`Caller::may_change`]: a caller with less could then link an account of its own, which keeps its
    /// link when an admin gives the access back. For any other change, the caller must have all the access that the
    /// provider gives before and after.
    ///
    /// # Errors
    /// Returns [`DomainError::Denied`] for more access than the caller has, [`DomainError::Conflict`] for a status that
    /// the present one does not lead to.
    pub fn update(
        &self,
        patch: Patch,
        sealed: Option<Option<Vec<u8>>>,
        caller: &Caller,
        at: Timestamp,
    ) -> Result<Option<Decision<Self>>, DomainError> {
        let has_new_secret = sealed.is_some();
        let mut state = self.clone();
        patch.content.apply_to(&mut state);
        state.client_secret = sealed.unwrap_or(state.client_secret);
        state.keep_proofs_of(self, caller.tenant.organization);
        let status = self.next_status(patch.status, !state.proven_audiences.is_empty());
        state.status = *status.as_ref().unwrap_or(&Status::Active);
        if state.status == Status::Disabled && self.status != Status::Disabled {
            state.disabled_at = Some(at);
        }
        if !state.only_renames_or_disables(self) {
            caller.may_change(&self.grant())?;
        }
        if !state.only_narrows(self) {
            self.may_be_granted_by(caller)?;
            state.may_be_granted_by(caller)?;
        }
        status?;
        if state == *self {
            return Ok(None);
        }
        state.updated_at = at.strictly_after(self.updated_at);
        let events = vec![EventType::IdentityProviderUpdated];
        let mut decision = Decision::for_change(self, state, "identity_provider.update", events);
        if has_new_secret {
            // The audit entry records that the secret changed, but never the secret.
            let [from, to] = [self, &decision.state].map(|provider| provider.client_secret.is_some());
            decision.audit.changes.insert("client_secret_set".into(), Change::new(&from, &to));
        }
        Ok(Some(decision))
    }

    /// Deletes the provider. The event shows the provider as it was. Like a reduction, the deletion needs the access that
    /// the provider gives. Every caller may disable it.
    ///
    /// # Errors
    /// [`PermissionError::CannotGrant`].
    pub fn delete(&self, caller: &Caller, at: Timestamp) -> Result<Decision<Self>, PermissionError> {
        caller.may_change(&self.grant())?;
        let state = Self { updated_at: at.strictly_after(self.updated_at), ..self.clone() };
        let mut audit = AuditDraft::new(self, "identity_provider.delete");
        audit.changes = difference(self, &json!({}));
        Ok(Decision { state, events: vec![EventType::IdentityProviderDeleted], audit, notices: vec![] })
    }

    /// Replaces the sealed secret by a newly sealed one. Clients see no change, so `updated_at` stays.
    pub fn with_resealed_secret(&self, sealed: Vec<u8>) -> Decision<Self> {
        let state = Self { client_secret: Some(sealed), ..self.clone() };
        Decision::for_change(self, state, "identity_provider.rekey", vec![])
    }

    /// Keeps the proofs of `before` for values that this provider still has in its settings. Another client id
    /// ends the proofs of all audiences, too: their tokens were issued to the former client.
    fn keep_proofs_of(&mut self, before: &Self, organization: OrganizationId) {
        let domain = |name: &String| {
            let entry = before.domains.iter().find(|entry| entry.domain == *name).cloned();
            entry.unwrap_or_else(|| EmailDomain::new(organization, name.clone()))
        };
        self.domains = self.email_domains.iter().map(domain).collect();
        let (client_id, audiences) = (&self.client_id, &self.audiences);
        let is_same_client = *client_id == before.client_id;
        self.proven_audiences
            .retain(|audience| is_same_client && (audience == client_id || audiences.contains(audience)));
    }

    /// Returns the status after an update that asks for `wanted`. `is_proven` is `true` if the client id or an audience
    /// is proven.
    fn next_status(&self, wanted: Option<Status>, is_proven: bool) -> Result<Status, DomainError> {
        let status_if_enabled = if is_proven { Status::Active } else { Status::Pending };
        match (self.status, wanted) {
            (_, Some(Status::Disabled)) | (Status::Disabled, None) => Ok(Status::Disabled),
            (Status::Disabled, Some(Status::Active)) | (Status::Pending | Status::Active, None) => {
                Ok(status_if_enabled)
            }
            (status, Some(wanted)) if status == wanted => Ok(status_if_enabled),
            (status, Some(wanted)) => Err(DomainError::transition(
                "status",
                candor_domain::fields::StringEnum::word(status),
                wanted.into(),
            )),
        }
    }

    /// Returns `true` if the change from `before` only renames or disables the provider.
    fn only_renames_or_disables(&self, before: &Self) -> bool {
        let status = if self.status == Status::Disabled { before.status } else { self.status };
        Self { name: before.name.clone(), status, disabled_at: before.disabled_at, ..self.clone() } == *before
    }

    /// Returns `true` if the change from `before` only renames or disables the provider, or narrows its scopes,
    /// admin sessions or the lifetime of its sessions, or limits bearer tokens to the scopes that they name.
    fn only_narrows(&self, before: &Self) -> bool {
        let rest = Self {
            scopes: before.scopes,
            scopes_from_token: before.scopes_from_token,
            admin_sessions: before.admin_sessions,
            session_lifetime: before.session_lifetime,
            ..self.clone()
        };
        rest.only_renames_or_disables(before)
            && before.scopes.cover(self.scopes)
            && (self.scopes_from_token || !before.scopes_from_token)
            && (before.admin_sessions || !self.admin_sessions)
            && self.session_lifetime <= before.session_lifetime
    }
}
