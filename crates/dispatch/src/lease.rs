//! End of a lease by the time of day, which is stored but may be set back, and by the monotonic clock. The store
//! decides who gets the deliveries of an expired lease: see `claim` in `candor_port_storage::queue`.

use std::time::Duration;

use candor_domain::time::Timestamp;

/// The current time by both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Time of day, which is stored and used by other processes.
    pub wall: Timestamp,
    /// Monotonic time since an arbitrary moment in the life of this process.
    pub steady: Duration,
}

/// The end of a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseDeadline {
    wall: Timestamp,
    steady: Duration,
}

impl Now {
    /// Returns the end of a lease that begins now.
    #[must_use]
    pub fn plus(self, length: Duration) -> LeaseDeadline {
        LeaseDeadline { wall: add(self.wall, length), steady: self.steady + length }
    }
}

impl LeaseDeadline {
    /// Returns the end as it is stored.
    #[must_use]
    pub const fn deadline(self) -> Timestamp {
        self.wall
    }

    /// Returns the remaining time by the clock that is further ahead, so that no other process considers the
    /// lease expired earlier.
    #[must_use]
    pub fn remaining(self, now: Now) -> Duration {
        let wall = u64::try_from(self.wall.millis() - now.wall.millis()).unwrap_or_default();
        self.steady.saturating_sub(now.steady).min(Duration::from_millis(wall))
    }
}

/// Adds a duration to a time.
pub(crate) fn add(at: Timestamp, by: Duration) -> Timestamp {
    let millis = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(at.millis().saturating_add(millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lease_ends_when_either_clock_passes_the_deadline() {
        let start = Now { wall: Timestamp::from_millis(1_000_000), steady: Duration::from_secs(7) };
        let ends = start.plus(Duration::from_secs(30));
        let time_at = |wall: i64, steady: u64| Now {
            wall: start.wall.plus_seconds(wall),
            steady: start.steady + Duration::from_secs(steady),
        };
        let table = [
            (time_at(0, 0), 30),
            (time_at(10, 10), 20),
            (time_at(-3_600, 10), 20), // the time of day was set back
            (time_at(25, 10), 5),
            (time_at(3_600, 10), 0),
            (time_at(0, 3_600), 0),
            (time_at(30, 0), 0),
        ];
        for (now, left) in table {
            assert_eq!(ends.remaining(now), Duration::from_secs(left), "{now:?}");
        }
        assert_eq!(ends.deadline(), start.wall.plus_seconds(30));
    }
}
