//! Reporting lines of a few people. A move that would close a cycle is refused.

use crate::Model;

/// A request about a person, who is a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeCall {
    /// Sets the manager of a person.
    Move {
        /// Person who moves.
        person: usize,
        /// New manager.
        manager: Option<usize>,
        /// Mark of the move: a value of another field that no other move has.
        mark: u64,
    },
    /// Reads a person.
    Read(usize),
}

/// A response about a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeResponse {
    /// The person has the new manager.
    Moved,
    /// The move would close a cycle.
    Refused,
    /// The person has this manager and the mark of this move.
    Shown(Option<usize>, u64),
}

/// Reporting line of a person: manager and mark of the last move. `None` is any of them.
pub type Line = Option<(Option<usize>, u64)>;

/// Model of the reporting lines of a few people.
#[derive(Debug, Clone, Copy)]
pub struct Tree;

impl Model for Tree {
    type Call = TreeCall;
    type Response = TreeResponse;
    type State = Vec<Line>;

    fn apply(state: &Vec<Line>, call: &TreeCall, response: Option<&TreeResponse>) -> Option<Vec<Line>> {
        match (call, response) {
            (TreeCall::Move { person, manager, mark }, Some(TreeResponse::Moved) | None) => {
                let is_right = has_cycle(state, *person, *manager) != Some(true);
                is_right.then(|| with_line(state, *person, (*manager, *mark)))
            }
            (TreeCall::Move { person, manager, .. }, Some(TreeResponse::Refused)) => {
                (has_cycle(state, *person, *manager) != Some(false)).then(|| state.clone())
            }
            (TreeCall::Read(person), Some(TreeResponse::Shown(manager, mark))) => {
                let line = (*manager, *mark);
                state[*person].is_none_or(|known| known == line).then(|| with_line(state, *person, line))
            }
            (TreeCall::Move { .. }, Some(TreeResponse::Shown(..)))
            | (TreeCall::Read(_), Some(TreeResponse::Moved | TreeResponse::Refused) | None) => None,
        }
    }

    fn has_effect(call: &TreeCall, response: Option<&TreeResponse>) -> bool {
        matches!(call, TreeCall::Move { .. }) && !matches!(response, Some(TreeResponse::Refused))
    }

    fn unknown_state(state: &Vec<Line>) -> Vec<Line> {
        vec![None; state.len()]
    }
}

fn with_line(state: &[Line], person: usize, line: (Option<usize>, u64)) -> Vec<Line> {
    let mut lines = state.to_vec();
    lines[person] = Some(line);
    lines
}

/// Returns `true` if the person is at or above the new manager. `None` if the line above the manager is not known.
fn has_cycle(state: &[Line], person: usize, manager: Option<usize>) -> Option<bool> {
    let mut next = manager;
    // A line without a cycle has each person once.
    for _ in 0..=state.len() {
        match next {
            None => return Some(false),
            Some(above) if above == person => return Some(true),
            Some(above) => next = state[above]?.0,
        }
    }
    Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{ended, unknown};
    use crate::{OperationOf, Verdict, find_order, find_smallest_part};

    fn start() -> Vec<Line> {
        vec![Some((None, 0)); 3]
    }

    fn is_explained(history: &[OperationOf<Tree>]) -> bool {
        matches!(find_order::<Tree>(history, &start()), Verdict::Explained(_))
    }

    const fn moves(person: usize, manager: usize, mark: u64) -> TreeCall {
        TreeCall::Move { person, manager: Some(manager), mark }
    }

    #[test]
    fn concurrent_moves_with_unknown_results_are_explained() {
        let history = [
            ended(0, [1, 6], moves(0, 1, 10), TreeResponse::Refused),
            ended(1, [2, 5], moves(1, 2, 20), TreeResponse::Moved),
            unknown(2, 3, moves(2, 0, 30)),
            ended(0, [7, 8], TreeCall::Read(2), TreeResponse::Shown(Some(0), 30)),
            ended(1, [9, 10], TreeCall::Read(0), TreeResponse::Shown(None, 0)),
            unknown(2, 11, moves(1, 0, 40)),
        ];
        assert!(is_explained(&history));
    }

    #[test]
    fn cycle_of_two_moves_is_found() {
        let history = [
            ended(0, [1, 3], moves(0, 1, 10), TreeResponse::Moved),
            ended(1, [2, 4], moves(1, 0, 20), TreeResponse::Moved),
        ];
        assert!(!is_explained(&history));
        let part = find_smallest_part::<Tree>(&history, &start());
        assert_eq!((part.start, part.operations.len()), (vec![None; 3], 2));
    }

    #[test]
    fn refusal_without_a_cycle_is_found() {
        assert!(!is_explained(&[ended(0, [1, 3], moves(0, 1, 10), TreeResponse::Refused)]));
    }

    #[test]
    fn lost_move_is_found() {
        let history = [
            ended(0, [1, 2], moves(0, 1, 10), TreeResponse::Moved),
            ended(1, [3, 4], TreeCall::Read(0), TreeResponse::Shown(None, 0)),
        ];
        assert!(!is_explained(&history));
    }
}
