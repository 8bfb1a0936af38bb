//! Sizes and seeds of random and long tests. The gate uses fixed seeds and small sizes, `cargo xtask explore` draws
//! its seeds and uses large sizes.

use std::env;

/// Environment variable with the seed of an exploration, a number. It is not set in the gate.
pub const SEED_VARIABLE: &str = "CANDOR_EXPLORE_SEED";

/// Returns the size of a test: `gate` in the gate, and `exploration` in an exploration.
#[must_use]
pub fn size(gate: usize, exploration: usize) -> usize {
    if exploration_seed().is_some() { exploration } else { gate }
}

/// Returns the seed of a random test: `gate` in the gate, and the sum of `gate` and the drawn seed in an exploration.
/// The sum prevents that two tests make the same choices.
#[must_use]
pub fn seed(gate: u64) -> u64 {
    seed_beside(gate, exploration_seed())
}

fn exploration_seed() -> Option<u64> {
    env::var(SEED_VARIABLE).ok()?.parse().ok()
}

const fn seed_beside(gate: u64, exploration: Option<u64>) -> u64 {
    match exploration {
        Some(drawn) => gate.wrapping_add(drawn),
        None => gate,
    }
}

#[cfg(test)]
mod tests {
    use super::seed_beside;

    #[test]
    fn exploration_changes_each_seed_and_the_gate_none() {
        assert_eq!(seed_beside(7, None), 7);
        assert_eq!(seed_beside(7, Some(40)), 47);
        assert_eq!(seed_beside(u64::MAX, Some(1)), 0);
    }
}
