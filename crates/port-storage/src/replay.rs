//! Replays: replies for retries of requests with an idempotency key.

use candor_domain::idempotency::Fingerprint;

/// A replay as a store returns it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredReplay {
    /// Fingerprint of the request.
    pub fingerprint: Fingerprint,
    /// HTTP status of the response.
    pub status: u16,
    /// Sealed body and `ETag` of the response, with the rights of the key that sent the request.
    pub sealed: Vec<u8>,
}
