//! Places set apart for lists that no index answers, shared out between tenants.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use candor_domain::access::Tenant;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use candor_port_storage::{SlowCause, StorageError, TooSlow};

/// What a store may spend on reads that no index answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlowReads {
    /// So many run at once, each on a connection or thread that nothing else needs. A tenant has at most half of them,
    /// but one.
    pub places: usize,
    /// The longest that one of them runs (decision A17).
    pub deadline: Duration,
    /// The longest wait for a place.
    pub wait: Duration,
    /// The most events that one poll of a filtered feed looks at.
    pub feed_scan: u32,
}

/// The deadline of decision A17.
const DEADLINE: Duration = Duration::from_secs(2);
/// As long as one read that came first may take.
const WAIT: Duration = Duration::from_secs(2);
/// Some 20 ms; a poll that finds nothing in so many events answers how far it came.
const FEED_SCAN: u32 = 20_000;

impl SlowReads {
    /// The usual bounds, with so many places.
    #[must_use]
    pub const fn with_places(places: usize) -> Self {
        Self { places, deadline: DEADLINE, wait: WAIT, feed_scan: FEED_SCAN }
    }
}

/// Tenants whose shares are remembered; those that nobody uses are forgotten when there are more.
const MOST_TENANTS: usize = 1_000;

/// The places of a store.
#[derive(Debug)]
pub struct Places {
    all: Arc<Semaphore>,
    share: usize,
    wait: Duration,
    tenants: Mutex<HashMap<Tenant, Arc<Semaphore>>>,
}

/// One of them, until it is dropped.
#[derive(Debug)]
pub struct SlowReadPermit {
    _share: OwnedSemaphorePermit,
    _place: OwnedSemaphorePermit,
}

impl Places {
    /// All of them free.
    #[must_use]
    pub fn new(limits: &SlowReads) -> Self {
        let share = if limits.places < 2 { limits.places } else { limits.places / 2 };
        let all = Arc::new(Semaphore::new(limits.places));
        Self { all, share, wait: limits.wait, tenants: Mutex::default() }
    }

    /// A place of the tenant's share, for which it may wait a moment.
    ///
    /// # Errors
    /// [`StorageError::TooSlow`] with the conditions that ask for it, if none became free.
    pub async fn take(&self, tenant: Tenant, conditions: &[String]) -> Result<SlowReadPermit, StorageError> {
        let taken = async {
            // First the share, so that nobody who has used it up keeps others waiting.
            let share = self.share(tenant).acquire_owned().await.ok()?;
            let place = Arc::clone(&self.all).acquire_owned().await.ok()?;
            Some(SlowReadPermit { _share: share, _place: place })
        };
        let taken = if self.share == 0 { None } else { timeout(self.wait, taken).await.ok().flatten() };
        taken.ok_or_else(|| TooSlow { cause: SlowCause::NoPlace, conditions: conditions.to_vec() }.into())
    }

    fn share(&self, tenant: Tenant) -> Arc<Semaphore> {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if tenants.len() >= MOST_TENANTS {
            tenants.retain(|_, it| Arc::strong_count(it) > 1);
        }
        Arc::clone(tenants.entry(tenant).or_insert_with(|| Arc::new(Semaphore::new(self.share))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::id::OrganizationId;

    fn places(count: usize) -> Places {
        Places::new(&SlowReads { wait: Duration::ZERO, ..SlowReads::with_places(count) })
    }

    fn tenant(number: u8) -> Tenant {
        Tenant::live(OrganizationId::from_bytes([number; 16]))
    }

    #[tokio::test]
    async fn a_tenant_has_half_of_the_places() {
        let places = places(4);
        let held = [places.take(tenant(1), &[]).await.unwrap(), places.take(tenant(1), &[]).await.unwrap()];
        let conditions = ["filter[type]".to_owned()];
        let refused = places.take(tenant(1), &conditions).await.unwrap_err();
        let StorageError::TooSlow(refused) = refused else { panic!("{refused}") };
        assert_eq!(refused, TooSlow { cause: SlowCause::NoPlace, conditions: conditions.to_vec() });
        let others = [places.take(tenant(2), &[]).await.unwrap(), places.take(tenant(3), &[]).await.unwrap()];
        assert!(places.take(tenant(4), &[]).await.is_err(), "all are taken");
        drop(held);
        assert!(places.take(tenant(4), &[]).await.is_ok());
        drop(others);
    }

    #[tokio::test]
    async fn one_place_is_for_everybody_and_none_for_nobody() {
        let one = places(1);
        let held = one.take(tenant(1), &[]).await.unwrap();
        assert!(one.take(tenant(2), &[]).await.is_err());
        drop(held);
        assert!(one.take(tenant(2), &[]).await.is_ok());
        assert!(places(0).take(tenant(1), &[]).await.is_err());
    }

    #[tokio::test]
    async fn whoever_waits_has_the_place_that_becomes_free() {
        let places = Arc::new(Places::new(&SlowReads { wait: Duration::from_secs(60), ..SlowReads::with_places(2) }));
        let held = places.take(tenant(1), &[]).await.unwrap();
        let waiting = tokio::spawn({
            let places = Arc::clone(&places);
            async move { places.take(tenant(1), &[]).await.is_ok() }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(held);
        assert!(waiting.await.unwrap());
    }

    #[tokio::test]
    async fn shares_that_nobody_uses_are_forgotten() {
        let places = places(2);
        let held = places.take(tenant(0), &[]).await.unwrap();
        for number in 0..MOST_TENANTS + 10 {
            let bytes = u128::try_from(number + 1000).unwrap().to_be_bytes();
            drop(places.take(Tenant::live(OrganizationId::from_bytes(bytes)), &[]).await.unwrap());
        }
        assert!(places.tenants.lock().unwrap().len() <= MOST_TENANTS);
        assert!(places.take(tenant(0), &[]).await.is_err(), "a share in use is remembered");
        drop(held);
    }
}
