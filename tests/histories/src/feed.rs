//! The events of one resource as the order of its changes: the contents that they show explain the answers of all
//! clients, and agree with the times.

use std::collections::HashMap;

use crate::{OperationOf, Register, RegisterCall, RegisterResponse};

/// A contradiction between the events of a resource and the history of its clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedProblem {
    /// Two events show these fields.
    Doubled([u64; 2]),
    /// An answer shows fields that no event shows.
    Missing(OperationOf<Register>),
    /// An event shows fields that no write made from those of the event before.
    Unwritten([u64; 2]),
    /// The first operation ended before the second one began, but saw a later event.
    Turned(OperationOf<Register>, OperationOf<Register>),
}

/// Checks the fields that the events of a resource show, that of its creation first.
///
/// # Errors
/// The first contradiction.
pub fn check_feed(history: &[OperationOf<Register>], events: &[[u64; 2]]) -> Result<(), Box<FeedProblem>> {
    let mut positions = HashMap::new();
    for (position, fields) in events.iter().enumerate() {
        if positions.insert(*fields, position).is_some() {
            return Err(Box::new(FeedProblem::Doubled(*fields)));
        }
    }
    for pair in events.windows(2) {
        let makes = |operation: &OperationOf<Register>| match operation.call {
            RegisterCall::Write { field, value, .. } => {
                let mut fields = pair[0];
                fields[field] = value;
                fields == pair[1] && operation.response != Some(RegisterResponse::Stale)
            }
            RegisterCall::Read(_) => false,
        };
        if !history.iter().any(makes) {
            return Err(Box::new(FeedProblem::Unwritten(pair[1])));
        }
    }
    check_times(history, &positions)
}

/// Checks that an operation saw no earlier event than an operation that ended before it began.
fn check_times(
    history: &[OperationOf<Register>],
    positions: &HashMap<[u64; 2], usize>,
) -> Result<(), Box<FeedProblem>> {
    let mut ticks = Vec::new();
    for operation in history {
        let Some(RegisterResponse::Content(content)) = &operation.response else { continue };
        let Some(position) = positions.get(&content.fields) else {
            return Err(Box::new(FeedProblem::Missing(operation.clone())));
        };
        ticks.push((operation.began, *position, operation));
        ticks.push((operation.ended, *position, operation));
    }
    ticks.sort_unstable_by_key(|(tick, ..)| *tick);
    let mut latest: Option<(usize, &OperationOf<Register>)> = None;
    for (tick, position, operation) in ticks {
        let is_before = latest.is_some_and(|(last, _)| position < last);
        match latest {
            Some((_, earlier)) if is_before && tick == operation.began => {
                return Err(Box::new(FeedProblem::Turned(earlier.clone(), operation.clone())));
            }
            Some(_) if is_before || tick == operation.began => {}
            None if tick == operation.began => {}
            Some(_) | None => latest = Some((position, operation)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Content;
    use crate::examples::{ended, unknown};

    fn writes(ticks: [u64; 2], value: u64, fields: [u64; 2]) -> OperationOf<Register> {
        let call = RegisterCall::Write { field: 0, value, tag: None };
        ended(0, ticks, call, RegisterResponse::Content(Content { tag: value, fields }))
    }

    fn reads(ticks: [u64; 2], fields: [u64; 2]) -> OperationOf<Register> {
        ended(1, ticks, RegisterCall::Read(None), RegisterResponse::Content(Content { tag: 1, fields }))
    }

    #[test]
    fn events_in_the_order_of_their_writes_are_right() {
        let unknown_write = unknown(2, 3, RegisterCall::Write { field: 1, value: 9, tag: None });
        let history = [writes([1, 5], 7, [7, 0]), reads([2, 4], [0, 0]), unknown_write, writes([6, 7], 8, [8, 9])];
        assert_eq!(check_feed(&history, &[[0, 0], [7, 0], [7, 9], [8, 9]]), Ok(()));
    }

    #[test]
    fn missing_doubled_and_turned_events_are_found() {
        let history = [writes([1, 2], 7, [7, 0]), writes([3, 4], 8, [8, 0])];
        let problem = |events: &[[u64; 2]]| *check_feed(&history, events).unwrap_err();
        assert_eq!(problem(&[[0, 0], [7, 0]]), FeedProblem::Missing(history[1].clone()));
        assert_eq!(problem(&[[0, 0], [7, 0], [8, 0], [7, 0]]), FeedProblem::Doubled([7, 0]));
        assert_eq!(problem(&[[0, 0], [7, 0], [8, 0], [6, 0]]), FeedProblem::Unwritten([6, 0]));
        let turned_events = problem(&[[0, 0], [8, 0], [7, 0]]);
        assert_eq!(turned_events, FeedProblem::Turned(history[0].clone(), history[1].clone()));
    }

    #[test]
    fn stale_read_behind_an_event_is_found() {
        let history = [writes([1, 2], 7, [7, 0]), reads([3, 4], [0, 0])];
        let problem = FeedProblem::Turned(history[0].clone(), history[1].clone());
        assert_eq!(check_feed(&history, &[[0, 0], [7, 0]]), Err(Box::new(problem)));
    }
}
