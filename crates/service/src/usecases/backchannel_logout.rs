//! Logout tokens of identity providers (OpenID Connect Back-Channel Logout 1.0): they end the sessions and the bearer
//! tokens of an account (decision B11).

use std::sync::OnceLock;

use candor_domain::access::Tenant;
use candor_domain::access::api_key::ApiKey;
use candor_domain::audit::{Actor, AuditDraft, AuditEntry, Origin};
use candor_domain::decision::Decision;
use candor_domain::id::{IdentityProviderId, KeyId, RequestId};
use candor_domain::idempotency::IdempotencyKey;
use candor_domain::page::PageRequest;
use candor_domain::people::Employee;
use candor_domain::time::Timestamp;
use candor_domain::window::RateLimitStatus;
use candor_port_storage::{ChangeSet, Row, StorageExt, Versioned, Write};
use candor_sign_in::IdentityLink;
use candor_sign_in::session::READ_SESSIONS_OF_PERSON;
use candor_tables::rows;
use candor_tokens::claims::LogoutClaims;

use crate::change::{Attempt, Batch};
use crate::context::error::Error;
use crate::context::services::Services;

/// Name of the service's part that ends sessions, in audit entries.
const ACTOR: &str = "back-channel logout";

/// Result of a logout token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogoutResult {
    /// The token is valid: what it names has ended.
    Ended,
    /// The token is not valid for the provider. The cause is counted and logged.
    Refused,
    /// The token is valid, and the providers of its organization have used up their quota.
    OverQuota(RateLimitStatus),
}

/// Ends what a logout token names. An unknown account, and a token that was used before, change nothing.
///
/// # Errors
/// Errors of the store; see [`Error`].
pub async fn log_out(
    services: &Services,
    provider: IdentityProviderId,
    token: &str,
    (request, origin): (RequestId, Origin),
) -> Result<LogoutResult, Error> {
    let Some((tenant, claims)) = services.judge_logout(provider, token).await? else {
        return Ok(LogoutResult::Refused);
    };
    // One request counts once, also if its commit is retried.
    let admission = OnceLock::new();
    let plan = async |at: Timestamp| {
        let key = IdempotencyKey::from_logout(provider, &claims.token_id);
        if services.store.replay(tenant, &key, at).await?.is_some() {
            return Ok(Attempt::Done(Plan::Nothing));
        }
        let logout = LogoutRequest { services, tenant, provider, claims: &claims, request, origin: &origin };
        let Logout { change, sessions, .. } = logout.plan(at).await?;
        let Some(mut change) = change.finish() else { return Ok(Attempt::Done(Plan::Nothing)) };
        // Only writes count, so a token that is sent again and again uses up nothing.
        let admit = || services.limits.admit_logout(tenant.organization, services.clock.now());
        let rate_limit = admission.get_or_init(admit);
        if !rate_limit.admitted {
            return Ok(Attempt::Done(Plan::OverQuota(*rate_limit)));
        }
        change.replay = Some(services.seal_mark(tenant, key, at)?);
        Ok::<_, Error>(Attempt::Commit(tenant, Box::new(change), Plan::End(sessions)))
    };
    match services.retry(plan).await? {
        Plan::OverQuota(rate_limit) => return Ok(LogoutResult::OverQuota(rate_limit)),
        // Tokens that end nothing leave the caches, which all tenants share.
        Plan::Nothing => {}
        Plan::End(sessions) => {
            sessions.into_iter().for_each(|session| services.auth.forget(session));
            services.tokens.forget_rights();
        }
    }
    Ok(LogoutResult::Ended)
}

/// The plan for a logout token.
enum Plan {
    /// The token ends nothing, or was used before.
    Nothing,
    /// The token would end something, and the organization has used up its quota.
    OverQuota(RateLimitStatus),
    /// The token ends these sessions, and refuses bearer tokens.
    End(Vec<KeyId>),
}

/// The effect of a logout.
#[derive(Default)]
struct Logout {
    change: Batch,
    /// Sessions that are revoked.
    sessions: Vec<KeyId>,
    /// Subject of the account. If the logout token names only a session at the provider, the subject of the API
    /// sessions that came from it.
    subject: Option<String>,
}

/// A request of a provider to end the sessions and bearer tokens that a logout token names.
struct LogoutRequest<'a> {
    services: &'a Services,
    tenant: Tenant,
    provider: IdentityProviderId,
    claims: &'a LogoutClaims,
    request: RequestId,
    origin: &'a Origin,
}

impl LogoutRequest<'_> {
    async fn plan(&self, at: Timestamp) -> Result<Logout, Error> {
        let mut logout = Logout { subject: self.claims.subject.clone(), ..Logout::default() };
        if let Some(session_id) = &self.claims.session_id {
            let sessions = rows::api_keys::sessions_of_sid(self.provider, session_id, &PageRequest::ALL);
            let sessions = self.services.store.entries(self.tenant, sessions).await?;
            self.end_sessions(sessions, &mut logout, at)?;
        }
        if let Some(subject) = logout.subject.clone() {
            self.end_account(&subject, &mut logout, at).await?;
        }
        Ok(logout)
    }

    /// Revokes those sessions that came from the provider and the account. There are few.
    fn end_sessions(
        &self,
        sessions: Vec<Versioned<ApiKey>>,
        logout: &mut Logout,
        at: Timestamp,
    ) -> Result<(), Error> {
        for session in sessions {
            let is_named = logout.subject.is_none() || session.value.identity_subject == logout.subject;
            if !is_named || session.value.identity_provider_id != Some(self.provider) {
                continue;
            }
            logout.subject.clone_from(&session.value.identity_subject);
            if session.value.is_valid(at) {
                let Decision { state, audit, .. } = session.value.revoke(at)?;
                logout.sessions.push(state.id);
                let writes = vec![Write::put(&Row::at_version(state, session.version))];
                logout.change.add(ChangeSet { writes, ..ChangeSet::new(self.entry(audit, at)) });
            }
        }
        Ok(())
    }

    /// Refuses the bearer tokens of the account, and ends its sessions unless the token names one.
    async fn end_account(&self, subject: &str, logout: &mut Logout, at: Timestamp) -> Result<(), Error> {
        let account = IdentityLink::id_of(self.provider, subject);
        let Some(link) = self.services.store.row::<IdentityLink>(self.tenant, account).await? else {
            return Ok(());
        };
        let person = self.services.store.row::<Employee>(self.tenant, link.value.employee_id).await?;
        let Some(person) = person else { return Ok(()) };
        if self.claims.session_id.is_none() {
            // They are revoked, and not compared with the time of issue, which is one of the provider's clock.
            let sessions = rows::api_keys::valid_sessions_of(person.value.id, at, READ_SESSIONS_OF_PERSON);
            let sessions = self.services.store.entries(self.tenant, sessions).await?;
            self.end_sessions(sessions, logout, at)?;
        }
        if let Some((state, audit)) = link.value.log_out(&person.value, self.claims, at) {
            let time = at.max(state.updated_at);
            let writes = vec![Write::put(&Row::at_version(state, link.version))];
            logout.change.add(ChangeSet { writes, ..ChangeSet::new(self.entry(audit, time)) });
        }
        Ok(())
    }

    fn entry(&self, audit: AuditDraft, at: Timestamp) -> AuditEntry {
        let (request, origin) = (Some(self.request.to_string()), self.origin.clone());
        audit.into_entry(self.services.id(at), at, Actor::system(ACTOR), request, origin)
    }
}
