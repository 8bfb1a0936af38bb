//! Sessions of people who signed in at an identity provider: API keys that last as long as their provider, their link and
//! their person allow (decision B10).
//!
//! No row is written when a session ends by its provider, its link or its person: each authentication judges the rows on
//! which the session rests. The end of many sessions thus costs one write.

use candor_domain::access::api_key::{
    ApiKey, ApiKeyKind, Draft, KeyHash, KeyRecord, KeyReferences, NAME_CHARS, hash,
};
use candor_domain::access::{AccessLevel, AllowedNetworks, Caller, Environment};
use candor_domain::audit::AuditDraft;
use candor_domain::id::KeyId;
use candor_domain::people::{Employee, Role};
use candor_domain::refusal::DomainError;
use candor_domain::secret::Secret;
use candor_domain::time::Timestamp;
use candor_tokens::claims::IdClaims;

use super::{IdentityLink, IdentityProvider, Status};

/// Time for which the code of a session can be exchanged, in seconds.
pub const SESSION_CODE_SECONDS: i64 = 60;
/// Number of sessions of a person that may be valid at one time. A further sign-in ends the oldest one.
pub const MAX_SESSIONS_OF_PERSON: u16 = 20;
/// Number of valid sessions of a person that are read where sessions end. Concurrent sign-ins can begin more than may be
/// valid, and the next sign-in or logout ends them too.
pub const READ_SESSIONS_OF_PERSON: u16 = 3 * MAX_SESSIONS_OF_PERSON;

/// The stored rows on which a session rests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionBasis {
    /// Key of the session.
    pub session: ApiKey,
    /// Provider at which the person signed in.
    pub provider: IdentityProvider,
    /// Link of the account.
    pub link: IdentityLink,
}

impl SessionBasis {
    /// Returns `true` if session, provider and link permit the session at this time. [`SessionBasis::authenticate`]
    /// checks the person, too.
    #[must_use]
    pub fn lasts(&self, at: Timestamp) -> bool {
        let Self { session, provider, link } = self;
        let is_after = |end: Option<Timestamp>| end.is_none_or(|end| end < session.created_at);
        let is_of_link = link.removed_at.is_none() && Some(link.employee_id) == session.employee_id;
        session.is_valid(at)
            && provider.status != Status::Disabled
            && is_after(provider.disabled_at)
            && is_of_link
            && is_after(link.tokens_after)
    }

    /// Returns the caller for a secret of the session's key or of a key that the session created, or `None` if the secret
    /// is not valid at `at`. The caller has no more rights than the provider gives to sessions now: an org admin who
    /// loses the role loses the admin level with it.
    #[must_use]
    pub fn authenticate(&self, record: &KeyRecord, hash: KeyHash, at: Timestamp) -> Option<Caller> {
        let session = &self.session;
        let is_of_session =
            record.key.session_root() == Some(session.id) && record.key.employee_id == session.employee_id;
        if !is_of_session || !self.lasts(at) {
            return None;
        }
        let caller = record.authenticate_key(hash, at)?;
        let person = caller.person?;
        let returned_at = record.holder.and_then(|holder| holder.returned_at);
        if !session.is_on(returned_at) || self.link.needs_confirmation(returned_at) {
            return None;
        }
        let (scopes, level) = self.provider.session_rights(person.is_org_admin);
        let is_admin =
            [caller.level, session.access_level, level].iter().all(|level| *level == AccessLevel::Admin);
        Some(Caller {
            scopes: caller.scopes.limited_to(session.scopes).limited_to(scopes),
            level: if is_admin { AccessLevel::Admin } else { AccessLevel::Standard },
            expires_at: caller.expires_at.into_iter().chain(session.expires_at).min(),
            ..caller
        })
    }
}

/// The values that a new session gets from its sign-in.
#[derive(Clone, Copy)]
pub struct SessionStart<'a> {
    /// Id of the session, from the state of its sign-in.
    pub id: KeyId,
    /// Code that is exchanged for the secret.
    pub code: &'a Secret,
    /// Name of the client that may exchange the code, see
    /// [`SignInState::exchanger`](super::sign_in::SignInState::exchanger).
    pub browser: &'a str,
}

/// Returns the hash under which the code of a session is stored. The hash is computed from code and browser, so no
/// other browser can exchange the code.
#[must_use]
pub fn hash_code(code: &str, browser: &str) -> KeyHash {
    hash(&format!("{code}.{browser}"))
}

/// Creates the key of a session with its code. The audit entry has the session as its target.
///
/// # Errors
/// The errors of [`ApiKey::create`], none of which a session causes.
pub fn create_session(
    start: SessionStart<'_>,
    basis: (&IdentityProvider, &IdentityLink, &Employee),
    claims: &IdClaims,
    at: Timestamp,
) -> Result<(ApiKey, AuditDraft), DomainError> {
    let (provider, link, person) = basis;
    // The clock of the process that disabled the provider or ended the link may be ahead of the clock of this
    // process.
    let ends = provider.disabled_at.into_iter().chain(link.tokens_after);
    let created_at = ends.fold(at, Timestamp::strictly_after).max(link.created_at);
    let (scopes, access_level) = provider.session_rights(person.role == Role::OrgAdmin);
    let own_end = at.plus_seconds(provider.session_lifetime);
    let expires_at = claims.session_ends_at.map_or(own_end, |end| end.min(own_end));
    let name = format!("Session of {} {}", person.first_name, person.last_name);
    let draft = Draft {
        name: name.chars().take(NAME_CHARS).collect::<String>().trim_end().to_owned(),
        environment: Environment::Live,
        access_level,
        scopes,
        employee: Some(person.id.into()),
        connector: None,
        expires_at: Some(expires_at),
        reads_per_minute: None,
        writes_per_minute: None,
        scim_per_minute: None,
        allowed_networks: AllowedNetworks::EVERYWHERE,
    };
    let references = KeyReferences { person_exists: true, connector: None };
    let key = ApiKey::create(start.id, draft, start.code, None, references, created_at)?.state;
    let state = ApiKey {
        kind: ApiKeyKind::Session,
        identity_provider_id: Some(provider.id),
        identity_subject: Some(link.subject.clone()),
        identity_sid: claims.session_id.clone(),
        hash: hash_code(start.code.reveal(), start.browser),
        link_expires_at: Some(expires_at.min(at.plus_seconds(SESSION_CODE_SECONDS))),
        remind_at: None,
        expiring_due: None,
        ..key
    };
    let audit = AuditDraft::new(&state, "session.begin");
    Ok((state, audit))
}

#[cfg(test)]
mod tests;
