//! Locks per id that keep requests of this process from working on the same thing concurrently.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, Weak};

use tokio::sync::{Mutex, OwnedMutexGuard};

/// Number of entries above which unused ones are removed.
const MOST_UNUSED: usize = 1024;

/// A lock for each id. No request waits for the lock of another id.
#[derive(Default)]
pub(crate) struct KeyedLocks(std::sync::Mutex<HashMap<[u8; 16], Weak<Mutex<()>>>>);

impl KeyedLocks {
    /// Waits for the lock of an id.
    pub(crate) async fn lock(&self, id: [u8; 16]) -> OwnedMutexGuard<()> {
        self.of_id(id).lock_owned().await
    }

    fn of_id(&self, id: [u8; 16]) -> Arc<Mutex<()>> {
        let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = locks.get(&id).and_then(Weak::upgrade) {
            return lock;
        }
        if locks.len() > MOST_UNUSED {
            locks.retain(|_, lock| lock.strong_count() > 0);
        }
        let lock = Arc::new(Mutex::new(()));
        locks.insert(id, Arc::downgrade(&lock));
        lock
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn held_lock_blocks_only_requests_for_its_id() {
        let locks = KeyedLocks::default();
        let first = locks.lock([1; 16]).await;
        assert!(locks.lock([1; 16]).now_or_never().is_none(), "the same id waits");
        for other in 2..=60 {
            assert!(locks.lock([other; 16]).now_or_never().is_some(), "another id waits for nobody");
        }
        drop(first);
        assert!(locks.lock([1; 16]).now_or_never().is_some());
    }

    #[tokio::test]
    async fn unused_locks_are_forgotten() {
        let locks = KeyedLocks::default();
        for number in 0..5000_u32 {
            let mut id = [0; 16];
            id[..4].copy_from_slice(&number.to_be_bytes());
            drop(locks.lock(id).await);
        }
        assert!(locks.0.lock().unwrap().len() <= MOST_UNUSED + 1);
    }
}
