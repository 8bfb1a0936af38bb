//! Histories of concurrent operations, and the check that one order of single operations explains their answers.
//!
//! A test records the operations of its clients with a clock that they share. [`find_order`] then looks for an order
//! that agrees with the times and the answers, for one object at a time: strict serializability is a property of each
//! object. [`find_smallest_part`] reduces a history without such an order to the operations that contradict each other.

mod claim;
mod feed;
mod order;
mod part;
mod register;
mod tree;

use std::fmt::Debug;
use std::hash::Hash;

pub use claim::{Claim, ClaimCall, ClaimResponse, ClaimState};
pub use feed::{FeedProblem, check_feed};
pub use order::{Verdict, find_order};
pub use part::{Part, find_smallest_part};
pub use register::{Content, Register, RegisterCall, RegisterResponse, RegisterState};
pub use tree::{Line, Tree, TreeCall, TreeResponse};

/// Tick at which an operation with an unknown result ends: it may take effect at any time after its beginning, or never.
pub const NEVER: u64 = u64::MAX;

/// An operation of a client. The ticks are of a clock that all clients share, and no two of them are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation<C, A> {
    /// Number of the client.
    pub client: usize,
    /// Tick before the request was sent.
    pub began: u64,
    /// Tick after the response was read, or [`NEVER`].
    pub ended: u64,
    /// Request.
    pub call: C,
    /// Response. `None` if the result is unknown.
    pub response: Option<A>,
}

/// An operation on an object of a model.
pub type OperationOf<M> = Operation<<M as Model>::Call, <M as Model>::Response>;

/// Behaviour of an object under single operations.
pub trait Model {
    /// Requests of clients.
    type Call: Debug + Clone;
    /// Responses.
    type Response: Debug + Clone;
    /// State of the object between two operations.
    type State: Debug + Clone + Eq + Hash;

    /// Returns the state after an operation, or `None` if the object in this state does not give this answer. An
    /// unknown answer is any answer with an effect.
    fn apply(state: &Self::State, call: &Self::Call, response: Option<&Self::Response>) -> Option<Self::State>;

    /// Returns `true` if the operation may change the state.
    fn has_effect(call: &Self::Call, response: Option<&Self::Response>) -> bool;

    /// Returns the state of which nothing is known, in which the object may give each answer that some state gives.
    fn unknown_state(state: &Self::State) -> Self::State;
}

#[cfg(test)]
mod examples {
    use super::{NEVER, Operation};

    /// Returns an operation that ended with an answer.
    pub(crate) fn ended<C, A>(client: usize, ticks: [u64; 2], call: C, response: A) -> Operation<C, A> {
        Operation { client, began: ticks[0], ended: ticks[1], call, response: Some(response) }
    }

    /// Returns an operation with an unknown result.
    pub(crate) fn unknown<C, A>(client: usize, began: u64, call: C) -> Operation<C, A> {
        Operation { client, began, ended: NEVER, call, response: None }
    }
}
