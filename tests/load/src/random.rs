//! Pseudo-random numbers that are the same in every run.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

/// A stream of pseudo-random numbers.
#[derive(Debug, Clone)]
pub struct Random(SplitMix64);

impl Random {
    /// Creates the stream of a seed.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    /// Draws the next number.
    pub fn draw(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns any of the values.
    pub fn pick<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[self.number(0, u32::try_from(values.len()).unwrap_or(u32::MAX)) as usize]
    }

    /// Returns a number from `from` up to and without `to`.
    pub fn number(&mut self, from: u32, to: u32) -> u32 {
        from + (self.draw() % (to - from) as u64) as u32
    }
}
