//! The brake of a connector: it stops a provider that deactivates many people within an hour.

use schemars::JsonSchema;
use serde::Serialize;

/// Length of the period that the brake counts, in seconds.
pub const BRAKE_SECONDS: i64 = 3600;

/// The limit for deactivations by a provider within an hour. A deactivation is refused if the count with it is at
/// least [`Brake::at_least`] and more than [`Brake::percent`] of the linked people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Brake {
    /// Percentage of the linked people that may be deactivated within an hour. 100 turns the brake off.
    #[schemars(range(max = 100))]
    pub percent: u16,
    /// Number of deactivations within an hour below which the brake never acts.
    pub at_least: u32,
}

impl Default for Brake {
    /// Returns the brake of a new connector: 20 percent of the linked people, and at least 20 deactivations.
    fn default() -> Self {
        Self { percent: 20, at_least: 20 }
    }
}

/// Numbers of people that a connector has links to. Removed links do not count from their removal on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkedPeople {
    /// People linked at the start of the period.
    pub at_start: u64,
    /// Number of people linked now.
    pub now: u64,
}

impl LinkedPeople {
    /// Returns the number that the percentage applies to: the larger one of `at_start` and `now`. So a provider that
    /// removes accounts does not lower its limit, and a first sync raises it.
    #[must_use]
    pub const fn base(self) -> u64 {
        if self.at_start > self.now { self.at_start } else { self.now }
    }
}

impl Brake {
    /// Returns `true` if one more deactivation can exceed the limit, so that the linked people must be counted.
    /// `deactivated` is the number of other people that the provider deactivated within the period.
    #[must_use]
    pub const fn needs_people(self, deactivated: u64) -> bool {
        self.percent < 100 && deactivated.saturating_add(1) >= self.at_least as u64
    }

    /// Returns `true` if one more deactivation is allowed. `deactivated` is the number of other people that the
    /// provider deactivated within the period.
    #[must_use]
    pub fn allows(self, deactivated: u64, people: LinkedPeople) -> bool {
        let count = u128::from(deactivated) + 1;
        !self.needs_people(deactivated) || count * 100 <= u128::from(self.percent) * u128::from(people.base())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brake_acts_above_both_limits() {
        let table = [
            // percent, at least, others deactivated, people at the start, people now, allowed
            (20, 20, 0, 1, 1, true),
            (20, 20, 18, 19, 19, true),
            (20, 20, 19, 99, 99, false),
            (20, 20, 19, 100, 100, true),
            (20, 20, 20, 100, 100, false),
            // The larger base counts: neither removals nor a first sync lower it.
            (20, 20, 19, 100, 80, true),
            (20, 20, 19, 0, 100, true),
            (20, 20, 1_999, 10_000, 9_000, true),
            (20, 20, 2_000, 10_000, 9_000, false),
            // The percentage applies from the deactivation with the number `at_least` on.
            (50, 1, 0, 1, 1, false),
            (50, 1, 0, 2, 2, true),
            (0, 1, 0, 1_000, 1_000, false),
            (0, 2, 0, 1_000, 1_000, true),
            // All people: the brake is off.
            (100, 0, 5, 1, 1, true),
            (100, 10_000, 20_000, 3, 3, true),
        ];
        for (percent, at_least, deactivated, at_start, now, allowed) in table {
            let brake = Brake { percent, at_least };
            let people = LinkedPeople { at_start, now };
            assert_eq!(brake.allows(deactivated, people), allowed, "{brake:?} {deactivated} {people:?}");
        }
    }

    #[test]
    fn people_are_counted_only_near_the_limit() {
        let brake = Brake::default();
        assert!(!brake.needs_people(18));
        assert!(brake.needs_people(19));
        assert!(!Brake { percent: 100, at_least: 0 }.needs_people(u64::MAX));
    }
}
