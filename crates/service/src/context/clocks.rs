//! Checks whether the clock is trustworthy before retention removes old data.
//!
//! An instance whose clock is a month ahead would remove the feed, the replays and the audit log of every
//! tenant. So retention uses the store's clock and removes nothing while the clocks of the instance and the store
//! differ by more than an hour. A store without a clock of its own, such as a file, allows no comparison. Then the
//! instance's clock must run evenly for an hour first, so that a machine that boots with a wrong time can be corrected.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use candor_domain::time::Timestamp;
use candor_port_clock::Clock;
use candor_port_storage::Storage;
use candor_port_storage::error::Read;
use metrics::{counter, gauge};

use crate::context::services::Services;

/// Largest difference between the clocks at which retention still removes data.
pub const MOST_APART: Duration = Duration::from_secs(3_600);
/// Time for which this process's clock must have run evenly before retention trusts it, if the store has no clock.
const EVENLY: Duration = Duration::from_secs(3_600);
/// Minimum interval between two warnings about the clocks.
const SAID_EVERY: Duration = Duration::from_secs(3_600);

/// Metric name: sweeps that removed nothing because of the clocks.
const REFUSALS: &str = "candor_retention_refusals_total";

/// Returns the milliseconds by which this process's clock is ahead of the store's; `None` if the store has no
/// clock.
///
/// # Errors
/// Errors of the store.
pub async fn clock_difference(store: &dyn Storage, clock: &dyn Clock) -> Read<Option<i64>> {
    Ok(store.time().await?.map(|time| clock.now().millis() - time.millis()))
}

/// Result of comparing the clocks: the time for retention, and whether it is trustworthy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClockCheck {
    /// The store's time, or this process's time if the store has no clock.
    pub(crate) now: Timestamp,
    /// `false` if retention must not remove anything now.
    pub(crate) is_believed: bool,
}

/// Observations of the clocks since the process started.
#[derive(Debug)]
pub(crate) struct Clocks(Mutex<ObservedClocks>);

#[derive(Debug)]
struct ObservedClocks {
    /// Wall clock and steady clock at the last observation.
    last: (Timestamp, Duration),
    /// Steady time since which both clocks have advanced at the same rate.
    evenly_since: Duration,
    /// Steady time of the last warning about the clocks.
    said: Option<Duration>,
}

impl Clocks {
    /// Records the first observation of both clocks.
    pub(crate) fn observe(clock: &dyn Clock) -> Self {
        let (wall, steady) = (clock.now(), clock.steady());
        counter!(REFUSALS).increment(0);
        Self(Mutex::new(ObservedClocks { last: (wall, steady), evenly_since: steady, said: None }))
    }

    /// Compares the wall clock with the store's clock, or with the steady clock if the store has none.
    pub(crate) async fn judge(&self, services: &Services) -> Read<ClockCheck> {
        let database_time = services.store.time().await?;
        let (wall, steady) = (services.clock.now(), services.clock.steady());
        let mut last_clocks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let skew_millis = match database_time {
            Some(database_time) => wall.millis() - database_time.millis(),
            None => last_clocks.measure_jump(wall, steady),
        };
        gauge!("candor_clock_difference_seconds").set(seconds(skew_millis));
        let differs = skew_millis.unsigned_abs() > millis(MOST_APART).unsigned_abs();
        if differs {
            counter!(REFUSALS).increment(1);
            last_clocks.say(skew_millis, steady);
        }
        let waits = database_time.is_none() && steady.saturating_sub(last_clocks.evenly_since) < EVENLY;
        Ok(ClockCheck { now: database_time.unwrap_or(wall), is_believed: !differs && !waits })
    }
}

impl ObservedClocks {
    /// Returns the milliseconds by which the wall clock advanced more than the steady clock since the last
    /// observation.
    fn measure_jump(&mut self, wall: Timestamp, steady: Duration) -> i64 {
        let (wall_before, steady_before) = std::mem::replace(&mut self.last, (wall, steady));
        let jump_millis = wall.millis() - wall_before.millis() - millis(steady.saturating_sub(steady_before));
        if jump_millis.unsigned_abs() > millis(MOST_APART).unsigned_abs() {
            self.evenly_since = steady;
        }
        jump_millis
    }

    fn say(&mut self, apart: i64, steady: Duration) {
        if self.said.is_some_and(|last| steady.saturating_sub(last) < SAID_EVERY) {
            return;
        }
        self.said = Some(steady);
        tracing::warn!(
            ahead_seconds = apart / 1000,
            "clock skew or clock change detected: deletion of old data is suspended; synchronize the clocks of \
             this machine and of the database"
        );
    }
}

fn millis(length: Duration) -> i64 {
    i64::try_from(length.as_millis()).unwrap_or(i64::MAX)
}

fn seconds(millis: i64) -> f64 {
    let size = Duration::from_millis(millis.unsigned_abs()).as_secs_f64();
    if millis < 0 { -size } else { size }
}
