//! Rate limit windows of this process.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Mutex, PoisonError};

use candor_domain::access::QuotaClass;
use candor_domain::id::{KeyId, OrganizationId};
use candor_domain::time::Timestamp;
use candor_domain::window::Window;

use super::KeylessWrite;

/// Number of locks, so that requests of different keys rarely contend.
const SHARDS: usize = 64;
/// Growth of a shard, in windows, after which idle windows are removed.
const SWEEP_EVERY: usize = 1024;

/// Key of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Bucket {
    Key(KeyId, QuotaClass),
    Organization(OrganizationId, QuotaClass),
    /// Valid logout tokens of the providers of an organization.
    Logouts(OrganizationId),
    Address([u8; 16]),
    Keyless(KeylessWrite, [u8; 16]),
    /// Refused sign-ins that the audit log of an organization gets.
    Refusals(OrganizationId),
}

/// The counted requests of a bucket.
#[derive(Debug, Default)]
pub(super) struct Counter {
    pub(super) window: Window,
    /// The largest quota of the keys that sent requests since the window was last empty.
    pub(super) largest: u32,
}

#[derive(Debug, Default)]
struct Shard {
    windows: HashMap<Bucket, Counter>,
    sweep_at: usize,
}

/// Sharded map of the rate limit windows of this process.
#[derive(Debug)]
pub(super) struct Windows {
    shards: Vec<Mutex<Shard>>,
    hasher: RandomState,
}

impl Default for Windows {
    fn default() -> Self {
        Self { shards: (0..SHARDS).map(|_| Mutex::default()).collect(), hasher: RandomState::new() }
    }
}

impl Windows {
    /// Runs `act` on the counter of a bucket.
    pub(super) fn with<T>(&self, bucket: Bucket, at: Timestamp, act: impl FnOnce(&mut Counter) -> T) -> T {
        let index = usize::try_from(self.hasher.hash_one(bucket) % SHARDS as u64).unwrap_or_default();
        let mut shard = self.shards[index].lock().unwrap_or_else(PoisonError::into_inner);
        if shard.windows.len() >= shard.sweep_at {
            shard.windows.retain(|_, counter| !counter.window.is_idle(at));
            shard.sweep_at = shard.windows.len() + SWEEP_EVERY;
        }
        act(shard.windows.entry(bucket).or_default())
    }
}
