//! Counts of identity providers, at which people sign in and from which programs get tokens.

use candor_domain::access::Tenant;
use candor_domain::identity::{IdentityProvider, Status};
use candor_domain::time::Timestamp;
use candor_port_storage::{Storage, StorageError, StorageExt};
use candor_tables::rows;

use super::finding::Finding;

/// Number of organizations that are read at once.
const PAGE: u16 = 100;

/// Counts of the providers of all organizations.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    active: usize,
    pending: usize,
    disabled: usize,
    /// Active providers with a proven audience of bearer tokens.
    with_tokens: usize,
    last_sign_in_at: Option<Timestamp>,
}

/// Counts the identity providers. Returns `None` if there is none.
pub(super) async fn look(store: &dyn Storage) -> Option<Finding> {
    match count(store).await {
        Ok(counts) if counts == Counts::default() => None,
        Ok(counts) => Some(counts.to_finding()),
        Err(error) => Some(Finding::from_error("sign-in", &error)),
    }
}

async fn count(store: &dyn Storage) -> Result<Counts, StorageError> {
    let (mut counts, mut last) = (Counts::default(), None);
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

impl Counts {
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

    fn to_finding(&self) -> Finding {
        let Self { active, pending, disabled, with_tokens, last_sign_in_at } = self;
        let last =
            last_sign_in_at.map_or_else(|| "no sign-in".to_owned(), |at| format!("the last sign-in at {at}"));
        let says = format!(
            "identity providers: {active} active, {pending} pending, {disabled} disabled; {with_tokens} with bearer \
             tokens; {last}"
        );
        Finding::good("sign-in", says)
    }
}
