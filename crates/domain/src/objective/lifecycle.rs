//! The lifecycle of an objective: one table of transitions, and the side effects of each (§3.1).

use std::collections::BTreeMap;

use strum::{IntoStaticStr, VariantArray};

use super::{Objective, REMARK_CHARS, ReviewedContent, Status};
use crate::audit::{AuditDraft, Changes, Target, difference};
use crate::decision::{Decision, Resource};
use crate::event::EventType;
use crate::fields::{Fields, StringEnum};
use crate::json::Object;
use crate::notification::{Notice, Recipients, Type};
use crate::organization::Review;
use crate::problem::ValidationErrors;
use crate::refusal::DomainError;
use crate::rule::{self, Field, Text};
use crate::time::{Date, Timestamp};

const COMMENT: Field<Text> =
    Field::with_about("comment", rule::text(0..=REMARK_CHARS), "Comment, shown in the history and to the owner.");
const REJECTED: Field<Text> =
    Field::with_about("reason", rule::text(1..=REMARK_CHARS), "Reason, shown in the history and to the owner.");
const OUTCOME: Field<Text> =
    Field::with_about("outcome", rule::text(0..=REMARK_CHARS), "Outcome, shown in the history.");
const MISSED: Field<Text> =
    Field::with_about("reason", rule::text(0..=REMARK_CHARS), "Reason, shown in the history.");

/// An action of a client on an objective.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Submits the objective for review.
    Submit,
    /// Approves the objective, with an optional comment.
    Approve {
        /// A remark for the audit log and the owner.
        comment: Option<String>,
    },
    /// Sends the objective back to its owner.
    Reject {
        /// The reason, for the audit log and the owner.
        reason: String,
    },
    /// Marks the objective as completed.
    Complete {
        /// A description of the result, for the audit log.
        outcome: Option<String>,
    },
    /// Marks the objective as missed.
    Miss {
        /// The reason, for the audit log.
        reason: Option<String>,
    },
    /// Archives the objective, finished or not.
    Archive,
}

/// The kind of an action, without its texts. Each has its own endpoint (§4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Verb {
    /// The verb of [`Action::Submit`].
    Submit,
    /// The verb of [`Action::Approve`].
    Approve,
    /// The verb of [`Action::Reject`].
    Reject,
    /// The verb of [`Action::Complete`].
    Complete,
    /// The verb of [`Action::Miss`].
    Miss,
    /// The verb of [`Action::Archive`].
    Archive,
}

impl StringEnum for Verb {}

/// A change of status outside the actions, by PATCH or by the service itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum StatusChange {
    /// To `in_progress`: by PATCH, or because the period began.
    Start,
    /// Back to `approved`, by PATCH.
    HoldBack,
}

/// Looks up the status after an action in the table of §3.1, under the organization's review setting (decision
/// C10). `None` is a 409. An objective that was changed since its approval keeps its status when it is approved again.
fn after_action(objective: &Objective, what: Verb, review: Review) -> Option<Status> {
    let (from, in_review) = (objective.status, objective.is_in_review());
    let (is_allowed, to) = match what {
        Verb::Approve if objective.changed_since_approval => (!objective.is_finished(), from),
        Verb::Submit => (from == Status::Proposed && !in_review && review != Review::Disabled, Status::Proposed),
        Verb::Approve => (from == Status::Proposed && (in_review || review != Review::Required), Status::Approved),
        Verb::Reject => (from == Status::Proposed && review != Review::Disabled, Status::Proposed),
        Verb::Complete => (matches!(from, Status::Approved | Status::InProgress), Status::Completed),
        Verb::Miss => (from == Status::InProgress, Status::Missed),
        Verb::Archive => (from != Status::Archived, Status::Archived),
    };
    is_allowed.then_some(to)
}

impl Action {
    /// Reads the fields of an action's endpoint.
    pub fn read(fields: &mut Fields, what: Verb) -> Option<Self> {
        match what {
            Verb::Submit => Some(Self::Submit),
            Verb::Approve => Some(Self::Approve { comment: fields.optional(&COMMENT) }),
            Verb::Reject => fields.required(&REJECTED).map(|reason| Self::Reject { reason }),
            Verb::Complete => Some(Self::Complete { outcome: fields.optional(&OUTCOME) }),
            Verb::Miss => Some(Self::Miss { reason: fields.optional(&MISSED) }),
            Verb::Archive => Some(Self::Archive),
        }
    }

    /// Reads the body of an action's endpoint (§4.2, decision C9).
    ///
    /// # Errors
    /// One problem for each wrong field.
    pub fn parse(what: Verb, body: Object) -> Result<Self, ValidationErrors> {
        let mut fields = Fields::new(body);
        let action = Self::read(&mut fields, what);
        fields.finish(action)
    }

    /// Returns the kind of the action.
    #[must_use]
    pub const fn what(&self) -> Verb {
        match self {
            Self::Submit => Verb::Submit,
            Self::Approve { .. } => Verb::Approve,
            Self::Reject { .. } => Verb::Reject,
            Self::Complete { .. } => Verb::Complete,
            Self::Miss { .. } => Verb::Miss,
            Self::Archive => Verb::Archive,
        }
    }

    const fn audit_action(&self) -> &'static str {
        match self {
            Self::Submit => "objective.submit",
            Self::Approve { .. } => "objective.approve",
            Self::Reject { .. } => "objective.reject",
            Self::Complete { .. } => "objective.complete",
            Self::Miss { .. } => "objective.miss",
            Self::Archive => "objective.archive",
        }
    }

    fn remark(self) -> Option<String> {
        match self {
            Self::Approve { comment: text } | Self::Complete { outcome: text } | Self::Miss { reason: text } => {
                text
            }
            Self::Reject { reason } => Some(reason),
            Self::Submit | Self::Archive => None,
        }
    }
}

/// Creates the notice of an action: to the owner's manager for a submission, to the owner for an approval or a
/// rejection. Returns `None` for other actions.
fn notice(action: &Action, state: &Objective) -> Option<Notice> {
    let (kind, to, title, body) = match action {
        Action::Submit => {
            (Type::ObjectiveSubmitted, Recipients::ManagerOf(state.owner_id), "Objective to review", String::new())
        }
        Action::Approve { comment } => (
            Type::ObjectiveApproved,
            Recipients::Person(state.owner_id),
            "Objective approved",
            comment.clone().unwrap_or_default(),
        ),
        Action::Reject { reason } => {
            (Type::ObjectiveRejected, Recipients::Person(state.owner_id), "Objective sent back", reason.clone())
        }
        Action::Complete { .. } | Action::Miss { .. } | Action::Archive => return None,
    };
    let title = format!("{title}: {}", state.title);
    let target = Target { kind: Objective::NAME.to_owned(), id: state.id.to_string() };
    Some(Notice { kind, to, title, body, target })
}

impl Objective {
    /// Returns the notice about a change after the approval, or during the review.
    pub(super) fn change_notice(&self) -> Notice {
        let when = if self.is_in_review() { "during the review" } else { "after the approval" };
        Notice {
            kind: Type::ObjectiveChanged,
            to: Recipients::ManagerOf(self.owner_id),
            title: format!("Changed {when}: {}", self.title),
            body: String::new(),
            target: Target { kind: Self::NAME.to_owned(), id: self.id.to_string() },
        }
    }

    /// Applies one action of the lifecycle (§3.1).
    ///
    /// # Errors
    /// [`DomainError::Conflict`] naming the current status and the attempted action.
    pub fn apply(&self, action: Action, review: Review, at: Timestamp) -> Result<Decision<Self>, DomainError> {
        let mut state = self.apply_verb(action.what(), review, at)?;
        let is_move = state.status != self.status || state.status == Status::Proposed;
        let mut events =
            vec![if is_move { EventType::ObjectiveStatusChanged } else { EventType::ObjectiveUpdated }];
        let mut changes = None;
        match &action {
            Action::Submit => {
                changes = Some(self.since_review());
                state.submitted_at = Some(state.updated_at);
                state.reviewed = Some(self.content());
            }
            Action::Approve { .. } => {
                state.reviewed = Some(self.content());
                state.changed_since_approval = false;
                state.held_back = self.held_back;
            }
            Action::Reject { .. } => state.submitted_at = None,
            Action::Complete { .. } => state.completed_at = Some(state.updated_at),
            Action::Archive => events.push(EventType::ObjectiveArchived),
            Action::Miss { .. } => {}
        }
        let mut audit = AuditDraft::new(&state, action.audit_action()).with_changes(self, &state);
        // The audit entry of a submission has what the reviewer must read, and nothing else (decision C9).
        audit.changes = changes.unwrap_or(audit.changes);
        let notices = notice(&action, &state).into_iter().collect();
        audit.comment = action.remark();
        Ok(Decision { state, events, audit, notices })
    }

    /// Returns the day on which the objective starts automatically, or `None` if it will not.
    #[must_use]
    pub fn starts_on(&self) -> Option<Date> {
        (self.status == Status::Approved && !self.held_back).then_some(self.period_start)
    }

    /// Starts the objective if its period has begun (decision C3). Returns `None` if the start is not due.
    #[must_use]
    pub fn start_if_due(&self, today: Date, at: Timestamp) -> Option<Decision<Self>> {
        self.starts_on().filter(|day| *day <= today)?;
        let state = self.apply_move(StatusChange::Start, at).ok()?;
        Some(Decision::for_change(self, state, "objective.start", vec![EventType::ObjectiveStatusChanged]))
    }

    /// Returns the objective with the status that an action leads to. Side effects of single actions are left to
    /// [`Self::apply`].
    fn apply_verb(&self, what: Verb, review: Review, at: Timestamp) -> Result<Self, DomainError> {
        let conflict = || DomainError::transition("status", self.status.word(), what.word());
        let status = after_action(self, what, review).ok_or_else(conflict)?;
        Ok(self.with_status(status, at))
    }

    /// Returns the objective after a move. Holding back prevents an automatic start until a client starts the
    /// objective (decision C3).
    pub(super) fn apply_move(&self, what: StatusChange, at: Timestamp) -> Result<Self, DomainError> {
        let (from, to) = match what {
            StatusChange::Start => (Status::Approved, Status::InProgress),
            StatusChange::HoldBack => (Status::InProgress, Status::Approved),
        };
        if self.status != from {
            return Err(DomainError::transition("status", self.status.word(), to.word()));
        }
        Ok(Self { held_back: what == StatusChange::HoldBack, ..self.with_status(to, at) })
    }

    /// Returns the objective with another status. The first approval or start sets `approved_at` (decision C2).
    fn with_status(&self, status: Status, at: Timestamp) -> Self {
        let changed_at = at.strictly_after(self.updated_at);
        let is_approved = matches!(status, Status::Approved | Status::InProgress);
        let approved_at = self.approved_at.or(is_approved.then_some(changed_at));
        Self { status, updated_at: changed_at, approved_at, held_back: false, ..self.clone() }
    }

    /// Returns the differences from the content at the last submission or approval (decision C9).
    fn since_review(&self) -> Changes {
        let content = self.content();
        match &self.reviewed {
            // Without the key results of that time, it is unknown whether they changed.
            Some(reviewed) if reviewed.key_results.is_none() => {
                difference(reviewed, &ReviewedContent { key_results: None, ..content })
            }
            Some(reviewed) => difference(reviewed, &content),
            None => {
                let key_results = content.key_results.filter(|results| !results.is_empty());
                difference(&BTreeMap::<String, ()>::new(), &ReviewedContent { key_results, ..content })
            }
        }
    }
}

#[cfg(test)]
mod tests;
