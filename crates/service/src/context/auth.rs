//! Authentication: the key of a request becomes a caller, without a database for most requests (§5, decision B4).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use candor_domain::access::Caller;
use candor_domain::access::api_key::{self, KeyHash, KeyRecord};
use candor_domain::id::{KeyId, OrganizationId};
use candor_domain::time::Timestamp;
use candor_port_clock::Clock;
use candor_port_storage::{Storage, StorageError};

/// A revoked or narrowed key takes effect within a second on every instance (decision B4), so a record that was read
/// is believed for a little less.
const FRESH_MILLIS: i64 = 900;
/// Records kept; above it the stale ones go.
const MAX_RECORDS: usize = 10_000;
/// Hashes kept of keys that are not there, about a megabyte. Above it they are all forgotten, so that whoever makes up new
/// ones without end pays for no search.
const MAX_UNKNOWN: usize = 10_000;
/// `last_used_at` has minute precision.
const MINUTE_MILLIS: i64 = 60_000;

#[derive(Debug, Clone)]
struct Remembered {
    record: Arc<KeyRecord>,
    caller: Option<Arc<Caller>>,
    read_at: Timestamp,
}

fn is_fresh(read_at: Timestamp, now: Timestamp) -> bool {
    (0..FRESH_MILLIS).contains(&(now.millis() - read_at.millis()))
}

/// Keys that were read a moment ago, and when they were used.
pub struct Authenticator {
    store: Arc<dyn Storage>,
    clock: Arc<dyn Clock>,
    known: RwLock<HashMap<KeyHash, Remembered>>,
    /// When the store did not know these keys. Anybody can make up a key, so they stand apart from those that are good.
    unknown: Mutex<HashMap<KeyHash, Timestamp>>,
    used: Mutex<HashMap<KeyId, (OrganizationId, Timestamp)>>,
    noted: Mutex<HashMap<KeyId, i64>>,
}

impl Authenticator {
    /// Starts with nothing remembered.
    #[must_use]
    pub fn new(store: Arc<dyn Storage>, clock: Arc<dyn Clock>) -> Self {
        let (known, unknown) = (RwLock::default(), Mutex::default());
        Self { store, clock, known, unknown, used: Mutex::default(), noted: Mutex::default() }
    }

    /// The caller behind the text of a key; `None` if the key is malformed, unknown, expired or revoked, or its person
    /// has left.
    ///
    /// # Errors
    /// [`StorageError`] if the store was needed and did not answer.
    pub async fn authenticate(&self, text: &str) -> Result<Option<Arc<Caller>>, StorageError> {
        let Some(hash) = api_key::read(text) else { return Ok(None) };
        let now = self.clock.now();
        if let Some(known) = self.recall(hash, now) {
            self.note_use(&known.record, now);
            return Ok(known.caller);
        }
        if self.is_unknown(hash, now) {
            return Ok(None);
        }
        let Some(record) = self.store.key_by_hash(hash).await? else {
            self.remember_unknown(hash, now);
            return Ok(None);
        };
        let caller = record.authenticate(hash, now).map(Arc::new);
        if caller.is_some() {
            self.note_use(&record, now);
        }
        self.remember(hash, Remembered { record: Arc::new(record), caller: caller.clone(), read_at: now });
        Ok(caller)
    }

    /// What is remembered and fresh. The end of a key counts at once, also within that time.
    fn recall(&self, hash: KeyHash, now: Timestamp) -> Option<Remembered> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).get(&hash).cloned()?;
        if !is_fresh(known.read_at, now) {
            return None;
        }
        let good = known.caller.is_none() || known.record.is_good(hash, now);
        good.then_some(known)
    }

    fn remember(&self, hash: KeyHash, record: Remembered) {
        let now = record.read_at.millis();
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_RECORDS {
            known.retain(|_, known| now - known.read_at.millis() < FRESH_MILLIS);
        }
        known.insert(hash, record);
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

    /// Forgets which keys were not there: this instance has just given a key a secret, which is good here at once, whoever
    /// asked for it before.
    pub fn forget_unknown(&self) {
        self.unknown.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Forgets a key that this instance has just changed, so that the change counts here at once.
    pub fn forget(&self, key: KeyId) {
        self.known.write().unwrap_or_else(PoisonError::into_inner).retain(|_, known| known.record.key.id != key);
    }

    fn note_use(&self, record: &KeyRecord, now: Timestamp) {
        let minute = now.millis() / MINUTE_MILLIS;
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.insert(record.key.id, minute) != Some(minute) {
            let at = Timestamp::from_millis(minute * MINUTE_MILLIS);
            self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(record.key.id, (record.organization, at));
        }
    }

    /// Writes down which keys were used since the last time.
    ///
    /// # Errors
    /// [`StorageError`] if the store does not answer; the uses are then forgotten.
    pub async fn flush_uses(&self) -> Result<(), StorageError> {
        let used = std::mem::take(&mut *self.used.lock().unwrap_or_else(PoisonError::into_inner));
        let used: Vec<_> = used.into_iter().map(|(key, (organization, at))| (organization, key, at)).collect();
        if used.is_empty() { Ok(()) } else { self.store.touch_keys(&used).await }
    }
}
