//! Where instances count the quotas of keys together, as a port.
//!
//! The rule is the domain's [`Window`](candor_domain::window::Window): exact, sliding, and a refused request does not count.
//! Whoever implements [`RateLimitStore`] keeps one such window for each key and class, by one clock for all instances.
//! What happens while it does not answer is the service's affair.

use async_trait::async_trait;
use candor_domain::access::QuotaClass;
use candor_domain::id::KeyId;
use candor_domain::window::RateLimitStatus;

/// Windows that several instances share.
#[async_trait]
pub trait RateLimitStore: Send + Sync {
    /// Counts a request of a key in its class, or refuses it, in one step for all instances. A limit of 0 counts nothing.
    ///
    /// # Errors
    /// [`RateLimitStoreError`]; the request may have been counted all the same.
    async fn admit(&self, key: KeyId, class: QuotaClass, limit: u32) -> Result<RateLimitStatus, RateLimitStoreError>;

    /// Whether it can count, without counting anything.
    ///
    /// # Errors
    /// [`RateLimitStoreError`].
    async fn check(&self) -> Result<(), RateLimitStoreError>;
}

/// Why the windows cannot be had, with what was said about it. It holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RateLimitStoreError {
    /// Nobody answers there.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    /// It did not answer in time.
    #[error("it does not answer in time")]
    TooSlow,
    /// It cannot be talked to over TLS.
    #[error("it cannot be talked to over TLS: {0}")]
    Tls(String),
    /// It does not accept the user name and password.
    #[error("it does not accept the user name and password: {0}")]
    Credentials(String),
    /// It answers, and does not do what is asked.
    #[error("it refuses to count: {0}")]
    Refused(String),
}
