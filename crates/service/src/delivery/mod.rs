//! Deliveries of webhooks: what is queued is claimed, signed, sent, and what became of it is recorded (§6.3, §6.4).
//!
//! Each process that delivers has one [`Engine`]. It holds a bounded part of the queue, leased to it: what it takes from
//! the queue ([`claims`]), and what a change of this process has just queued, which is handed over with the commit
//! ([`handover`]) and does not wait to be found. Which of that is attempted when is decided in [`lanes`]. Attempts are
//! made outside of any transaction, and what became of them is recorded in batches ([`record`]). If the process dies, its
//! leases run out, and another one delivers.

mod attempt;
mod claims;
mod disable;
mod engine;
mod figures;
mod handover;
mod intake;
mod lanes;
mod lease;
mod message;
mod receivers;
mod record;

use std::time::Duration;

use candor_domain::webhook::Schedule;

pub use engine::Engine;
pub(crate) use handover::{Deliveries, HandOver};

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
    fn lease(&self) -> Duration {
        WAITS_AT_MOST + self.needs()
    }

    /// What must be left of a lease for an attempt to begin: whoever claims the delivery next must find it recorded.
    fn needs(&self) -> Duration {
        self.timeout + RECORDED_WITHIN
    }
}
