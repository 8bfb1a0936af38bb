//! Keys of identity providers: fetches them in the background, by the plan of the domain.
//!
//! A fetch runs in a task of its own, so that it ends although the client of the request has gone. A bounded
//! number of requests waits for the keys of a fetch; further requests that need these keys are refused at once.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use candor_domain::id::{IdentityProviderId, OrganizationId};
use candor_fair_share::LargeWork;
use candor_port_clock::Clock;
use candor_port_identity::IdentityTransport;
use candor_sign_in::evidence::ProviderEvidence;
use candor_tokens::discovery::discovery_address;
use candor_tokens::key_cache::{KeyCache, KeyPlan};
use candor_tokens::key_set::KeySet;
use metrics::counter;
use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;

use crate::context::provider_requests::read_keys;

/// Counter of fetches of key sets, by outcome.
const FETCHES: &str = "candor_identity_key_fetches_total";
/// Maximum number of requests that wait for the keys of a provider at the same time.
const MAX_WAITING: usize = 64;
/// Longest wait of a request for keys.
const PATIENCE: Duration = Duration::from_secs(10);
/// Number of plans of a request: one before its wait, one after, and one if another fetch was needed.
const PLANS: usize = 3;

/// Creates the counters of fetches.
pub(super) fn register_counters() {
    for outcome in ["ok", "failed"] {
        counter!(FETCHES, "outcome" => outcome).increment(0);
    }
}

/// The cached keys of a provider.
pub(super) struct ProviderKeys {
    cache: Mutex<KeyCache>,
    fetch_ended: Notify,
    waiting: Semaphore,
}

impl Default for ProviderKeys {
    fn default() -> Self {
        Self { cache: Mutex::default(), fetch_ended: Notify::new(), waiting: Semaphore::new(MAX_WAITING) }
    }
}

/// A fetch of the keys of a provider, with all that its task needs.
struct KeyFetch {
    keys: Arc<ProviderKeys>,
    transport: Arc<dyn IdentityTransport>,
    clock: Arc<dyn Clock>,
    work: LargeWork,
    organization: OrganizationId,
    provider: IdentityProviderId,
    issuer: String,
}

impl ProviderKeys {
    /// Returns the size of the keys in memory, in bytes.
    pub(super) fn size(&self) -> usize {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner).size()
    }

    /// Returns the keys for a token with this `kid`, and waits for a fetch if one is needed. Returns `None` if the keys
    /// cannot be fetched, the fetch takes too long, or too many requests wait already.
    pub(super) async fn get(
        self: &Arc<Self>,
        (transport, clock, work): (&Arc<dyn IdentityTransport>, &Arc<dyn Clock>, &LargeWork),
        (organization, provider): (OrganizationId, IdentityProviderId),
        issuer: &str,
        key_id: Option<&str>,
    ) -> Option<Arc<KeySet>> {
        let fetch = || {
            let (transport, clock) = (Arc::clone(transport), Arc::clone(clock));
            let keys = Arc::clone(self);
            let (work, issuer) = (work.clone(), issuer.to_owned());
            KeyFetch { keys, transport, clock, work, organization, provider, issuer }.start();
        };
        for _ in 0..PLANS {
            // Enabled before the plan, so that the end of a fetch between the plan and the wait is not missed.
            let mut fetch_end = std::pin::pin!(self.fetch_ended.notified());
            fetch_end.as_mut().enable();
            match self.plan(key_id, &**clock) {
                KeyPlan::Use(keys) => return Some(keys),
                KeyPlan::Refresh(keys) => {
                    fetch();
                    return Some(keys);
                }
                KeyPlan::Fetch => fetch(),
                KeyPlan::Wait => {}
                KeyPlan::Unavailable => return None,
            }
            let _place = self.waiting.try_acquire().ok()?;
            timeout(PATIENCE, fetch_end).await.ok()?;
        }
        None
    }

    fn plan(&self, key_id: Option<&str>, clock: &dyn Clock) -> KeyPlan {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner).plan(key_id, clock.now())
    }
}

impl KeyFetch {
    fn start(self) {
        tokio::spawn(async move {
            let fetched_keys = self.fetch().await;
            let mut cache = self.keys.cache.lock().unwrap_or_else(PoisonError::into_inner);
            let outcome = match fetched_keys {
                Ok((keys, max_age)) => {
                    cache.store(keys, max_age, self.clock.now());
                    "ok"
                }
                Err(cause) => {
                    tracing::warn!(
                        identity_provider_id = %self.provider,
                        "cannot fetch the keys of an identity provider: {cause}. Check it with POST \
                         /v1/identity-providers/{{id}}/check"
                    );
                    cache.fail();
                    "failed"
                }
            };
            drop(cache);
            counter!(FETCHES, "outcome" => outcome).increment(1);
            self.keys.fetch_ended.notify_waiters();
        });
    }

    /// Fetches the discovery document and the key set. Returns the keys, and the time for which they may be reused,
    /// in seconds, if the provider states it.
    async fn fetch(&self) -> Result<(KeySet, Option<i64>), String> {
        let mut evidence = ProviderEvidence::default();
        let fetch = async |address: String| self.transport.fetch_document(self.organization, &address).await;
        let discovery = fetch(discovery_address(&self.issuer)).await;
        let discovery = discovery.as_ref().map(|document| &*document.body).map_err(Clone::clone);
        let mut result = None;
        if let Some(metadata) = evidence.add_discovery(&self.issuer, discovery) {
            let document = fetch(metadata.jwks_uri.clone()).await;
            let body = document.as_ref().map(|document| document.body.clone()).map_err(Clone::clone);
            let keys;
            let for_keys = (evidence, metadata.jwks_uri);
            (evidence, keys) = read_keys(&self.work, self.organization, for_keys, body)
                .await
                .map_err(|error| error.to_string())?;
            result = keys.zip(document.ok()).map(|(keys, document)| (keys, document.max_age));
        }
        result.ok_or_else(|| evidence.problems.join("; "))
    }
}
