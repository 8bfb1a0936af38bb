//! Cache of facts about data sets, with a limited lifetime.

use std::time::Duration;

use candor_domain::access::Tenant;
use moka::sync::Cache;

/// Maximum number of cached data sets, some ten megabytes. Facts about further data sets are looked up each time.
const MOST: u64 = 100_000;

/// Creates a cache that drops each entry `lifetime` after its insertion.
pub(crate) fn tenant_cache<T: Clone + Send + Sync + 'static>(lifetime: Duration) -> Cache<Tenant, T> {
    Cache::builder().max_capacity(MOST).time_to_live(lifetime).build()
}
