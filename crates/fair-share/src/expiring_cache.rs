//! A bounded cache whose entries have a limited lifetime.

use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quick_cache::sync::Cache;

/// Values by key, each for a limited time after its insertion. Clones share the values.
///
/// An expired value stays in memory until it is replaced or evicted: the number of values is bounded.
#[derive(Clone)]
pub struct ExpiringCache<K, V> {
    lifetime: Duration,
    values: Arc<Cache<K, (Instant, V)>>,
}

impl<K: Hash + Eq, V: Clone> ExpiringCache<K, V> {
    /// Creates a cache of at most `most` values. Evicts values that were read only once, then the least recently read
    /// ones.
    #[must_use]
    pub fn new(most: usize, lifetime: Duration) -> Self {
        Self { lifetime, values: Arc::new(Cache::new(most)) }
    }

    /// Returns the value of a key, unless it has expired.
    #[must_use]
    pub fn get(&self, key: &K) -> Option<V> {
        let (since, value) = self.values.get(key)?;
        (since.elapsed() < self.lifetime).then_some(value)
    }

    /// Sets the value of a key, and begins its lifetime.
    pub fn insert(&self, key: K, value: V) {
        self.values.insert(key, (Instant::now(), value));
    }
}

impl<K: Hash + Eq, V: Clone> fmt::Debug for ExpiringCache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExpiringCache").field("len", &self.values.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_is_returned_until_its_lifetime_is_over() {
        let cache = ExpiringCache::new(10, Duration::MAX);
        cache.clone().insert("a", 1);
        assert_eq!((cache.get(&"a"), cache.get(&"b")), (Some(1), None), "clones share the values");
        let cache_without_lifetime = ExpiringCache { lifetime: Duration::ZERO, ..cache };
        assert_eq!(cache_without_lifetime.get(&"a"), None);
    }

    #[test]
    fn number_of_values_is_bounded() {
        let cache = ExpiringCache::new(100, Duration::MAX);
        (0..10_000).for_each(|key| cache.insert(key, ()));
        assert!(cache.values.len() <= 128, "{cache:?}");
    }
}
