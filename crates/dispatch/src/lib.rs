//! The delivery engine as one machine without I/O (§6.3, §6.4).
//!
//! A [`Dispatcher`] decides what one process does about queued deliveries: what it claims next and whether it has room
//! for that, whose attempt begins, what becomes of an attempt, which outcomes are recorded together, and when it looks
//! again. It is told what happened (something was claimed, handed over, answered, recorded, or could not be) and what
//! time it is, and it is asked what is to be done. Whoever drives it calls the store and the receivers: the service with
//! real ones, the simulation with models of them.
//!
//! Nothing here knows a clock, a store, a task or randomness, so the same inputs always have the same effects.

mod attempt;
mod claims;
mod dispatcher;
mod lease;
mod queues;
mod record;
#[cfg(test)]
mod tests;
mod unsettled;

use std::time::Duration;

use candor_domain::webhook::{Job, Schedule};

pub use attempt::{Destination, Ending, Finished, admit, finish_attempt, store_failed, unsent};
pub use dispatcher::{ClaimOrder, Dispatcher, Wakes};
pub use lease::{Ends, Now};
pub use queues::{Answer, Begun, QueueLimits, QueuePlace};
pub use record::{AttemptResults, Batch, Completed, HealthDeltas, RecordRefusal, Recording};

/// What an operator sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// When a failed delivery is attempted again (§6.4).
    pub schedule: Schedule,
    /// How long a receiver may take to answer (§6.3, §8).
    pub timeout: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { schedule: Schedule::default(), timeout: Duration::from_secs(15) }
    }
}

/// How long an attempt may take until what became of it is recorded, beyond its timeout.
const RECORDED_WITHIN: Duration = Duration::from_secs(5);
/// How long a delivery may wait in memory for its turn.
const WAITS_AT_MOST: Duration = Duration::from_secs(10);

impl Settings {
    /// How long a delivery is leased.
    #[must_use]
    pub fn lease(&self) -> Duration {
        WAITS_AT_MOST + self.needs()
    }

    /// What must be left of a lease for an attempt to be prepared: whoever claims the delivery next must find it
    /// recorded.
    fn needs(&self) -> Duration {
        self.timeout + RECORDED_WITHIN
    }

    /// What must be left of a lease when the request goes out.
    fn needs_to_send(&self) -> Duration {
        self.timeout + RECORDED_WITHIN / 2
    }
}

/// A delivery that waits for its turn. `M` is what the driver keeps with it, such as the message that is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting<M> {
    /// The delivery.
    pub job: Job,
    /// What the driver keeps with it.
    pub message: M,
    /// It was parked, so it may be too late for it (decision F4).
    pub resumed: bool,
}
