//! Discovery documents of identity providers, which are fetched at most once in ten minutes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use candor_domain::id::{IdentityProviderId, OrganizationId};
use candor_domain::identity::IdentityProvider;
use candor_domain::identity::discovery::{ProviderMetadata, discovery_address};
use candor_domain::identity::evidence::ProviderEvidence;
use candor_domain::time::Timestamp;

use super::bounded_map::{BoundedMap, Bounds};
use super::keyed_locks::KeyedLocks;
use super::services::Services;

/// Time for which a document serves, in seconds.
const FRESH_SECONDS: i64 = 600;
/// Time after a failure in which no fetch begins, in seconds, so that visitors cause no traffic.
const PAUSE_SECONDS: i64 = 15;
/// Bounds of the documents, each of which has less than 50 KiB.
const BOUNDS: Bounds = Bounds { all: 16 * 1024 * 1024, organization: 512 * 1024 };

/// A document, `None` after a failure, with the time of its fetch.
type Document = (Option<Arc<ProviderMetadata>>, Timestamp);

/// The last discovery documents, and the failures to fetch one.
pub(crate) struct Discoveries {
    documents: Mutex<BoundedMap<IdentityProviderId, Document>>,
    /// Locks of the fetches: requests that need the same document wait for one fetch.
    fetches: KeyedLocks,
}

impl Default for Discoveries {
    fn default() -> Self {
        Self { documents: Mutex::new(BoundedMap::new(BOUNDS)), fetches: KeyedLocks::default() }
    }
}

impl Services {
    /// Returns the discovery document of a provider; `None` if it cannot be fetched or used. The cause is logged.
    pub(crate) async fn find_metadata(
        &self,
        organization: OrganizationId,
        provider: &IdentityProvider,
    ) -> Option<ProviderMetadata> {
        if let Some(document) = self.discoveries.recall(provider.id, self.clock.now()) {
            return document;
        }
        let _fetch = self.discoveries.fetches.lock(provider.id.to_bytes()).await;
        let now = self.clock.now();
        if let Some(document) = self.discoveries.recall(provider.id, now) {
            return document;
        }
        let mut evidence = ProviderEvidence::default();
        let address = discovery_address(&provider.issuer);
        let document = self.identity_transport.fetch_document(organization, &address).await;
        let document = document.as_ref().map(|document| &*document.body).map_err(Clone::clone);
        let metadata = evidence.add_discovery(&provider.issuer, document);
        if metadata.is_none() {
            tracing::warn!(
                identity_provider_id = %provider.id,
                "cannot use the discovery document of an identity provider: {}. Check it with POST \
                 /v1/identity-providers/{{id}}/check",
                evidence.problems.join("; ")
            );
        }
        let size = size_of::<ProviderMetadata>() + metadata.as_ref().map_or(0, ProviderMetadata::size);
        let document = (metadata.clone().map(Arc::new), now);
        self.discoveries.lock().insert(provider.id, organization, size, document);
        metadata
    }
}

impl Discoveries {
    /// Returns the document of a provider, `Some(None)` soon after a failure, and `None` if a fetch is due.
    fn recall(&self, provider: IdentityProviderId, now: Timestamp) -> Option<Option<ProviderMetadata>> {
        let (document, fetched_at) = self.lock().get(provider).cloned()?;
        let seconds = if document.is_some() { FRESH_SECONDS } else { PAUSE_SECONDS };
        let is_fresh = fetched_at <= now && now < fetched_at.plus_seconds(seconds);
        is_fresh.then(|| document.map(Arc::unwrap_or_clone))
    }

    fn lock(&self) -> MutexGuard<'_, BoundedMap<IdentityProviderId, Document>> {
        self.documents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
