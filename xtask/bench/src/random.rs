//! Numbers that look random and are the same in every run.

/// A stream of numbers, by the method of `SplitMix64`.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        it ^ (it >> 31)
    }

    /// A number from `from` up to and without `to`.
    pub(crate) const fn between(&mut self, from: u32, to: u32) -> u32 {
        from + (self.next() % (to - from) as u64) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn every_number_of_a_range_comes_up_and_no_other() {
        let mut random = Random::seeded(1);
        let mut seen: Vec<u32> = (0..500).map(|_| random.between(3, 10)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [3, 4, 5, 6, 7, 8, 9]);
    }
}
