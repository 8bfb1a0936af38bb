//! Commands of the operator: organizations and their first keys.

use candor_domain::access::api_key::{ApiKey, Draft, Filter, NAME_CHARS, generate, generate_code, is_end};
use candor_domain::access::{AccessLevel, AllowedNetworks, Environment, Permissions, Tenant};
use candor_domain::audit::AuditDraft;
use candor_domain::catalog::{Attribute, starter_set};
use candor_domain::decision::Resource;
use candor_domain::fields::{Reference, StringEnum};
use candor_domain::id::{ConnectorId, ConnectorKind, EmployeeKind, KeyId, OrganizationId};
use candor_domain::json::{Object, Value};
use candor_domain::organization::{self, Organization, Patch};
use candor_domain::page::{MAX_LIMIT, PageRequest, Sortable};
use candor_domain::people::connector::Type as ConnectorType;
use candor_domain::problem::ValidationErrors;
use candor_domain::refusal::DomainError;
use candor_domain::secret::Secret;
use candor_domain::text::single_line;
use candor_domain::time::Timestamp;
use candor_port_clock::random32;
use candor_port_storage::{ChangeSet, Row, StorageExt, Write};
use candor_provisioning::{Connector, connector};
use candor_tables::rows;
use serde::Serialize;

use crate::context::error::Error;
use crate::context::services::{Services, render};
use crate::usecases::keys;

/// Name of command line users in the audit log.
const OPERATOR: &str = "operator";

/// Request to create a key.
#[derive(Debug, Clone)]
pub struct NewKeyRequest {
    /// Organization that will own the key.
    pub organization: OrganizationId,
    /// Name of the key, for display.
    pub name: String,
    /// Permissions of the key.
    pub scopes: Permissions,
    /// Access level of the key.
    pub level: AccessLevel,
    /// Environment that the key opens.
    pub environment: Environment,
    /// Id of the person that the key acts for, as text.
    pub employee: Option<String>,
    /// Expiry time; `None` if the key does not expire.
    pub expires_at: Option<Timestamp>,
    /// Read quota per minute; `None` for the default.
    pub reads_per_minute: Option<u32>,
    /// Write quota per minute; `None` for the default.
    pub writes_per_minute: Option<u32>,
    /// Id of the connector whose provider uses the key, as text.
    pub connector: Option<String>,
    /// Quota of SCIM requests per minute; `None` for the default.
    pub scim_per_minute: Option<u32>,
    /// Networks from which the key can be used.
    pub allowed_networks: AllowedNetworks,
}

/// Creates an organization with a live and a test environment, each with the starter set of attributes.
///
/// # Errors
/// An invalid name; see [`Error`].
pub async fn create_organization(services: &Services, name: &str) -> Result<OrganizationId, Error> {
    single_line(name, 1..=organization::NAME_CHARS).map_err(|flaw| DomainError::invalid("name", flaw))?;
    let now = services.clock.now();
    let organization = Organization::new(services.id(now), name.to_owned(), now);
    for environment in [Environment::Live, Environment::Test] {
        let tenant = Tenant { organization: organization.id, environment };
        let draft = AuditDraft::new(&organization, "organization.create");
        let mut change = ChangeSet::new(services.entry_of_system(OPERATOR, draft, now));
        change.writes.push(Write::put(&Row::new(organization.clone())));
        for draft in starter_set() {
            let attribute = Attribute::create(services.id(now), draft, None, now)?.state;
            change.writes.push(Write::put(&Row::new(attribute)));
        }
        services.save(tenant, change).await?;
    }
    Ok(organization.id)
}

/// Returns every organization, the oldest first.
///
/// # Errors
/// See [`Error`].
pub async fn list_organizations(services: &Services) -> Result<Vec<Organization>, Error> {
    let mut organizations: Vec<Organization> = vec![];
    loop {
        let page = services
            .store
            .organizations(organizations.last().map(|organization| organization.id), MAX_LIMIT)
            .await?;
        let is_last = page.len() < usize::from(MAX_LIMIT);
        organizations.extend(page);
        if is_last {
            return Ok(organizations);
        }
    }
}

/// Renames an organization in both of its environments. Returns `false` if both already had the name.
///
/// # Errors
/// An unknown organization, an invalid name; see [`Error`].
pub async fn rename_organization(services: &Services, id: OrganizationId, name: &str) -> Result<bool, Error> {
    single_line(name, 1..=organization::NAME_CHARS).map_err(|flaw| DomainError::invalid("name", flaw))?;
    let patch = Patch { name: Some(name.to_owned()), ..Patch::default() };
    let mut has_changed = false;
    // The live environment comes last, because lists show its name: once the new name is listed, both are
    // renamed.
    for environment in [Environment::Test, Environment::Live] {
        let tenant = Tenant { organization: id, environment };
        let organization_row = services
            .store
            .row::<Organization>(tenant, tenant.organization)
            .await?
            .ok_or(Error::Refused(DomainError::NotFound))?;
        let now = services.clock.now();
        let Some(decision) = organization_row.value.update(&patch, now) else { continue };
        let mut change = ChangeSet::new(services.entry_of_system(OPERATOR, decision.audit, now));
        change.events = services.events(&decision.events, &render(&decision.state)?, now);
        change.writes.push(Write::put(&Row::at_version(decision.state, organization_row.version)));
        services.save(tenant, change).await?;
        has_changed = true;
    }
    Ok(has_changed)
}

/// Creates a key and returns its secret, which cannot be read again.
///
/// # Errors
/// An unknown organization or person, an invalid name, an expiry time in the past; see [`Error`].
pub async fn create_key(services: &Services, order: NewKeyRequest) -> Result<(KeyId, Secret), Error> {
    single_line(&order.name, 1..=NAME_CHARS).map_err(|flaw| DomainError::invalid("name", flaw))?;
    let now = services.clock.now();
    if let Some(end) = order.expires_at {
        is_end(end, now).map_err(|flaw| DomainError::invalid("expires_at", flaw))?;
    }
    let live = Tenant::live(order.organization);
    services
        .store
        .row::<Organization>(live, live.organization)
        .await?
        .ok_or(Error::Refused(DomainError::NotFound))?;
    let employee = order.employee.map(|text| Reference::<EmployeeKind> { id: text.parse().ok(), text });
    let connector = order.connector.map(|text| Reference::<ConnectorKind> { id: text.parse().ok(), text });
    let draft = Draft {
        name: order.name,
        environment: order.environment,
        access_level: order.level,
        scopes: order.scopes,
        employee,
        connector,
        expires_at: order.expires_at,
        reads_per_minute: order.reads_per_minute,
        writes_per_minute: order.writes_per_minute,
        scim_per_minute: order.scim_per_minute,
        allowed_networks: order.allowed_networks,
    };
    let mut problems = ValidationErrors::none();
    for (field, flaw) in draft.conflicts() {
        problems.add(field, flaw);
    }
    problems.or(()).map_err(DomainError::Invalid)?;
    let references = keys::load_references(services, order.organization, &draft).await?;
    let secret = generate(order.environment, random32(&*services.ids)?);
    let decision = ApiKey::create(services.id(now), draft, &secret, None, references, now)?;
    let mut change = ChangeSet::new(services.entry_of_system(OPERATOR, decision.audit, now));
    let id = decision.state.id;
    change.writes.push(Write::put(&Row::new(decision.state)));
    services.save(live, change).await?;
    services.auth.forget_unknown();
    Ok((id, secret))
}

/// Request to create a portal link (decision B8).
#[derive(Debug, Clone)]
pub struct NewLinkRequest {
    /// Organization that will own the key of the link.
    pub organization: OrganizationId,
    /// Name of the key, for display.
    pub name: String,
    /// Permissions of the key.
    pub scopes: Permissions,
    /// Access level of the key.
    pub level: AccessLevel,
    /// Environment that the key opens.
    pub environment: Environment,
    /// Lifetime of the key in seconds.
    pub seconds: i64,
    /// Networks from which the link and its key can be used.
    pub allowed_networks: AllowedNetworks,
}

/// A portal link that an operator created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLink {
    /// Id of the link's key.
    pub key_id: KeyId,
    /// The link itself, which opens the console once.
    pub url: Secret,
    /// End of the time in which the link can be opened.
    pub expires_at: Option<Timestamp>,
}

/// Creates a link that opens the console signed in.
///
/// # Errors
/// An unknown organization, an invalid name; see [`Error`].
pub async fn create_link(services: &Services, order: NewLinkRequest) -> Result<NewLink, Error> {
    single_line(&order.name, 1..=NAME_CHARS).map_err(|flaw| DomainError::invalid("name", flaw))?;
    let (at, live) = (services.clock.now(), Tenant::live(order.organization));
    let organization = services.store.row::<Organization>(live, live.organization).await?;
    organization.ok_or(Error::Refused(DomainError::NotFound))?;
    let draft = Draft {
        name: order.name,
        environment: order.environment,
        access_level: order.level,
        scopes: order.scopes,
        employee: None,
        expires_at: Some(at.plus_seconds(order.seconds)),
        reads_per_minute: None,
        writes_per_minute: None,
        connector: None,
        scim_per_minute: None,
        allowed_networks: order.allowed_networks,
    };
    let code = generate_code(random32(&*services.ids)?);
    let decision = ApiKey::create_link(services.id(at), draft, &code, None, at)?;
    let mut change = ChangeSet::new(services.entry_of_system(OPERATOR, decision.audit, at));
    let url = Secret::new(services.settings.portal_url("/", &code));
    let link = NewLink { key_id: decision.state.id, url, expires_at: decision.state.link_expires_at };
    change.writes.push(Write::put(&Row::new(decision.state)));
    services.save(live, change).await?;
    Ok(link)
}

/// Returns the organization that needs a first portal link: the only organization of the database, if it has no key.
/// Reads at most two organizations and one key.
///
/// # Errors
/// See [`Error`].
pub async fn organization_without_key(services: &Services) -> Result<Option<OrganizationId>, Error> {
    let organizations = services.store.organizations(None, 2).await?;
    let [Organization { id, .. }] = organizations.as_slice() else { return Ok(None) };
    let request = PageRequest { limit: 1, after: None };
    let listing = rows::api_keys::list(Filter::default(), ApiKey::DEFAULT, &request);
    let page = services.store.page(Tenant::live(*id), listing).await?;
    Ok(page.items.is_empty().then_some(*id))
}

/// Creates a connector with the default settings, and returns its id.
///
/// # Errors
/// An unknown organization, a source that is no slug; see [`Error`].
pub async fn create_connector(
    services: &Services,
    organization: OrganizationId,
    kind: ConnectorType,
    source: &str,
) -> Result<ConnectorId, Error> {
    let mut body = Object::new();
    body.push("type", Value::Text(kind.word().to_owned()));
    body.push("hris_source", Value::Text(source.to_owned()));
    let draft = connector::Draft::parse(body).map_err(DomainError::Invalid)?;
    let live = Tenant::live(organization);
    let live_organization = services.store.row::<Organization>(live, live.organization).await?;
    live_organization.ok_or(Error::Refused(DomainError::NotFound))?;
    let now = services.clock.now();
    let decision = Connector::create(services.id(now), draft, now);
    let mut change = ChangeSet::new(services.entry_of_system(OPERATOR, decision.audit, now));
    change.events = services.events(&decision.events, &render(&decision.state)?, now);
    let id = decision.state.id;
    change.writes.push(Write::put(&Row::new(decision.state)));
    services.save(live, change).await?;
    Ok(id)
}

/// A key with its organization.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OwnedKey {
    /// Organization that owns the key.
    pub organization_id: OrganizationId,
    /// Display name of the organization.
    pub organization_name: String,
    /// The stored key, without its secret.
    #[serde(flatten)]
    pub key: ApiKey,
}

/// Returns every key of an organization, newest first. Without an organization, returns the keys of all
/// organizations, starting with the oldest organization.
///
/// # Errors
/// An unknown organization; see [`Error`].
pub async fn list_keys(services: &Services, organization: Option<OrganizationId>) -> Result<Vec<OwnedKey>, Error> {
    let organizations = match organization {
        Some(id) => {
            let organization_row =
                services.store.row::<Organization>(Tenant::live(id), Tenant::live(id).organization).await?;
            vec![organization_row.ok_or(Error::Refused(DomainError::NotFound))?.value]
        }
        None => list_organizations(services).await?,
    };
    let mut key_views = vec![];
    for Organization { id, name, .. } in organizations {
        let keys = keys_of(services, id).await?;
        let owner = |key| OwnedKey { organization_id: id, organization_name: name.clone(), key };
        key_views.extend(keys.into_iter().map(owner));
    }
    Ok(key_views)
}

async fn keys_of(services: &Services, organization: OrganizationId) -> Result<Vec<ApiKey>, Error> {
    let sort = ApiKey::DEFAULT;
    let (mut keys, mut after) = (vec![], None);
    loop {
        let request = PageRequest { limit: MAX_LIMIT, after };
        let page = services
            .store
            .page(Tenant::live(organization), rows::api_keys::list(Filter::default(), sort, &request))
            .await?;
        after = page
            .items
            .last()
            .map(|item| crate::context::list::place(item, sort, item.id().to_bytes()))
            .transpose()?;
        keys.extend(page.items);
        if !page.more {
            return Ok(keys);
        }
    }
}

/// Revokes a key.
///
/// # Errors
/// An unknown or revoked key; see [`Error`].
pub async fn revoke_key(services: &Services, id: KeyId) -> Result<(), Error> {
    let missing = || Error::Refused(DomainError::NotFound);
    let (owner, stored) =
        services.store.row_in_any_tenant(rows::api_keys::BY_ID, id).await?.ok_or_else(missing)?;
    let now = services.clock.now();
    let decision = stored.value.revoke(now)?;
    let mut change = ChangeSet::new(services.entry_of_system(OPERATOR, decision.audit, now));
    change.writes.push(Write::put(&Row::at_version(decision.state, stored.version)));
    services.save(owner, change).await
}
