//! API keys (§5, decisions B4 to B7).

use candor_domain::access::api_key::{ApiKey, Draft, Patch, generate, parse_rotation};
use candor_domain::access::{QuotaClass, Tenant};
use candor_domain::fields::{Reference, StringEnum};
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

use crate::context::change::PendingChange;
use crate::context::error::Error;
use crate::context::expand;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::{Services, render};

/// Response of creation and rotation, the only ones with the secret.
#[derive(Serialize)]
struct WithSecret<'a> {
    #[serde(flatten)]
    api_key: &'a ApiKey,
    key: &'a str,
}

fn with_secret(api_key: &ApiKey, secret: &Secret) -> Result<bytes::Bytes, Error> {
    render(&WithSecret { api_key, key: secret.reveal() })
}

/// `GET /api-keys`: lists API keys.
///
/// # Errors
/// Invalid parameters, not an admin; see [`Error`].
pub async fn list(services: &Services, context: &RequestContext, mut params: Params) -> Result<Reply, Error> {
    let request = params.changed::<ApiKey>("api-keys");
    let request = params.finish(request)?;
    let listing = rows::api_keys::list(request.filter, request.sort, &request.page);
    expand::plain_page(services, context, &request, listing).await
}

/// `GET /api-keys/{id}`: returns an API key.
///
/// # Errors
/// Not found, not an admin; see [`Error`].
pub async fn get(services: &Services, context: &RequestContext, id: KeyId) -> Result<Reply, Error> {
    expand::plain(services, context, &services.find_stored::<ApiKey>(context, id).await?).await
}

/// `POST /api-keys`: creates an API key. The response includes its secret.
///
/// # Errors
/// Invalid fields, not an admin, more access than the caller has, an unknown person; see [`Error`].
pub async fn create(services: &Services, context: &RequestContext, body: Object) -> Result<Reply, Error> {
    let draft = Draft::parse(body, services.clock.now());
    let decide = async |at: Timestamp| {
        let draft = context.validate_create(|| draft.clone())?;
        let tenant = Tenant { organization: context.caller.tenant.organization, environment: draft.environment };
        let person_exists = exists(services, tenant, draft.employee.as_ref()).await?;
        let secret = generate(draft.environment, random32(&*services.ids)?);
        let decision = ApiKey::create(services.id(at), draft, &secret, Some(&context.caller), person_exists, at)?;
        let answer = with_secret(&decision.state, &secret)?;
        Ok(PendingChange::new(decision).answering(answer))
    };
    let reply = services.create(context, decide).await;
    services.auth.forget_unknown();
    reply
}

/// Returns `true` if the person of a key exists in the key's tenant.
pub(crate) async fn exists(
    services: &Services,
    tenant: Tenant,
    person: Option<&Reference<EmployeeKind>>,
) -> Result<bool, Error> {
    match person.and_then(|person| person.id) {
        None => Ok(false),
        Some(id) => Ok(services.store.row::<Employee>(tenant, id).await?.is_some()),
    }
}

/// `PATCH /api-keys/{id}`: updates an API key.
///
/// # Errors
/// Not found, invalid fields, not an admin, more access than the caller has, revoked; see [`Error`].
pub async fn update(services: &Services, context: &RequestContext, id: KeyId, body: Object) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let stored = services.find_stored::<ApiKey>(context, id).await?;
        let patch = context.validate_update(stored.version, || Patch::parse(body.clone(), &stored.value, at))?;
        let decision = stored.value.update(patch, &context.caller, at)?;
        Ok((stored, decision.map(PendingChange::new)))
    };
    let reply = services.update(context, decide).await;
    services.auth.forget(id);
    reply
}

/// `POST /api-keys/{id}/rotate`: replaces the secret of an API key. The response includes the new secret.
///
/// # Errors
/// Not found, invalid fields, not an admin, more access than the caller has, revoked; see [`Error`].
pub async fn rotate(services: &Services, context: &RequestContext, id: KeyId, body: Object) -> Result<Reply, Error> {
    let overlap = parse_rotation(body);
    let decide = async |at: Timestamp| {
        let stored = services.find_stored::<ApiKey>(context, id).await?;
        let overlap = context.validate_update(stored.version, || overlap.clone())?;
        let secret = generate(stored.value.environment, random32(&*services.ids)?);
        let decision = stored.value.rotate(&secret, overlap, &context.caller, at)?;
        let answer = with_secret(&decision.state, &secret)?;
        Ok((stored, PendingChange::new(decision).answering(answer)))
    };
    let reply = services.act(context, decide).await;
    services.auth.forget(id);
    services.auth.forget_unknown();
    reply
}

/// `POST /api-keys/{id}/revoke`: revokes an API key.
///
/// # Errors
/// Not found, not an admin, revoked already; see [`Error`].
pub async fn revoke(services: &Services, context: &RequestContext, id: KeyId) -> Result<Reply, Error> {
    let reply = services.act_on(context, id, ApiKey::revoke).await;
    services.auth.forget(id);
    reply
}

#[derive(Serialize)]
struct Quota {
    limit: u32,
    window_seconds: u32,
}

/// `GET /me`: describes the key of the request and its access (decision B7).
///
/// # Errors
/// See [`Error`].
pub fn me(context: &RequestContext) -> Result<Reply, Error> {
    let caller = &context.caller;
    let window_seconds = candor_domain::window::WINDOW_SECONDS;
    let quota = |class: &QuotaClass| (class.word(), Quota { limit: caller.quotas.for_class(*class), window_seconds });
    let quotas: std::collections::BTreeMap<_, _> = QuotaClass::ALL.iter().map(quota).collect();
    let body = serde_json::json!({
        "key_id": caller.key,
        "name": caller.name,
        "organization_id": caller.tenant.organization,
        "environment": caller.tenant.environment.word(),
        "access_level": caller.level.word(),
        "scopes": caller.scopes,
        "employee_id": caller.person.map(|person| person.id),
        "expires_at": caller.expires_at,
        "quotas": quotas,
    });
    Ok(Reply::ok(render(&body)?, None))
}
