//! Counts of identity providers, for operators.

use candor_domain::access::Tenant;
use candor_domain::identity::{IdentityProvider, Status};
use candor_domain::time::Timestamp;
use candor_port_storage::{Storage, StorageError, StorageExt};
use candor_tables::rows;

/// Number of organizations that are read at once.
const PAGE: u16 = 100;

/// Counts of the identity providers of all organizations.
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
}

/// Counts the identity providers.
///
/// # Errors
/// [`StorageError`] if the store does not answer.
pub async fn count_providers(store: &dyn Storage) -> Result<ProviderCounts, StorageError> {
    let (mut counts, mut last) = (ProviderCounts::default(), None);
    loop {
        let page = store.organizations(last, PAGE).await?;
        for organization in &page {
            let providers = store.entries(Tenant::live(organization.id), rows::identity_providers::all()).await?;
            providers.iter().for_each(|provider| counts.add(&provider.value));
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
