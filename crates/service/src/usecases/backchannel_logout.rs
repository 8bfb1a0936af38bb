//! Logout tokens of identity providers (OpenID Connect Back-Channel Logout 1.0): they end the sessions and the bearer
//! tokens of an account (decisions B10, B11).

use candor_domain::access::Tenant;
use candor_domain::audit::{Actor, Origin};
use candor_domain::id::{IdentityProviderId, RequestId};
use candor_domain::idempotency::IdempotencyKey;
use candor_domain::identity::IdentityLink;
use candor_domain::identity::claims::LogoutClaims;
use candor_domain::people::Employee;
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, Row, StorageExt, Write};

use crate::change::Attempt;
use crate::context::error::Error;
use crate::context::services::Services;

/// Name of the service's part that ends sessions, in audit entries.
const ACTOR: &str = "back-channel logout";

/// Ends what a logout token names. Returns `false` for a token that is not valid for the provider; the cause is counted and
/// logged. An account that nobody knows, and a token that was used before, change nothing.
///
/// # Errors
/// Errors of the store; see [`Error`].
pub async fn log_out(
    services: &Services,
    provider: IdentityProviderId,
    token: &str,
    (request, origin): (RequestId, Origin),
) -> Result<bool, Error> {
    let Some((tenant, claims)) = services.judge_logout(provider, token).await? else { return Ok(false) };
    let plan = async |at: Timestamp| {
        let key = IdempotencyKey::from_logout(provider, &claims.token_id);
        if services.store.replay(tenant, &key, at).await?.is_some() {
            return Ok(Attempt::Done(()));
        }
        let Some(mut change) =
            end_tokens(services, (tenant, provider), &claims, (request, origin.clone()), at).await?
        else {
            return Ok(Attempt::Done(()));
        };
        change.replay = Some(services.seal_mark(tenant, key, at)?);
        Ok::<_, Error>(Attempt::Commit(tenant, Box::new(change), ()))
    };
    services.retry(plan).await?;
    services.tokens.forget_rights();
    Ok(true)
}

/// Returns the change that refuses the bearer tokens of the account up to the logout.
async fn end_tokens(
    services: &Services,
    (tenant, provider): (Tenant, IdentityProviderId),
    claims: &LogoutClaims,
    (request, origin): (RequestId, Origin),
    at: Timestamp,
) -> Result<Option<ChangeSet>, Error> {
    let Some(subject) = &claims.subject else { return Ok(None) };
    let account = IdentityLink::id_of(provider, subject);
    let Some(link) = services.store.row::<IdentityLink>(tenant, account).await? else { return Ok(None) };
    let Some(person) = services.store.row::<Employee>(tenant, link.value.employee_id).await? else {
        return Ok(None);
    };
    let Some((state, draft)) = link.value.log_out(&person.value, claims.issued_at, at) else { return Ok(None) };
    let actor = Actor::system(ACTOR);
    let time = at.max(state.updated_at);
    let entry = draft.into_entry(services.id(time), time, actor, Some(request.to_string()), origin);
    let writes = vec![Write::put(&Row::at_version(state, link.version))];
    Ok(Some(ChangeSet { writes, ..ChangeSet::new(entry) }))
}
