//! Reproducible random choices.

use candor_port_clock::{Ids, SeededIds};

/// A sequence of choices that depends only on its seed.
#[derive(Debug)]
pub struct Random(SeededIds);

impl Random {
    /// Creates the sequence for a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(SeededIds::new(seed))
    }

    /// Returns a number from 0 to `end`, exclusive.
    pub fn number_below(&self, end: usize) -> usize {
        let mut bytes = [0; 8];
        // Seeded bytes never fail.
        let _ = self.0.fill(&mut bytes);
        let end = u64::try_from(end.max(1)).unwrap_or(u64::MAX);
        usize::try_from(u64::from_le_bytes(bytes) % end).unwrap_or_default()
    }

    /// Returns `true` with this probability in percent.
    pub fn chance(&self, percent: usize) -> bool {
        self.number_below(100) < percent
    }

    /// Returns one of several values.
    pub fn pick<'a, T>(&self, from: &'a [T]) -> &'a T {
        &from[self.number_below(from.len())]
    }

    /// Returns one of several values with this probability in percent, otherwise `None`.
    pub fn maybe<T: Clone>(&self, percent: usize, from: &[T]) -> Option<T> {
        (!from.is_empty() && self.chance(percent)).then(|| self.pick(from).clone())
    }
}
