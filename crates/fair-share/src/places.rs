//! Slots for unindexed lists, shared fairly between organizations.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use candor_domain::access::Tenant;
use candor_domain::id::OrganizationId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use candor_port_storage::{SlowListError, StorageError, TooSlowError};

/// Limits for unindexed reads of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlowReads {
    /// Number of concurrent reads, each on a dedicated connection or thread. An organization gets at most half of
    /// them, but at least one.
    pub places: usize,
    /// Maximum duration of a read (decision A17).
    pub deadline: Duration,
    /// Maximum wait for a slot.
    pub wait: Duration,
    /// Maximum number of events that one poll of a filtered feed scans.
    pub feed_scan: u32,
}

/// Default deadline of a read (decision A17).
const DEADLINE: Duration = Duration::from_secs(2);
/// Default wait for a slot: [`DEADLINE`], so that a read that began before can end meanwhile.
const WAIT: Duration = Duration::from_secs(2);
/// Default number of events scanned per poll, in about 20 ms. A poll without a match returns its last position.
const FEED_SCAN: u32 = 20_000;

impl SlowReads {
    /// Creates the default limits with this many slots.
    #[must_use]
    pub const fn with_places(places: usize) -> Self {
        Self { places, deadline: DEADLINE, wait: WAIT, feed_scan: FEED_SCAN }
    }
}

/// Number of organizations whose shares are kept. If there are more, unused shares are dropped.
const MOST_OWNERS: usize = 1_000;

/// The slots of a store for unindexed reads, with a share for each organization.
#[derive(Debug)]
pub struct Places {
    all: Arc<Semaphore>,
    share: usize,
    wait: Duration,
    owners: Mutex<HashMap<OrganizationId, Arc<Semaphore>>>,
}

/// A taken slot, until it is dropped.
#[derive(Debug)]
pub struct SlowReadPermit {
    _share: OwnedSemaphorePermit,
    _place: OwnedSemaphorePermit,
}

impl Places {
    /// Creates the slots, all of them free.
    #[must_use]
    pub fn new(limits: &SlowReads) -> Self {
        let share = if limits.places < 2 { limits.places } else { limits.places / 2 };
        let all = Arc::new(Semaphore::new(limits.places));
        Self { all, share, wait: limits.wait, owners: Mutex::default() }
    }

    /// Takes a slot of the organization's share, which both of its data sets use, waiting at most [`SlowReads::wait`].
    ///
    /// # Errors
    /// [`StorageError::TooSlow`] with these conditions if no slot became free.
    pub async fn take(&self, tenant: Tenant, conditions: &[String]) -> Result<SlowReadPermit, StorageError> {
        let slot_of_share = async {
            // The share comes first, so that an organization that has used it up does not queue for the common slots.
            let share = self.share(tenant.organization).acquire_owned().await.ok()?;
            let place = Arc::clone(&self.all).acquire_owned().await.ok()?;
            Some(SlowReadPermit { _share: share, _place: place })
        };
        let slot = if self.share == 0 { None } else { timeout(self.wait, slot_of_share).await.ok().flatten() };
        slot.ok_or_else(|| TooSlowError { cause: SlowListError::NoPlace, conditions: conditions.to_vec() }.into())
    }

    fn share(&self, owner: OrganizationId) -> Arc<Semaphore> {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        if owners.len() >= MOST_OWNERS {
            owners.retain(|_, share| Arc::strong_count(share) > 1);
        }
        Arc::clone(owners.entry(owner).or_insert_with(|| Arc::new(Semaphore::new(self.share))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::access::Environment;

    fn places(count: usize) -> Places {
        Places::new(&SlowReads { wait: Duration::ZERO, ..SlowReads::with_places(count) })
    }

    fn tenant(number: u8) -> Tenant {
        Tenant::live(OrganizationId::from_bytes([number; 16]))
    }

    #[tokio::test]
    async fn organization_gets_at_most_half_of_the_slots() {
        let places = places(4);
        let slots = [places.take(tenant(1), &[]).await.unwrap(), places.take(tenant(1), &[]).await.unwrap()];
        let conditions = ["filter[type]".to_owned()];
        let test_data = Tenant { environment: Environment::Test, ..tenant(1) };
        assert!(places.take(test_data, &[]).await.is_err(), "both data sets have one share");
        let error = places.take(tenant(1), &conditions).await.unwrap_err();
        let StorageError::TooSlow(error) = error else { panic!("{error}") };
        assert_eq!(error, TooSlowError { cause: SlowListError::NoPlace, conditions: conditions.to_vec() });
        let others = [places.take(tenant(2), &[]).await.unwrap(), places.take(tenant(3), &[]).await.unwrap()];
        assert!(places.take(tenant(4), &[]).await.is_err(), "all slots are taken");
        drop(slots);
        assert!(places.take(tenant(4), &[]).await.is_ok());
        drop(others);
    }

    #[tokio::test]
    async fn single_slot_serves_any_organization_and_zero_slots_none() {
        let one = places(1);
        let slot = one.take(tenant(1), &[]).await.unwrap();
        assert!(one.take(tenant(2), &[]).await.is_err());
        drop(slot);
        assert!(one.take(tenant(2), &[]).await.is_ok());
        assert!(places(0).take(tenant(1), &[]).await.is_err());
    }

    #[tokio::test]
    async fn freed_slot_goes_to_the_waiting_caller() {
        let places =
            Arc::new(Places::new(&SlowReads { wait: Duration::from_secs(60), ..SlowReads::with_places(2) }));
        let slot = places.take(tenant(1), &[]).await.unwrap();
        let waiting = tokio::spawn({
            let places = Arc::clone(&places);
            async move { places.take(tenant(1), &[]).await.is_ok() }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(slot);
        assert!(waiting.await.unwrap());
    }

    #[tokio::test]
    async fn unused_shares_are_forgotten() {
        let places = places(2);
        let slot = places.take(tenant(0), &[]).await.unwrap();
        for number in 0..MOST_OWNERS + 10 {
            let bytes = u128::try_from(number + 1000).unwrap().to_be_bytes();
            drop(places.take(Tenant::live(OrganizationId::from_bytes(bytes)), &[]).await.unwrap());
        }
        assert!(places.owners.lock().unwrap().len() <= MOST_OWNERS);
        assert!(places.take(tenant(0), &[]).await.is_err(), "a share in use is remembered");
        drop(slot);
    }
}
