//! API keys (§5, decisions B4 to B7).

use candor_domain::access::api_key::{
    ApiKey, Draft, Filter, KeyReferences, KeyRoom, Patch, generate, parse_rotation,
};
use candor_domain::access::{
    AccessLevel, AllowedNetworks, Environment, Permission, Permissions, QuotaClass, Tenant,
};
use candor_domain::id::{ConnectorId, EmployeeId, IdentityProviderId, KeyId, OrganizationId};
use candor_domain::json::Object;
use candor_domain::params::Params;
use candor_domain::people::Employee;
use candor_domain::secret::Secret;
use candor_domain::time::Timestamp;
use candor_port_clock::random32;
use candor_port_storage::change::ValidKeys;
use candor_port_storage::{Require, StorageExt};
use candor_provisioning::Connector;
use candor_tables::rows;
use schemars::JsonSchema;
use serde::Serialize;

use crate::change::resource::PendingChange;
use crate::context::error::Error;
use crate::context::expand;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::{Services, render};
use crate::usecases::organization;

/// Members of [`ApiKeyWithSecret`] with the secret or a part of it.
pub(super) const MADE_MEMBERS: &[&str] = &["key", "last4"];

/// An API key with its secret.
///
/// Only the responses to a creation and a rotation carry the secret.
#[derive(Serialize, JsonSchema)]
pub struct ApiKeyWithSecret<'a> {
    #[serde(flatten)]
    api_key: &'a ApiKey,
    /// API key for the header `Authorization: Bearer`. It cannot be retrieved later.
    key: &'a str,
}

pub(super) fn with_secret(api_key: &ApiKey, secret: &Secret) -> Result<bytes::Bytes, Error> {
    render(&ApiKeyWithSecret { api_key, key: secret.reveal() })
}

/// `GET /api-keys`: lists API keys.
///
/// # Errors
/// Invalid parameters, not an admin; see [`Error`].
pub async fn list(context: &RequestContext, params: Params) -> Result<Reply, Error> {
    let request = params.parse(Filter::read)?;
    let listing = rows::api_keys::list(request.filter, request.sort, &request.page);
    expand::plain_page(context, &request, listing).await
}

/// `GET /api-keys/{id}`: returns an API key.
///
/// # Errors
/// Not found, not an admin; see [`Error`].
pub async fn get(context: &RequestContext, id: KeyId) -> Result<Reply, Error> {
    expand::plain(context, &context.find_stored::<ApiKey>(id).await?).await
}

/// `POST /api-keys`: creates an API key. The response includes its secret.
///
/// # Errors
/// Invalid fields, not an admin, more access than the caller has, an unknown person, the maximum number of valid
/// keys is reached; see [`Error`].
pub async fn create(context: &RequestContext, body: Object) -> Result<Reply, Error> {
    let draft = Draft::parse(body, context.services.clock.now());
    let decide = async |at: Timestamp| {
        let draft = context.validate_create(|| draft.clone())?;
        let references = load_references(&context.services, context.caller.tenant.organization, &draft).await?;
        let secret = generate(draft.environment, random32(&*context.services.ids)?);
        let decision =
            ApiKey::create(context.services.id(at), draft, &secret, Some(&context.caller), references, at)?;
        let body = with_secret(&decision.state, &secret)?;
        let room = require_room(context, &decision.state, at).await?;
        Ok(PendingChange::new(decision).with_requirements([room]).with_body(body, MADE_MEMBERS))
    };
    let reply = context.create(decide).await;
    context.services.auth.forget_unknown();
    reply
}

/// Checks that one more key may be valid beside those among which `key` counts. Returns the condition that this still
/// holds at commit time (decision B7).
pub(super) async fn require_room(context: &RequestContext, key: &ApiKey, at: Timestamp) -> Result<Require, Error> {
    let room = KeyRoom::new(key, context.services.settings.max_keys);
    let keys = ValidKeys { holder: room.holder, session: room.session, at };
    room.admit(
        context.services.store.count_valid_keys(context.caller.tenant.organization, keys, room.most).await?,
    )?;
    Ok(Require::KeysBelow(keys, room.most))
}

/// Loads the facts about the person and the connector that a new key of the organization names.
pub(crate) async fn load_references(
    services: &Services,
    organization: OrganizationId,
    draft: &Draft,
) -> Result<KeyReferences, Error> {
    let tenant = Tenant { organization, environment: draft.environment };
    let person = match draft.employee.as_ref().and_then(|person| person.id) {
        None => None,
        Some(id) => services.store.row::<Employee>(tenant, id).await?,
    };
    person.iter().try_for_each(|person| person.value.must_exist("create"))?;
    // Connectors serve both data sets and exist in the live one.
    let connector = match draft.connector.as_ref().and_then(|connector| connector.id) {
        None => None,
        Some(id) => services.store.row::<Connector>(Tenant::live(organization), id).await?,
    };
    Ok(KeyReferences {
        person_exists: person.is_some(),
        connector: connector.map(|connector| connector.value.kind),
    })
}

/// `PATCH /api-keys/{id}`: updates an API key.
///
/// # Errors
/// Not found, invalid fields, not an admin, more access than the caller has, revoked, an expired key that shall be
/// valid again while the maximum number of valid keys is reached; see [`Error`].
pub async fn update(context: &RequestContext, id: KeyId, body: Object) -> Result<Reply, Error> {
    let update = Patch::parse(body);
    let decide = async |at: Timestamp| {
        let key_row = context.find_stored::<ApiKey>(id).await?;
        let patch = context.validate_update(key_row.version, || update.resolve_with(&key_row.value, at))?;
        let returned_at = holder(context, &key_row.value).await?.and_then(|holder| holder.returned_at);
        let Some(decision) = key_row.value.update(patch, returned_at, &context.caller, at)? else {
            return Ok((key_row, None));
        };
        let is_valid_again = decision.state.is_valid(at) && !key_row.value.is_valid(at);
        let room = if is_valid_again { Some(require_room(context, &decision.state, at).await?) } else { None };
        Ok((key_row, Some(PendingChange::new(decision).with_requirements(room))))
    };
    let reply = context.update(decide).await;
    context.services.auth.forget(id);
    reply
}

/// Loads the person that a key acts for.
async fn holder(context: &RequestContext, key: &ApiKey) -> Result<Option<Employee>, Error> {
    let tenant = Tenant { organization: context.caller.tenant.organization, environment: key.environment };
    let Some(id) = key.employee_id else { return Ok(None) };
    Ok(context.services.store.row::<Employee>(tenant, id).await?.map(|stored| stored.value))
}

/// `POST /api-keys/{id}/rotate`: replaces the secret of an API key. The response includes the new secret.
///
/// # Errors
/// Not found, invalid fields, not an admin, more access than the caller has, revoked; see [`Error`].
pub async fn rotate(context: &RequestContext, id: KeyId, body: Object) -> Result<Reply, Error> {
    let overlap = parse_rotation(body);
    let decide = async |at: Timestamp| {
        let key_row = context.find_stored::<ApiKey>(id).await?;
        let overlap = context.validate_update(key_row.version, || overlap.clone())?;
        let secret = generate(key_row.value.environment, random32(&*context.services.ids)?);
        let decision = key_row.value.rotate(&secret, overlap, &context.caller, at)?;
        let body = with_secret(&decision.state, &secret)?;
        Ok((key_row, PendingChange::new(decision).with_body(body, MADE_MEMBERS)))
    };
    let reply = context.act(decide).await;
    context.services.auth.forget(id);
    context.services.auth.forget_unknown();
    reply
}

/// `POST /api-keys/{id}/revoke`: revokes an API key.
///
/// # Errors
/// Not found, not an admin, revoked already; see [`Error`].
pub async fn revoke(context: &RequestContext, id: KeyId) -> Result<Reply, Error> {
    let reply = context.act_on(id, ApiKey::revoke).await;
    context.services.auth.forget(id);
    reply
}

/// Limit of requests within a sliding window.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Quota {
    /// Requests that are allowed within the window.
    limit: u32,
    /// Length of the sliding window in seconds.
    #[schemars(range(min = 1))]
    window_seconds: u32,
}

/// Quotas of a key, by class.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct QuotasByClass {
    /// Quota of requests of the class `read`.
    read: Quota,
    /// Quota of requests of the class `write`.
    write: Quota,
    /// Quota of requests of the class `webhook_test`.
    webhook_test: Quota,
    /// Quota of requests of the class `csv`.
    csv: Quota,
    /// Quota of requests of the class `export`.
    export: Quota,
    /// Quota of requests of the class `scim`. Absent for keys without a connector.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Quota")]
    scim: Option<Quota>,
}

/// The key of a request and its access.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Me<'a> {
    /// Id of the API key of this request. For a bearer token, the id under which requests of its account are logged: no
    /// endpoint takes it.
    key_id: KeyId,
    /// Display name of the key, or the name of the person of a bearer token.
    name: &'a str,
    /// Organization of the key.
    organization_id: OrganizationId,
    /// Name of the organization.
    organization_name: &'a str,
    /// Data set that the key accesses.
    environment: Environment,
    /// Access level. `admin` permits administrative requests.
    access_level: AccessLevel,
    /// Permissions of the key.
    scopes: Permissions,
    /// Person the key acts for. The key sees only what this person may see. Null for a key of the organization.
    employee_id: Option<EmployeeId>,
    /// First and last name of this person. Null without a person, and without `employees:read`.
    employee_name: Option<String>,
    /// Manager of this person. Null if there is none, and without `employees:read`.
    manager_id: Option<EmployeeId>,
    /// First and last name of the manager. Null without a manager.
    manager_name: Option<String>,
    /// Connector of the identity provider that uses the key. Null for all keys without the scope `scim`.
    connector_id: Option<ConnectorId>,
    /// Identity provider of the bearer token of this request. Null for an API key.
    identity_provider_id: Option<IdentityProviderId>,
    /// Session that the key ends with: the key itself, or the one that created it. Null for a key that no session created.
    session_id: Option<KeyId>,
    /// Expiry time of the key. Null if it does not expire.
    expires_at: Option<Timestamp>,
    /// Networks from which the key can be used. Empty for no limit.
    allowed_networks: &'a AllowedNetworks,
    /// Request quotas of the key.
    quotas: QuotasByClass,
}

async fn find_person(context: &RequestContext, id: Option<EmployeeId>) -> Result<Option<Employee>, Error> {
    let Some(id) = id else { return Ok(None) };
    Ok(context.services.store.row::<Employee>(context.caller.tenant, id).await?.map(|person| person.value))
}

/// `GET /me`: describes the key of the request and its access (decision B7).
///
/// # Errors
/// See [`Error`].
pub async fn me(context: &RequestContext) -> Result<Reply, Error> {
    let caller = &context.caller;
    let organization = organization::load(context).await?.value;
    let may_name = caller.scopes.has(Permission::EmployeesRead);
    let employee = find_person(context, caller.bound_to().filter(|_| may_name)).await?;
    let manager_id = employee.as_ref().and_then(|person| person.manager_id);
    let manager = find_person(context, manager_id).await?;
    let window_seconds = candor_domain::window::WINDOW_SECONDS;
    let quota = |class| Quota { limit: caller.quotas.for_class(class), window_seconds };
    let body = Me {
        key_id: caller.key,
        name: &caller.name,
        organization_id: caller.tenant.organization,
        organization_name: &organization.name,
        environment: caller.tenant.environment,
        access_level: caller.level,
        scopes: caller.scopes,
        employee_id: caller.bound_to(),
        employee_name: employee.as_ref().map(Employee::full_name),
        manager_id,
        manager_name: manager.as_ref().map(Employee::full_name),
        connector_id: caller.connector,
        identity_provider_id: caller.identity_provider,
        session_id: caller.session,
        expires_at: caller.expires_at,
        allowed_networks: &caller.allowed_networks,
        quotas: QuotasByClass {
            read: quota(QuotaClass::Read),
            write: quota(QuotaClass::Write),
            webhook_test: quota(QuotaClass::WebhookTest),
            csv: quota(QuotaClass::Csv),
            export: quota(QuotaClass::Export),
            scim: caller.connector.map(|_| quota(QuotaClass::Scim)),
        },
    };
    Ok(Reply::ok(render(&body)?, None))
}
