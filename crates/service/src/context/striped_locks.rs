//! Locks for what this process must not do twice at once.

use tokio::sync::{Mutex, MutexGuard};

/// Locks that are shared by what has ids that end alike.
#[derive(Default)]
pub(crate) struct StripedLocks([Mutex<()>; 32]);

impl StripedLocks {
    /// Waits for the lock of an id.
    pub(crate) async fn of(&self, id: [u8; 16]) -> MutexGuard<'_, ()> {
        self.0[usize::from(id[15]) % self.0.len()].lock().await
    }
}
