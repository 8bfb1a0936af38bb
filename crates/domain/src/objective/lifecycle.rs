//! The lifecycle of an objective: one table of transitions, and what each of them does besides (§3.1).

use super::{Objective, REMARK_CHARS, Status};
use crate::audit::{AuditDraft, Change, Changes, Target, difference};
use crate::decision::{Decision, Resource};
use crate::event::EventType;
use crate::fields::{self, Fields, Word};
use crate::json::Object;
use crate::notification::{Audience, Notice, Type};
use crate::organization::Review;
use crate::problem::Problems;
use crate::refusal::Refusal;
use crate::time::{Date, Timestamp};

/// What somebody does with an objective.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Asks for a review.
    Submit,
    /// Agrees, perhaps with a comment.
    Approve {
        /// A remark.
        comment: Option<String>,
    },
    /// Sends it back, with the reason.
    Reject {
        /// Why.
        reason: String,
    },
    /// Says that it was reached.
    Complete {
        /// What came of it.
        outcome: Option<String>,
    },
    /// Says that it was not reached.
    Miss {
        /// Why.
        reason: Option<String>,
    },
    /// Puts it away.
    Archive,
}

/// What moves an objective from one status to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Move {
    /// [`Action::Submit`]
    Submit,
    /// [`Action::Approve`]
    Approve,
    /// [`Action::Reject`]
    Reject,
    /// PATCH to `in_progress`, or the period began.
    Start,
    /// PATCH to `approved`.
    HoldBack,
    /// [`Action::Complete`]
    Complete,
    /// [`Action::Miss`]
    Miss,
    /// [`Action::Archive`]
    Archive,
}

impl Word for Move {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("submit", Self::Submit),
        ("approve", Self::Approve),
        ("reject", Self::Reject),
        ("in_progress", Self::Start),
        ("approved", Self::HoldBack),
        ("complete", Self::Complete),
        ("miss", Self::Miss),
        ("archive", Self::Archive),
    ];
}

/// The table of §3.1, under the organization's review setting (decision C10). `None` = 409.
#[must_use]
pub(super) fn transition(from: Status, in_review: bool, what: Move, review: Review) -> Option<Status> {
    match (from, what) {
        (Status::Proposed, Move::Submit) if !in_review && review != Review::Disabled => Some(Status::Proposed),
        (Status::Proposed, Move::Approve) if in_review || review != Review::Required => Some(Status::Approved),
        (Status::Proposed, Move::Reject) if review != Review::Disabled => Some(Status::Proposed),
        (Status::Approved, Move::Start) => Some(Status::InProgress),
        (Status::InProgress, Move::HoldBack) => Some(Status::Approved),
        (Status::Approved | Status::InProgress, Move::Complete) => Some(Status::Completed),
        (Status::InProgress, Move::Miss) => Some(Status::Missed),
        (from, Move::Archive) if from != Status::Archived => Some(Status::Archived),
        _ => None,
    }
}

impl Action {
    /// Reads the body of an action's endpoint (§4.2, decision C9).
    ///
    /// # Errors
    /// Every field that is wrong.
    pub fn parse(what: Move, body: Object) -> Result<Self, Problems> {
        let mut fields = Fields::new(body);
        let action = match what {
            Move::Approve => {
                Some(Self::Approve { comment: fields.optional("comment", fields::text(0..=REMARK_CHARS)) })
            }
            Move::Reject => {
                fields.required("reason", fields::text(1..=REMARK_CHARS)).map(|reason| Self::Reject { reason })
            }
            Move::Complete => {
                Some(Self::Complete { outcome: fields.optional("outcome", fields::text(0..=REMARK_CHARS)) })
            }
            Move::Miss => Some(Self::Miss { reason: fields.optional("reason", fields::text(0..=REMARK_CHARS)) }),
            Move::Archive => Some(Self::Archive),
            // Starting and holding back are no actions but changes of the status, which PATCH makes.
            Move::Submit | Move::Start | Move::HoldBack => Some(Self::Submit),
        };
        fields.finish(action)
    }

    /// The action without its words.
    #[must_use]
    pub const fn what(&self) -> Move {
        match self {
            Self::Submit => Move::Submit,
            Self::Approve { .. } => Move::Approve,
            Self::Reject { .. } => Move::Reject,
            Self::Complete { .. } => Move::Complete,
            Self::Miss { .. } => Move::Miss,
            Self::Archive => Move::Archive,
        }
    }

    const fn audited(&self) -> &'static str {
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
            Self::Approve { comment: it } | Self::Complete { outcome: it } | Self::Miss { reason: it } => it,
            Self::Reject { reason } => Some(reason),
            Self::Submit | Self::Archive => None,
        }
    }
}

/// Who is told of an action: the owner's manager of a submission, the owner of what came of it.
fn notice(action: &Action, state: &Objective) -> Option<Notice> {
    let (kind, to, title, body) = match action {
        Action::Submit => {
            (Type::ObjectiveSubmitted, Audience::ManagerOf(state.owner_id), "Objective to review", String::new())
        }
        Action::Approve { comment } => (
            Type::ObjectiveApproved,
            Audience::Person(state.owner_id),
            "Objective approved",
            comment.clone().unwrap_or_default(),
        ),
        Action::Reject { reason } => {
            (Type::ObjectiveRejected, Audience::Person(state.owner_id), "Objective sent back", reason.clone())
        }
        Action::Complete { .. } | Action::Miss { .. } | Action::Archive => return None,
    };
    let title = format!("{title}: {}", state.title);
    let target = Target { kind: Objective::NAME.to_owned(), id: state.id.to_string() };
    Some(Notice { kind, to, title, body, target })
}

impl Objective {
    /// Applies one action of the lifecycle (§3.1).
    ///
    /// # Errors
    /// [`Refusal::Conflict`] naming the current status and the attempted action.
    pub fn apply(&self, action: Action, review: Review, at: Timestamp) -> Result<Decision<Self>, Refusal> {
        let mut state = self.moved(action.what(), review, at)?;
        let mut events = vec![EventType::ObjectiveStatusChanged];
        let mut submitted = None;
        match &action {
            Action::Submit => {
                submitted = Some(self.since_review());
                state.submitted_at = Some(state.updated_at);
                state.reviewed = Some(self.content());
            }
            Action::Approve { .. } => state.reviewed = Some(self.content()),
            Action::Reject { .. } => state.submitted_at = None,
            Action::Complete { .. } => state.completed_at = Some(state.updated_at),
            Action::Archive => events.push(EventType::ObjectiveArchived),
            Action::Miss { .. } => {}
        }
        let mut audit = AuditDraft::of(&state, action.audited()).with_changes(self, &state);
        // Of a submission, what it asks to be reviewed is said and nothing else (decision C9).
        audit.changes = submitted.unwrap_or(audit.changes);
        let notices = notice(&action, &state).into_iter().collect();
        audit.comment = action.remark();
        Ok(Decision { state, events, audit, notices })
    }

    /// The day on which it starts by itself; none if it does not.
    #[must_use]
    pub fn starts_on(&self) -> Option<Date> {
        (self.status == Status::Approved && !self.held_back).then_some(self.period_start)
    }

    /// Starts it because its period has begun (decision C3); `None` if it is not due.
    #[must_use]
    pub fn start_if_due(&self, today: Date, at: Timestamp) -> Option<Decision<Self>> {
        self.starts_on().filter(|day| *day <= today)?;
        let state = self.moved(Move::Start, Review::Optional, at).ok()?;
        Some(Decision::changed(self, state, "objective.start", vec![EventType::ObjectiveStatusChanged]))
    }

    /// This objective after a move, with what every move does: `approved_at` is set once (decision C2), and holding it
    /// back keeps it from starting by itself until somebody starts it (decision C3).
    pub(super) fn moved(&self, what: Move, review: Review, at: Timestamp) -> Result<Self, Refusal> {
        let refused = || Refusal::transition("status", self.status.word(), what.word());
        let status = transition(self.status, self.is_in_review(), what, review).ok_or_else(refused)?;
        let at = at.strictly_after(self.updated_at);
        let begun = matches!(status, Status::Approved | Status::InProgress);
        Ok(Self {
            status,
            updated_at: at,
            approved_at: self.approved_at.or(begun.then_some(at)),
            held_back: status == Status::Approved && what == Move::HoldBack,
            ..self.clone()
        })
    }

    /// What it says now that it did not say when it was last submitted or approved (decision C9).
    fn since_review(&self) -> Changes {
        let content = self.content();
        match &self.reviewed {
            Some(reviewed) => difference(reviewed, &content),
            None => {
                let new = |(name, to): (String, serde_json::Value)| {
                    (!to.is_null()).then_some((name, Change { from: serde_json::Value::Null, to }))
                };
                match serde_json::to_value(content) {
                    Ok(serde_json::Value::Object(members)) => members.into_iter().filter_map(new).collect(),
                    _ => Changes::new(),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOON, objective};
    use super::*;
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
    fn every_status_meets_every_action() {
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
                let it = objective(from, in_review);
                let reached = it.apply(action.clone(), Review::Optional, NOON).ok().map(|it| it.state.status);
                assert_eq!(reached, to, "{from:?} (in review: {in_review}) × {action:?}");
            }
        }
    }

    #[test]
    fn the_review_setting_narrows_the_table() {
        let reached = |review, in_review| {
            let it = objective(Proposed, in_review);
            actions().map(|action| it.apply(action, review, NOON).is_ok())
        };
        //                                                  submit approve reject complete miss archive
        assert_eq!(reached(Review::Required, false), [true, false, true, false, false, true]);
        assert_eq!(reached(Review::Required, true), [false, true, true, false, false, true]);
        assert_eq!(reached(Review::Disabled, false), [false, true, false, false, false, true]);
        assert_eq!(reached(Review::Disabled, true), [false, true, false, false, false, true]);
    }

    #[test]
    fn approved_at_is_set_once() {
        let later = NOON.plus_seconds(60);
        let approved =
            objective(Proposed, false).apply(Action::Approve { comment: None }, Review::Optional, later).unwrap().state;
        assert_eq!(approved.approved_at, Some(later));
        let started = approved.moved(Move::Start, Review::Optional, later.plus_seconds(60)).unwrap();
        let back = started.moved(Move::HoldBack, Review::Optional, later.plus_seconds(90)).unwrap();
        assert_eq!((started.approved_at, back.approved_at), (Some(later), Some(later)));
    }

    #[test]
    fn an_approved_objective_starts_on_its_first_day_unless_it_was_held_back() {
        let today = NOON.date();
        let due = objective(Approved, false);
        assert_eq!(due.start_if_due(today, NOON).unwrap().state.status, InProgress);
        let early = Objective { period_start: today.next(), ..due.clone() };
        assert!(early.start_if_due(today, NOON).is_none());
        let back = objective(InProgress, false).moved(Move::HoldBack, Review::Optional, NOON).unwrap();
        assert!(back.start_if_due(today, NOON).is_none());
        let again = back.moved(Move::Start, Review::Optional, NOON).unwrap();
        assert!(!again.held_back);
        for status in [Proposed, InProgress, Completed, Missed, Archived] {
            assert!(objective(status, false).start_if_due(today, NOON).is_none(), "{status:?}");
        }
    }

    #[test]
    fn a_submission_records_what_differs_from_the_last_review() {
        let first = objective(Proposed, false).apply(Action::Submit, Review::Optional, NOON).unwrap();
        assert_eq!(first.audit.changes["title"].from, serde_json::Value::Null);
        let rejected =
            first.state.apply(Action::Reject { reason: "Too vague".to_owned() }, Review::Optional, NOON).unwrap();
        assert_eq!((rejected.state.submitted_at, rejected.audit.comment.as_deref()), (None, Some("Too vague")));
        let edited = Objective { title: "Answer within four hours".to_owned(), ..rejected.state };
        let second = edited.apply(Action::Submit, Review::Optional, NOON).unwrap();
        assert!(second.audit.changes.contains_key("title"));
        assert!(!second.audit.changes.contains_key("period_end"));
    }

    #[test]
    fn archiving_fires_both_events_and_other_actions_one() {
        for (action, count) in actions().into_iter().zip([1, 1, 1, 1, 1, 2]) {
            let from = match action {
                Action::Complete { .. } | Action::Miss { .. } => InProgress,
                _ => Proposed,
            };
            let decision = objective(from, false).apply(action, Review::Optional, NOON).unwrap();
            assert_eq!(decision.events.len(), count);
            assert_eq!(decision.events[0], EventType::ObjectiveStatusChanged);
        }
    }
}
