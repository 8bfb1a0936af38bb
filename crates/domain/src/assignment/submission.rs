//! Submissions: a reviewer's observations, which may complete the assignment (decision G).

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use super::{Assignment, MAX_OBSERVATIONS, Status};
use crate::access::{Caller, PermissionError};
use crate::decision::Decision;
use crate::event::EventType;
use crate::external_id::ExternallyIdentified;
use crate::fields::{Fields, Reference, StringEnum, string_enum};
use crate::id::{EmployeeId, EmployeeKind, ObservationId};
use crate::json::Object;
use crate::notification;
use crate::observation::{self, Observation};
use crate::problem::{Code, ValidationErrors, ValueError};
use crate::refusal::DomainError;
use crate::rule::{self, Field, ReferenceRule};
use crate::time::Timestamp;

const REVIEWER: Field<ReferenceRule<EmployeeKind>> = Field::with_about(
    "reviewer_id",
    rule::reference(),
    "Reviewer who submits. A key that acts for a person may omit it; another person returns 403. Required for \
     all other keys.",
);
/// Fields that an observation of a submission takes from the assignment and from the reviewer who submits.
const INHERITED: &[&str] = &["employee_id", "author_id"];

/// Status of one reviewer's submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum SubmissionStatus {
    /// The reviewer has not submitted.
    Pending,
    /// The reviewer has submitted. Final.
    Submitted,
}

string_enum!(SubmissionStatus, "SubmissionStatus");

/// One reviewer's part of an assignment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Submission {
    /// Id of the reviewer.
    pub reviewer_id: EmployeeId,
    /// Status of the submission.
    pub status: SubmissionStatus,
    /// Ids of the submitted observations that are visible to the key.
    pub observation_ids: Vec<ObservationId>,
    /// Time of the submission. Null if the reviewer has not submitted.
    pub submitted_at: Option<Timestamp>,
}

impl Submission {
    /// Creates the submission of a reviewer who has not submitted yet.
    #[must_use]
    pub const fn pending(reviewer_id: EmployeeId) -> Self {
        Self { reviewer_id, status: SubmissionStatus::Pending, observation_ids: vec![], submitted_at: None }
    }
}

/// The body of a submission, validated by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmissionDraft {
    reviewer: Reference<EmployeeKind>,
    /// The reviewer's observations, in the order of the body.
    pub observations: Vec<observation::Draft>,
}

impl SubmissionDraft {
    /// Reads the fields of a submission. `about` is the person of the assignment, `own` the person of a bound key.
    pub fn read(fields: &mut Fields, about: EmployeeId, own: Option<EmployeeId>, now: Timestamp) -> Option<Self> {
        let reviewer = fields.required_or(&REVIEWER, own.map(Reference::from));
        let author = reviewer.clone();
        let each = move |fields: &mut Fields| {
            fields.refuse(INHERITED);
            observation::Draft::read_of(fields, now, Some(about.into()), author.clone().map(Some))
        };
        let observations = Field::with_about(
            "observations",
            rule::several(1..=MAX_OBSERVATIONS, each),
            "1 to {max} observations about the person of the assignment.",
        );
        let observations = fields.required(&observations);
        let observations = observations.and_then(|drafts| fields.nested("observations", drafts));
        for at in observations.as_deref().map(repeated_external_ids).unwrap_or_default() {
            fields.problem(&format!("observations[{at}].external_id"), ValueError::format("given only once"));
        }
        Some(Self { reviewer: reviewer?, observations: observations? })
    }

    /// Reads the body of a submission of this caller to `assignment`.
    ///
    /// # Errors
    /// One problem for each wrong field. Fields of observations are named like `observations[0].type`.
    pub fn parse(
        body: Object,
        assignment: &Assignment,
        caller: &Caller,
        now: Timestamp,
    ) -> Result<Self, ValidationErrors> {
        let mut fields = Fields::new(body);
        let draft = Self::read(&mut fields, assignment.employee_id, caller.bound_to(), now);
        fields.finish(draft)
    }

    /// Requires that the caller may submit as the reviewer of this draft (decision B5).
    ///
    /// # Errors
    /// [`PermissionError::OtherPerson`].
    pub fn may_be_submitted_by(&self, caller: &Caller) -> Result<(), PermissionError> {
        caller.may_write_as(&self.reviewer)
    }
}

impl Assignment {
    /// Records one reviewer's submission: creates its observations with ids from `ids`, and updates the
    /// assignment. The last required submission completes the assignment and notifies the requester.
    ///
    /// # Errors
    /// [`DomainError::Conflict`] if the assignment is not open, the reviewer has already submitted, or another
    /// observation has the external id of a new one.
    /// [`DomainError::Unprocessable`] for a person who is not a reviewer, and for invalid references of the
    /// observations.
    pub fn submit(
        &self,
        draft: SubmissionDraft,
        ids: impl Fn() -> ObservationId,
        found: &observation::References,
        at: Timestamp,
    ) -> Result<(Decision<Self>, Vec<Decision<Observation>>), DomainError> {
        self.must_be_open("submit")?;
        let place =
            self.submissions.iter().position(|submission| draft.reviewer.id == Some(submission.reviewer_id));
        let Some(submission) = place.and_then(|at| self.submissions.get(at)) else {
            let flaw = ValueError::new(Code::NotAReviewer, "is not a reviewer of this assignment");
            return Err(DomainError::unprocessable("reviewer_id", flaw));
        };
        if submission.status == SubmissionStatus::Submitted {
            return Err(DomainError::transition("submissions", submission.status.word(), "submit"));
        }
        let mut observations = create_observations(draft.observations, ids, found, at)?;
        for observation in &mut observations {
            observation.state.requester_id = self.requester_id;
        }
        let updated_at = at.strictly_after(self.updated_at);
        let observation_ids = observations.iter().map(|observation| observation.state.id).collect();
        let status = SubmissionStatus::Submitted;
        let new_submission =
            Submission { status, observation_ids, submitted_at: Some(updated_at), ..submission.clone() };
        let mut state = Self { submitted_count: self.submitted_count + 1, updated_at, ..self.clone() };
        for submission in &mut state.submissions {
            if submission.reviewer_id == new_submission.reviewer_id {
                submission.clone_from(&new_submission);
            }
        }
        let is_complete = state.submitted_count >= state.required_submissions;
        if is_complete {
            state.status = Status::Completed;
        }
        let fires = vec![if is_complete { EventType::AssignmentCompleted } else { EventType::AssignmentUpdated }];
        let recipient = state.requester_id.filter(|_| is_complete);
        let kind = notification::Type::AssignmentCompleted;
        let notices = recipient
            .map(|requester| state.notice(kind, requester, "Feedback complete", String::new()))
            .into_iter()
            .collect();
        Ok((Decision { notices, ..Decision::for_change(self, state, "assignment.submit", fires) }, observations))
    }
}

/// Returns the index of each observation with an external id that an earlier observation of the submission already
/// has.
fn repeated_external_ids(drafts: &[observation::Draft]) -> Vec<usize> {
    let mut external_ids = BTreeSet::new();
    let is_repeated = |(_, draft): &(usize, &observation::Draft)| {
        draft.external_id().is_some_and(|external_id| !external_ids.insert(external_id.to_owned()))
    };
    drafts.iter().enumerate().filter(is_repeated).map(|(at, _)| at).collect()
}

/// Creates the observations of a submission. Returns the problems of all invalid observations together. If there
/// are none, returns the first conflict of an external id.
fn create_observations(
    drafts: Vec<observation::Draft>,
    ids: impl Fn() -> ObservationId,
    found: &observation::References,
    at: Timestamp,
) -> Result<Vec<Decision<Observation>>, DomainError> {
    let (mut made, mut problems, mut conflict) = (vec![], ValidationErrors::none(), None);
    for (number, draft) in drafts.into_iter().enumerate() {
        match Observation::create(ids(), draft, found, at) {
            Ok(decision) => made.push(decision),
            Err(DomainError::Unprocessable(found_problems)) => {
                problems.extend(found_problems.prefix_fields(&format!("observations[{number}].")))
            }
            Err(DomainError::Conflict(mut taken)) => {
                taken.field.insert_str(0, &format!("observations[{number}]."));
                conflict.get_or_insert(DomainError::Conflict(taken));
            }
            Err(other) => return Err(other),
        }
    }
    let observations = problems.or(made).map_err(DomainError::Unprocessable)?;
    conflict.map_or(Ok(observations), Err)
}
