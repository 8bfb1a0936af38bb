//! Rate limits: an exact sliding window per key and quota class, and one per client address without a valid key
//! (§8, decision B1). All keys of an organization share a wider window of each class.
//!
//! The windows of keys may be shared with other instances; those of organizations and addresses never are.

mod breaker;
mod shared;
mod windows;

use std::sync::Arc;

use candor_domain::access::api_key::EXCHANGES_PER_MINUTE;
use candor_domain::access::{Caller, QuotaClass, Quotas};
use candor_domain::id::OrganizationId;
use candor_domain::people::invitation::ACCEPTS_PER_MINUTE;
use candor_domain::time::Timestamp;
use candor_domain::window::{RateLimitStatus, Window};
use candor_port_clock::Clock;
use candor_port_limits::RateLimitStore;
use candor_sign_in::sign_in::{SIGN_INS_OF_BROWSER_PER_MINUTE, SIGN_INS_PER_MINUTE};
use candor_tokens::claims::LOGOUTS_PER_MINUTE;

use shared::SharedLimits;
use windows::{Bucket, Counter, Windows};

/// Number of authentication failures per minute that one client address may have (decision B1).
pub const FAILURES_PER_MINUTE: u32 = 60;

/// Number of entries about refused sign-ins per minute that the audit log of one organization gets (decision B10).
const REFUSALS_PER_MINUTE: u32 = 60;

/// A write without an API key. Each kind has a quota per client address, except `SignInOfBrowser`, whose quota is per
/// browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeylessWrite {
    /// Acceptance of an invitation (decisions G).
    InvitationAccept,
    /// Exchange of the code of a portal link (decision B8).
    PortalExchange,
    /// Begin and end of a sign-in, counted by client address (decision B10).
    SignIn,
    /// Begin and end of a sign-in, counted by browser instead of client address.
    SignInOfBrowser,
}

impl KeylessWrite {
    /// The kinds of writes without an API key: one for each quota name, see [`KeylessWrite::word`].
    pub const ALL: [Self; 3] = [Self::InvitationAccept, Self::PortalExchange, Self::SignIn];

    /// Returns the name of the quota in error details and metrics.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::InvitationAccept => "invitation_accept",
            Self::PortalExchange => "portal_exchange",
            Self::SignIn | Self::SignInOfBrowser => "sign_in",
        }
    }

    /// Returns the maximum number of requests per minute of one address or browser.
    const fn per_minute(self) -> u32 {
        match self {
            Self::InvitationAccept => ACCEPTS_PER_MINUTE,
            Self::PortalExchange => EXCHANGES_PER_MINUTE,
            Self::SignIn => SIGN_INS_PER_MINUTE,
            Self::SignInOfBrowser => SIGN_INS_OF_BROWSER_PER_MINUTE,
        }
    }
}

/// Per-key and per-address rate limiter.
pub struct Limits {
    /// Windows counted by this process, with the times of the steady clock.
    windows: Windows,
    clock: Arc<dyn Clock>,
    /// Quota of an organization, as a multiple of the largest quota of its keys.
    factor: u32,
    /// Windows of keys shared by all instances, if a shared store is configured.
    shared: Option<SharedLimits>,
}

impl Limits {
    /// Creates limits that this process counts alone.
    #[must_use]
    pub fn of_process(clock: Arc<dyn Clock>) -> Self {
        Self { windows: Windows::default(), clock, factor: Quotas::ORGANIZATION_FACTOR, shared: None }
    }

    /// Creates limits whose keys are counted in a store shared with other instances.
    #[must_use]
    pub fn shared_on(store: Arc<dyn RateLimitStore>, clock: Arc<dyn Clock>) -> Self {
        let shared = Some(SharedLimits::new(store, Arc::clone(&clock)));
        Self { shared, ..Self::of_process(clock) }
    }

    /// Sets the quota of an organization, as a multiple of the largest quota of its keys.
    #[must_use]
    pub fn with_organization_factor(self, factor: u32) -> Self {
        Self { factor, ..self }
    }

    /// Checks the connection to the shared store, if there is one, and logs a failure.
    pub async fn connect(&self) {
        if let Some(shared) = &self.shared {
            shared.connect().await;
        }
    }

    /// Counts a request of a key in its class, or refuses it. Returns the status of the key, or the status of the
    /// organization if all keys together have used up its quota.
    pub async fn admit(&self, caller: &Caller, class: QuotaClass, at: Timestamp) -> RateLimitStatus {
        let count_in_organization = |act: fn(&mut Window, Timestamp, u32) -> RateLimitStatus| {
            let (bucket, now) = (Bucket::Organization(caller.tenant.organization, class), self.steady());
            let act = |counter: &mut Counter| {
                if counter.window.is_idle(now) {
                    counter.largest = 0;
                }
                counter.largest = counter.largest.max(caller.quotas.for_class(class));
                act(&mut counter.window, now, counter.largest.saturating_mul(self.factor))
            };
            self.windows.with(bucket, now, act).shown_at(at)
        };
        let of_all = count_in_organization(Window::look);
        if !of_all.admitted {
            return of_all;
        }
        let of_key = self.admit_key(caller, class, at).await;
        if !of_key.admitted {
            return of_key;
        }
        // The quota of the organization counts the request only now: a request that is refused for its key must not
        // use up the quota of all keys. Meanwhile, other keys may have used up the rest of the organization's quota.
        let of_all = count_in_organization(Window::admit);
        if of_all.admitted { of_key } else { of_all }
    }

    async fn admit_key(&self, caller: &Caller, class: QuotaClass, at: Timestamp) -> RateLimitStatus {
        let limit = caller.quotas.for_class(class);
        let bucket = Bucket::Key(caller.key, class);
        let count_here = || self.count(bucket, at, |window, now| window.admit(now, limit));
        let steady = self.steady();
        let record = || self.windows.with(bucket, steady, |counter| counter.window.record(steady));
        match &self.shared {
            None => count_here(),
            Some(shared) => shared.admit(caller.key, class, limit, count_here, record).await,
        }
    }

    /// Counts a valid logout token of a provider of an organization, or refuses it.
    pub fn admit_logout(&self, organization: OrganizationId, at: Timestamp) -> RateLimitStatus {
        self.count(Bucket::Logouts(organization), at, |window, now| window.admit(now, LOGOUTS_PER_MINUTE))
    }

    /// Counts an authentication failure of an address, or refuses the request.
    pub fn admit_failure(&self, address: [u8; 16], at: Timestamp) -> RateLimitStatus {
        self.count(Bucket::Address(address), at, |window, now| window.admit(now, FAILURES_PER_MINUTE))
    }

    /// Counts a write without a key, or refuses it.
    pub fn admit_keyless(&self, write: KeylessWrite, address: [u8; 16], at: Timestamp) -> RateLimitStatus {
        self.count(Bucket::Keyless(write, address), at, |window, now| window.admit(now, write.per_minute()))
    }

    /// Counts an entry about a refused sign-in in the audit log of an organization. `false` if the log has enough of them:
    /// visitors without a key cause them.
    pub fn admit_refusal(&self, organization: OrganizationId, at: Timestamp) -> bool {
        let act = |window: &mut Window, now| window.admit(now, REFUSALS_PER_MINUTE);
        self.count(Bucket::Refusals(organization), at, act).admitted
    }

    /// Returns the status of the quota of authentication failures of an address, without counting a failure.
    pub fn look_failures(&self, address: [u8; 16], at: Timestamp) -> RateLimitStatus {
        self.count(Bucket::Address(address), at, |window, now| window.look(now, FAILURES_PER_MINUTE))
    }

    /// Returns the steady time. A jump of the wall clock neither empties nor fills a window.
    fn steady(&self) -> Timestamp {
        Timestamp::from_millis(i64::try_from(self.clock.steady().as_millis()).unwrap_or(i64::MAX))
    }

    /// Runs `act` on the window of a bucket, and converts the reset time of the status to the wall clock, whose time is
    /// `at`.
    fn count(
        &self,
        bucket: Bucket,
        at: Timestamp,
        act: impl FnOnce(&mut Window, Timestamp) -> RateLimitStatus,
    ) -> RateLimitStatus {
        let now = self.steady();
        self.windows.with(bucket, now, |counter| act(&mut counter.window, now)).shown_at(at)
    }
}
