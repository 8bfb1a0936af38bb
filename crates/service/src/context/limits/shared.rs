//! Keys counted together with other instances, and alone while that cannot be done.
//!
//! What is counted together is counted here as well. So an instance that must decide alone never admits more of a key
//! within the window than its limit, whatever it admitted before; and for a minute after that both must agree, because the
//! store does not know what was decided without it, or has forgotten everything in a restart. All instances together
//! admit no more than the limit, or no more than the limit of each where the store failed.

use std::sync::Arc;
use std::time::Duration;

use candor_domain::access::QuotaClass;
use candor_domain::id::KeyId;
use candor_domain::window::RateLimitStatus;
use candor_port_clock::Clock;
use candor_port_limits::{RateLimitStore, RateLimitStoreError};
use tokio::time::timeout;

use super::breaker::{Attempt, Breaker};

/// What a request may wait for the store. It answers within a millisecond where all is well.
const BUDGET: Duration = Duration::from_millis(25);
/// The same for the first look at a start, which nobody waits for but the operator.
const CONNECT: Duration = Duration::from_secs(2);
/// Whether the store answers: 1 or 0.
const UP: &str = "candor_rate_limit_store_up";
/// How often it was asked and did not answer.
const FAILURES: &str = "candor_rate_limit_store_failures_total";

/// The store, and what is known about it.
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

    /// Looks whether the store answers.
    pub(super) async fn connect(&self) {
        metrics::counter!(FAILURES).increment(0);
        match within(CONNECT, self.store.check()).await {
            Ok(()) => metrics::gauge!(UP).set(1),
            Err(error) => self.failed(&error),
        }
    }

    /// Counts a request of a key together with other instances, or refuses it; `here` does so alone.
    pub(super) async fn admit(
        &self,
        key: KeyId,
        class: QuotaClass,
        limit: u32,
        here: impl Fn() -> RateLimitStatus,
    ) -> RateLimitStatus {
        let Some(attempt) = self.breaker.attempt(self.clock.steady()) else { return self.alone(here) };
        // Counted here first, so that what is refused here is not counted there.
        let counted = self.was_alone().then(&here);
        let is_refused = counted.is_some_and(|answer| !answer.admitted);
        if let Some(status) = counted.filter(|_| is_refused && attempt == Attempt::Usual) {
            return status;
        }
        // A limit of 0 counts nothing, and shows that the store answers.
        let asked = if is_refused { 0 } else { limit };
        let answer = within(self.budget, self.store.admit(key, class, asked)).await;
        match (answer, counted) {
            (Ok(shared), counted) => {
                self.answered(attempt);
                self.agreed(shared, counted, here)
            }
            (Err(error), counted) => {
                self.failed(&error);
                self.breaker.decided_alone(self.clock.steady());
                counted.unwrap_or_else(here)
            }
        }
    }

    fn alone(&self, here: impl Fn() -> RateLimitStatus) -> RateLimitStatus {
        self.breaker.decided_alone(self.clock.steady());
        here()
    }

    fn was_alone(&self) -> bool {
        self.breaker.was_alone(self.clock.steady())
    }

    /// What holds when the store has answered: its word, or for a minute after it was missing the stricter of both.
    fn agreed(
        &self,
        shared: RateLimitStatus,
        counted: Option<RateLimitStatus>,
        here: impl Fn() -> RateLimitStatus,
    ) -> RateLimitStatus {
        let counted = match counted {
            Some(counted) => Some(counted),
            // What this process admits it counts, for the time when it is alone, which may have begun meanwhile.
            None if shared.admitted => Some(here()).filter(|_| self.was_alone()),
            None => None,
        };
        match counted {
            Some(own) if !own.admitted || (shared.admitted && own.remaining < shared.remaining) => own,
            Some(_) | None => shared,
        }
    }

    fn answered(&self, attempt: Attempt) {
        if self.breaker.answered(attempt) {
            metrics::gauge!(UP).set(1);
            tracing::info!("the store of rate limits answers again: keys are counted for all instances together");
        }
    }

    fn failed(&self, error: &RateLimitStoreError) {
        metrics::counter!(FAILURES).increment(1);
        if self.breaker.failed(self.clock.steady()) {
            metrics::gauge!(UP).set(0);
            tracing::warn!(%error, "the store of rate limits fails: until it answers, this instance counts keys alone");
        }
    }
}

/// The answer of the store, or that there was none in time.
async fn within<T>(
    budget: Duration,
    asked: impl Future<Output = Result<T, RateLimitStoreError>>,
) -> Result<T, RateLimitStoreError> {
    timeout(budget, asked).await.unwrap_or(Err(RateLimitStoreError::TooSlow))
}

#[cfg(test)]
mod tests;
