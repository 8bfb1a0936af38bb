//! Corrections after the wall clock was ahead and was set back. Rows that were stored as due or leased meanwhile must
//! not wait until the clock reaches their times.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use candor_port_clock::Clock;

use crate::context::error::Error;
use crate::context::services::Services;

/// Step back of the wall clock that counts as a correction, in milliseconds. Smaller steps delay a delivery by less
/// than a second.
const STEP_MILLIS: i64 = 1_000;

/// Detector of corrections of the wall clock to an earlier time.
#[derive(Debug)]
pub struct JumpDetector {
    /// Wall time minus steady time at the last check, in milliseconds.
    ahead: AtomicI64,
}

impl JumpDetector {
    /// Creates a detector that compares with the present difference of the clocks.
    #[must_use]
    pub fn new(clock: &dyn Clock) -> Self {
        Self { ahead: AtomicI64::new(milliseconds_ahead(clock)) }
    }

    /// Returns `true` if the wall clock was set back since the last check.
    pub fn was_set_back(&self, clock: &dyn Clock) -> bool {
        let is_ahead = milliseconds_ahead(clock);
        self.ahead.swap(is_ahead, Ordering::AcqRel).saturating_sub(is_ahead) >= STEP_MILLIS
    }
}

fn milliseconds_ahead(clock: &dyn Clock) -> i64 {
    clock.now().millis() - i64::try_from(clock.steady().as_millis()).unwrap_or(i64::MAX)
}

/// Makes deliveries, mails and erasures due now if a clock that was ahead delayed them. Leases with a later end expire
/// after `longest` from now, the longest duration for which a worker takes a lease.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; another call repeats it.
pub async fn correct(services: &Services, longest: Duration) -> Result<(), Error> {
    let now = services.clock.now();
    let lease = now.plus_seconds(i64::try_from(longest.as_secs()).unwrap_or(i64::MAX));
    Ok(services.store.correct_times(now, lease).await?)
}

#[cfg(test)]
mod tests {
    use candor_domain::time::Timestamp;
    use candor_port_clock::ManualClock;

    use super::*;

    #[test]
    fn clock_that_is_set_back_is_detected_once() {
        let clock = ManualClock::starting_at(Timestamp::from_millis(1_772_442_000_000));
        let detector = JumpDetector::new(&clock);
        clock.advance_seconds(3_600);
        assert!(!detector.was_set_back(&clock), "time has elapsed");
        clock.set_by_seconds(21_600);
        assert!(!detector.was_set_back(&clock), "nothing is delayed yet");
        clock.set_by_seconds(-21_600);
        assert!(detector.was_set_back(&clock) && !detector.was_set_back(&clock));
    }
}
