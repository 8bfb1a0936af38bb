//! API keys: authentication, creation, update, rotation and revocation (§5, decisions B4 to B7).

mod body;
mod expiring;
mod filter;
mod kind;
mod link;
mod record;
mod reminder;
mod rights;
mod room;

use schemars::JsonSchema;
use serde::Serialize;

use super::grant::outlasts;
use super::{AccessLevel, AllowedNetworks, Caller, Environment, Grant, Permissions, Reach};
use crate::decision::{Decision, Resource, identity};
use crate::fields::Reference;
use crate::id::{ConnectorId, EmployeeId, IdentityProviderId, KeyId, KeyKind};
use crate::page::{Key, SortBy, SortKey, Sortable};
use crate::people::connector;
use crate::problem::{Code, ValueError};
use crate::refusal::DomainError;
use crate::secret::Secret;
use crate::time::Timestamp;

pub use super::key_text::{KeyHash, generate, generate_code, hash, read, read_code};
pub use body::{
    DEFAULT_OVERLAP_SECONDS, Draft, MAX_OVERLAP_SECONDS, NAME_CHARS, Patch, SCOPES_RULE, is_end, parse_rotation,
    read_rotation,
};
pub use filter::Filter;
pub use kind::ApiKeyKind;
pub use link::{
    CODE_SECONDS, EXCHANGES_PER_MINUTE, LinkDraft, LinkExchange, MAX_LINK_SECONDS, START, START_CHARS,
    VERIFIER_CHARS, parse_exchange, read_exchange,
};
pub use record::{Holder, KeyRecord};
pub use room::{KeyRoom, MAX_OF_ORGANIZATION, MAX_OF_PERSON, MAX_OF_SESSION};

/// An API key. Only the hash of its secret is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ApiKey {
    /// Id of the key. It is not the secret.
    pub id: KeyId,
    /// Name of the key, for display only.
    pub name: String,
    /// Kind of the key. `session` is the session of a person who signed in at an identity provider.
    pub kind: ApiKeyKind,
    /// Session whose key created this one, directly or by another key. The key ends with it. Null for all other keys.
    pub session_id: Option<KeyId>,
    /// Identity provider of a session. Null for all other keys.
    pub identity_provider_id: Option<IdentityProviderId>,
    /// Data set that the key accesses.
    pub environment: Environment,
    /// Access level. `admin` permits administrative requests.
    pub access_level: AccessLevel,
    /// Permissions of the key.
    pub scopes: Permissions,
    /// Person the key acts for. The key sees only what this person may see. Null for a key of the organization.
    pub employee_id: Option<EmployeeId>,
    /// Last four characters of the secret, for display.
    pub last4: String,
    /// Number of reads allowed in 60 seconds. Null for the default quota.
    pub reads_per_minute: Option<u32>,
    /// Number of writes allowed in 60 seconds. Null for the default quota.
    pub writes_per_minute: Option<u32>,
    /// Connector of the identity provider that uses the key. Null for all keys without the scope `scim`.
    pub connector_id: Option<ConnectorId>,
    /// Number of SCIM requests allowed in 60 seconds. Null for the default quota.
    pub scim_per_minute: Option<u32>,
    /// Networks from which the key can be used. Empty for no limit. Requests from other addresses are 401.
    pub allowed_networks: AllowedNetworks,
    /// Time of creation, which never changes.
    pub created_at: Timestamp,
    /// Time of the last change. It increases with every change.
    pub updated_at: Timestamp,
    /// Expiry time of the key. Null if it does not expire.
    pub expires_at: Option<Timestamp>,
    /// Time of the last use, to the minute. Null if the key was never used.
    pub last_used_at: Option<Timestamp>,
    /// Time of revocation. Null if the key is not revoked.
    pub revoked_at: Option<Timestamp>,
    /// Time until which the portal link of the key can be opened. Until the link is opened, the key authenticates
    /// no request. Null for a key without a link, and after the link was opened.
    pub link_expires_at: Option<Timestamp>,
    /// Time at which an admin enabled the key after its person had come back. Null if no admin has enabled it.
    pub enabled_at: Option<Timestamp>,
    /// Claim `sub` of the account of a session.
    #[serde(skip)]
    pub identity_subject: Option<String>,
    /// Id of the session at the provider, which a logout at the provider names.
    #[serde(skip)]
    pub identity_sid: Option<String>,
    /// SHA-256 hash of the secret.
    #[serde(skip)]
    pub hash: KeyHash,
    /// The hash of the previous secret and the end of its overlap.
    #[serde(skip)]
    pub previous: Option<(KeyHash, Timestamp)>,
    /// Time of the next reminder to org admins that the key expires. `None` if no reminder is left, for a revoked
    /// key, and for a key that never expires.
    #[serde(skip)]
    pub remind_at: Option<Timestamp>,
    /// Due time of the event `api_key.expiring`. `None` after the event, for a revoked key, for the key of a
    /// portal link, and for a key that never expires.
    #[serde(skip)]
    pub expiring_due: Option<Timestamp>,
    /// Due time of the event `api_key.expiring` for the previous secret.
    #[serde(skip)]
    pub previous_expiring_due: Option<Timestamp>,
}

impl ApiKey {
    /// Returns `true` if the key is neither revoked nor expired.
    #[must_use]
    pub fn is_valid(&self, at: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| at < end)
    }

    /// Returns the key of an erased person: revoked, with a placeholder for the name, and without networks and
    /// account. All three may be personal.
    #[must_use]
    pub fn closed_by_erasure(&self, at: Timestamp) -> Self {
        Self {
            name: crate::erasure::former_name(),
            allowed_networks: AllowedNetworks::EVERYWHERE,
            identity_subject: None,
            identity_sid: None,
            revoked_at: self.revoked_at.or(Some(at)),
            updated_at: at.strictly_after(self.updated_at),
            remind_at: None,
            expiring_due: None,
            previous_expiring_due: None,
            ..self.clone()
        }
    }
}

impl Resource for ApiKey {
    identity!(KeyKind);

    fn mark(&self) -> u64 {
        self.last_used_at.map_or(0, |at| at.millis().unsigned_abs())
    }
}

impl Sortable for ApiKey {
    const ORDERS_NAME: &'static str = "ApiKeySort";
    const ORDERS: &'static [SortKey<Self>] = &[
        SortKey::descending_by(SortBy::CreatedAt, |api_key| Key::Time(api_key.created_at)),
        SortKey::descending_by(SortBy::UpdatedAt, |api_key| Key::Time(api_key.updated_at)),
    ];
}

fn last4(secret: &Secret) -> String {
    let text = secret.reveal();
    text[text.len().saturating_sub(4)..].to_owned()
}

/// The stored facts about the resources that a new key refers to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeyReferences {
    /// `true` if the person that the key shall act for is in the key's data set.
    pub person_exists: bool,
    /// Type of the connector that the key shall belong to; `None` if the organization has no such connector.
    pub connector: Option<connector::Type>,
}

impl KeyReferences {
    /// Returns the connector of a new key.
    fn connector_of(self, draft: &Draft) -> Result<Option<ConnectorId>, DomainError> {
        let Some(connector_reference) = &draft.connector else {
            let missing_connector = || DomainError::invalid("connector_id", ValueError::required());
            return if draft.scopes.is_scim() { Err(missing_connector()) } else { Ok(None) };
        };
        let flaw = match (connector_reference.id, self.connector) {
            (Some(id), Some(connector::Type::Scim)) => return Ok(Some(id)),
            (Some(_), Some(connector::Type::CsvFeed)) => {
                ValueError::new(Code::InvalidState, "must be a connector of the type scim")
            }
            (_, None) | (None, _) => connector_reference.not_found(),
        };
        Err(DomainError::unprocessable("connector_id", flaw))
    }
}

impl ApiKey {
    /// Creates a key. `granter` is the caller, or `None` if the operator creates the key.
    ///
    /// # Errors
    /// [`CannotGrant`](super::PermissionError::CannotGrant) for access, an end or networks beyond the caller's, and
    /// for a bound caller if the key is not for its person. [`DomainError::Unprocessable`] for an unknown person or
    /// connector, or a connector not of the type `scim`. [`DomainError::Invalid`] for `scim` without a connector.
    pub fn create(
        id: KeyId,
        draft: Draft,
        secret: &Secret,
        granter: Option<&Caller>,
        known: KeyReferences,
        at: Timestamp,
    ) -> Result<Decision<Self>, DomainError> {
        let session = granter.and_then(|caller| caller.session);
        let grant = Grant {
            scopes: draft.scopes,
            level: draft.access_level,
            person: draft.employee.as_ref().and_then(|employee| employee.id),
            reach: Reach { end: draft.expires_at, networks: draft.allowed_networks.clone(), session },
        };
        granter.map_or(Ok(()), |caller| caller.may_grant(&grant))?;
        let connector_id = known.connector_of(&draft)?;
        let employee_id = match draft.employee {
            None => None,
            Some(Reference { id: Some(id), .. }) if known.person_exists => Some(id),
            Some(other) => return Err(DomainError::unprocessable("employee_id", other.not_found())),
        };
        let state = Self {
            id,
            name: draft.name,
            kind: ApiKeyKind::Key,
            session_id: session,
            identity_provider_id: None,
            environment: draft.environment,
            access_level: draft.access_level,
            scopes: draft.scopes,
            employee_id,
            last4: last4(secret),
            reads_per_minute: draft.reads_per_minute,
            writes_per_minute: draft.writes_per_minute,
            connector_id,
            scim_per_minute: draft.scim_per_minute,
            allowed_networks: draft.allowed_networks,
            created_at: at,
            updated_at: at,
            expires_at: draft.expires_at,
            last_used_at: None,
            revoked_at: None,
            link_expires_at: None,
            enabled_at: None,
            identity_subject: None,
            identity_sid: None,
            hash: hash(secret.reveal()),
            previous: None,
            remind_at: reminder::next_due_time(draft.expires_at, at),
            expiring_due: expiring::due(draft.expires_at, at),
            previous_expiring_due: None,
        };
        Ok(Decision::for_creation(state, "api_key.create", vec![]))
    }

    /// Changes the name, the scopes, the networks or the end, or enables the key of a person who came back at
    /// `returned_at`. Returns `None` if nothing changes.
    ///
    /// # Errors
    /// [`CannotGrant`](super::PermissionError::CannotGrant) in three cases. A bound key changes a key that is not its
    /// person's. The update is more than a new name, and the key has access beyond the caller's, see
    /// [`Caller::may_change`]. Or the update adds a scope or a network, sets a later end or enables the key, and the
    /// updated key would have access, an end or networks beyond the caller's, or would not end with the caller's session.
    /// [`DomainError::Conflict`] for a revoked key.
    pub fn update(
        &self,
        patch: Patch,
        returned_at: Option<Timestamp>,
        granter: &Caller,
        at: Timestamp,
    ) -> Result<Option<Decision<Self>>, DomainError> {
        granter.may_manage_keys_of(self.employee_id)?;
        let grant = self.grant();
        let mut updated_grant = grant.clone();
        updated_grant.scopes = patch.scopes.unwrap_or(self.scopes);
        updated_grant.reach.end = patch.expires_at.unwrap_or(self.expires_at);
        updated_grant.reach.networks = patch.allowed_networks.clone().unwrap_or(updated_grant.reach.networks);
        let enabled_since = returned_at.filter(|returned_at| patch.is_enabled && !self.is_on(Some(*returned_at)));
        if updated_grant != grant || enabled_since.is_some() {
            self.authorize_change(granter)?;
        }
        let is_narrower = grant.scopes.cover(updated_grant.scopes) && grant.reach.covers(&updated_grant.reach);
        if !is_narrower || enabled_since.is_some() {
            granter.may_grant(&updated_grant)?;
        }
        self.must_not_be_revoked("update")?;
        let mut state = self.clone();
        state.name = patch.name.unwrap_or(state.name);
        state.scopes = patch.scopes.unwrap_or(state.scopes);
        state.allowed_networks = patch.allowed_networks.unwrap_or(state.allowed_networks);
        state.expires_at = patch.expires_at.unwrap_or(state.expires_at);
        state.enabled_at = enabled_since.map(|returned_at| at.max(returned_at)).or(state.enabled_at);
        if state == *self {
            return Ok(None);
        }
        if state.expires_at != self.expires_at {
            state.remind_at = reminder::next_due_time(state.expires_at, at);
            state.expiring_due = expiring::due(state.expires_at, at);
        }
        state.updated_at = at.strictly_after(self.updated_at);
        Ok(Some(Decision::for_change(self, state, "api_key.update", vec![])))
    }

    /// Replaces the secret. The previous one stays valid for `overlap_seconds`. An unopened portal link becomes void.
    ///
    /// # Errors
    /// [`CannotGrant`](super::PermissionError::CannotGrant) for a key with access, an end or networks beyond the
    /// caller's, or that does not end with the caller's session, and for a bound key that rotates a key of another
    /// person or of the organization. [`DomainError::Conflict`] for a session, and for a revoked key.
    pub fn rotate(
        &self,
        secret: &Secret,
        overlap_seconds: i64,
        granter: &Caller,
        at: Timestamp,
    ) -> Result<Decision<Self>, DomainError> {
        self.authorize_change(granter)?;
        granter.may_grant(&self.grant())?;
        self.must_not_be_session()?;
        self.must_not_be_revoked("rotate")?;
        let has_secret = self.link_expires_at.is_none();
        let previous_end = (has_secret && overlap_seconds > 0).then(|| at.plus_seconds(overlap_seconds));
        // A previous secret that would outlast the key ends with the key, which has an event of its own.
        let announced_end = previous_end.filter(|end| !outlasts(Some(*end), self.expires_at));
        let state = Self {
            hash: hash(secret.reveal()),
            last4: last4(secret),
            previous: previous_end.map(|end| (self.hash, end)),
            previous_expiring_due: expiring::due(announced_end, at),
            link_expires_at: None,
            updated_at: at.strictly_after(self.updated_at),
            ..self.clone()
        };
        Ok(Decision::for_change(self, state, "api_key.rotate", vec![]))
    }

    /// Revokes the key at once.
    ///
    /// # Errors
    /// [`DomainError::Conflict`] if the key is already revoked.
    pub fn revoke(&self, at: Timestamp) -> Result<Decision<Self>, DomainError> {
        self.must_not_be_revoked("revoke")?;
        let revoked_at = at.strictly_after(self.updated_at);
        let state = Self {
            revoked_at: Some(revoked_at),
            link_expires_at: None,
            previous: None,
            remind_at: None,
            expiring_due: None,
            previous_expiring_due: None,
            updated_at: revoked_at,
            ..self.clone()
        };
        Ok(Decision::for_change(self, state, "api_key.revoke", vec![]))
    }

    fn must_not_be_revoked(&self, attempted: &str) -> Result<(), DomainError> {
        if self.revoked_at.is_none() {
            Ok(())
        } else {
            Err(DomainError::transition("revoked_at", self.revoked_at, attempted))
        }
    }
}

#[cfg(test)]
mod tests;
