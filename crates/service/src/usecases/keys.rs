//! API keys (§5, decisions B4 to B7).

use candor_domain::access::api_key::{ApiKey, Draft, Patch, generate, parse_rotation};
use candor_domain::access::{QuotaClass, Tenant};
use candor_domain::fields::{Reference, Word};
use candor_domain::id::{EmployeeKind, KeyId};
use candor_domain::json::Object;
use candor_domain::params::Params;
use candor_domain::people::Employee;
use candor_domain::secret::Secret;
use candor_domain::time::Timestamp;
use candor_port_clock::random32;
use candor_port_storage::StorageExt;
use candor_tables::rows;
use serde::Serialize;

use crate::context::call::Call;
use crate::context::change::Planned;
use crate::context::error::Error;
use crate::context::expand;
use crate::context::reply::Reply;
use crate::context::shell::{Shell, render};

/// The answer of creation and rotation, the only ones that carry the secret.
#[derive(Serialize)]
struct WithSecret<'a> {
    #[serde(flatten)]
    api_key: &'a ApiKey,
    key: &'a str,
}

fn with_secret(api_key: &ApiKey, secret: &Secret) -> Result<bytes::Bytes, Error> {
    render(&WithSecret { api_key, key: secret.reveal() })
}

/// `GET /api-keys`
///
/// # Errors
/// Invalid parameters, not an admin; see [`Error`].
pub async fn list(shell: &Shell, call: &Call, mut params: Params) -> Result<Reply, Error> {
    let request = params.changed::<ApiKey>("api-keys");
    let request = params.finish(request)?;
    let listing = rows::api_keys::list(request.filter, request.sort, &request.page);
    expand::plain_page(shell, call, &request, listing).await
}

/// `GET /api-keys/{id}`
///
/// # Errors
/// Not found, not an admin; see [`Error`].
pub async fn get(shell: &Shell, call: &Call, id: KeyId) -> Result<Reply, Error> {
    expand::plain(shell, call, &shell.stored::<ApiKey>(call, id).await?).await
}

/// `POST /api-keys`
///
/// # Errors
/// Invalid fields, not an admin, more access than the caller has, a person who is not there; see [`Error`].
pub async fn create(shell: &Shell, call: &Call, body: Object) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let draft = call.admit_new(|| Draft::parse(body.clone(), at))?;
        let tenant = Tenant { organization: call.caller.tenant.organization, environment: draft.environment };
        let person_exists = exists(shell, tenant, draft.employee.as_ref()).await?;
        let secret = generate(draft.environment, random32(&*shell.ids)?);
        let decision = ApiKey::create(shell.id(at), draft, &secret, Some(&call.caller), person_exists, at)?;
        let answer = with_secret(&decision.state, &secret)?;
        Ok(Planned::of(decision).answering(answer))
    };
    let reply = shell.create(call, "/api-keys", decide).await;
    shell.auth.forget_unknown();
    reply
}

/// Whether the person that a key is to act for is in the key's data set.
pub(crate) async fn exists(
    shell: &Shell,
    tenant: Tenant,
    person: Option<&Reference<EmployeeKind>>,
) -> Result<bool, Error> {
    match person.and_then(|it| it.id) {
        None => Ok(false),
        Some(id) => Ok(shell.store.row::<Employee>(tenant, id).await?.is_some()),
    }
}

/// `PATCH /api-keys/{id}`
///
/// # Errors
/// Not found, invalid fields, not an admin, more access than the caller has, revoked; see [`Error`].
pub async fn update(shell: &Shell, call: &Call, id: KeyId, body: Object) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let stored = shell.stored::<ApiKey>(call, id).await?;
        let patch = call.admit(stored.version, || Patch::parse(body.clone(), &stored.value, at))?;
        let decision = stored.value.update(patch, &call.caller, at)?;
        Ok((stored, decision.map(Planned::of)))
    };
    let reply = shell.update(call, decide).await;
    shell.auth.forget(id);
    reply
}

/// `POST /api-keys/{id}/rotate`
///
/// # Errors
/// Not found, invalid fields, not an admin, more access than the caller has, revoked; see [`Error`].
pub async fn rotate(shell: &Shell, call: &Call, id: KeyId, body: Object) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let stored = shell.stored::<ApiKey>(call, id).await?;
        let overlap = call.admit(stored.version, || parse_rotation(body.clone()))?;
        let secret = generate(stored.value.environment, random32(&*shell.ids)?);
        let decision = stored.value.rotate(&secret, overlap, &call.caller, at)?;
        let answer = with_secret(&decision.state, &secret)?;
        Ok((stored, Planned::of(decision).answering(answer)))
    };
    let reply = shell.act(call, decide).await;
    shell.auth.forget(id);
    shell.auth.forget_unknown();
    reply
}

/// `POST /api-keys/{id}/revoke`
///
/// # Errors
/// Not found, not an admin, revoked already; see [`Error`].
pub async fn revoke(shell: &Shell, call: &Call, id: KeyId) -> Result<Reply, Error> {
    let reply = shell.act_on(call, id, ApiKey::revoke).await;
    shell.auth.forget(id);
    reply
}

#[derive(Serialize)]
struct Quota {
    limit: u32,
    window_seconds: u32,
}

/// `GET /me`: what the key of the request is and may do (decision B7).
///
/// # Errors
/// See [`Error`].
pub fn me(call: &Call) -> Result<Reply, Error> {
    let caller = &call.caller;
    let window_seconds = candor_domain::window::WINDOW_SECONDS;
    let quota = |class: &QuotaClass| (class.word(), Quota { limit: caller.quotas.of(*class), window_seconds });
    let quotas: std::collections::BTreeMap<_, _> = QuotaClass::ALL.iter().map(quota).collect();
    let body = serde_json::json!({
        "key_id": caller.key,
        "name": caller.name,
        "organization_id": caller.tenant.organization,
        "environment": caller.tenant.environment.word(),
        "access_level": caller.level.word(),
        "scopes": caller.scopes,
        "employee_id": caller.person.map(|it| it.id),
        "expires_at": caller.expires_at,
        "quotas": quotas,
    });
    Ok(Reply::done(render(&body)?, None))
}
