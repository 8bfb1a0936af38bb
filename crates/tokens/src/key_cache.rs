//! Cache of a provider's key set, as a state machine without I/O: it decides when to fetch and which keys serve.
//!
//! The inputs of the cache are requests for keys, the results of fetches and the time. Its owner fetches, and holds a lock only
//! while it calls the machine.

use std::sync::Arc;

use candor_forms::time::Timestamp;

use super::key_set::KeySet;

/// Longest use of a key set without another fetch, in seconds.
pub const MAX_FRESH_SECONDS: i64 = 600;
/// Shortest use of a key set, in seconds, also if the provider allows less.
pub const MIN_FRESH_SECONDS: i64 = 60;
/// Minimum time between two fetches for unknown keys, in seconds, so that tokens of other issuers cannot cause
/// many fetches.
pub const UNKNOWN_KEY_SECONDS: i64 = 60;
/// Longest use of known keys while fetches fail, in seconds.
pub const MAX_STALE_SECONDS: i64 = 24 * 60 * 60;
/// Time between two fetches while fetches fail, in seconds.
pub const RETRY_SECONDS: i64 = 15;
/// Time after which a fetch without a result counts as lost, in seconds. It is longer than the time limit of a fetch.
pub const FETCH_SECONDS: i64 = 30;

/// The key set of one provider, with the times of its fetches.
///
/// ```
/// use candor_tokens::key_cache::{KeyCache, KeyPlan};
/// use candor_tokens::key_set::KeySet;
/// use candor_forms::time::Timestamp;
///
/// let now = Timestamp::from_millis(0);
/// let mut cache = KeyCache::default();
/// assert_eq!(cache.plan(None, now), KeyPlan::Fetch);
/// assert_eq!(cache.plan(None, now), KeyPlan::Wait);
/// cache.store(KeySet::default(), Some(3600), now);
/// assert!(matches!(cache.plan(None, now.plus_seconds(449)), KeyPlan::Use(_)));
/// assert!(matches!(cache.plan(None, now.plus_seconds(450)), KeyPlan::Refresh(_)));
/// assert!(matches!(cache.plan(None, now.plus_seconds(451)), KeyPlan::Use(_)));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyCache {
    stored: Option<StoredKeys>,
    /// Start of the last fetch.
    last_fetch: Option<Timestamp>,
    is_fetching: bool,
    /// `true` if the last fetch has failed.
    has_failed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct StoredKeys {
    keys: Arc<KeySet>,
    fetched_at: Timestamp,
    fresh_seconds: i64,
}

/// The next step of a request for keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPlan {
    /// The request uses these keys. A key that is not among them is unknown.
    Use(Arc<KeySet>),
    /// The request uses these keys. The owner of the cache fetches the key set meanwhile and reports the result.
    Refresh(Arc<KeySet>),
    /// The request fetches the key set and reports the result; then it asks again.
    Fetch,
    /// Another request fetches the keys; this request waits for the result and asks again.
    Wait,
    /// There are no keys, and it is too early for another fetch.
    Unavailable,
}

impl KeyCache {
    /// Returns the size of the keys in memory, in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.stored.as_ref().map_or(0, |stored| stored.keys.size())
    }

    /// Decides the next step of a request for the key of a token with this `kid`. [`KeyPlan::Fetch`] and
    /// [`KeyPlan::Refresh`] are recorded as the start of a fetch.
    pub fn plan(&mut self, key_id: Option<&str>, now: Timestamp) -> KeyPlan {
        let usable_keys = self.stored.as_ref().filter(|stored| stored.is_within(MAX_STALE_SECONDS, now));
        let is_fresh = usable_keys.is_some_and(|stored| stored.is_within(stored.fresh_seconds, now));
        let is_known = usable_keys.is_some_and(|stored| key_id.is_none_or(|id| stored.keys.has_key(id)));
        let usable_keys = usable_keys.map(|stored| Arc::clone(&stored.keys));
        // While fetches fail, a request with known keys does not wait for the next fetch.
        if let Some(keys) = usable_keys.clone().filter(|_| is_known && (is_fresh || self.has_failed)) {
            return if self.begin_refresh(now) { KeyPlan::Refresh(keys) } else { KeyPlan::Use(keys) };
        }
        if self.is_fetching && self.was_fetched_within(FETCH_SECONDS, now) {
            return KeyPlan::Wait;
        }
        let pause = if is_fresh { UNKNOWN_KEY_SECONDS } else { RETRY_SECONDS };
        if self.was_fetched_within(pause, now) {
            return usable_keys.map_or(KeyPlan::Unavailable, KeyPlan::Use);
        }
        self.begin_fetch(now);
        KeyPlan::Fetch
    }

    /// Begins a fetch if three quarters of the time for which the keys are fresh are over, no fetch is running,
    /// and none began within [`RETRY_SECONDS`]. Returns `true` if it began one. New keys then come before a
    /// request has to wait for them.
    fn begin_refresh(&mut self, now: Timestamp) -> bool {
        let is_due = |stored: &StoredKeys| !stored.is_within(stored.fresh_seconds * 3 / 4, now);
        let is_running = self.is_fetching && self.was_fetched_within(FETCH_SECONDS, now);
        let begins = self.stored.as_ref().is_some_and(is_due)
            && !is_running
            && !self.was_fetched_within(RETRY_SECONDS, now);
        if begins {
            self.begin_fetch(now);
        }
        begins
    }

    const fn begin_fetch(&mut self, now: Timestamp) {
        self.is_fetching = true;
        self.last_fetch = Some(now);
    }

    /// Ends a fetch that succeeded: replaces the keys by the fetched ones. `max_age` is that of the response, in
    /// seconds.
    pub fn store(&mut self, keys: KeySet, max_age: Option<i64>, now: Timestamp) {
        let fresh_seconds = max_age.unwrap_or(MAX_FRESH_SECONDS).clamp(MIN_FRESH_SECONDS, MAX_FRESH_SECONDS);
        self.stored = Some(StoredKeys { keys: Arc::new(keys), fetched_at: now, fresh_seconds });
        self.is_fetching = false;
        self.has_failed = false;
    }

    /// Ends a fetch that failed. The known keys stay.
    pub const fn fail(&mut self) {
        self.is_fetching = false;
        self.has_failed = true;
    }

    /// Returns `true` if the last fetch began less than `seconds` ago. Returns `false` if the clock was set back
    /// to before that beginning, so that no fetch is held up by a wrong clock.
    fn was_fetched_within(&self, seconds: i64, now: Timestamp) -> bool {
        self.last_fetch.is_some_and(|start| start <= now && now < start.plus_seconds(seconds))
    }
}

impl StoredKeys {
    fn is_within(&self, seconds: i64, now: Timestamp) -> bool {
        self.fetched_at <= now && now < self.fetched_at.plus_seconds(seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: &str = r#"{"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "a",
        "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(0).plus_seconds(seconds)
    }

    fn keys(id: &str) -> KeySet {
        KeySet::parse(KEYS.replace("\"a\"", &format!("\"{id}\"")).as_bytes()).unwrap()
    }

    /// Returns a cache whose keys were fetched at second 0.
    fn stored(max_age: Option<i64>) -> KeyCache {
        let mut cache = KeyCache::default();
        assert_eq!(cache.plan(Some("a"), at(0)), KeyPlan::Fetch);
        cache.store(keys("a"), max_age, at(0));
        cache
    }

    fn known_keys(id: &str) -> KeyPlan {
        KeyPlan::Use(Arc::new(keys(id)))
    }

    #[test]
    fn keys_are_fresh_for_their_age_within_bounds() {
        let table =
            [(None, 600), (Some(3600), 600), (Some(120), 120), (Some(10), 60), (Some(0), 60), (Some(-1), 60)];
        for (max_age, fresh) in table {
            let mut cache = stored(max_age);
            let refresh = KeyPlan::Refresh(Arc::new(keys("a")));
            assert_eq!(stored(max_age).plan(Some("a"), at(fresh - 1)), refresh, "{max_age:?}");
            assert_eq!(cache.plan(Some("a"), at(fresh)), KeyPlan::Fetch, "{max_age:?}");
        }
    }

    #[test]
    fn keys_are_fetched_again_before_their_end() {
        let (mut cache, refresh) = (stored(None), KeyPlan::Refresh(Arc::new(keys("a"))));
        assert_eq!(cache.plan(Some("a"), at(449)), known_keys("a"));
        assert_eq!(cache.plan(Some("a"), at(450)), refresh);
        assert_eq!(cache.plan(Some("a"), at(451)), known_keys("a"), "one fetch at a time");
        assert_eq!(cache.plan(Some("a"), at(449 + FETCH_SECONDS)), known_keys("a"));
        cache.store(keys("b"), None, at(490));
        assert_eq!(cache.plan(Some("b"), at(601)), known_keys("b"));
    }

    #[test]
    fn unknown_key_causes_one_fetch_a_minute() {
        let mut cache = stored(None);
        let mut fetches = vec![];
        for second in 0..300 {
            if cache.plan(Some("foreign"), at(second)) == KeyPlan::Fetch {
                fetches.push(second);
                cache.store(keys("a"), None, at(second));
            }
            assert_eq!(cache.plan(Some("a"), at(second)), known_keys("a"));
        }
        assert_eq!(fetches, [60, 120, 180, 240]);
    }

    #[test]
    fn unknown_key_is_used_once_its_fetch_has_ended() {
        let mut cache = stored(None);
        assert_eq!(cache.plan(Some("b"), at(70)), KeyPlan::Fetch);
        assert_eq!(cache.plan(Some("b"), at(70)), KeyPlan::Wait);
        assert_eq!(cache.plan(Some("a"), at(70)), known_keys("a"), "known keys do not wait");
        cache.store(keys("b"), None, at(71));
        assert_eq!(cache.plan(Some("b"), at(71)), known_keys("b"));
        assert_eq!(cache.plan(Some("a"), at(71)), known_keys("b"), "the former key is gone at once");
    }

    #[test]
    fn known_keys_serve_for_a_day_while_fetches_fail() {
        let mut cache = stored(None);
        let mut fetches = 0;
        for second in 600..MAX_STALE_SECONDS {
            let plan = cache.plan(Some("a"), at(second));
            let is_first = second == 600;
            let fetch = if is_first { KeyPlan::Fetch } else { KeyPlan::Refresh(Arc::new(keys("a"))) };
            if plan == fetch {
                fetches += 1;
                assert_eq!(cache.plan(Some("a"), at(second)) == KeyPlan::Wait, is_first, "{second}");
                cache.fail();
                assert_eq!(cache.plan(Some("a"), at(second)), known_keys("a"), "{second}");
            } else {
                assert_eq!(plan, known_keys("a"), "{second}");
            }
        }
        assert_eq!(fetches, (MAX_STALE_SECONDS - 600) / RETRY_SECONDS);
        assert_eq!(cache.plan(Some("a"), at(MAX_STALE_SECONDS)), KeyPlan::Fetch);
        cache.fail();
        assert_eq!(cache.plan(Some("a"), at(MAX_STALE_SECONDS)), KeyPlan::Unavailable);
    }

    #[test]
    fn first_fetch_that_fails_is_repeated_after_a_pause() {
        let mut cache = KeyCache::default();
        assert_eq!(cache.plan(None, at(0)), KeyPlan::Fetch);
        cache.fail();
        assert_eq!(cache.plan(None, at(RETRY_SECONDS - 1)), KeyPlan::Unavailable);
        assert_eq!(cache.plan(None, at(RETRY_SECONDS)), KeyPlan::Fetch);
    }

    #[test]
    fn fetch_without_a_result_counts_as_lost() {
        let mut cache = KeyCache::default();
        assert_eq!(cache.plan(None, at(0)), KeyPlan::Fetch);
        assert_eq!(cache.plan(None, at(FETCH_SECONDS - 1)), KeyPlan::Wait);
        assert_eq!(cache.plan(None, at(FETCH_SECONDS)), KeyPlan::Fetch);
    }

    #[test]
    fn clock_that_was_set_back_causes_a_fetch() {
        let mut cache = stored(None);
        assert_eq!(cache.plan(Some("a"), at(-1)), KeyPlan::Fetch);
    }

    #[test]
    fn withdrawn_keys_are_not_used_any_more() {
        let mut cache = stored(Some(60));
        assert_eq!(cache.plan(Some("a"), at(60)), KeyPlan::Fetch);
        cache.store(KeySet::default(), None, at(60));
        assert_eq!(cache.plan(Some("a"), at(61)), KeyPlan::Use(Arc::new(KeySet::default())));
    }
}
