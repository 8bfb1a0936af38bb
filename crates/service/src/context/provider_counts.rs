//! Counts of identity providers, of the people with an account at one, and of their sessions, for operators.

use std::collections::HashSet;

use candor_domain::access::Tenant;
use candor_domain::access::api_key::{self, ApiKey, ApiKeyKind};
use candor_domain::id::{EmployeeId, OrganizationId};
use candor_domain::page::{PageRequest, Sortable};
use candor_domain::time::Timestamp;
use candor_port_storage::{Storage, StorageError, StorageExt};
use candor_sign_in::{IdentityLink, IdentityProvider, MAX_LIFETIME, Status};
use candor_tables::rows;

use crate::context::person_data::position;
use crate::context::sessions::load_basis;

/// Number of organizations, links or sessions that are read at once.
const PAGE: u16 = 100;

/// Counts of the identity providers of all organizations, and of those who sign in at them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProviderCounts {
    /// Active providers.
    pub active: usize,
    /// Providers that have proven nothing yet.
    pub pending: usize,
    /// Disabled providers.
    pub disabled: usize,
    /// Active providers with a proven audience of bearer tokens.
    pub with_tokens: usize,
    /// Time of the last sign-in, to the hour.
    pub last_sign_in_at: Option<Timestamp>,
    /// People with a link of an account.
    pub people: usize,
    /// Sessions that are valid now.
    pub sessions: usize,
}

/// Counts the identity providers, the people who have an account at one, and the sessions that are valid at `at`.
///
/// # Errors
/// [`StorageError`] if the store does not answer.
pub async fn count_providers(store: &dyn Storage, at: Timestamp) -> Result<ProviderCounts, StorageError> {
    let (mut counts, mut last) = (ProviderCounts::default(), None);
    loop {
        let page = store.organizations(last, PAGE).await?;
        for organization in &page {
            let providers = store.entries(Tenant::live(organization.id), rows::identity_providers::all()).await?;
            providers.iter().for_each(|provider| counts.add(&provider.value));
            if !providers.is_empty() {
                let providers = providers.iter().map(|provider| &provider.value);
                counts.people += count_people(store, organization.id, providers).await?;
                counts.sessions += count_sessions(store, organization.id, at).await?;
            }
        }
        last = page.last().map(|organization| organization.id);
        if page.len() < usize::from(PAGE) {
            return Ok(counts);
        }
    }
}

impl ProviderCounts {
    fn add(&mut self, provider: &IdentityProvider) {
        match provider.status {
            Status::Active => self.active += 1,
            Status::Pending => self.pending += 1,
            Status::Disabled => self.disabled += 1,
        }
        let takes_tokens = provider.audiences.iter().any(|audience| provider.proven_audiences.contains(audience));
        self.with_tokens += usize::from(provider.status == Status::Active && takes_tokens);
        self.last_sign_in_at = self.last_sign_in_at.max(provider.last_sign_in_at);
    }
}

async fn count_people(
    store: &dyn Storage,
    organization: OrganizationId,
    providers: impl Iterator<Item = &IdentityProvider>,
) -> Result<usize, StorageError> {
    let mut people: HashSet<EmployeeId> = HashSet::new();
    for provider in providers {
        let mut page = PageRequest { limit: PAGE, after: None };
        loop {
            let links = rows::identity_links::list(provider.id, IdentityLink::DEFAULT, &page);
            let links = store.entries(Tenant::live(organization), links).await?;
            people.extend(links.iter().map(|link| link.value.employee_id));
            page.after = links.last().and_then(|link| position(&link.value));
            if links.len() < usize::from(PAGE) {
                break;
            }
        }
    }
    Ok(people.len())
}

/// Counts the sessions of an organization that authenticate their person. Reads the newest sessions up to the longest
/// lifetime of one.
async fn count_sessions(
    store: &dyn Storage,
    organization: OrganizationId,
    at: Timestamp,
) -> Result<usize, StorageError> {
    let oldest = at.plus_seconds(-MAX_LIFETIME);
    let filter = api_key::Filter { kind: Some(ApiKeyKind::Session), ..api_key::Filter::default() };
    let (mut page, mut count) = (PageRequest { limit: PAGE, after: None }, 0);
    loop {
        let sessions = rows::api_keys::list(filter, ApiKey::DEFAULT, &page);
        let sessions = store.entries(Tenant::live(organization), sessions).await?;
        for session in sessions.iter().filter(|session| session.value.is_valid(at)) {
            let basis = load_basis(store, organization, &session.value).await?;
            let record = store.key_by_hash(session.value.hash).await?;
            let caller =
                basis.zip(record).and_then(|(basis, record)| basis.authenticate(&record, session.value.hash, at));
            count += usize::from(caller.is_some());
        }
        page.after = sessions.last().and_then(|session| position(&session.value));
        let is_past = sessions.last().is_none_or(|session| session.value.created_at < oldest);
        if is_past || sessions.len() < usize::from(PAGE) {
            return Ok(count);
        }
    }
}
