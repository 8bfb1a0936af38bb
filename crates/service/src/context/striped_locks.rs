//! Locks per id that keep requests of this process from working on the same thing concurrently.

use tokio::sync::{Mutex, MutexGuard};

/// A fixed set of locks. Ids with the same last byte, modulo the number of locks, share a lock.
#[derive(Default)]
pub(crate) struct StripedLocks([Mutex<()>; 32]);

impl StripedLocks {
    /// Waits for the lock of an id.
    pub(crate) async fn lock(&self, id: [u8; 16]) -> MutexGuard<'_, ()> {
        self.0[usize::from(id[15]) % self.0.len()].lock().await
    }
}
