//! What time it is for removing what is old, and whether that can be believed.
//!
//! An instance whose clock is a month ahead would remove the feed, the kept answers and the log of everybody. So it goes
//! by the store's clock, and removes nothing while its own differs much from that. A store without a clock of its own,
//! such as a file, cannot contradict: there, the clock must have run evenly for a while, so that a machine that begins
//! with a wrong time has a chance to be corrected first.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use candor_domain::time::Timestamp;
use candor_port_clock::Clock;
use candor_port_storage::Storage;
use candor_port_storage::error::Read;
use metrics::{counter, gauge};

use crate::context::services::Services;

/// Clocks that differ by more are not believed.
pub const MOST_APART: Duration = Duration::from_secs(3_600);
/// How long the only clock there is must have run evenly.
const EVENLY: Duration = Duration::from_secs(3_600);
/// How often the same is said again.
const SAID_EVERY: Duration = Duration::from_secs(3_600);

/// Counter of the sweeps that removed nothing because of the clocks.
const REFUSALS: &str = "candor_retention_refusals_total";

/// How far the clock of this process is ahead of the store's, in milliseconds; none where the store has none of its own.
///
/// # Errors
/// Those of the store.
pub async fn clock_difference(store: &dyn Storage, clock: &dyn Clock) -> Read<Option<i64>> {
    Ok(store.time().await?.map(|time| clock.now().millis() - time.millis()))
}

/// The time that retention goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Judged {
    /// The time.
    pub(crate) now: Timestamp,
    /// Whether anything may be removed by it.
    pub(crate) is_believed: bool,
}

/// What was seen of the clocks so far.
#[derive(Debug)]
pub(crate) struct Clocks(Mutex<Seen>);

#[derive(Debug)]
struct Seen {
    /// The time of day and the steady clock at the last look.
    last: (Timestamp, Duration),
    /// Since when both have run evenly.
    evenly_since: Duration,
    said: Option<Duration>,
}

impl Clocks {
    /// Looks at the clocks for the first time.
    pub(crate) fn of(clock: &dyn Clock) -> Self {
        let (wall, steady) = (clock.now(), clock.steady());
        counter!(REFUSALS).increment(0);
        Self(Mutex::new(Seen { last: (wall, steady), evenly_since: steady, said: None }))
    }

    /// Judges the time by what the store says, or by how the clock has run.
    pub(crate) async fn judge(&self, services: &Services) -> Read<Judged> {
        let stored = services.store.time().await?;
        let (wall, steady) = (services.clock.now(), services.clock.steady());
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let apart = match stored {
            Some(stored) => wall.millis() - stored.millis(),
            None => seen.jumped(wall, steady),
        };
        gauge!("candor_clock_difference_seconds").set(seconds(apart));
        let differs = apart.unsigned_abs() > millis(MOST_APART).unsigned_abs();
        if differs {
            counter!(REFUSALS).increment(1);
            seen.say(apart, steady);
        }
        let waits = stored.is_none() && steady.saturating_sub(seen.evenly_since) < EVENLY;
        Ok(Judged { now: stored.unwrap_or(wall), is_believed: !differs && !waits })
    }
}

impl Seen {
    /// By how many milliseconds the time of day has moved on more than time has passed, since the last look.
    fn jumped(&mut self, wall: Timestamp, steady: Duration) -> i64 {
        let (wall_before, steady_before) = std::mem::replace(&mut self.last, (wall, steady));
        let jumped = wall.millis() - wall_before.millis() - millis(steady.saturating_sub(steady_before));
        if jumped.unsigned_abs() > millis(MOST_APART).unsigned_abs() {
            self.evenly_since = steady;
        }
        jumped
    }

    fn say(&mut self, apart: i64, steady: Duration) {
        if self.said.is_some_and(|last| steady.saturating_sub(last) < SAID_EVERY) {
            return;
        }
        self.said = Some(steady);
        tracing::warn!(
            ahead_seconds = apart / 1000,
            "the clock of this machine differs from the database's, or was set: nothing that is old is removed meanwhile; \
             correct the clocks"
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
