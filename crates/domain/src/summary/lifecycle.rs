//! The lifecycle of a summary: the table of transitions and their effects (decisions G).

use strum::{IntoStaticStr, VariantArray};

use super::{EmployeeFeedback, REMARK_CHARS, Status, Summary};
use crate::audit::Target;
use crate::decision::{Decision, Resource};
use crate::event::EventType;
use crate::fields::{Fields, StringEnum};
use crate::id::EmployeeId;
use crate::json::Object;
use crate::notification::{Notice, Recipients, Type};
use crate::organization::Review;
use crate::problem::{Code, ValidationErrors, ValueError};
use crate::refusal::DomainError;
use crate::rule::{self, Field, Flag, Text};
use crate::time::Timestamp;

const REASON: Field<Text> =
    Field::with_about("reason", rule::text(1..=REMARK_CHARS), "Reason, shown to the author and in the audit log.");
const COMMENT: Field<Text> =
    Field::with_about("comment", rule::text(0..=REMARK_CHARS), "Comment of the employee.");
const ACKNOWLEDGED: Field<Flag> =
    Field::with_about("acknowledged", rule::flag(), "`true` if the employee has acknowledged the summary.");

/// The field that a refusal of repeated feedback names. The refusal must not quote the feedback.
const GIVEN_AT: &str = "employee_feedback.submitted_at";

/// An action on a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Submits the summary for review.
    Submit,
    /// Approves the summary. It is fixed from then on: updates are refused.
    Approve,
    /// Returns the summary to its author for changes.
    Return {
        /// The reason for the return.
        reason: String,
    },
    /// Shares the summary with the employee.
    Share,
    /// Records the employee's response.
    Feedback {
        /// The employee's comment, if any.
        comment: Option<String>,
        /// `true` if the employee confirms that they have read the summary.
        acknowledged: bool,
    },
    /// Archives the summary for good.
    Archive,
}

/// An action without its fields; each has its own endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
#[expect(missing_docs, reason = "the variants are those of `Action`")]
pub enum ActionKind {
    Submit,
    Approve,
    Return,
    Share,
    Feedback,
    Archive,
}

impl StringEnum for ActionKind {}

/// Returns the status after an action under the organization's review setting (decision C10). `None` means 409.
fn after_action(from: Status, what: ActionKind, review: Review) -> Option<Status> {
    use Status::{Approved, Archived, Draft, PendingReview, Shared};
    let (is_allowed, to) = match what {
        ActionKind::Submit => (from == Draft && review != Review::Disabled, PendingReview),
        ActionKind::Approve => (from == PendingReview || (from == Draft && review != Review::Required), Approved),
        ActionKind::Return => (matches!(from, PendingReview | Approved) && review != Review::Disabled, Draft),
        ActionKind::Share => (from == Approved, Shared),
        ActionKind::Feedback => (from == Shared, Shared),
        ActionKind::Archive => (from != Archived, Archived),
    };
    is_allowed.then_some(to)
}

/// Returns the event and the audit action of an action.
const fn event_and_audit_action(what: ActionKind) -> (EventType, &'static str) {
    match what {
        ActionKind::Submit => (EventType::SummarySubmitted, "summary.submit"),
        ActionKind::Approve => (EventType::SummaryApproved, "summary.approve"),
        ActionKind::Return => (EventType::SummaryUpdated, "summary.return"),
        ActionKind::Share => (EventType::SummaryShared, "summary.share"),
        ActionKind::Feedback => (EventType::SummaryFeedbackSubmitted, "summary.feedback"),
        ActionKind::Archive => (EventType::SummaryArchived, "summary.archive"),
    }
}

impl Action {
    /// Declares and reads the fields of an action's endpoint.
    pub fn read(fields: &mut Fields, what: ActionKind) -> Option<Self> {
        match what {
            ActionKind::Submit => Some(Self::Submit),
            ActionKind::Approve => Some(Self::Approve),
            ActionKind::Return => fields.required(&REASON).map(|reason| Self::Return { reason }),
            ActionKind::Share => Some(Self::Share),
            ActionKind::Feedback => Some(Self::Feedback {
                comment: fields.optional(&COMMENT),
                acknowledged: fields.present_or(&ACKNOWLEDGED, false),
            }),
            ActionKind::Archive => Some(Self::Archive),
        }
    }

    /// Reads the body of an action's endpoint.
    ///
    /// # Errors
    /// Returns every invalid field.
    pub fn parse(what: ActionKind, body: Object) -> Result<Self, ValidationErrors> {
        let mut fields = Fields::new(body);
        let action = Self::read(&mut fields, what);
        fields.finish(action)
    }

    /// Returns the action without its fields.
    #[must_use]
    pub const fn what(&self) -> ActionKind {
        match self {
            Self::Submit => ActionKind::Submit,
            Self::Approve => ActionKind::Approve,
            Self::Return { .. } => ActionKind::Return,
            Self::Share => ActionKind::Share,
            Self::Feedback { .. } => ActionKind::Feedback,
            Self::Archive => ActionKind::Archive,
        }
    }
}

/// Returns the notice about an action: to the employee's manager about a submission, to the author about a return
/// or feedback, to the employee about sharing. `None` for an approval, for archiving, and if the author who would
/// get the notice is unknown.
fn notice(action: &Action, state: &Summary) -> Option<Notice> {
    let author = state.author_id.map(Recipients::Person);
    let (kind, to, title, body) = match action {
        Action::Submit => (
            Type::SummaryPendingReview,
            Recipients::ManagerOf(state.employee_id),
            "Summary to review",
            String::new(),
        ),
        Action::Return { reason } => (Type::SummaryReturned, author?, "Summary sent back", reason.clone()),
        Action::Share => {
            (Type::SummaryShared, Recipients::Person(state.employee_id), "Summary shared with you", String::new())
        }
        Action::Feedback { comment, .. } => {
            (Type::SummaryFeedbackSubmitted, author?, "Feedback on a summary", comment.clone().unwrap_or_default())
        }
        Action::Approve | Action::Archive => return None,
    };
    let title = format!("{title}: {}", state.title);
    let target = Target { kind: Summary::NAME.to_owned(), id: state.id.to_string() };
    Some(Notice { kind, to, title, body, target })
}

impl Summary {
    /// Returns the notice about a change during the review that needs an approval; none otherwise.
    pub(super) fn change_notices(&self, needs_approval: bool) -> Vec<Notice> {
        if !needs_approval || self.status != Status::PendingReview {
            return vec![];
        }
        vec![Notice {
            kind: Type::SummaryChanged,
            to: Recipients::ManagerOf(self.employee_id),
            title: format!("Changed during the review: {}", self.title),
            body: String::new(),
            target: Target { kind: Self::NAME.to_owned(), id: self.id.to_string() },
        }]
    }

    /// Applies an action of the lifecycle. `person` is the person of the key. A submission confirms the earlier
    /// changes by other people.
    ///
    /// # Errors
    /// Returns [`DomainError::Conflict`] with the attempted action and the current status, or the time of earlier
    /// feedback, and [`DomainError::Unprocessable`] for the submission of a blank summary.
    pub fn apply(
        &self,
        action: Action,
        person: Option<EmployeeId>,
        review: Review,
        at: Timestamp,
    ) -> Result<Decision<Self>, DomainError> {
        let what = action.what();
        let refuse = || DomainError::transition("status", self.status.word(), what.word());
        let status = after_action(self.status, what, review).ok_or_else(refuse)?;
        let mut state = self.with_status(status, at);
        let action_time = Some(state.updated_at);
        match &action {
            Action::Submit if self.body.trim().is_empty() => {
                let flaw = ValueError::new(Code::TooShort, "must not be blank when the summary is submitted");
                return Err(DomainError::unprocessable("body", flaw));
            }
            Action::Submit => {
                state.submitted_at = action_time;
                let is_submitter = |editor: &EmployeeId| person.is_none_or(|person| person == *editor);
                let (remaining_editors, past): (Vec<_>, Vec<_>) =
                    self.editor_ids.iter().copied().partition(is_submitter);
                state.editor_ids = remaining_editors;
                state.past_editor_ids.extend(past.iter().filter(|editor| !self.past_editor_ids.contains(editor)));
            }
            Action::Approve => state.approved_at = action_time,
            Action::Return { .. } => (state.submitted_at, state.approved_at) = (None, None),
            Action::Share => state.shared_at = action_time,
            Action::Feedback { comment, acknowledged } => {
                if let Some(feedback) = &self.employee_feedback {
                    return Err(DomainError::transition(GIVEN_AT, feedback.submitted_at, what.word()));
                }
                let (comment, acknowledged) = (comment.clone(), *acknowledged);
                let submitted_at = state.updated_at;
                state.employee_feedback = Some(EmployeeFeedback { comment, acknowledged, submitted_at });
            }
            Action::Archive => state.archived_at = action_time,
        }
        let (event, audit_action) = event_and_audit_action(what);
        let mut decision = Decision::for_change(self, state, audit_action, vec![event]);
        decision.notices = notice(&action, &decision.state).into_iter().collect();
        if let Action::Return { reason } = action {
            decision.audit.comment = Some(reason);
        }
        Ok(decision)
    }

    /// Returns the summary with another status. A fixed summary keeps the observations that it showed; a returned
    /// summary loses the observations that are archived by now.
    fn with_status(&self, status: Status, at: Timestamp) -> Self {
        let mut state = Self { status, updated_at: at.strictly_after(self.updated_at), ..self.clone() };
        let archived_ids = match (self.is_open(), state.is_open()) {
            (true, true) => std::mem::take(&mut state.archived_observation_ids),
            (true, false) => vec![],
            (false, _) => std::mem::take(&mut state.kept_archived_ids),
        };
        state.with_archived_observations(archived_ids)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOON, summary};
    use super::*;
    use crate::id::Id;
    use crate::retention::Retained;
    use Status::{Approved, Archived, Draft, PendingReview, Shared};
    use ulid::Ulid;

    fn actions() -> [Action; 6] {
        [
            Action::Submit,
            Action::Approve,
            Action::Return { reason: "Too harsh".to_owned() },
            Action::Share,
            Action::Feedback { comment: None, acknowledged: true },
            Action::Archive,
        ]
    }

    #[test]
    fn past_editors_keep_the_summary_but_may_approve() {
        let [editor, submitter] = [7, 8].map(|number| Id::from_ulid(Ulid(number)));
        let draft = Summary { editor_ids: vec![editor, submitter], ..summary(Status::Draft) };
        let submission = draft.apply(Action::Submit, Some(submitter), Review::Required, NOON).unwrap().state;
        assert_eq!(
            (submission.editor_ids.clone(), submission.past_editor_ids.clone()),
            (vec![submitter], vec![editor])
        );
        assert!(submission.people().contains(&editor));
        let draft = Summary { status: Status::Draft, editor_ids: vec![editor], ..submission };
        let second_submission =
            draft.apply(Action::Submit, Some(submitter), Review::Required, NOON).unwrap().state;
        assert_eq!(second_submission.past_editor_ids, [editor], "each person once");
    }

    #[test]
    fn summary_action_follows_the_table_of_statuses() {
        let (d, p, a, s, x) = (Some(Draft), Some(PendingReview), Some(Approved), Some(Shared), Some(Archived));
        let table = [
            //               submit approve return share feedback archive
            (Draft, [p, a, None, None, None, x]),
            (PendingReview, [None, a, d, None, None, x]),
            (Approved, [None, None, d, s, None, x]),
            (Shared, [None, None, None, None, s, x]),
            (Archived, [None, None, None, None, None, None]),
        ];
        for (from, row) in table {
            for (action, to) in actions().into_iter().zip(row) {
                let result = summary(from).apply(action.clone(), None, Review::Optional, NOON);
                assert_eq!(
                    result.as_ref().ok().map(|decision| decision.state.status),
                    to,
                    "{from:?} × {action:?}"
                );
                if let Err(refused) = result {
                    assert_eq!(refused, DomainError::transition("status", from.word(), action.what().word()));
                }
            }
        }
    }

    #[test]
    fn review_setting_restricts_the_transitions() {
        let is_possible =
            |review, from| actions().map(|action| summary(from).apply(action, None, review, NOON).is_ok());
        //                                                submit approve return share feedback archive
        assert_eq!(is_possible(Review::Required, Draft), [true, false, false, false, false, true]);
        assert_eq!(is_possible(Review::Required, PendingReview), [false, true, true, false, false, true]);
        assert_eq!(is_possible(Review::Disabled, Draft), [false, true, false, false, false, true]);
        assert_eq!(is_possible(Review::Disabled, PendingReview), [false, true, false, false, false, true]);
        assert_eq!(is_possible(Review::Disabled, Approved), [false, false, false, true, false, true]);
    }

    #[test]
    fn action_sets_its_time_and_fires_its_event_and_notice() {
        let draft = summary(Draft);
        let manager = Recipients::ManagerOf(draft.employee_id);
        let author = Recipients::Person(draft.author_id.unwrap());
        let person = Recipients::Person(draft.employee_id);
        let table = [
            (Draft, EventType::SummarySubmitted, Some((Type::SummaryPendingReview, manager))),
            (Draft, EventType::SummaryApproved, None),
            (PendingReview, EventType::SummaryUpdated, Some((Type::SummaryReturned, author))),
            (Approved, EventType::SummaryShared, Some((Type::SummaryShared, person))),
            (Shared, EventType::SummaryFeedbackSubmitted, Some((Type::SummaryFeedbackSubmitted, author))),
            (Shared, EventType::SummaryArchived, None),
        ];
        for ((from, event, notice), action) in table.into_iter().zip(actions()) {
            let decision =
                summary(from).apply(action.clone(), None, Review::Optional, NOON.plus_seconds(9)).unwrap();
            assert_eq!(decision.events, [event]);
            assert_eq!(decision.notices.first().map(|sent| (sent.kind, sent.to)), notice, "{action:?}");
            let action_time = Some(decision.state.updated_at);
            let times = |summary: &Summary| {
                [summary.submitted_at, summary.approved_at, summary.shared_at, summary.archived_at]
            };
            let set = times(&decision.state).iter().filter(|time| **time == action_time).count();
            let sets_one = !matches!(action, Action::Return { .. } | Action::Feedback { .. });
            assert_eq!(set, usize::from(sets_one), "{action:?}");
        }
        let without_author = Summary { author_id: None, ..summary(PendingReview) };
        let return_decision = without_author.apply(actions()[2].clone(), None, Review::Optional, NOON).unwrap();
        assert_eq!(
            (return_decision.notices, return_decision.audit.comment.as_deref()),
            (vec![], Some("Too harsh"))
        );
    }

    #[test]
    fn second_feedback_is_refused() {
        let summary_with_feedback =
            summary(Shared).apply(actions()[4].clone(), None, Review::Optional, NOON).unwrap().state;
        let feedback = summary_with_feedback.employee_feedback.clone().unwrap();
        assert_eq!((feedback.acknowledged, feedback.submitted_at), (true, summary_with_feedback.updated_at));
        let error = summary_with_feedback.apply(actions()[4].clone(), None, Review::Optional, NOON).unwrap_err();
        assert_eq!(error, DomainError::transition(GIVEN_AT, feedback.submitted_at, "feedback"));
    }

    #[test]
    fn blank_summary_cannot_be_submitted() {
        let blank = Summary { body: " \n".to_owned(), ..summary(Draft) };
        assert!(matches!(
            blank.apply(Action::Submit, None, Review::Optional, NOON),
            Err(DomainError::Unprocessable(_))
        ));
        assert!(blank.apply(Action::Approve, None, Review::Optional, NOON).is_ok());
    }

    #[test]
    fn approval_keeps_shown_observations_and_return_hides_archived() {
        let [shown, hidden] = [7, 8].map(|number| Id::from_ulid(Ulid(number)));
        let draft = Summary { included_observation_ids: vec![shown, hidden], ..summary(Draft) }
            .with_archived_observations(vec![hidden]);
        let approved_summary = draft.apply(Action::Approve, None, Review::Optional, NOON).unwrap().state;
        assert_eq!((approved_summary.given_observation_ids(), approved_summary.is_open()), (vec![shown], false));
        let read_again = approved_summary.with_archived_observations(vec![shown]);
        assert_eq!(
            read_again.included_observation_ids,
            [shown],
            "an approved summary keeps archived observations"
        );
        let returned_summary = read_again.apply(actions()[2].clone(), None, Review::Optional, NOON).unwrap().state;
        assert_eq!(
            (returned_summary.included_observation_ids.len(), returned_summary.given_observation_ids()),
            (0, vec![shown])
        );
    }
}
