//! Cache of the discovery documents of identity providers. Each document is used for ten minutes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use candor_domain::id::{IdentityProviderId, OrganizationId};
use candor_domain::time::Timestamp;
use candor_sign_in::IdentityProvider;
use candor_sign_in::evidence::ProviderEvidence;
use candor_tokens::discovery::{ProviderMetadata, discovery_address};

use super::bounded_map::{BoundedMap, Bounds};
use super::keyed_locks::KeyedLocks;
use super::services::Services;

/// Time after which a fetched document is fetched again, in seconds.
const FRESH_SECONDS: i64 = 600;
/// Time after a failure in which no fetch begins, in seconds, so that visitors cause no traffic.
const PAUSE_SECONDS: i64 = 15;
/// Bounds of the documents, each of which has less than 50 KiB.
const BOUNDS: Bounds = Bounds { all: 16 * 1024 * 1024, organization: 512 * 1024 };

/// Time for which a document serves while fetches fail, in seconds.
const STALE_SECONDS: i64 = 24 * 60 * 60;

/// The last good document of a provider, with the times of the fetches. A failure replaces no document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Document {
    metadata: Option<(Arc<ProviderMetadata>, Timestamp)>,
    /// Time of the last fetch, if it has failed.
    failed_at: Option<Timestamp>,
}

impl Document {
    /// Returns the document that serves, `Some(None)` soon after a failure, and `None` if a fetch is due.
    fn recall(&self, now: Timestamp) -> Option<Option<Arc<ProviderMetadata>>> {
        let is_within = |since: Timestamp, seconds| since <= now && now < since.plus_seconds(seconds);
        let serves_for = |seconds| {
            let metadata = self.metadata.as_ref().filter(|(_, fetched_at)| is_within(*fetched_at, seconds));
            metadata.map(|(metadata, _)| Arc::clone(metadata))
        };
        let rests = self.failed_at.is_some_and(|failed_at| is_within(failed_at, PAUSE_SECONDS));
        serves_for(FRESH_SECONDS).map(Some).or_else(|| rests.then(|| serves_for(STALE_SECONDS)))
    }

    /// Returns the document after a fetch.
    fn after_fetch(self, metadata: Option<Arc<ProviderMetadata>>, now: Timestamp) -> Self {
        match metadata {
            Some(metadata) => Self { metadata: Some((metadata, now)), failed_at: None },
            None => Self { failed_at: Some(now), ..self },
        }
    }
}

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
        let mut documents = self.discoveries.lock();
        let document = documents.get(provider.id).cloned().unwrap_or_default();
        let document = document.after_fetch(metadata.map(Arc::new), now);
        let size = document.metadata.as_ref().map_or(0, |(metadata, _)| metadata.size());
        let metadata = document.recall(now).flatten();
        documents.insert(provider.id, organization, size_of::<ProviderMetadata>() + size, document);
        metadata.map(Arc::unwrap_or_clone)
    }
}

impl Discoveries {
    /// Returns the document of a provider, as [`Document::recall`] does.
    fn recall(&self, provider: IdentityProviderId, now: Timestamp) -> Option<Option<ProviderMetadata>> {
        let metadata = self.lock().get(provider)?.recall(now)?;
        Some(metadata.map(Arc::unwrap_or_clone))
    }

    fn lock(&self) -> MutexGuard<'_, BoundedMap<IdentityProviderId, Document>> {
        self.documents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(issuer: &str) -> Arc<ProviderMetadata> {
        let address = |name: &str| format!("{issuer}/{name}");
        let document = serde_json::json!({
            "issuer": issuer, "authorization_endpoint": address("authorize"), "token_endpoint": address("token"),
            "jwks_uri": address("keys"),
        });
        Arc::new(ProviderMetadata::parse(document.to_string().as_bytes(), issuer).unwrap())
    }

    #[test]
    fn failure_replaces_no_document_for_a_day() {
        let time = |seconds: i64| Timestamp::from_millis(0).plus_seconds(seconds);
        let (good, better) = (metadata("https://a.example"), metadata("https://b.example"));
        assert_eq!(Document::default().recall(time(0)), None, "the first fetch");
        let fetched_document = Document::default().after_fetch(Some(Arc::clone(&good)), time(0));
        for (seconds, wanted) in [(0, Some(Some(good.clone()))), (599, Some(Some(good.clone()))), (600, None)] {
            assert_eq!(fetched_document.recall(time(seconds)), wanted, "{seconds}");
        }
        let failed_document = fetched_document.after_fetch(None, time(600));
        for (seconds, wanted) in [(600, Some(Some(good.clone()))), (614, Some(Some(good))), (615, None)] {
            assert_eq!(failed_document.recall(time(seconds)), wanted, "{seconds}");
        }
        let day = 24 * 60 * 60;
        let old_document = failed_document.clone().after_fetch(None, time(day));
        assert_eq!(old_document.recall(time(day)), Some(None), "too old");
        assert_eq!(old_document.recall(time(day + 15)), None);
        let newer_document = failed_document.after_fetch(Some(Arc::clone(&better)), time(700));
        assert_eq!(newer_document.recall(time(701)), Some(Some(better)));
        let missing_document = Document::default().after_fetch(None, time(0));
        assert_eq!((missing_document.recall(time(14)), missing_document.recall(time(15))), (Some(None), None));
    }
}
