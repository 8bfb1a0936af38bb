//! The delivery engine as one state machine without I/O (§6.3, §6.4).
//!
//! A [`Dispatcher`] decides what one process does about queued deliveries: the next claim and its capacity,
//! the next attempt, the result of an attempt, the batches of results, and the time of the next claim. Its
//! inputs are events (a claim, a handover, an answer, a record, or the failure of one of them) and the
//! current time. Its driver calls the store and the receivers: the service uses real ones, the simulation
//! uses models.
//!
//! Nothing here depends on a clock, a store, a task or randomness, so the same inputs always have the same
//! effects.

mod attempt;
mod claims;
mod dispatcher;
mod lease;
mod queues;
mod record;
#[cfg(test)]
mod tests;
mod unsettled;

use std::hash::{BuildHasherDefault, DefaultHasher};
use std::time::Duration;

use candor_subscriptions::{Job, Schedule};

pub use attempt::{AttemptEnd, DeliveryResult, Destination, admit, finish_attempt, store_failed, unsent};
pub use dispatcher::{ClaimOrder, Dispatcher, RateLeaseOrder, SendPermit, Wakes};
pub use lease::{LeaseDeadline, Now};
pub use queues::{QueueLimits, QueuePlace, ReceiverResponse, StartedAttempt};
pub use record::{AttemptResults, Batch, HealthDeltas, NextRecordStep, RecordRefusal, RecordedBatch};

/// A hash map with a fixed hasher: a random iteration order would be an input of the machine. The keys are ids
/// that the service makes, so no client can choose keys that collide.
type HashMap<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<DefaultHasher>>;
/// A hash set with the fixed hasher of [`HashMap`].
type HashSet<K> = std::collections::HashSet<K, BuildHasherDefault<DefaultHasher>>;

/// Settings of webhook deliveries that the operator chooses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Delays between the attempts of a delivery (§6.4).
    pub schedule: Schedule,
    /// Maximum response time of a receiver (§6.3, §8).
    pub timeout: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { schedule: Schedule::default(), timeout: Duration::from_secs(15) }
    }
}

/// Time between the response timeout of an attempt and the end of the lease, in which the result is recorded.
const RECORDED_WITHIN: Duration = Duration::from_secs(5);
/// Maximum time that a delivery waits in memory for its attempt.
const WAITS_AT_MOST: Duration = Duration::from_secs(10);

impl Settings {
    /// Returns the lease duration of a delivery.
    #[must_use]
    pub fn lease(&self) -> Duration {
        WAITS_AT_MOST + self.needs()
    }

    /// Returns the part of a lease that must be left to begin an attempt. The result must be recorded before
    /// the lease expires and another worker claims the delivery.
    fn needs(&self) -> Duration {
        self.timeout + RECORDED_WITHIN
    }

    /// Returns the part of a lease that must be left to send the request.
    fn needs_to_send(&self) -> Duration {
        self.timeout + RECORDED_WITHIN / 2
    }
}

/// A delivery that waits for its attempt. `M` is data of the driver, such as the message to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingDelivery<M> {
    /// The delivery, which this worker holds under a lease.
    pub job: Job,
    /// Data of the driver.
    pub message: M,
    /// `true` if the delivery was parked before this claim, so that it may now be too late (decision F4).
    pub resumed: bool,
}
