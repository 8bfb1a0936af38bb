//! Fetches of documents from identity providers, of which an organization has few at the same time: those of admins, of
//! visitors who sign in and of bearer tokens. Exchanges of codes have turns of their own (`exchange_turns`), so that no
//! visitor keeps a token from the keys of its provider.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use candor_domain::access::Tenant;
use candor_domain::id::OrganizationId;
use candor_fair_share::large_work::{LargeWork, Turn};
use candor_port_identity::{CodeExchange, FetchError, IdentityTransport, ProviderDocument};
use candor_port_storage::StorageError;
use candor_sign_in::evidence::ProviderEvidence;
use candor_tokens::key_set::KeySet;
use candor_tokens::strict_json::MAX_SMALL_DOCUMENT_BYTES;
use tokio::time::timeout;

/// Maximum number of fetches at the same time. Each holds up to half a MiB while its provider sends.
const FETCHES: usize = 128;
/// Maximum number of fetches of one organization at the same time: a provider that does not answer holds each for ten
/// seconds.
const FETCHES_OF_AN_ORGANIZATION: usize = 8;
/// Longest wait for a turn.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reads the response for a key set, in a turn of the organization if it is large.
///
/// # Errors
/// [`StorageError`] if the reading panics.
pub(crate) async fn read_keys(
    work: &LargeWork,
    organization: OrganizationId,
    (mut evidence, jwks_uri): (ProviderEvidence, String),
    document: Result<Bytes, FetchError>,
) -> Result<(ProviderEvidence, Option<KeySet>), StorageError> {
    let size = document.as_ref().map_or(0, Bytes::len);
    let read = move || {
        let keys = evidence.add_keys(&jwks_uri, document.as_deref().map_err(Clone::clone));
        (evidence, keys)
    };
    if size <= MAX_SMALL_DOCUMENT_BYTES { Ok(read()) } else { work.run(Tenant::live(organization), read).await }
}

/// A transport whose fetches of documents take turns.
pub struct BoundedTransport {
    transport: Arc<dyn IdentityTransport>,
    turns: LargeWork,
    /// Longest wait for a turn.
    patience: Duration,
}

impl BoundedTransport {
    /// Creates a transport that sends by another one.
    #[must_use]
    pub fn new(transport: Arc<dyn IdentityTransport>) -> Self {
        let turns = LargeWork::with_share(FETCHES, FETCHES_OF_AN_ORGANIZATION);
        Self { transport, turns, patience: PATIENCE }
    }

    /// Waits for a turn of an organization.
    async fn turn(&self, organization: OrganizationId) -> Result<Turn, FetchError> {
        let turn = timeout(self.patience, self.turns.turn(Tenant::live(organization))).await;
        turn.ok().and_then(Result::ok).ok_or(FetchError::Timeout)
    }
}

#[async_trait]
impl IdentityTransport for BoundedTransport {
    fn has_trusted_network(&self, organization: OrganizationId) -> bool {
        self.transport.has_trusted_network(organization)
    }

    async fn fetch_document(
        &self,
        organization: OrganizationId,
        address: &str,
    ) -> Result<ProviderDocument, FetchError> {
        let _turn = self.turn(organization).await?;
        self.transport.fetch_document(organization, address).await
    }

    async fn exchange_code(&self, exchange: CodeExchange) -> Result<ProviderDocument, FetchError> {
        self.transport.exchange_code(exchange).await
    }

    async fn read_text_records(&self, domain: &str) -> Result<Vec<String>, FetchError> {
        self.transport.read_text_records(domain).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::FutureExt;
    use futures_util::future::join_all;
    use tokio::sync::Semaphore;
    use ulid::Ulid;

    use super::*;

    /// A provider that answers each request when it gets a permit.
    struct SlowProvider {
        begun_count: AtomicUsize,
        permits: Semaphore,
    }

    #[async_trait]
    impl IdentityTransport for SlowProvider {
        fn has_trusted_network(&self, _: OrganizationId) -> bool {
            false
        }

        async fn fetch_document(&self, _: OrganizationId, _: &str) -> Result<ProviderDocument, FetchError> {
            self.begun_count.fetch_add(1, Ordering::SeqCst);
            self.permits.acquire().await.unwrap().forget();
            Err(FetchError::Closed)
        }

        async fn exchange_code(&self, exchange: CodeExchange) -> Result<ProviderDocument, FetchError> {
            self.fetch_document(exchange.organization, "").await
        }

        async fn read_text_records(&self, _: &str) -> Result<Vec<String>, FetchError> {
            Ok(vec![])
        }
    }

    #[tokio::test]
    async fn organization_has_few_fetches_at_once() {
        let provider = Arc::new(SlowProvider { begun_count: AtomicUsize::new(0), permits: Semaphore::new(0) });
        let begun_count = || provider.begun_count.load(Ordering::SeqCst);
        let transport = BoundedTransport::new(Arc::clone(&provider) as _);
        let impatient = BoundedTransport {
            turns: transport.turns.clone(),
            patience: Duration::ZERO,
            ..BoundedTransport::new(Arc::clone(&provider) as _)
        };
        let organization = |number: u128| OrganizationId::from_ulid(Ulid(number));
        let fetch = |number: u128| transport.fetch_document(organization(number), "https://idp.example/");
        let mut many = std::pin::pin!(join_all((0..50).map(|_| fetch(1))));
        assert!(many.as_mut().now_or_never().is_none());
        assert_eq!(begun_count(), FETCHES_OF_AN_ORGANIZATION);
        let mut other = std::pin::pin!(fetch(2));
        assert!(other.as_mut().now_or_never().is_none());
        assert_eq!(begun_count(), FETCHES_OF_AN_ORGANIZATION + 1, "another organization waits for none");
        let late = impatient.fetch_document(organization(1), "https://idp.example/").await;
        assert_eq!((late, begun_count()), (Err(FetchError::Timeout), FETCHES_OF_AN_ORGANIZATION + 1));
        provider.permits.add_permits(51);
        assert_eq!(other.await, Err(FetchError::Closed));
        assert!(many.await.iter().all(|result| *result == Err(FetchError::Closed)), "each gets its turn");
        assert_eq!(begun_count(), 51);
    }
}
