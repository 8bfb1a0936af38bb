//! Progress as exact fractions, rounded down to whole percents (decision C11).

use std::cmp::Ordering;

use crate::decimal::Decimal;

/// Part of the way from the start to the target: a fraction of at least 0 and at most 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quotient {
    done: u64,
    whole: u64,
}

impl Quotient {
    /// Returns `(current - start) / (target - start)`, limited to the range from 0 to 1. The target differs from
    /// the start.
    pub(super) fn new(start: Decimal, target: Decimal, current: Decimal) -> Self {
        let way = target.units() - start.units();
        let covered_units = (current.units() - start.units()) * way.signum();
        let whole = way.unsigned_abs().max(1);
        Self { done: u64::try_from(covered_units).unwrap_or_default().min(whole), whole }
    }

    /// Returns the quotient in percent, rounded down.
    pub(super) fn percent(self) -> u8 {
        u8::try_from(u128::from(self.done) * 100 / u128::from(self.whole)).unwrap_or(100)
    }

    fn reduce(self) -> Self {
        let divisor = common_divisor(self.done, self.whole);
        Self { done: self.done / divisor, whole: self.whole / divisor }
    }
}

/// Returns the weighted mean of quotients in percent, rounded down. `None` without quotients.
pub(super) fn mean_percent(weighted: &[(Quotient, u8)]) -> Option<u8> {
    // The sum of the quotients as one fraction. Its denominator outgrows integers of a fixed size.
    let (mut done, mut whole, mut weights) = (Natural::from(0), Natural::from(1), 0);
    for (quotient, weight) in weighted {
        let quotient = quotient.reduce();
        let numerator = whole.times(quotient.done).times(u64::from(*weight));
        done = done.times(quotient.whole).plus(&numerator);
        whole = whole.times(quotient.whole);
        weights += u64::from(*weight);
    }
    let (done, whole) = (done.times(100), whole.times(weights));
    if weights == 0 {
        return None;
    }
    let percents: Vec<u8> = (1..=100).collect();
    let percent = percents.partition_point(|percent| whole.times(u64::from(*percent)) <= done);
    u8::try_from(percent).ok()
}

fn common_divisor(one: u64, other: u64) -> u64 {
    let (mut one, mut other) = (one, other);
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one.max(1)
}

/// A natural number of any size: digits to the base 2^64, the lowest first, without zeros at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Natural(Vec<u64>);

impl From<u64> for Natural {
    fn from(value: u64) -> Self {
        Self(Some(value).filter(|value| *value != 0).into_iter().collect())
    }
}

impl Natural {
    fn times(&self, factor: u64) -> Self {
        if factor == 0 {
            return Self(vec![]);
        }
        let mut carry = 0;
        let mut digits: Vec<_> =
            self.0.iter().map(|digit| next_digit(u128::from(*digit) * u128::from(factor), &mut carry)).collect();
        digits.extend(Some(carry).filter(|carry| *carry != 0));
        Self(digits)
    }

    fn plus(&self, other: &Self) -> Self {
        let (longer, shorter) = if self.0.len() < other.0.len() { (other, self) } else { (self, other) };
        let mut carry = 0;
        let addends = shorter.0.iter().copied().chain(std::iter::repeat(0));
        let sums = longer.0.iter().zip(addends).map(|(one, other)| u128::from(*one) + u128::from(other));
        let mut digits: Vec<_> = sums.map(|sum| next_digit(sum, &mut carry)).collect();
        digits.extend(Some(carry).filter(|carry| *carry != 0));
        Self(digits)
    }
}

/// Adds the carry to a value, and returns the lowest digit of the sum. The rest of the sum is the new carry.
fn next_digit(value: u128, carry: &mut u64) -> u64 {
    /// Mask of the bits of a digit.
    const MASK: u128 = u64::MAX as u128;
    let value = value + u128::from(*carry);
    *carry = u64::try_from(value >> u64::BITS).unwrap_or(u64::MAX);
    u64::try_from(value & MASK).unwrap_or(u64::MAX)
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Natural {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    fn quotient(start: &str, target: &str, current: &str) -> Quotient {
        Quotient::new(number(start), number(target), number(current))
    }

    #[test]
    fn natural_numbers_carry_into_a_higher_digit() {
        let (one, most) = (Natural::from(1), Natural::from(u64::MAX));
        assert_eq!(most.times(3), Natural(vec![u64::MAX - 2, 2]));
        assert_eq!((most.plus(&one), one.plus(&most)), (Natural(vec![0, 1]), Natural(vec![0, 1])));
        assert_eq!((one.times(2), one.plus(&one)), (Natural(vec![2]), Natural(vec![2])));
    }

    #[test]
    fn quotient_is_limited_and_rounded_down() {
        for (start, target, current, percent) in [
            ("0", "100", "0", 0),
            ("0", "100", "99.9999", 99),
            ("0", "100", "100", 100),
            ("0", "100", "250", 100),
            ("0", "100", "-1", 0),
            ("100", "0", "100", 0),
            ("100", "0", "71", 29),
            ("100", "0", "-5", 100),
            ("0", "0.3", "0.1", 33),
            ("-1000000000000", "1000000000000", "999999999999.9999", 99),
            ("1000000000000", "-1000000000000", "0", 50),
        ] {
            assert_eq!(quotient(start, target, current).percent(), percent, "{start} {target} {current}");
        }
    }

    #[test]
    fn mean_of_quotients_that_sum_up_to_a_whole_is_exact() {
        let third = quotient("0", "3", "1");
        let two_thirds = quotient("0", "3", "2");
        assert_eq!(mean_percent(&[(third, 1), (two_thirds, 1)]), Some(50));
        let seventh = quotient("0", "7", "1");
        assert_eq!(mean_percent(&[(seventh, 1); 7]), Some(14));
        assert_eq!(mean_percent(&[(seventh, 7), (quotient("0", "7", "6"), 7)]), Some(50));
        assert_eq!(mean_percent(&[(quotient("0", "1", "1"), 100), (quotient("0", "1", "0"), 1)]), Some(99));
        assert_eq!(mean_percent(&[]), None);
    }

    #[test]
    fn mean_of_large_coprime_denominators_is_exact() {
        // The common denominator has some 500 bits.
        let targets = [
            "999999999999.9989",
            "999999999999.9937",
            "999999999999.9923",
            "999999999999.9911",
            "999999999999.9873",
            "999999999999.9829",
            "999999999999.9821",
            "999999999999.9817",
            "999999999999.9793",
            "999999999999.9771",
        ];
        let all = |current: &dyn Fn(&str) -> String| {
            let quotients = targets.map(|target| (quotient("0", target, &current(target)), 100));
            mean_percent(&quotients)
        };
        assert_eq!(all(&str::to_owned), Some(100));
        assert_eq!(all(&|_| "0.0001".to_owned()), Some(0));
        let nearly = |target: &str| Decimal::from_units(number(target).units() - 1).unwrap().to_string();
        assert_eq!(all(&nearly), Some(99));
    }

    /// Returns the weighted mean of fractions in percent, computed in integers of a fixed size. The denominators
    /// must be small.
    fn modelled(parts: &[(u64, u64, u8)]) -> Option<u8> {
        let (mut done, mut whole, mut weights) = (0_u128, 1_u128, 0_u128);
        for (part, of, weight) in parts {
            let (part, of, weight) = (u128::from(*part), u128::from(*of), u128::from(*weight));
            (done, whole, weights) = (done * of + part * weight * whole, whole * of, weights + weight);
        }
        (weights > 0).then(|| u8::try_from(100 * done / (whole * weights)).unwrap())
    }

    proptest! {
        #[test]
        fn mean_equals_that_of_a_model(
            parts in proptest::collection::vec((0..=600_u64, 1..=600_u64, 1..=100_u8), 0..=10)
        ) {
            let parts: Vec<_> = parts.into_iter().map(|(part, of, weight)| (part.min(of), of, weight)).collect();
            let quotients: Vec<_> =
                parts.iter().map(|(done, whole, weight)| (Quotient { done: *done, whole: *whole }, *weight)).collect();
            prop_assert_eq!(mean_percent(&quotients), modelled(&parts));
        }
    }
}
