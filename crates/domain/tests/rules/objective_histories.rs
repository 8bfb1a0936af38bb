//! Random histories of check-ins and updates of key results, against a model in exact fractions (decisions C11, C12).

use candor_domain::decimal::Decimal;
use candor_domain::id::{CheckInId, Id, KeyResultId};
use candor_domain::json::{Object, Value, parse};
use candor_domain::objective::{CheckInDraft, Objective, Patch, References, Status};
use candor_domain::time::Timestamp;
use candor_domain::ulid::Ulid;
use candor_test_explore as explore;
use proptest::prelude::*;

use crate::round_trip::plain_objective;

/// Number of histories in the gate, and in an exploration.
const HISTORIES: [usize; 2] = [1_000, 10_000];
const AT: Timestamp = Timestamp::from_millis(1_772_366_400_000);

/// A step of a history. Values are ten-thousandths, and the target of a key result is `start + way`.
#[derive(Debug, Clone)]
enum Step {
    /// Adds a key result.
    Add { start: i64, way: i64, weight: u8 },
    /// Removes one of the key results.
    Remove(usize),
    /// Changes the bounds and the weight of one of the key results.
    Change { which: usize, start: i64, way: i64, weight: u8 },
    /// Checks in with a value of one of the key results, or with the progress `stated` if there are none.
    Check { which: usize, value: i64, stated: u8 },
}

/// A key result of the model: values are ten-thousandths.
#[derive(Debug, Clone)]
struct Measure {
    id: KeyResultId,
    start: i64,
    target: i64,
    checked: Option<i64>,
    weight: u8,
}

#[derive(Debug, Default)]
struct Model {
    measures: Vec<Measure>,
    stated: Option<u8>,
}

/// Returns a fraction in lowest terms, with a positive denominator.
fn reduce_fraction(part: i128, whole: i128) -> (i128, i128) {
    let (mut one, mut other) = (part.abs(), whole.abs());
    while other != 0 {
        (one, other) = (other, one % other);
    }
    let divisor = one.max(1) * whole.signum();
    (part / divisor, whole / divisor)
}

impl Measure {
    fn current(&self) -> i64 {
        self.checked.unwrap_or(self.start)
    }

    fn quotient(&self) -> (i128, i128) {
        let distance = i128::from(self.target) - i128::from(self.start);
        let (part, whole) = reduce_fraction(i128::from(self.current()) - i128::from(self.start), distance);
        if part < 0 {
            (0, 1)
        } else if part > whole {
            (1, 1)
        } else {
            (part, whole)
        }
    }
}

impl Model {
    fn progress(&self) -> Option<i128> {
        let mut sum = (0, 1);
        for measure in &self.measures {
            let (part, whole) = measure.quotient();
            sum = reduce_fraction(sum.0 * whole + i128::from(measure.weight) * part * sum.1, sum.1 * whole);
        }
        let weights: i128 = self.measures.iter().map(|measure| i128::from(measure.weight)).sum();
        if weights == 0 { self.stated.map(i128::from) } else { Some(100 * sum.0 / (sum.1 * weights)) }
    }
}

fn body(text: &str) -> Object {
    let Ok(Value::Object(members)) = parse(text.as_bytes()) else { panic!("{text}") };
    members
}

fn text(units: i64) -> String {
    Decimal::from_units(units).unwrap().to_string()
}

/// Updates the key results to those of the model. New ones have ids that the objective does not know.
fn update_key_results(objective: &Objective, model: &Model) -> Objective {
    let is_stored = |id: KeyResultId| objective.key_results.iter().any(|result| result.id == id);
    let entry = |measure: &Measure| {
        let id = if is_stored(measure.id) {
            format!(r#""id":"{}","#, measure.id)
        } else {
            r#""title":"x","#.to_owned()
        };
        let (start, target, weight) = (text(measure.start), text(measure.target), measure.weight);
        format!(r#"{{{id}"start":{start},"target":{target},"weight":{weight}}}"#)
    };
    let entries: Vec<_> = model.measures.iter().map(entry).collect();
    let patch =
        Patch::parse(body(&format!(r#"{{"key_results":[{}]}}"#, entries.join(",")))).resolve_with(objective);
    let new_ids = model.measures.iter().map(|measure| measure.id).filter(|id| !is_stored(*id)).collect();
    let references = References { key_result_ids: new_ids, ..References::default() };
    let decision = objective.update(&patch.unwrap(), &references, false, AT).unwrap();
    decision.map_or_else(|| objective.clone(), |decision| decision.state)
}

fn checked_in(objective: &Objective, model: &mut Model, (which, value, stated): (usize, i64, u8)) -> Objective {
    let count = model.measures.len();
    let body_text = if count == 0 {
        model.stated = Some(stated);
        format!(r#"{{"progress":{stated}}}"#)
    } else {
        let measure = &mut model.measures[which % count];
        measure.checked = Some(value);
        format!(r#"{{"key_results":[{{"id":"{}","current":{}}}]}}"#, measure.id, text(value))
    };
    let draft = CheckInDraft::parse(body(&body_text)).unwrap();
    let (state, decision) = objective.check_in(CheckInId::from_ulid(Ulid(1)), draft, true, AT).unwrap();
    assert_eq!(decision.state.progress, state.progress);
    state
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let value = || -2_000_000_i64..2_000_000;
    let way = || prop_oneof![-1_000_000_i64..0, 1_i64..1_000_000];
    let step = prop_oneof![
        2 => (value(), way(), 1_u8..=100).prop_map(|(start, way, weight)| Step::Add { start, way, weight }),
        1 => any::<usize>().prop_map(Step::Remove),
        2 => (any::<usize>(), value(), way(), 1_u8..=100)
            .prop_map(|(which, start, way, weight)| Step::Change { which, start, way, weight }),
        4 => (any::<usize>(), value(), 0_u8..=100)
            .prop_map(|(which, value, stated)| Step::Check { which, value, stated }),
    ];
    proptest::collection::vec(step, 1..10)
}

fn config() -> ProptestConfig {
    let histories = explore::size(HISTORIES[0], HISTORIES[1]);
    ProptestConfig::with_cases(u32::try_from(histories).unwrap_or(u32::MAX))
}

proptest! {
    #![proptest_config(config())]
    #[test]
    fn figures_equal_those_of_a_model_in_exact_fractions(steps in steps()) {
        let mut objective = Objective { status: Status::Approved, ..plain_objective() };
        let mut model = Model::default();
        for (number, step) in (1_u128..).zip(steps) {
            let count = model.measures.len();
            objective = match step {
                // At most four key results, because the product of their denominators must fit into an `i128`.
                Step::Add { start, way, weight } if count < 4 => {
                    let id = Id::from_ulid(Ulid(number));
                    model.measures.push(Measure { id, start, target: start + way, checked: None, weight });
                    update_key_results(&objective, &model)
                }
                Step::Remove(which) if count > 0 => {
                    model.measures.remove(which % count);
                    update_key_results(&objective, &model)
                }
                Step::Change { which, start, way, weight } if count > 0 => {
                    let measure = &mut model.measures[which % count];
                    (measure.start, measure.target, measure.weight) = (start, start + way, weight);
                    update_key_results(&objective, &model)
                }
                Step::Check { which, value, stated } => checked_in(&objective, &mut model, (which, value, stated)),
                Step::Add { .. } | Step::Remove(_) | Step::Change { .. } => continue,
            };
            prop_assert_eq!(objective.progress.map(i128::from), model.progress());
            let current: Vec<_> = objective.key_results.iter().map(|result| result.current.units()).collect();
            prop_assert_eq!(current, model.measures.iter().map(Measure::current).collect::<Vec<_>>());
        }
    }
}
