//! Facts about data sets that are looked up again after a while.

use std::time::Duration;

use candor_domain::access::Tenant;
use moka::sync::Cache;

/// Data sets in a cache, which takes some ten megabytes; facts about others are looked up each time.
const MOST: u64 = 100_000;

/// Creates a cache that forgets each fact so long after it was stored.
pub(crate) fn tenant_cache<T: Clone + Send + Sync + 'static>(lifetime: Duration) -> Cache<Tenant, T> {
    Cache::builder().max_capacity(MOST).time_to_live(lifetime).build()
}
