//! Numbers of entries of a list by one or two groups.

use schemars::JsonSchema;
use serde::Serialize;

use crate::fields::StringEnum;
use crate::params::{self, Params, ValueForm};
use crate::problem::{Code, ValueError};

/// Maximum number of groups of an answer. If there are more, the answer has the largest groups.
pub const MAX_GROUPS: usize = 1_000;
/// Maximum number of members to group by.
const MAX_MEMBERS: usize = 2;

/// A request for the counts of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountRequest<F, G> {
    /// Conditions of the list.
    pub filter: F,
    /// One or two distinct members to group by.
    pub groups: Vec<G>,
}

/// The number of entries of a list by group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GroupedCounts<C> {
    /// The groups with at least one entry, at most 1,000, in ascending order of their members.
    pub data: Vec<C>,
    /// Number of entries of the list. Each counts once, also in groups that `data` omits.
    pub total: u64,
    /// True if there are more than 1,000 groups. Then `data` has the largest ones.
    pub has_more: bool,
}

/// Declares and reads `group_by`; empty if it is missing or invalid.
pub fn groups<G: StringEnum>(params: &mut Params, about: &'static str) -> Vec<G> {
    let words = ValueForm::DistinctWords(G::NAME, MAX_MEMBERS);
    params.required(&params::param("group_by", about, words, parse::<G>)).unwrap_or_default()
}

fn parse<G: StringEnum>(text: &str) -> Result<Vec<G>, ValueError> {
    let groups = text.split(',').map(G::from_word).collect::<Result<Vec<_>, _>>()?;
    if groups.len() > MAX_MEMBERS {
        return Err(ValueError::new(Code::TooLong, format!("must have at most {MAX_MEMBERS} members")));
    }
    match groups.as_slice() {
        [one, other] if one == other => Err(ValueError::format("two different members")),
        _ => Ok(groups),
    }
}
