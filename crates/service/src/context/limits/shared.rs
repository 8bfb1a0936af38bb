//! Rate limits of keys shared by all instances, with a local fallback while the store fails.
//!
//! Requests counted in the store are counted locally as well. So local decisions never admit more requests of a key
//! than its limit within the window. For a minute after an outage both counts must admit a request: the store lacks
//! the local decisions, or a restart has emptied it. All instances together admit no more than the limit; during an
//! outage, no more than the limit for each instance.

use std::sync::Arc;
use std::time::Duration;

use candor_domain::access::QuotaClass;
use candor_domain::id::KeyId;
use candor_domain::window::RateLimitStatus;
use candor_port_clock::Clock;
use candor_port_limits::{RateLimitStore, RateLimitStoreError};
use tokio::time::timeout;

use super::breaker::{Attempt, Breaker};

/// Maximum wait of a request for the store. A healthy store answers within a millisecond.
const BUDGET: Duration = Duration::from_millis(25);
/// Timeout of the check at startup, when no request waits for it.
const CONNECT: Duration = Duration::from_secs(2);
/// Metric name: 1 if the store answers, otherwise 0.
const UP: &str = "candor_rate_limit_store_up";
/// Metric name: requests that the store did not answer.
const FAILURES: &str = "candor_rate_limit_store_failures_total";

/// The shared store with its circuit breaker.
pub(super) struct SharedLimits {
    store: Arc<dyn RateLimitStore>,
    clock: Arc<dyn Clock>,
    breaker: Breaker,
    budget: Duration,
}

impl SharedLimits {
    pub(super) fn new(store: Arc<dyn RateLimitStore>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, breaker: Breaker::new(), budget: BUDGET }
    }

    /// Checks whether the store answers, and opens the breaker if not.
    pub(super) async fn connect(&self) {
        metrics::counter!(FAILURES).increment(0);
        match with_timeout(CONNECT, self.store.check()).await {
            Ok(()) => metrics::gauge!(UP).set(1),
            Err(error) => self.record_store_failure(&error),
        }
    }

    /// Counts a request of a key in the store, or refuses it. `here` counts the request in the local window unless the
    /// window is full; `record` counts it even in a full window.
    pub(super) async fn admit(
        &self,
        key: KeyId,
        class: QuotaClass,
        limit: u32,
        here: impl Fn() -> RateLimitStatus,
        record: impl Fn(),
    ) -> RateLimitStatus {
        let Some(attempt) = self.breaker.attempt(self.clock.steady()) else { return self.decide_alone(here) };
        // Counted locally first: the store must not count a request that is refused here.
        let local_count = self.was_alone().then(&here);
        let is_refused = local_count.is_some_and(|admission| !admission.admitted);
        if let Some(status) = local_count.filter(|_| is_refused && attempt == Attempt::Usual) {
            return status;
        }
        // A limit of 0 counts nothing in the store, and still probes it.
        let limit_to_ask = if is_refused { 0 } else { limit };
        let admission = with_timeout(self.budget, self.store.admit(key, class, limit_to_ask)).await;
        match (admission, local_count) {
            (Ok(shared), local_count) => {
                self.record_response(attempt);
                self.combine(shared, local_count, here, record)
            }
            (Err(RateLimitStoreError::TooSlow), local_count) if !self.breaker.is_slow(attempt) => {
                // Decides by the local window alone, because the store may or may not have counted this request. The
                // store stays in use: one late answer is no failure.
                metrics::counter!(FAILURES).increment(1);
                self.breaker.decided_alone(self.clock.steady());
                local_count.unwrap_or_else(here)
            }
            (Err(error), local_count) => {
                self.record_store_failure(&error);
                self.breaker.decided_alone(self.clock.steady());
                local_count.unwrap_or_else(here)
            }
        }
    }

    fn decide_alone(&self, here: impl Fn() -> RateLimitStatus) -> RateLimitStatus {
        self.breaker.decided_alone(self.clock.steady());
        here()
    }

    fn was_alone(&self) -> bool {
        self.breaker.was_alone(self.clock.steady())
    }

    /// Returns the status of the store, or for a minute after an outage the stricter one of store and local
    /// window.
    fn combine(
        &self,
        shared: RateLimitStatus,
        counted: Option<RateLimitStatus>,
        here: impl Fn() -> RateLimitStatus,
        record: impl Fn(),
    ) -> RateLimitStatus {
        let local_status = match counted {
            Some(counted) => Some(counted),
            // Admitted requests also count locally, for an outage that may begin or has begun meanwhile.
            None if shared.admitted => {
                let own = here();
                let was_alone = self.was_alone();
                if !own.admitted && !was_alone {
                    // The window is full of requests that the store refused after an outage. This request counts
                    // too: it would be missing if the store failed after the refused requests have left the
                    // window.
                    record();
                }
                was_alone.then_some(own)
            }
            None => None,
        };
        match local_status {
            Some(own) if !own.admitted || (shared.admitted && own.remaining < shared.remaining) => own,
            Some(_) | None => shared,
        }
    }

    fn record_response(&self, attempt: Attempt) {
        if self.breaker.record_answer(attempt) {
            metrics::gauge!(UP).set(1);
            tracing::info!(
                "the shared quota server responds again: quotas are counted for all instances together"
            );
        }
    }

    fn record_store_failure(&self, error: &RateLimitStoreError) {
        metrics::counter!(FAILURES).increment(1);
        if self.breaker.record_failure(self.clock.steady()) {
            metrics::gauge!(UP).set(0);
            tracing::warn!(
                %error,
                "cannot count quotas on the shared server: this instance counts alone until the server \
                 responds; run `candor doctor`"
            );
        }
    }
}

/// Waits for an answer of the store, at most `budget`.
async fn with_timeout<T>(
    budget: Duration,
    asked: impl Future<Output = Result<T, RateLimitStoreError>>,
) -> Result<T, RateLimitStoreError> {
    timeout(budget, asked).await.unwrap_or(Err(RateLimitStoreError::TooSlow))
}

#[cfg(test)]
mod tests;
