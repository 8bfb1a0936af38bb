//! Pseudo-random numbers that are the same in every run.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

/// A stream of pseudo-random numbers.
#[derive(Debug, Clone)]
pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    /// Returns a number from `from` up to and without `to`, which is greater.
    pub(crate) fn between(&mut self, from: i64, to: i64) -> i64 {
        from + (self.0.next_u64() % from.abs_diff(to)).cast_signed()
    }

    /// Returns an index of a list of this length, which is not empty.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        let len = u64::try_from(len.max(1)).unwrap_or(1);
        usize::try_from(self.0.next_u64() % len).unwrap_or_default()
    }

    /// Returns `true` in `permille` of 1,000 cases.
    pub(crate) fn chance(&mut self, permille: i64) -> bool {
        self.between(0, 1000) < permille
    }

    /// Returns one of several values.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.index(from.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn between_returns_every_number_of_the_range() {
        let mut random = Random::seeded(1);
        let mut numbers: Vec<i64> = (0..500).map(|_| random.between(-3, 4)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers, [-3, -2, -1, 0, 1, 2, 3]);
    }
}
