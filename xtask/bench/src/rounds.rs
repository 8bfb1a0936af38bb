//! Contenders take turns, and medians tell them apart: a machine that others use as well is fast at one moment and slow
//! at another, but equally so for neighbours in time.

use crate::Outcome;
use crate::burst::Sample;
use std::time::Duration;

/// A turn before the first one that counts.
const WARM_UP: Duration = Duration::from_secs(1);

/// Runs one burst of this length; the number tells the rounds apart.
pub(crate) type Contender<'a> = Box<dyn Fn(Duration, u64) -> Outcome<Sample> + 'a>;

/// The samples of every contender, round by round.
pub(crate) fn take_turns(contenders: &[Contender<'_>], rounds: usize, turn: Duration) -> Outcome<Vec<Vec<Sample>>> {
    for contender in contenders {
        contender(WARM_UP.min(turn), 0)?;
    }
    let mut samples = vec![Vec::new(); contenders.len()];
    for round in 1..=rounds {
        for (contender, samples) in contenders.iter().zip(&mut samples) {
            samples.push(contender(turn, round as u64)?);
        }
    }
    Ok(samples)
}

/// The same for contenders that read: each turn begins with a part that does not count, because what was read into
/// memory may be gone when the others have had their turns.
pub(crate) fn take_warm_turns(
    contenders: &[Contender<'_>],
    rounds: usize,
    turn: Duration,
) -> Outcome<Vec<Vec<Sample>>> {
    let lead_in = turn / 3;
    let warm = contenders.iter().map(|contender| -> Contender<'_> {
        Box::new(move |turn, round| {
            contender(lead_in, 2 * round)?;
            contender(turn.saturating_sub(lead_in), 2 * round + 1)
        })
    });
    take_turns(&warm.collect::<Vec<_>>(), rounds, turn)
}

/// The median of how many times as fast one was as the other in the same round.
pub(crate) fn ratio(one: &[Sample], other: &[Sample]) -> f64 {
    median(one.iter().zip(other).map(|(one, other)| one.rate / other.rate))
}

/// The median of a property.
pub(crate) fn typical(samples: &[Sample], property: impl Fn(&Sample) -> f64) -> f64 {
    median(samples.iter().map(property))
}

pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_unstable_by(f64::total_cmp);
    let (low, high) = (values.len().saturating_sub(1) / 2, values.len() / 2);
    match (values.get(low), values.get(high)) {
        (Some(low), Some(high)) => f64::midpoint(*low, *high),
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!((median([3.0, 1.0, 2.0]), median([4.0, 1.0, 2.0, 3.0])), (2.0, 2.5));
        assert!(median([]).is_nan());
    }

    #[test]
    fn a_ratio_compares_within_each_round() {
        let rates = |rates: [f64; 3]| rates.map(Sample::of_rate);
        assert_eq!(ratio(&rates([10.0, 100.0, 1.0]), &rates([20.0, 100.0, 2.0])), 0.5);
    }

    #[test]
    fn contenders_alternate_after_a_warm_up() {
        let turns = RefCell::new(Vec::new());
        let contender = |name: &'static str| -> Contender<'_> {
            let turns = &turns;
            Box::new(move |_, round| {
                turns.borrow_mut().push((name, round));
                Ok(Sample::of_rate(round as f64))
            })
        };
        let contenders = [contender("a"), contender("b")];
        let samples = take_turns(&contenders, 2, Duration::ZERO).unwrap();
        assert_eq!(samples[0], [Sample::of_rate(1.0), Sample::of_rate(2.0)]);
        assert_eq!(*turns.borrow(), [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2), ("b", 2)]);
    }

    #[test]
    fn a_warm_turn_counts_its_second_part() {
        let turns = RefCell::new(Vec::new());
        let contender: Contender<'_> = Box::new(|time, round| {
            turns.borrow_mut().push((time, round));
            Ok(Sample::of_rate(round as f64))
        });
        let samples = take_warm_turns(&[contender], 1, Duration::from_secs(3)).unwrap();
        assert_eq!(samples, [[Sample::of_rate(3.0)]]);
        let (lead_in, rest) = (Duration::from_secs(1), Duration::from_secs(2));
        assert_eq!(turns.borrow()[2..], [(lead_in, 2), (rest, 3)]);
    }
}
