//! A port for rate limit windows that several instances share.
//!
//! The rule is the domain's [`Window`](candor_domain::window::Window): exact and sliding. Refused requests do not
//! count. Implementations of [`RateLimitStore`] keep one window for each key and class, and use one clock for all
//! instances. The service decides about requests while the store does not respond.

use async_trait::async_trait;
use candor_domain::access::QuotaClass;
use candor_domain::id::KeyId;
use candor_domain::window::RateLimitStatus;

/// Windows that several instances share.
#[async_trait]
pub trait RateLimitStore: Send + Sync {
    /// Counts or refuses a request of a key in its class, atomically for all instances. A limit of 0 counts
    /// nothing.
    ///
    /// # Errors
    /// Returns [`RateLimitStoreError`]; the request may have been counted nevertheless.
    async fn admit(
        &self,
        key: KeyId,
        class: QuotaClass,
        limit: u32,
    ) -> Result<RateLimitStatus, RateLimitStoreError>;

    /// Checks that the store can count, without counting a request.
    ///
    /// # Errors
    /// Returns [`RateLimitStoreError`] if the store cannot count.
    async fn check(&self) -> Result<(), RateLimitStoreError>;
}

/// The reason why the windows are unavailable, with the message of the store. The message has no secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RateLimitStoreError {
    /// The server cannot be reached.
    #[error("cannot reach the server: {0}")]
    Unreachable(String),
    /// The server did not respond in time.
    #[error("the server does not respond in time")]
    TooSlow,
    /// The TLS handshake failed.
    #[error("the TLS handshake failed: {0}")]
    Tls(String),
    /// The server refused the user name or password.
    #[error("the server does not accept the user name and password: {0}")]
    Credentials(String),
    /// The server responded with an error.
    #[error("the server refuses to count: {0}")]
    Refused(String),
}
