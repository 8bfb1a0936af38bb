//! The reasons why keys, objectives, summaries and assignments wait for a person.

use std::collections::HashMap;

use super::{AttentionKind, Matter};
use crate::access::api_key::ApiKey;
use crate::assignment::{self, Assignment, SubmissionStatus};
use crate::id::EmployeeId;
use crate::notification::{self, Notification};
use crate::objective::{Family, Filter, Objective, Status};
use crate::params::Bounds;
use crate::summary::{self, Summary};
use crate::time::{Date, Timestamp};

/// Number of days before its end from which a key waits for an admin.
pub const EXPIRES_WITHIN_DAYS: i64 = 14;
/// Number of days after which an objective in progress waits for a check-in.
pub const QUIET_DAYS: i64 = 14;
const DAY_SECONDS: i64 = 86_400;

impl ApiKey {
    /// Returns the matter of a valid key that expires soon.
    #[must_use]
    pub fn attention(&self, now: Timestamp) -> Option<Matter> {
        let end = self.expires_at?;
        let is_soon = self.is_valid(now) && end < now.plus_seconds(EXPIRES_WITHIN_DAYS * DAY_SECONDS);
        is_soon.then(|| {
            Matter::new(AttentionKind::ApiKeyExpiring, self.id, "/api-keys", &*self.name)
                .with_time(self.expires_at)
        })
    }
}

/// Returns the filter of the objectives that wait for a review, of both families.
#[must_use]
pub fn awaited_objectives() -> Filter {
    Filter { in_review: true, ..Filter::of_everyone(&[Status::Proposed]) }
}

/// Returns the filter of the objectives in progress whose last check-in is too long ago, of both families. An objective
/// without a check-in is one of them.
#[must_use]
pub fn quiet_objectives(now: Timestamp) -> Filter {
    let last_check_in_at = Bounds { gte: None, lte: Some(now.plus_seconds(-QUIET_DAYS * DAY_SECONDS)) };
    Filter { last_check_in_at, ..Filter::of_everyone(&[Status::InProgress]) }
}

/// Returns the reasons of the newest returns by the id of what was sent back. The notifications are in descending order
/// of their time.
#[must_use]
pub fn find_return_reasons(notifications: &[Notification]) -> HashMap<&str, &str> {
    let is_return =
        |kind| matches!(kind, notification::Type::ObjectiveRejected | notification::Type::SummaryReturned);
    let returns = notifications.iter().rev().filter(|notification| is_return(notification.kind));
    returns.map(|notification| (notification.target.id.as_str(), notification.body.as_str())).collect()
}

impl Objective {
    /// Returns the matter of an objective for this kind of reason.
    #[must_use]
    pub fn attention(&self, kind: AttentionKind) -> Matter {
        let family =
            if Family::Employees.scopes().contains(&self.scope) { Family::Employees } else { Family::Managers };
        let at = if kind == AttentionKind::ObjectiveQuiet { self.last_check_in_at } else { self.submitted_at };
        Matter {
            employee_id: Some(self.owner_id),
            ..Matter::new(kind, self.id, family.path(), &*self.title).with_time(at)
        }
    }

    /// Returns the matter of an objective that was sent back and not submitted since.
    #[must_use]
    pub fn attention_to_return(&self, reasons: &HashMap<&str, &str>) -> Option<Matter> {
        let reason = reasons.get(self.id.to_string().as_str())?;
        let is_back = self.status == Status::Proposed && self.submitted_at.is_none();
        is_back.then(|| Matter {
            reason: Some((*reason).to_owned()),
            ..self.attention(AttentionKind::ObjectiveReturned)
        })
    }
}

impl Summary {
    fn matter(&self, kind: AttentionKind, at: Option<Timestamp>) -> Matter {
        Matter {
            employee_id: Some(self.employee_id),
            ..Matter::new(kind, self.id, "/summaries", &*self.title).with_time(at)
        }
    }

    /// Returns the matter of a summary that waits for a review.
    #[must_use]
    pub fn attention(&self) -> Option<Matter> {
        (self.status == summary::Status::PendingReview)
            .then(|| self.matter(AttentionKind::SummaryInReview, self.submitted_at))
    }

    /// Returns the matter of a draft that was sent back and not submitted since.
    #[must_use]
    pub fn attention_to_return(&self, reasons: &HashMap<&str, &str>) -> Option<Matter> {
        let reason = reasons.get(self.id.to_string().as_str())?;
        (self.status == summary::Status::Draft).then(|| Matter {
            reason: Some((*reason).to_owned()),
            ..self.matter(AttentionKind::SummaryReturned, None)
        })
    }

    /// Returns the matter of a summary that was shared with this person, who has not answered.
    #[must_use]
    pub fn attention_of_reader(&self, reader: EmployeeId) -> Option<Matter> {
        let is_unanswered = self.status == summary::Status::Shared && self.employee_feedback.is_none();
        (is_unanswered && self.employee_id == reader)
            .then(|| self.matter(AttentionKind::SummaryShared, self.shared_at))
    }
}

impl Assignment {
    /// Returns the matter of an open assignment: the feedback that this reviewer has not submitted, or a due date before
    /// today.
    #[must_use]
    pub fn attention(&self, reviewer: Option<EmployeeId>, today: Date) -> Option<Matter> {
        let asks_reviewer = self.submissions.iter().any(|submission| {
            Some(submission.reviewer_id) == reviewer && submission.status == SubmissionStatus::Pending
        });
        let kind = match self.due_date {
            _ if self.status != assignment::Status::Open => return None,
            _ if asks_reviewer => AttentionKind::FeedbackRequested,
            Some(due_date) if due_date < today => AttentionKind::AssignmentOverdue,
            Some(_) | None => return None,
        };
        Some(Matter {
            employee_id: Some(self.employee_id),
            due_date: self.due_date,
            ..Matter::new(kind, self.id, "/assignments", &*self.title).with_time(Some(self.created_at))
        })
    }
}
