//! Choices that are the same on every run.

use candor_port_clock::{Ids, SeededIds};

/// A sequence of choices that its seed determines.
#[derive(Debug)]
pub struct Random(SeededIds);

impl Random {
    /// Starts from a number.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(SeededIds::new(seed))
    }

    /// A number from 0 to `end`, which is not among them.
    pub fn below(&self, end: usize) -> usize {
        let mut bytes = [0; 8];
        // Seeded bytes never fail.
        let _ = self.0.fill(&mut bytes);
        let end = u64::try_from(end.max(1)).unwrap_or(u64::MAX);
        usize::try_from(u64::from_le_bytes(bytes) % end).unwrap_or_default()
    }

    /// Yes, so many times out of a hundred.
    pub fn chance(&self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub fn pick<'a, T>(&self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// One of several, or none of them, so many times out of a hundred.
    pub fn maybe<T: Clone>(&self, percent: usize, from: &[T]) -> Option<T> {
        (!from.is_empty() && self.chance(percent)).then(|| self.pick(from).clone())
    }
}
