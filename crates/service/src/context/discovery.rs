//! Cache of the discovery documents of identity providers. Each document is used for ten minutes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use candor_domain::id::{IdentityProviderId, OrganizationId};
use candor_domain::identity::IdentityProvider;
use candor_domain::identity::discovery::{ProviderMetadata, discovery_address};
use candor_domain::identity::evidence::ProviderEvidence;
use candor_domain::time::Timestamp;

use super::services::Services;

/// Time after which a fetched document is fetched again, in seconds.
const FRESH_SECONDS: i64 = 600;
/// Time after a failure in which no fetch begins, in seconds, so that visitors cause no traffic.
const PAUSE_SECONDS: i64 = 15;
/// Number of documents above which all are forgotten.
const MAX_DOCUMENTS: usize = 10_000;

/// Documents, `None` after a failure, with the times of their fetches.
type Documents = HashMap<IdentityProviderId, (Option<Arc<ProviderMetadata>>, Timestamp)>;

/// The last discovery documents, and the failures to fetch one.
#[derive(Debug, Default)]
pub(crate) struct Discoveries {
    documents: Mutex<Documents>,
}

impl Services {
    /// Returns the discovery document of a provider; `None` if it cannot be fetched or used. The cause is logged.
    pub(crate) async fn find_metadata(
        &self,
        organization: OrganizationId,
        provider: &IdentityProvider,
    ) -> Option<ProviderMetadata> {
        let now = self.clock.now();
        let cached_document = self.discoveries.lock().get(&provider.id).cloned();
        if let Some((document, fetched_at)) = cached_document {
            let seconds = if document.is_some() { FRESH_SECONDS } else { PAUSE_SECONDS };
            if fetched_at <= now && now < fetched_at.plus_seconds(seconds) {
                return document.map(Arc::unwrap_or_clone);
            }
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
        let mut documents = self.discoveries.lock();
        if documents.len() >= MAX_DOCUMENTS {
            documents.clear();
        }
        documents.insert(provider.id, (metadata.clone().map(Arc::new), now));
        metadata
    }
}

impl Discoveries {
    fn lock(&self) -> MutexGuard<'_, Documents> {
        self.documents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
