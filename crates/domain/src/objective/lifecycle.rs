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
/// rejection.
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
mod tests {
    use super::super::tests::{NOON, objective};
    use super::super::{KeyResult, Metric};
    use super::*;
    use crate::decimal::Decimal;
    use Status::{Approved, Archived, Completed, InProgress, Missed, Proposed};

    fn actions() -> [Action; 6] {
        [
            Action::Submit,
            Action::Approve { comment: None },
            Action::Reject { reason: "Too vague".to_owned() },
            Action::Complete { outcome: None },
            Action::Miss { reason: None },
            Action::Archive,
        ]
    }

    #[test]
    fn each_status_accepts_only_its_actions() {
        let (p, a, c, m, x) = (Some(Proposed), Some(Approved), Some(Completed), Some(Missed), Some(Archived));
        let table = [
            //                      submit approve reject complete miss archive
            (Proposed, false, [p, a, p, None, None, x]),
            (Proposed, true, [None, a, p, None, None, x]),
            (Approved, false, [None, None, None, c, None, x]),
            (InProgress, false, [None, None, None, c, m, x]),
            (Completed, false, [None, None, None, None, None, x]),
            (Missed, false, [None, None, None, None, None, x]),
            (Archived, false, [None, None, None, None, None, None]),
        ];
        for (from, in_review, row) in table {
            for (action, to) in actions().into_iter().zip(row) {
                let objective_before = objective(from, in_review);
                let next_status = objective_before
                    .apply(action.clone(), Review::Optional, NOON)
                    .ok()
                    .map(|decision| decision.state.status);
                assert_eq!(next_status, to, "{from:?} (in review: {in_review}) × {action:?}");
            }
        }
    }

    #[test]
    fn review_setting_narrows_the_transitions() {
        let statuses_of = |review, in_review| {
            let objective_before = objective(Proposed, in_review);
            actions().map(|action| objective_before.apply(action, review, NOON).is_ok())
        };
        //                                                  submit approve reject complete miss archive
        assert_eq!(statuses_of(Review::Required, false), [true, false, true, false, false, true]);
        assert_eq!(statuses_of(Review::Required, true), [false, true, true, false, false, true]);
        assert_eq!(statuses_of(Review::Disabled, false), [false, true, false, false, false, true]);
        assert_eq!(statuses_of(Review::Disabled, true), [false, true, false, false, false, true]);
    }

    #[test]
    fn approved_at_is_set_once() {
        let approval_time = NOON.plus_seconds(60);
        let approved_objective = objective(Proposed, false)
            .apply(Action::Approve { comment: None }, Review::Optional, approval_time)
            .unwrap()
            .state;
        assert_eq!(approved_objective.approved_at, Some(approval_time));
        let start_move =
            approved_objective.apply_move(StatusChange::Start, approval_time.plus_seconds(60)).unwrap();
        let return_move = start_move.apply_move(StatusChange::HoldBack, approval_time.plus_seconds(90)).unwrap();
        assert_eq!((start_move.approved_at, return_move.approved_at), (Some(approval_time), Some(approval_time)));
    }

    #[test]
    fn approved_objective_starts_on_its_first_day_unless_held_back() {
        let today = NOON.date();
        let due = objective(Approved, false);
        assert_eq!(due.start_if_due(today, NOON).unwrap().state.status, InProgress);
        let early = Objective { period_start: today.next(), ..due.clone() };
        assert!(early.start_if_due(today, NOON).is_none());
        let objective_not_started = objective(InProgress, false).apply_move(StatusChange::HoldBack, NOON).unwrap();
        assert!(objective_not_started.start_if_due(today, NOON).is_none());
        let second_start = objective_not_started.apply_move(StatusChange::Start, NOON).unwrap();
        assert!(!second_start.held_back);
        for status in [Proposed, InProgress, Completed, Missed, Archived] {
            assert!(objective(status, false).start_if_due(today, NOON).is_none(), "{status:?}");
        }
    }

    #[test]
    fn submission_records_differences_from_the_last_review() {
        let first = objective(Proposed, false).apply(Action::Submit, Review::Optional, NOON).unwrap();
        assert_eq!(first.audit.changes["title"].from, crate::json::Value::Null);
        let rejection =
            first.state.apply(Action::Reject { reason: "Too vague".to_owned() }, Review::Optional, NOON).unwrap();
        assert_eq!((rejection.state.submitted_at, rejection.audit.comment.as_deref()), (None, Some("Too vague")));
        let edited_objective = Objective { title: "Answer within four hours".to_owned(), ..rejection.state };
        let second = edited_objective.apply(Action::Submit, Review::Optional, NOON).unwrap();
        assert!(second.audit.changes.contains_key("title"));
        assert!(!second.audit.changes.contains_key("period_end"));
        assert!(!second.audit.changes.contains_key("key_results"));
    }

    #[test]
    fn submission_shows_the_reviewer_changed_key_results_and_no_check_in() {
        let submit = |objective: &Objective| objective.apply(Action::Submit, Review::Optional, NOON).unwrap();
        let submitted =
            submit(&Objective { key_results: vec![key_result(60)], ..objective(Proposed, false) }).state;
        let first = Objective { submitted_at: None, ..submitted };
        let checked = KeyResult { checked: Some(decimal(100)), ..key_result(60) }.with_figures();
        let after_check_in = Objective { key_results: vec![checked], ..first.clone() };
        assert!(!submit(&after_check_in).audit.changes.contains_key("key_results"));

        let changes = submit(&Objective { key_results: vec![key_result(90)], ..first.clone() }).audit.changes;
        let target = |side: &crate::json::Value| serde_json::to_value(side).unwrap()[0]["target"].clone();
        assert_eq!(
            (target(&changes["key_results"].from), target(&changes["key_results"].to)),
            (60.into(), 90.into())
        );

        let stored = ReviewedContent { key_results: None, ..first.content() };
        let reviewed_before = Objective { reviewed: Some(stored), key_results: vec![key_result(90)], ..first };
        assert!(!submit(&reviewed_before).audit.changes.contains_key("key_results"), "unknown is no change");
    }

    fn decimal(number: i64) -> Decimal {
        Decimal::parse(&number.to_string()).unwrap()
    }

    fn key_result(target: i64) -> KeyResult {
        let id = crate::id::KeyResultId::from_ulid(crate::ulid::Ulid(7));
        let (start, target) = (decimal(180), decimal(target));
        let (title, unit) = ("Median time to the first answer".to_owned(), Some("minutes".to_owned()));
        let (metric, current) = (Metric::Number, start);
        KeyResult { id, title, metric, unit, start, target, current, weight: 1, progress: 0, checked: None }
    }

    #[test]
    fn archiving_emits_two_events_and_other_actions_one() {
        for (action, count) in actions().into_iter().zip([1, 1, 1, 1, 1, 2]) {
            let is_end = matches!(action, Action::Complete { .. } | Action::Miss { .. });
            let from = if is_end { InProgress } else { Proposed };
            let decision = objective(from, false).apply(action, Review::Optional, NOON).unwrap();
            assert_eq!(decision.events.len(), count);
            assert_eq!(decision.events[0], EventType::ObjectiveStatusChanged);
        }
    }
}
