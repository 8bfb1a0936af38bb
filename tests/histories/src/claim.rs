//! A value that one resource at a time has: a unique key, the effect of an `Idempotency-Key`, or a place in a list.

use crate::Model;

/// A request about the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimCall {
    /// Creates a resource with the value.
    Create,
    /// Takes the value away from the resource with this id.
    Release(String),
    /// Reads which resources have the value.
    Look,
}

/// A response about the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimResponse {
    /// The resource with this id was created.
    Created(String),
    /// The resource with this id has the value: a conflict, or a replay.
    Taken(String),
    /// The resource does not have the value any more.
    Released,
    /// The resources with these ids have the value.
    Holders(Vec<String>),
}

/// State of the value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ClaimState {
    /// Any of the others.
    Unknown,
    /// No resource has the value.
    Free,
    /// A resource has the value. `None` is one whose id no response has shown yet.
    Held(Option<String>),
}

/// Model of a value that one resource at a time has.
#[derive(Debug, Clone, Copy)]
pub struct Claim;

impl Model for Claim {
    type Call = ClaimCall;
    type Response = ClaimResponse;
    type State = ClaimState;

    fn apply(state: &ClaimState, call: &ClaimCall, response: Option<&ClaimResponse>) -> Option<ClaimState> {
        let held_by = |id: &String| ClaimState::Held(Some(id.clone()));
        match (call, response) {
            (ClaimCall::Create, Some(ClaimResponse::Created(id))) => is_free(state).then(|| held_by(id)),
            (ClaimCall::Create, Some(ClaimResponse::Taken(id))) => is_holder(state, id).then(|| held_by(id)),
            (ClaimCall::Create, None) => is_free(state).then_some(ClaimState::Held(None)),
            (ClaimCall::Release(id), Some(ClaimResponse::Released) | None) => match state {
                ClaimState::Held(Some(holder)) if holder == id => Some(ClaimState::Free),
                ClaimState::Unknown | ClaimState::Free | ClaimState::Held(_) => Some(state.clone()),
            },
            (ClaimCall::Look, Some(ClaimResponse::Holders(ids))) => match ids.as_slice() {
                [] => is_free(state).then_some(ClaimState::Free),
                [id] => is_holder(state, id).then(|| held_by(id)),
                [_, _, ..] => None,
            },
            (ClaimCall::Create, Some(ClaimResponse::Released | ClaimResponse::Holders(_)))
            | (
                ClaimCall::Release(_),
                Some(ClaimResponse::Created(_) | ClaimResponse::Taken(_) | ClaimResponse::Holders(_)),
            )
            | (
                ClaimCall::Look,
                Some(ClaimResponse::Created(_) | ClaimResponse::Taken(_) | ClaimResponse::Released) | None,
            ) => None,
        }
    }

    fn has_effect(call: &ClaimCall, response: Option<&ClaimResponse>) -> bool {
        !matches!(call, ClaimCall::Look) && !matches!(response, Some(ClaimResponse::Taken(_)))
    }

    fn unknown_state(_: &ClaimState) -> ClaimState {
        ClaimState::Unknown
    }
}

const fn is_free(state: &ClaimState) -> bool {
    matches!(state, ClaimState::Unknown | ClaimState::Free)
}

fn is_holder(state: &ClaimState, id: &str) -> bool {
    match state {
        ClaimState::Unknown | ClaimState::Held(None) => true,
        ClaimState::Free => false,
        ClaimState::Held(Some(holder)) => holder == id,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{ended, unknown};
    use crate::{OperationOf, Verdict, find_order};

    fn is_explained(history: &[OperationOf<Claim>]) -> bool {
        matches!(find_order::<Claim>(history, &ClaimState::Free), Verdict::Explained(_))
    }

    fn created(client: usize, ticks: [u64; 2], id: &str) -> OperationOf<Claim> {
        ended(client, ticks, ClaimCall::Create, ClaimResponse::Created(id.to_owned()))
    }

    fn taken(client: usize, ticks: [u64; 2], id: &str) -> OperationOf<Claim> {
        ended(client, ticks, ClaimCall::Create, ClaimResponse::Taken(id.to_owned()))
    }

    fn released(client: usize, ticks: [u64; 2], id: &str) -> OperationOf<Claim> {
        ended(client, ticks, ClaimCall::Release(id.to_owned()), ClaimResponse::Released)
    }

    fn looked(client: usize, ticks: [u64; 2], ids: &[&str]) -> OperationOf<Claim> {
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        ended(client, ticks, ClaimCall::Look, ClaimResponse::Holders(ids))
    }

    #[test]
    fn concurrent_creations_with_unknown_results_are_explained() {
        let history = [
            unknown(0, 1, ClaimCall::Create),
            taken(1, [2, 9], "a"),
            unknown(2, 3, ClaimCall::Create),
            looked(0, [4, 5], &["a"]),
            released(0, [6, 7], "a"),
            created(1, [10, 12], "b"),
            looked(0, [11, 13], &[]),
            unknown(0, 14, ClaimCall::Release("b".to_owned())),
            created(1, [15, 16], "c"),
        ];
        assert!(is_explained(&history));
    }

    #[test]
    fn doubled_creation_is_found() {
        assert!(!is_explained(&[created(0, [1, 3], "a"), created(1, [2, 4], "b")]));
        assert!(!is_explained(&[created(0, [1, 2], "a"), looked(1, [3, 4], &["a", "b"])]));
        let after_an_unknown_result = [
            unknown(0, 1, ClaimCall::Create),
            created(0, [2, 3], "a"),
            looked(1, [4, 5], &["a"]),
            looked(1, [6, 7], &["b"]),
        ];
        assert!(!is_explained(&after_an_unknown_result));
    }

    #[test]
    fn conflict_without_a_winner_is_found() {
        assert!(!is_explained(&[taken(0, [1, 2], "a")]));
        assert!(!is_explained(&[created(0, [1, 2], "a"), released(0, [3, 4], "a"), taken(1, [5, 6], "a")]));
        assert!(is_explained(&[created(0, [1, 2], "a"), released(0, [3, 6], "a"), taken(1, [4, 5], "a")]));
    }

    #[test]
    fn reappearing_row_is_found() {
        let history = [created(0, [1, 2], "a"), released(0, [3, 4], "a"), looked(1, [5, 6], &["a"])];
        assert!(!is_explained(&history));
    }
}
