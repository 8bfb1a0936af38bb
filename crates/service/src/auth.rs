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
/// `last_used_at` has minute precision.
const MINUTE_MILLIS: i64 = 60_000;

#[derive(Debug, Clone)]
struct Remembered {
    record: Arc<KeyRecord>,
    caller: Option<Arc<Caller>>,
    read_at: Timestamp,
}

/// Keys that were read a moment ago, and when they were used.
pub struct Authenticator {
    store: Arc<dyn Storage>,
    clock: Arc<dyn Clock>,
    known: RwLock<HashMap<KeyHash, Remembered>>,
    used: Mutex<HashMap<KeyId, (OrganizationId, Timestamp)>>,
    noted: Mutex<HashMap<KeyId, i64>>,
}

impl Authenticator {
    /// Starts with nothing remembered.
    #[must_use]
    pub fn new(store: Arc<dyn Storage>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, known: RwLock::default(), used: Mutex::default(), noted: Mutex::default() }
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
        let Some(record) = self.store.key_by_hash(hash).await? else { return Ok(None) };
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
        let age = now.millis() - known.read_at.millis();
        if !(0..FRESH_MILLIS).contains(&age) {
            return None;
        }
        let good = known.caller.is_none() || known.record.is_good(hash, now);
        good.then_some(known)
    }

    fn remember(&self, hash: KeyHash, record: Remembered) {
        let now = record.read_at.millis();
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_RECORDS {
            known.retain(|_, it| now - it.read_at.millis() < FRESH_MILLIS);
        }
        known.insert(hash, record);
    }

    /// Forgets a key that this instance has just changed, so that the change counts here at once.
    pub fn forget(&self, key: KeyId) {
        self.known.write().unwrap_or_else(PoisonError::into_inner).retain(|_, it| it.record.key.id != key);
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
