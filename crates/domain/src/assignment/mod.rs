//! Assignments: requests to reviewers for observations about one person (decision G).

mod create;
mod list;
mod submission;

pub use create::{Draft, References};
pub use list::Filter;
pub use submission::{Submission, SubmissionDraft, SubmissionStatus};

use schemars::JsonSchema;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use crate::access::{Caller, PermissionError};
use crate::content::{content, optional, required};
use crate::decision::{Decision, Resource, identity};
use crate::event::EventType;
use crate::external_id;
use crate::fields::{StringEnum, string_enum};
use crate::id::{AssignmentId, AssignmentKind, EmployeeId};
use crate::keyed::Metadata;
use crate::params::StatusWord;
use crate::refusal::DomainError;
use crate::rule;
use crate::time::{Date, Timestamp};
use crate::visibility::LinkedId;

/// Maximum length of a title, in characters (decision G).
pub const TITLE_CHARS: usize = 200;
/// Maximum length of the instructions, in characters (decision G).
pub const INSTRUCTIONS_CHARS: usize = 4000;
/// Maximum number of reviewers of an assignment (decision G).
pub const MAX_REVIEWERS: usize = 50;
/// Maximum number of observations in one submission (decision G).
pub const MAX_OBSERVATIONS: usize = 10;

/// Lifecycle status of an assignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Status {
    /// The assignment accepts submissions.
    Open,
    /// The required number of submissions has arrived.
    Completed,
    /// The assignment was canceled.
    Canceled,
}

string_enum!(Status, "AssignmentStatus");

impl StatusWord for Status {
    const FILTER_NAME: &'static str = "AssignmentStatusFilter";
}

content! {
    pub struct Content;

    /// A request for feedback about one person.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
    pub struct Assignment {
        /// Id of the assignment, with the prefix `asg_`.
        pub id: AssignmentId,
        /// Person the feedback is about.
        pub employee_id: EmployeeId,
        /// Person who requests the feedback. Null if unknown.
        pub requester_id: Option<EmployeeId>,
        /// Title. It must not be blank.
        pub title: String => set once by required(rule::text(1..=TITLE_CHARS)),
        /// Instructions for the reviewers, in plain text. Null if there are none.
        pub instructions: Option<String> => set once by optional(rule::text(0..=INSTRUCTIONS_CHARS)),
        /// Due date. Null if there is none. The assignment does not change when the date passes.
        pub due_date: Option<Date> => set once by optional(rule::date()),
        /// Ids of the reviewers.
        pub reviewer_ids: Vec<EmployeeId>,
        /// Number of submissions that complete the assignment.
        #[schemars(range(min = 1))]
        pub required_submissions: usize,
        /// Status of the assignment.
        pub status: Status,
        /// Submission of each reviewer, in the order of `reviewer_ids`.
        pub submissions: Vec<Submission>,
        /// Number of reviewers who have submitted.
        pub submitted_count: usize,
        /// Time of creation, which never changes.
        pub created_at: Timestamp,
        /// Time of the last change. It increases with every change.
        pub updated_at: Timestamp,
        /// Texts for other systems, by key. The service does not interpret them.
        pub metadata: Metadata,
        /// Id of the assignment in another system. Unique among all assignments. Null if there is none.
        pub external_id: Option<String> => set once by optional(external_id::rule()),
    }
}

impl Resource for Assignment {
    identity!(AssignmentKind);

    fn linked_ids(&self) -> Vec<LinkedId> {
        let observations = self.submissions.iter().flat_map(|submission| &submission.observation_ids);
        observations.copied().map(LinkedId::Observation).collect()
    }

    fn retain_linked(&mut self, is_shown: &dyn Fn(LinkedId) -> bool) {
        for submission in &mut self.submissions {
            submission.observation_ids.retain(|id| is_shown(LinkedId::Observation(*id)));
        }
    }
}

impl Assignment {
    /// Requires that a caller who sees this assignment may cancel it: its requester, org admins and keys of the
    /// organization (decision B5).
    ///
    /// # Errors
    /// [`PermissionError::NotTheRequester`].
    pub fn may_be_canceled_by(&self, caller: &Caller) -> Result<(), PermissionError> {
        let may = caller.acts_for().is_none_or(|person| self.requester_id == Some(person));
        if may { Ok(()) } else { Err(PermissionError::NotTheRequester) }
    }

    /// Cancels the assignment. Observations that were submitted stay.
    ///
    /// # Errors
    /// [`DomainError::Conflict`] if the assignment is not open.
    pub fn cancel(&self, at: Timestamp) -> Result<Decision<Self>, DomainError> {
        self.must_be_open("cancel")?;
        let updated_at = at.strictly_after(self.updated_at);
        let state = Self { status: Status::Canceled, updated_at, ..self.clone() };
        Ok(Decision::for_change(self, state, "assignment.cancel", vec![EventType::AssignmentCanceled]))
    }

    fn must_be_open(&self, attempted: &str) -> Result<(), DomainError> {
        if self.status == Status::Open {
            Ok(())
        } else {
            Err(DomainError::transition("status", self.status.word(), attempted))
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
