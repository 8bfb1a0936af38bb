//! The lifecycle of a summary: one table of transitions, and what each of them does besides (decisions G).

use strum::{IntoStaticStr, VariantArray};

use super::{EmployeeFeedback, REMARK_CHARS, Status, Summary};
use crate::audit::Target;
use crate::decision::{Decision, Resource};
use crate::event::EventType;
use crate::fields::{Fields, Word};
use crate::json::Object;
use crate::notification::{Audience, Notice, Type};
use crate::organization::Review;
use crate::problem::{Code, Flaw, Problems};
use crate::refusal::Refusal;
use crate::rule::{self, Field, Flag, Text};
use crate::time::Timestamp;

const REASON: Field<Text> =
    Field::new("reason", rule::text(1..=REMARK_CHARS), "Reason, shown to the author and in the audit log.");
const COMMENT: Field<Text> = Field::new("comment", rule::text(0..=REMARK_CHARS), "Comment of the employee.");
const ACKNOWLEDGED: Field<Flag> =
    Field::new("acknowledged", rule::flag(), "`true` if the employee has acknowledged the summary.");

/// What says that feedback was given; what it says is nobody's business in a refusal.
const GIVEN_AT: &str = "employee_feedback.submitted_at";

/// What somebody does with a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Asks for a review.
    Submit,
    /// Agrees.
    Approve,
    /// Gives it back to be written again, with the reason.
    Return {
        /// Why.
        reason: String,
    },
    /// Shows it to the employee.
    Share,
    /// The employee answers.
    Feedback {
        /// What they say.
        comment: Option<String>,
        /// Whether they have taken note of it.
        acknowledged: bool,
    },
    /// Puts it away.
    Archive,
}

/// An action without its words: each has an endpoint of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum ActionKind {
    /// [`Action::Submit`]
    Submit,
    /// [`Action::Approve`]
    Approve,
    /// [`Action::Return`]
    Return,
    /// [`Action::Share`]
    Share,
    /// [`Action::Feedback`]
    Feedback,
    /// [`Action::Archive`]
    Archive,
}

impl Word for ActionKind {}

/// The table of transitions, under the organization's review setting (decision C10). `None` = 409.
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

/// The event of each action, and what the audit log calls it.
const fn told(what: ActionKind) -> (EventType, &'static str) {
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
    /// The fields of an action's endpoint.
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
    /// Every field that is wrong.
    pub fn parse(what: ActionKind, body: Object) -> Result<Self, Problems> {
        let mut fields = Fields::new(body);
        let action = Self::read(&mut fields, what);
        fields.finish(action)
    }

    /// The action without its words.
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

/// Who is told of an action: the employee's manager of a submission, the author of what comes back, the employee of
/// what is shared with them. Nobody is told in place of an author who is not known.
fn notice(action: &Action, state: &Summary) -> Option<Notice> {
    let author = state.author_id.map(Audience::Person);
    let (kind, to, title, body) = match action {
        Action::Submit => {
            (Type::SummaryPendingReview, Audience::ManagerOf(state.employee_id), "Summary to review", String::new())
        }
        Action::Return { reason } => (Type::SummaryReturned, author?, "Summary sent back", reason.clone()),
        Action::Share => {
            (Type::SummaryShared, Audience::Person(state.employee_id), "Summary shared with you", String::new())
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
    /// Applies one action of the lifecycle.
    ///
    /// # Errors
    /// [`Refusal::Conflict`] naming the current status, or the feedback that there is, and the attempted action;
    /// [`Refusal::Unprocessable`] for a submission that says nothing.
    pub fn apply(&self, action: Action, review: Review, at: Timestamp) -> Result<Decision<Self>, Refusal> {
        let what = action.what();
        let refused = || Refusal::transition("status", self.status.word(), what.word());
        let status = after_action(self.status, what, review).ok_or_else(refused)?;
        let mut state = self.with_status(status, at);
        let at = Some(state.updated_at);
        match &action {
            Action::Submit if self.body.trim().is_empty() => {
                let flaw = Flaw::new(Code::TooShort, "must say something before it is submitted");
                return Err(Refusal::unprocessable("body", flaw));
            }
            Action::Submit => state.submitted_at = at,
            Action::Approve => state.approved_at = at,
            Action::Return { .. } => (state.submitted_at, state.approved_at) = (None, None),
            Action::Share => state.shared_at = at,
            Action::Feedback { comment, acknowledged } => {
                if let Some(given) = &self.employee_feedback {
                    return Err(Refusal::transition(GIVEN_AT, given.submitted_at, what.word()));
                }
                let (comment, acknowledged) = (comment.clone(), *acknowledged);
                let submitted_at = state.updated_at;
                state.employee_feedback = Some(EmployeeFeedback { comment, acknowledged, submitted_at });
            }
            Action::Archive => state.archived_at = at,
        }
        let (event, audited) = told(what);
        let mut decision = Decision::changed(self, state, audited, vec![event]);
        decision.notices = notice(&action, &decision.state).into_iter().collect();
        if let Action::Return { reason } = action {
            decision.audit.comment = Some(reason);
        }
        Ok(decision)
    }

    /// With another status. What is fixed keeps the observations that it showed, whatever becomes of them; what is
    /// written again loses those that are archived by now.
    fn with_status(&self, status: Status, at: Timestamp) -> Self {
        let mut state = Self { status, updated_at: at.strictly_after(self.updated_at), ..self.clone() };
        if self.is_open() && !state.is_open() {
            state.archived_observation_ids = vec![];
        }
        let archived = std::mem::take(&mut state.archived_observation_ids);
        state.showing(archived)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOON, summary};
    use super::*;
    use crate::id::Id;
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
    fn every_status_meets_every_action() {
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
                let reached = summary(from).apply(action.clone(), Review::Optional, NOON);
                assert_eq!(reached.as_ref().ok().map(|it| it.state.status), to, "{from:?} × {action:?}");
                if let Err(refused) = reached {
                    assert_eq!(refused, Refusal::transition("status", from.word(), action.what().word()));
                }
            }
        }
    }

    #[test]
    fn the_review_setting_narrows_the_table() {
        let reached = |review, from| actions().map(|action| summary(from).apply(action, review, NOON).is_ok());
        //                                                submit approve return share feedback archive
        assert_eq!(reached(Review::Required, Draft), [true, false, false, false, false, true]);
        assert_eq!(reached(Review::Required, PendingReview), [false, true, true, false, false, true]);
        assert_eq!(reached(Review::Disabled, Draft), [false, true, false, false, false, true]);
        assert_eq!(reached(Review::Disabled, PendingReview), [false, true, false, false, false, true]);
        assert_eq!(reached(Review::Disabled, Approved), [false, false, false, true, false, true]);
    }

    #[test]
    fn each_action_sets_its_time_fires_its_event_and_tells_whom_it_concerns() {
        let it = summary(Draft);
        let (manager, author) = (Audience::ManagerOf(it.employee_id), Audience::Person(it.author_id.unwrap()));
        let person = Audience::Person(it.employee_id);
        let table = [
            (Draft, EventType::SummarySubmitted, Some((Type::SummaryPendingReview, manager))),
            (Draft, EventType::SummaryApproved, None),
            (PendingReview, EventType::SummaryUpdated, Some((Type::SummaryReturned, author))),
            (Approved, EventType::SummaryShared, Some((Type::SummaryShared, person))),
            (Shared, EventType::SummaryFeedbackSubmitted, Some((Type::SummaryFeedbackSubmitted, author))),
            (Shared, EventType::SummaryArchived, None),
        ];
        for ((from, event, told), action) in table.into_iter().zip(actions()) {
            let after = summary(from).apply(action.clone(), Review::Optional, NOON.plus_seconds(9)).unwrap();
            assert_eq!(after.events, [event]);
            assert_eq!(after.notices.first().map(|it| (it.kind, it.to)), told, "{action:?}");
            let at = Some(after.state.updated_at);
            let times = |it: &Summary| [it.submitted_at, it.approved_at, it.shared_at, it.archived_at];
            let set = times(&after.state).iter().filter(|it| **it == at).count();
            let sets_one = !matches!(action, Action::Return { .. } | Action::Feedback { .. });
            assert_eq!(set, usize::from(sets_one), "{action:?}");
        }
        let nobodys = Summary { author_id: None, ..summary(PendingReview) };
        let returned = nobodys.apply(actions()[2].clone(), Review::Optional, NOON).unwrap();
        assert_eq!((returned.notices, returned.audit.comment.as_deref()), (vec![], Some("Too harsh")));
    }

    #[test]
    fn feedback_is_given_once() {
        let given = summary(Shared).apply(actions()[4].clone(), Review::Optional, NOON).unwrap().state;
        let feedback = given.employee_feedback.clone().unwrap();
        assert_eq!((feedback.acknowledged, feedback.submitted_at), (true, given.updated_at));
        let again = given.apply(actions()[4].clone(), Review::Optional, NOON).unwrap_err();
        assert_eq!(again, Refusal::transition(GIVEN_AT, feedback.submitted_at, "feedback"));
    }

    #[test]
    fn what_says_nothing_is_not_submitted() {
        let blank = Summary { body: " \n".to_owned(), ..summary(Draft) };
        assert!(matches!(blank.apply(Action::Submit, Review::Optional, NOON), Err(Refusal::Unprocessable(_))));
        assert!(blank.apply(Action::Approve, Review::Optional, NOON).is_ok());
    }

    #[test]
    fn an_approval_keeps_what_was_shown_and_a_return_hides_what_is_archived_by_then() {
        let [shown, hidden] = [7, 8].map(|it| Id::from_ulid(Ulid(it)));
        let draft = Summary { included_observation_ids: vec![shown, hidden], ..summary(Draft) }.showing(vec![hidden]);
        let approved = draft.apply(Action::Approve, Review::Optional, NOON).unwrap().state;
        assert_eq!((approved.given_observation_ids(), approved.is_open()), (vec![shown], false));
        let read_again = approved.showing(vec![shown]);
        assert_eq!(read_again.included_observation_ids, [shown], "it is fixed");
        let returned = read_again.apply(actions()[2].clone(), Review::Optional, NOON).unwrap().state;
        assert_eq!((returned.included_observation_ids.len(), returned.given_observation_ids()), (0, vec![shown]));
    }
}
