//! Numbers that look random and are the same in every run.

/// A stream of numbers, by the method of `SplitMix64`.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        it ^ (it >> 31)
    }

    /// A number from `from` up to and without `to`, which is greater.
    pub(crate) const fn between(&mut self, from: i64, to: i64) -> i64 {
        from + (self.next() % from.abs_diff(to)).cast_signed()
    }

    /// An index of a list of this length, which is not empty.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        let len = u64::try_from(len.max(1)).unwrap_or(1);
        usize::try_from(self.next() % len).unwrap_or_default()
    }

    /// Yes, so many times out of a thousand.
    pub(crate) const fn chance(&mut self, permille: i64) -> bool {
        self.between(0, 1000) < permille
    }

    /// One of several, of which there is at least one.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.index(from.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn every_number_of_a_range_comes_up_and_no_other() {
        let mut random = Random::seeded(1);
        let mut seen: Vec<i64> = (0..500).map(|_| random.between(-3, 4)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [-3, -2, -1, 0, 1, 2, 3]);
    }
}
