//! The search for an order of the operations of one object: the algorithm of Wing and Gong, with Lowe's memory of
//! configurations.
//!
//! The search builds an order from its beginning. The next operation is one that began before any remaining operation
//! ended, because an operation that ended before another one began comes first. It is accepted if the model gives its
//! answer in the state so far. Otherwise the search takes the next candidate, and without one it goes back a step. A
//! configuration is the set of the operations in the order and the state after them. Two orders with the same
//! configuration have the same continuations, so that each configuration is visited once.
//!
//! An operation with an unknown result never ends. So it is a candidate from its beginning on, and the order need not
//! contain it. Candidates that ended come first, in the order of their ends: this is nearly always the right order, and
//! the search is then linear in the number of operations.

use std::collections::HashSet;

use crate::{Model, OperationOf};

/// Number of configurations after which the search gives up. A history of some 1,000 operations needs about as many.
const MOST_CONFIGURATIONS: usize = 2_000_000;

/// Result of the search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// This order of the operations, as positions in the history, explains all answers.
    Explained(Vec<usize>),
    /// No order explains the answers.
    Inexplicable,
    /// The search visited its largest number of configurations.
    Undecided,
}

/// Positions of the operations in the order so far, one bit each.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Positions(Vec<u64>);

impl Positions {
    fn contains(&self, position: usize) -> bool {
        self.0[position / 64] & (1 << (position % 64)) != 0
    }

    fn toggle(&mut self, position: usize) {
        self.0[position / 64] ^= 1 << (position % 64);
    }
}

/// A state of the search, with the operations that may come next.
struct Step<S> {
    state: S,
    candidates: std::vec::IntoIter<usize>,
}

/// Looks for an order of the operations that agrees with their times, and in which the model gives their answers.
#[must_use]
pub fn find_order<M: Model>(history: &[OperationOf<M>], start: &M::State) -> Verdict {
    // A read without an answer says nothing.
    let mut by_start: Vec<usize> = (0..history.len())
        .filter(|at| history[*at].response.is_some() || M::has_effect(&history[*at].call, None))
        .collect();
    by_start.sort_by_key(|at| history[*at].began);
    let mut placed_positions = Positions(vec![0; history.len().div_ceil(64)]);
    let mut missing = history.iter().filter(|operation| operation.response.is_some()).count();
    let mut configurations = HashSet::new();
    let mut order = Vec::with_capacity(history.len());
    let mut steps = vec![Step {
        state: start.clone(),
        candidates: find_candidates::<M>(history, &by_start, &placed_positions),
    }];
    while missing > 0 {
        let Some(step) = steps.last_mut() else { return Verdict::Inexplicable };
        let Some(position) = step.candidates.next() else {
            steps.pop();
            if let Some(position) = order.pop() {
                placed_positions.toggle(position);
                missing += usize::from(history[position].response.is_some());
            }
            continue;
        };
        let operation = &history[position];
        let Some(state) = M::apply(&step.state, &operation.call, operation.response.as_ref()) else { continue };
        placed_positions.toggle(position);
        if !configurations.insert((placed_positions.clone(), state.clone())) {
            placed_positions.toggle(position);
            continue;
        }
        if configurations.len() > MOST_CONFIGURATIONS {
            return Verdict::Undecided;
        }
        order.push(position);
        missing -= usize::from(operation.response.is_some());
        let candidates = find_candidates::<M>(history, &by_start, &placed_positions);
        steps.push(Step { state, candidates });
    }
    Verdict::Explained(order)
}

/// Returns the remaining operations that began before any of them ended.
fn find_candidates<M: Model>(
    history: &[OperationOf<M>],
    by_start: &[usize],
    placed_positions: &Positions,
) -> std::vec::IntoIter<usize> {
    let mut first_end = u64::MAX;
    let mut candidates = Vec::new();
    for position in by_start.iter().copied().filter(|position| !placed_positions.contains(*position)) {
        if history[position].began > first_end {
            break;
        }
        first_end = first_end.min(history[position].ended);
        candidates.push(position);
    }
    candidates.sort_by_key(|position| history[*position].ended);
    candidates.into_iter()
}
