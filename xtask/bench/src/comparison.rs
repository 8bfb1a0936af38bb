//! Comparisons of contenders that take turns. A machine with other users is fast at one moment and slow at
//! another, but equally so for neighbouring turns. So every figure is a median over the rounds, and every ratio
//! the median of the rounds' ratios.

use crate::Result;
use crate::report::{Limit, Line, per_second};
use crate::store::Store;
use candor_test_load::Sample;
use std::time::Duration;

/// Length of the turns before the first round.
const WARM_UP: Duration = Duration::from_secs(1);

/// Runs one turn of this length. The number distinguishes the turns of a contender.
pub(crate) type Contender<'a> = Box<dyn Fn(Duration, u64) -> Result<Sample> + 'a>;

/// Samples of contenders on one store: by contender, then by round. The first one is measured.
#[derive(Debug)]
pub(crate) struct Comparison {
    pub(crate) store: Store,
    pub(crate) samples: Vec<Vec<Sample>>,
    label: String,
}

impl Comparison {
    pub(crate) fn run(store: Store, contenders: &[Contender<'_>], rounds: usize, turn: Duration) -> Result<Self> {
        for contender in contenders {
            contender(WARM_UP.min(turn), 0)?;
        }
        let mut samples = vec![Vec::new(); contenders.len()];
        for round in 1..=rounds as u64 {
            for (contender, samples) in contenders.iter().zip(&mut samples) {
                samples.push(contender(turn, round)?);
            }
        }
        Ok(Self { store, samples, label: String::new() })
    }

    /// Sets the words in front of the figures of the second contender.
    pub(crate) fn with_label(self, label: &str) -> Self {
        Self { label: format!("{label} "), ..self }
    }

    /// Returns the rate of the first contender as a multiple of the second's. Without a second one there is no limit.
    pub(crate) fn speed(&self, what: impl Into<String>, limit: Limit) -> Line {
        let limit = if self.samples.len() > 1 { limit } else { Limit::None };
        self.line(what, (self.median_of_pairs(|one, other| one.rate / other.rate), "×"), limit)
    }

    /// Returns the time for a request of the first contender, as the inverse of its rate, as a multiple of the
    /// second's.
    pub(crate) fn cost(&self, what: impl Into<String>, at_most: f64) -> Line {
        let value = self.median_of_pairs(|one, other| other.rate / one.rate);
        self.line(what, (value, "×"), Limit::AtMost(at_most))
    }

    /// Returns the p99 of the first contender as a multiple of the second's.
    pub(crate) fn tail(&self, what: impl Into<String>, at_most: f64) -> Line {
        let value = self.median_of_pairs(|one, other| one.millis_within(0.99) / other.millis_within(0.99));
        self.line(what, (value, "×"), Limit::AtMost(at_most))
    }

    pub(crate) fn line(&self, what: impl Into<String>, value: (f64, &'static str), limit: Limit) -> Line {
        let comparison_text =
            self.samples.get(1).map_or_else(String::new, |samples| format!("{}{}", self.label, figures(samples)));
        Line::new(what, self.store, [figures(&self.samples[0]), comparison_text], value, limit)
    }

    /// Returns the median over the rounds of a value that is derived from the samples of both contenders.
    pub(crate) fn median_of_pairs(&self, value: impl Fn(&Sample, &Sample) -> f64) -> f64 {
        let second = self.samples.get(1).map_or(&[][..], Vec::as_slice);
        median(self.samples[0].iter().zip(second).map(|(one, other)| value(one, other)))
    }
}

/// Formats the rate, the latencies if they are known, and the processor time of a request if it was measured.
pub(crate) fn figures(samples: &[Sample]) -> String {
    let mut text = per_second(median_of(samples, |sample| sample.rate));
    if samples.iter().any(|sample| !sample.micros.is_empty()) {
        let duration_within = |part| median_of(samples, |sample| sample.millis_within(part));
        text += &format!(", p50 {:.2} ms, p99 {:.2} ms", duration_within(0.5), duration_within(0.99));
    }
    let costs: Vec<f64> = samples.iter().filter_map(|sample| sample.cost).collect();
    if !costs.is_empty() {
        text += &format!(", {:.0} µs each", median(costs));
    }
    text
}

/// Returns the median of a property.
pub(crate) fn median_of<T>(rounds: &[T], property: impl Fn(&T) -> f64) -> f64 {
    median(rounds.iter().map(property))
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
    fn median_is_the_value_in_the_middle() {
        assert_eq!((median([3.0, 1.0, 2.0]), median([4.0, 1.0, 2.0, 3.0])), (2.0, 2.5));
        assert!(median([]).is_nan());
    }

    #[test]
    fn ratio_compares_within_each_round() {
        let samples = [[10.0, 100.0, 1.0], [20.0, 100.0, 2.0]].map(|rates| rates.map(Sample::from_rate).to_vec());
        let comparison = Comparison { store: Store::Sqlite, samples: samples.to_vec(), label: String::new() };
        assert_eq!(comparison.speed("", Limit::None).value, 0.5);
        assert_eq!(comparison.cost("", 1.0).value, 2.0);
        let single_comparison = Comparison { samples: samples[..1].to_vec(), ..comparison };
        assert_eq!(single_comparison.speed("", Limit::AtLeast(1.0)).limit, Limit::None);
    }

    #[test]
    fn contenders_alternate_after_a_warm_up() {
        let log = RefCell::new(Vec::new());
        let contender = |name: &'static str| -> Contender<'_> {
            let log = &log;
            Box::new(move |time, round| {
                log.borrow_mut().push((name, time, round));
                Ok(Sample::from_rate(round as f64))
            })
        };
        let [one, three] = [1, 3].map(Duration::from_secs);
        let comparison = Comparison::run(Store::Sqlite, &[contender("a"), contender("b")], 1, three).unwrap();
        assert_eq!(*log.borrow(), [("a", one, 0), ("b", one, 0), ("a", three, 1), ("b", three, 1)]);
        assert_eq!(comparison.samples, [[Sample::from_rate(1.0)], [Sample::from_rate(1.0)]]);
    }
}
