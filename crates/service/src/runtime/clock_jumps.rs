//! Corrections after the wall clock was ahead and was set back. Rows that were stored as due or leased meanwhile must
//! not wait until the clock reaches their times.

use std::time::Duration;

use candor_port_clock::Clock;

use crate::context::error::Error;
use crate::context::services::Services;

/// Smallest step back of the wall clock after which stored times are corrected, in milliseconds. Smaller steps
/// delay a delivery by less than a second.
const STEP_MILLIS: i64 = 1_000;

/// Decides when stored times are corrected: at the start, after the wall clock was set back, and once more after the
/// longest lease. A call that began before the clock was set back may store its times after the first correction.
#[derive(Debug)]
pub struct CorrectionSchedule {
    /// Wall time minus steady time at the last check, in milliseconds.
    milliseconds_ahead: i64,
    /// Longest duration for which a worker takes a lease.
    longest_lease: Duration,
    is_due: bool,
    /// Steady time of the second correction.
    repeat_at: Option<Duration>,
}

impl CorrectionSchedule {
    /// Creates a schedule whose first correction is due.
    #[must_use]
    pub fn new(clock: &dyn Clock, longest_lease: Duration) -> Self {
        let milliseconds_ahead = milliseconds_ahead(clock);
        Self { milliseconds_ahead, longest_lease, is_due: true, repeat_at: None }
    }

    /// Compares the clocks. Returns `true` if a correction is due, until [`CorrectionSchedule::note_correction`].
    pub fn is_due(&mut self, clock: &dyn Clock) -> bool {
        let milliseconds_ahead = milliseconds_ahead(clock);
        let was_set_back = self.milliseconds_ahead.saturating_sub(milliseconds_ahead) >= STEP_MILLIS;
        self.milliseconds_ahead = milliseconds_ahead;
        let is_repeated = self.repeat_at.is_some_and(|at| at <= clock.steady());
        if was_set_back {
            self.repeat_at = Some(clock.steady() + self.longest_lease);
        } else if is_repeated {
            self.repeat_at = None;
        }
        self.is_due |= was_set_back || is_repeated;
        self.is_due
    }

    /// Notes that the stored times have been corrected.
    pub const fn note_correction(&mut self) {
        self.is_due = false;
    }
}

fn milliseconds_ahead(clock: &dyn Clock) -> i64 {
    clock.now().millis() - i64::try_from(clock.steady().as_millis()).unwrap_or(i64::MAX)
}

/// Makes deliveries, mails and erasures due now if a clock that was ahead delayed them. `longest` is the longest
/// duration for which a worker takes a lease: the end of a later lease is set to `longest` from now.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; another call repeats the correction.
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

    fn is_corrected(schedule: &mut CorrectionSchedule, clock: &ManualClock) -> bool {
        let is_due = schedule.is_due(clock);
        schedule.note_correction();
        is_due
    }

    #[test]
    fn times_are_corrected_twice_after_a_clock_was_set_back() {
        let clock = ManualClock::starting_at(Timestamp::from_millis(1_772_442_000_000));
        let mut schedule = CorrectionSchedule::new(&clock, Duration::from_secs(75));
        assert!(schedule.is_due(&clock) && schedule.is_due(&clock), "a failed correction is repeated");
        assert!(is_corrected(&mut schedule, &clock));
        clock.advance_seconds(3_600);
        assert!(!is_corrected(&mut schedule, &clock), "time has elapsed");
        clock.set_by_seconds(21_600);
        assert!(!is_corrected(&mut schedule, &clock), "nothing is delayed yet");
        clock.set_by_seconds(-21_600);
        assert!(is_corrected(&mut schedule, &clock));
        clock.advance_seconds(74);
        assert!(!is_corrected(&mut schedule, &clock));
        clock.advance_seconds(1);
        assert!(is_corrected(&mut schedule, &clock), "calls of the former time have ended");
        clock.advance_seconds(3_600);
        assert!(!is_corrected(&mut schedule, &clock));
    }
}
