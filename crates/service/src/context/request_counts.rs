//! Counts the answered requests of each data set, and adds the numbers to the store in batches.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use candor_domain::access::Tenant;
use candor_domain::request_stats::{KEPT_HOURS, RequestCount, hour_of};
use candor_domain::time::Timestamp;
use candor_port_storage::{Storage, StorageError};

/// Numbers of requests by hour and status.
type Counts = HashMap<(i64, u16), u64>;

/// Numbers of requests that are not in the store yet. A crash loses them, which is acceptable for statistics.
#[derive(Debug, Default)]
pub struct RequestCounters {
    pending: Mutex<HashMap<Tenant, Counts>>,
}

impl RequestCounters {
    /// Counts an answered request. It is stored with the next [`RequestCounters::flush`].
    pub fn add(&self, tenant: Tenant, status: u16, at: Timestamp) {
        *self.lock().entry(tenant).or_default().entry((hour_of(at), status)).or_default() += 1;
    }

    /// Returns the numbers of a data set that are not in the store yet.
    pub(crate) fn of_tenant(&self, tenant: Tenant) -> Vec<RequestCount> {
        self.lock().get(&tenant).map(list_counts).unwrap_or_default()
    }

    /// Stores the numbers since the last call, and removes those of hours that are older than 30 days.
    ///
    /// # Errors
    /// [`StorageError`] if the store does not answer; the next call tries again.
    pub async fn flush(&self, store: &dyn Storage, now: Timestamp) -> Result<(), StorageError> {
        let mut pending = std::mem::take(&mut *self.lock()).into_iter();
        for (tenant, counts) in pending.by_ref() {
            let store_result =
                store.add_request_counts(tenant, &list_counts(&counts), hour_of(now) - KEPT_HOURS).await;
            if let Err(error) = store_result {
                self.put_back(std::iter::once((tenant, counts)).chain(pending));
                return Err(error);
            }
        }
        Ok(())
    }

    fn put_back(&self, counts: impl Iterator<Item = (Tenant, Counts)>) {
        let mut pending = self.lock();
        for (tenant, counts) in counts {
            let of_tenant = pending.entry(tenant).or_default();
            for (key, count) in counts {
                *of_tenant.entry(key).or_default() += count;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Tenant, Counts>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn list_counts(counts: &Counts) -> Vec<RequestCount> {
    counts
        .iter()
        .map(|((hour, status), count)| RequestCount { hour: *hour, status: *status, count: *count })
        .collect()
}
