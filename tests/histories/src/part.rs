//! The smallest part of a history that no order explains, for the report of a failure.

use crate::{Model, NEVER, OperationOf, Verdict, find_order};

/// A part of a history that no order explains.
#[derive(Debug, Clone)]
pub struct Part<M: Model> {
    /// State in which the part begins. It is unknown if the part contradicts itself in any state.
    pub start: M::State,
    /// Operations, by their beginnings.
    pub operations: Vec<OperationOf<M>>,
}

/// Reduces an inexplicable history in three steps, each of which leaves it inexplicable: everything after the first end
/// that makes it so, everything before the last beginning that does so in any state, and operations without an effect.
/// Writes between these ends stay, because without them their effects would be inexplicable.
#[must_use]
pub fn find_smallest_part<M: Model>(history: &[OperationOf<M>], start: &M::State) -> Part<M> {
    let mut operations = history.to_vec();
    operations.sort_by_key(|operation| operation.began);
    let mut start = start.clone();
    let ends = sort_ends::<M>(&operations);
    let last = ends.partition_point(|end| !is_inexplicable::<M>(&up_to::<M>(&operations, *end), &start));
    if let Some(end) = ends.get(last) {
        operations = up_to::<M>(&operations, *end);
    }
    let unknown_state = M::unknown_state(&start);
    let ends = sort_ends::<M>(&operations);
    let first = ends.partition_point(|end| is_inexplicable::<M>(&since::<M>(&operations, *end), &unknown_state));
    if let Some(end) = first.checked_sub(1).and_then(|at| ends.get(at)) {
        operations = since::<M>(&operations, *end);
        start = unknown_state;
    }
    let mut position = 0;
    while position < operations.len() {
        let mut rest = operations.clone();
        let operation = rest.remove(position);
        let is_removable = !M::has_effect(&operation.call, operation.response.as_ref());
        if is_removable && is_inexplicable::<M>(&rest, &start) {
            operations = rest;
        } else {
            position += 1;
        }
    }
    Part { start, operations }
}

fn is_inexplicable<M: Model>(history: &[OperationOf<M>], start: &M::State) -> bool {
    find_order::<M>(history, start) == Verdict::Inexplicable
}

fn sort_ends<M: Model>(history: &[OperationOf<M>]) -> Vec<u64> {
    let mut ends: Vec<u64> = history.iter().map(|operation| operation.ended).filter(|end| *end != NEVER).collect();
    ends.sort_unstable();
    ends
}

/// Returns the history as it was known at this tick.
fn up_to<M: Model>(history: &[OperationOf<M>], tick: u64) -> Vec<OperationOf<M>> {
    let mut part: Vec<_> = history.iter().filter(|operation| operation.began <= tick).cloned().collect();
    for operation in part.iter_mut().filter(|operation| operation.ended > tick) {
        operation.ended = NEVER;
        operation.response = None;
    }
    part
}

/// Returns the operations that ended at this tick or later.
fn since<M: Model>(history: &[OperationOf<M>], tick: u64) -> Vec<OperationOf<M>> {
    history.iter().filter(|operation| operation.ended >= tick).cloned().collect()
}
