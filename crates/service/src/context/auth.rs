//! Authentication: resolves the API key of a request to a caller, without a database query for most requests
//! (§5, decision B4).

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use candor_domain::access::Caller;
use candor_domain::access::api_key::{self, KeyHash, KeyRecord};
use candor_domain::id::{KeyId, OrganizationId};
use candor_domain::time::Timestamp;
use candor_port_clock::Clock;
use candor_port_storage::{Storage, StorageError};

use super::sessions;

/// Lifetime of a cached key record. Revoked and narrowed keys must take effect within a second on every instance
/// (decision B4).
const FRESH_MILLIS: i64 = 900;
/// Number of cached records above which stale ones are removed.
const MAX_RECORDS: usize = 10_000;
/// Number of unknown key hashes remembered, about a megabyte. Above this number the map is cleared, so that a client
/// that invents keys causes no eviction scans.
const MAX_UNKNOWN: usize = 10_000;
/// Precision of `last_used_at`: one minute.
const MINUTE_MILLIS: i64 = 60_000;

#[derive(Debug, Clone)]
struct CachedKey {
    record: Arc<KeyRecord>,
    caller: Option<Arc<Caller>>,
    read_at: Timestamp,
}

/// Returns `true` if a record that was read at `read_at` may be used at `now`.
pub(super) fn is_fresh(read_at: Timestamp, now: Timestamp) -> bool {
    (0..FRESH_MILLIS).contains(&(now.millis() - read_at.millis()))
}

/// Returns `true` if the client may use the caller's key. A refusal is logged, because the response to the client does
/// not mention networks.
fn is_in_networks(caller: &Caller, client: Option<IpAddr>) -> bool {
    let is_inside = caller.allowed_networks.admit(client);
    if !is_inside {
        tracing::debug!(key_id = %caller.key, "key used outside its networks");
    }
    is_inside
}

/// Resolves API keys to callers, caches key records and collects the times of their use.
pub struct Authenticator {
    store: Arc<dyn Storage>,
    clock: Arc<dyn Clock>,
    known: RwLock<HashMap<KeyHash, CachedKey>>,
    /// Hashes that the store did not know, and the time of that answer. Kept apart from valid keys, because
    /// clients can invent keys without limit.
    unknown: Mutex<HashMap<KeyHash, Timestamp>>,
    used: Mutex<HashMap<KeyId, (OrganizationId, Timestamp)>>,
    noted: Mutex<HashMap<KeyId, i64>>,
}

impl Authenticator {
    /// Creates an authenticator with empty caches.
    #[must_use]
    pub fn new(store: Arc<dyn Storage>, clock: Arc<dyn Clock>) -> Self {
        let (known, unknown) = (RwLock::default(), Mutex::default());
        Self { store, clock, known, unknown, used: Mutex::default(), noted: Mutex::default() }
    }

    /// Returns the caller that a key authenticates in this process, without a check of the key's networks. Returns
    /// `None` if the key is malformed, unknown, expired or revoked, its session has ended, or its person has left.
    ///
    /// # Errors
    /// [`StorageError`] if the store was needed and did not answer.
    pub async fn authenticate(&self, text: &str) -> Result<Option<Arc<Caller>>, StorageError> {
        let Some(hash) = api_key::read(text) else { return Ok(None) };
        self.authenticate_hash(hash, |_| true).await
    }

    /// Returns the caller that a key authenticates for a client. `client` is the address of the client, or `None` if
    /// it is unknown. Returns no caller for a client outside the key's networks (decision B12).
    ///
    /// # Errors
    /// [`StorageError`] if the store was needed and did not answer.
    pub async fn authenticate_client(
        &self,
        text: &str,
        client: Option<IpAddr>,
    ) -> Result<Option<Arc<Caller>>, StorageError> {
        let Some(hash) = api_key::read(text) else { return Ok(None) };
        self.authenticate_hash(hash, |caller| is_in_networks(caller, client)).await
    }

    async fn authenticate_hash(
        &self,
        hash: KeyHash,
        is_admitted: impl Fn(&Caller) -> bool,
    ) -> Result<Option<Arc<Caller>>, StorageError> {
        let now = self.clock.now();
        if let Some(cached_key) = self.recall(hash, now) {
            return Ok(self.admit(cached_key, now, is_admitted));
        }
        if self.is_unknown(hash, now) {
            return Ok(None);
        }
        self.look_up(hash, now, is_admitted).await
    }

    /// Returns the caller of a key if `is_admitted` accepts the caller, and notes the use of the key.
    fn admit(&self, key: CachedKey, now: Timestamp, is_admitted: impl Fn(&Caller) -> bool) -> Option<Arc<Caller>> {
        let caller = key.caller.filter(|caller| is_admitted(caller))?;
        self.note_use(&key.record, now);
        Some(caller)
    }

    /// Reads the record of a key from the store and caches it. Returns the caller of the key if `is_admitted` accepts
    /// the caller.
    async fn look_up(
        &self,
        hash: KeyHash,
        now: Timestamp,
        is_admitted: impl Fn(&Caller) -> bool,
    ) -> Result<Option<Arc<Caller>>, StorageError> {
        let Some(record) = self.store.key_by_hash(hash).await? else {
            self.remember_unknown(hash, now);
            return Ok(None);
        };
        let caller = match record.key.session_root() {
            None => record.authenticate(hash, now),
            Some(_) => {
                let basis = sessions::load_basis(&*self.store, record.organization, &record.key).await?;
                basis.and_then(|basis| basis.authenticate(&record, hash, now))
            }
        };
        let caller = caller.map(Arc::new);
        let key = CachedKey { record: Arc::new(record), caller, read_at: now };
        self.remember(hash, key.clone());
        Ok(self.admit(key, now, is_admitted))
    }

    /// Returns the caller of a client's key with the rights that the store has now, or `None` if the key is refused.
    /// The cache is not used, because a cached caller could still have rights that the person of the key has just
    /// lost.
    ///
    /// # Errors
    /// [`StorageError`] if the store did not answer.
    pub async fn authenticate_anew(
        &self,
        text: &str,
        client: Option<IpAddr>,
    ) -> Result<Option<Arc<Caller>>, StorageError> {
        let Some(hash) = api_key::read(text) else { return Ok(None) };
        self.look_up(hash, self.clock.now(), |caller| is_in_networks(caller, client)).await
    }

    /// Returns `true` if the present caller of a key has kept the rights with which a request began. With `is_anew`, the
    /// present rights are read from the store instead of the cache.
    ///
    /// # Errors
    /// [`StorageError`] if the store was needed and did not answer.
    pub(crate) async fn confirm(
        &self,
        hash: KeyHash,
        has_kept_rights: impl Fn(&Caller) -> bool,
        is_anew: bool,
    ) -> Result<bool, StorageError> {
        let confirmed_caller = if is_anew {
            self.look_up(hash, self.clock.now(), has_kept_rights).await?
        } else {
            self.authenticate_hash(hash, has_kept_rights).await?
        };
        Ok(confirmed_caller.is_some())
    }

    /// Returns the cached record if it is fresh. Expiry of the key applies at once, also to cached records.
    fn recall(&self, hash: KeyHash, now: Timestamp) -> Option<CachedKey> {
        let cached_key = self.known.read().unwrap_or_else(PoisonError::into_inner).get(&hash).cloned()?;
        if !is_fresh(cached_key.read_at, now) {
            return None;
        }
        let is_before_end = |caller: &Arc<Caller>| caller.expires_at.is_none_or(|end| now < end);
        let good = cached_key
            .caller
            .as_ref()
            .is_none_or(|caller| is_before_end(caller) && cached_key.record.is_good(hash, now));
        good.then_some(cached_key)
    }

    fn remember(&self, hash: KeyHash, record: CachedKey) {
        let now = record.read_at.millis();
        let mut cached_keys = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if cached_keys.len() >= MAX_RECORDS {
            cached_keys.retain(|_, cached| now - cached.read_at.millis() < FRESH_MILLIS);
        }
        cached_keys.insert(hash, record);
    }

    fn is_unknown(&self, hash: KeyHash, now: Timestamp) -> bool {
        let unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        unknown.get(&hash).is_some_and(|at| is_fresh(*at, now))
    }

    fn remember_unknown(&self, hash: KeyHash, now: Timestamp) {
        let mut unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        if unknown.len() >= MAX_UNKNOWN {
            unknown.clear();
        }
        unknown.insert(hash, now);
    }

    /// Clears the hashes of unknown keys. Called after this instance issued a secret, whose hash a client may
    /// have tried before.
    pub fn forget_unknown(&self) {
        self.unknown.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Removes from the cache a key that this instance changed, so that the change applies here at once. If the
    /// key is a session, the keys that were created with it are removed too.
    pub fn forget(&self, key: KeyId) {
        self.known
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|_, known| known.record.key.id != key && known.record.key.session_root() != Some(key));
    }

    /// Removes the keys of an organization that act for people from the cache. Called after this instance ended rights of
    /// people, so that the change applies here at once.
    pub fn forget_people_of(&self, organization: OrganizationId) {
        self.known.write().unwrap_or_else(PoisonError::into_inner).retain(|_, known| {
            known.record.organization != organization || known.record.key.employee_id.is_none()
        });
    }

    fn note_use(&self, record: &KeyRecord, now: Timestamp) {
        let minute = now.millis() / MINUTE_MILLIS;
        let mut noted_uses = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted_uses.insert(record.key.id, minute) != Some(minute) {
            let minute_start = Timestamp::from_millis(minute * MINUTE_MILLIS);
            self.used
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(record.key.id, (record.organization, minute_start));
        }
    }

    /// Stores the times at which keys were used since the last call.
    ///
    /// # Errors
    /// [`StorageError`] if the store does not answer; the collected times are then lost.
    pub async fn flush_uses(&self) -> Result<(), StorageError> {
        let uses_by_key = std::mem::take(&mut *self.used.lock().unwrap_or_else(PoisonError::into_inner));
        let uses: Vec<_> =
            uses_by_key.into_iter().map(|(key, (organization, at))| (organization, key, at)).collect();
        if uses.is_empty() { Ok(()) } else { self.store.touch_keys(&uses).await }
    }
}
