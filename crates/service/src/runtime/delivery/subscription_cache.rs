//! Cache of subscriptions for delivery attempts. Entries live for a second.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use candor_dispatch::Now;
use candor_domain::event::EventType;
use candor_domain::secret::Secret;
use candor_domain::time::Timestamp;
use candor_port_storage::StorageExt;
use candor_port_storage::error::Read;
use candor_port_storage::queue::QueueKey;
use candor_subscriptions::{PayloadForm, Subscription, Topics};
use tokio::sync::OnceCell;

use crate::context::services::Services;
use crate::context::vault::{UnsealError, Vault};
use crate::context::{sealed_secrets, webhook_secrets};

/// Lifetime of a cache entry. A change by another process takes effect after this time.
const BELIEVED: Duration = Duration::from_secs(1);
/// Maximum number of cached subscriptions.
const MOST: usize = 4096;

/// Subscription data that an attempt needs.
pub(super) struct Receiver {
    pub(super) url: String,
    pub(super) active: bool,
    pub(super) payload: PayloadForm,
    /// Event types that may be delivered.
    types: Topics,
    /// Maximum number of requests in any second.
    pub(super) max_per_second: Option<u16>,
    /// Custom headers that every delivery carries.
    pub(super) headers: Vec<(String, Secret)>,
    /// Signing secrets and the ends of their validity, the oldest first.
    secrets: Vec<(Secret, Option<Timestamp>)>,
}

impl Receiver {
    fn new(queue: QueueKey, subscription: Subscription, vault: &Vault) -> Self {
        let open = |sealed_secret: &candor_subscriptions::SealedSecret| match sealed_secrets::open(
            vault,
            queue,
            &sealed_secret.sealed,
        ) {
            Ok(secret) => Some((secret, sealed_secret.ends_at)),
            Err(error) => {
                let (tenant, webhook) = queue;
                tracing::error!(
                    organization = %tenant.organization, %webhook, %error,
                    "cannot open a secret of a webhook; if no secret of the webhook can be opened, its deliveries \
                     wait. Add the key that encrypted the secret to CANDOR_MASTER_KEY"
                );
                None
            }
        };
        let headers: Result<_, UnsealError> = subscription
            .headers
            .0
            .iter()
            .map(|(name, header)| Ok((name.clone(), webhook_secrets::open_header(vault, queue, name, header)?)))
            .collect();
        let secrets = match &headers {
            Ok(_) => subscription.secrets.iter().filter_map(open).collect(),
            // The receiver would refuse a delivery without its headers, so the delivery waits, as without a secret.
            Err(error) => {
                let (tenant, webhook) = queue;
                tracing::error!(
                    organization = %tenant.organization, %webhook, %error,
                    "cannot open a header of a webhook: the deliveries of the webhook wait. Add the key that encrypted \
                     the header to CANDOR_MASTER_KEY"
                );
                vec![]
            }
        };
        let Subscription { url, active, payload, effective_event_types: types, .. } = subscription;
        let max_per_second = subscription.max_per_second.map(|rate| u16::try_from(rate).unwrap_or(u16::MAX));
        Self { url, active, payload, types, max_per_second, headers: headers.unwrap_or_default(), secrets }
    }

    /// Returns `true` if events of this type may be delivered (decision F6). Events of a type may be queued although a
    /// later change of the subscription removed the type.
    pub(super) fn may_get(&self, kind: EventType) -> bool {
        kind == EventType::TestPing || self.types.cover(kind)
    }

    /// Returns the secrets that sign at this time (§6.3).
    pub(super) fn signing_secrets(&self, at: Timestamp) -> Vec<Secret> {
        self.secrets
            .iter()
            .filter(|(_, end)| end.is_none_or(|end| at < end))
            .map(|(secret, _)| secret.clone())
            .collect()
    }
}

/// Cache of recently read subscriptions.
#[derive(Default)]
pub(super) struct SubscriptionCache(Mutex<HashMap<QueueKey, Arc<CachedSubscription>>>);

struct CachedSubscription {
    since: Now,
    /// Concurrent attempts for the same subscription wait for a single read.
    found: OnceCell<Option<Arc<Receiver>>>,
}

impl CachedSubscription {
    fn is_fresh(&self, now: Now) -> bool {
        // Both clocks must agree: after the wall clock is set back, its difference says nothing about the age.
        let wall = u128::from(now.wall.millis().abs_diff(self.since.wall.millis()));
        let steady = now.steady.saturating_sub(self.since.steady);
        wall < BELIEVED.as_millis() && steady < BELIEVED
    }
}

impl SubscriptionCache {
    /// Returns a subscription's receiver, or `None` if the subscription does not exist.
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) async fn get(&self, services: &Services, queue: QueueKey, now: Now) -> Read<Option<Arc<Receiver>>> {
        let cached_subscription = self.cached_entry(queue, now);
        let look = || async {
            let (tenant, webhook) = queue;
            let subscription = services.store.row::<Subscription>(tenant, webhook).await?;
            Ok(subscription.map(|row| Arc::new(Receiver::new(queue, row.value, &services.vault))))
        };
        cached_subscription.found.get_or_try_init(look).await.cloned()
    }

    /// Removes a changed subscription from the cache.
    pub(super) fn forget(&self, queue: QueueKey) {
        self.lock().remove(&queue);
    }

    fn cached_entry(&self, queue: QueueKey, now: Now) -> Arc<CachedSubscription> {
        let mut all = self.lock();
        if let Some(subscription) = all.get(&queue).filter(|receiver| receiver.is_fresh(now)) {
            return Arc::clone(subscription);
        }
        if all.len() >= MOST {
            all.retain(|_, receiver| receiver.is_fresh(now));
        }
        if all.len() >= MOST {
            all.clear();
        }
        let subscription = Arc::new(CachedSubscription { since: now, found: OnceCell::new() });
        all.insert(queue, Arc::clone(&subscription));
        subscription
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<QueueKey, Arc<CachedSubscription>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
