//! Rate limits: an exact sliding window per key and quota class, and one per client address without a valid key
//! (§8, decision B1).
//!
//! The windows of keys may be shared with other instances; those of addresses never are.

mod breaker;
mod shared;
mod windows;

use std::sync::Arc;

use candor_domain::access::{Caller, QuotaClass};
use candor_domain::people::invitation::ACCEPTS_PER_MINUTE;
use candor_domain::time::Timestamp;
use candor_domain::window::RateLimitStatus;
use candor_port_clock::Clock;
use candor_port_limits::RateLimitStore;

use shared::SharedLimits;
use windows::{Bucket, Windows};

/// Failures a minute that one client address may have without a valid key (decision B1).
pub const FAILURES_PER_MINUTE: u32 = 60;

/// Who may go on, and how much is left.
#[derive(Default)]
pub struct Limits {
    /// What this process counts.
    windows: Windows,
    /// Where keys are counted for all instances together, if they are.
    shared: Option<SharedLimits>,
}

impl Limits {
    /// Limits whose keys are counted together with other instances.
    #[must_use]
    pub fn shared_on(store: Arc<dyn RateLimitStore>, clock: Arc<dyn Clock>) -> Self {
        Self { windows: Windows::default(), shared: Some(SharedLimits::new(store, clock)) }
    }

    /// Looks whether keys can be counted together, if they are to be, and says so if they cannot.
    pub async fn connect(&self) {
        if let Some(shared) = &self.shared {
            shared.connect().await;
        }
    }

    /// Counts a request of a key in its class, or refuses it.
    pub async fn admit(&self, caller: &Caller, class: QuotaClass, at: Timestamp) -> RateLimitStatus {
        let limit = caller.quotas.of(class);
        let here = || self.windows.with(Bucket::Key(caller.key, class), at, |window| window.admit(at, limit));
        match &self.shared {
            None => here(),
            Some(shared) => shared.admit(caller.key, class, limit, here).await,
        }
    }

    /// Counts a failure of an address, or says that there were too many.
    pub fn admit_failure(&self, address: [u8; 16], at: Timestamp) -> RateLimitStatus {
        self.windows.with(Bucket::Address(address), at, |window| window.admit(at, FAILURES_PER_MINUTE))
    }

    /// Counts an attempt to accept an invitation, or says that there were too many.
    pub fn admit_accept(&self, address: [u8; 16], at: Timestamp) -> RateLimitStatus {
        self.windows.with(Bucket::Accepting(address), at, |window| window.admit(at, ACCEPTS_PER_MINUTE))
    }

    /// The rate limit status of an address, without counting anything.
    pub fn look_failures(&self, address: [u8; 16], at: Timestamp) -> RateLimitStatus {
        self.windows.with(Bucket::Address(address), at, |window| window.look(at, FAILURES_PER_MINUTE))
    }
}
