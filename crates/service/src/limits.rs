//! Rate limits: an exact sliding window per key and quota class, and one per client address without a valid key
//! (§8, decision B1).

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Mutex, PoisonError};

use candor_domain::access::{Caller, QuotaClass};
use candor_domain::id::KeyId;
use candor_domain::people::invitation::ACCEPTS_PER_MINUTE;
use candor_domain::time::Timestamp;
use candor_domain::window::{RateLimitStatus, Window};

/// Failures a minute that one client address may have without a valid key (decision B1).
pub const FAILURES_PER_MINUTE: u32 = 60;
/// Locks: requests of different keys rarely meet.
const SHARDS: usize = 64;
/// A shard is swept of idle windows when it has grown by this many.
const SWEEP_EVERY: usize = 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Bucket {
    Key(KeyId, QuotaClass),
    Address([u8; 16]),
    Accepting([u8; 16]),
}

#[derive(Debug, Default)]
struct Shard {
    windows: HashMap<Bucket, Window>,
    sweep_at: usize,
}

/// The windows of this process.
#[derive(Debug)]
pub struct Limits {
    shards: Vec<Mutex<Shard>>,
    hasher: RandomState,
}

impl Default for Limits {
    fn default() -> Self {
        Self { shards: (0..SHARDS).map(|_| Mutex::default()).collect(), hasher: RandomState::new() }
    }
}

impl Limits {
    /// Counts a request of a key in its class, or refuses it.
    pub fn admit(&self, caller: &Caller, class: QuotaClass, at: Timestamp) -> RateLimitStatus {
        self.with(Bucket::Key(caller.key, class), at, |it| it.admit(at, caller.quotas.of(class)))
    }

    /// Counts a failure of an address, or says that there were too many.
    pub fn admit_failure(&self, address: [u8; 16], at: Timestamp) -> RateLimitStatus {
        self.with(Bucket::Address(address), at, |it| it.admit(at, FAILURES_PER_MINUTE))
    }

    /// Counts an attempt to accept an invitation, or says that there were too many.
    pub fn admit_accept(&self, address: [u8; 16], at: Timestamp) -> RateLimitStatus {
        self.with(Bucket::Accepting(address), at, |it| it.admit(at, ACCEPTS_PER_MINUTE))
    }

    /// The rate limit status of an address, without counting anything.
    pub fn look_failures(&self, address: [u8; 16], at: Timestamp) -> RateLimitStatus {
        self.with(Bucket::Address(address), at, |it| it.look(at, FAILURES_PER_MINUTE))
    }

    fn with<T>(&self, bucket: Bucket, at: Timestamp, act: impl FnOnce(&mut Window) -> T) -> T {
        let index = usize::try_from(self.hasher.hash_one(bucket) % SHARDS as u64).unwrap_or_default();
        let mut shard = self.shards[index].lock().unwrap_or_else(PoisonError::into_inner);
        if shard.windows.len() >= shard.sweep_at {
            shard.windows.retain(|_, window| !window.is_idle(at));
            shard.sweep_at = shard.windows.len() + SWEEP_EVERY;
        }
        act(shard.windows.entry(bucket).or_default())
    }
}
