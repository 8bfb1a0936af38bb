//! The reasons why a resource waits for a person, one function for each kind of resource.

use std::collections::HashMap;

use candor_domain::access::api_key::ApiKey;
use candor_domain::assignment::{self, Assignment, SubmissionStatus};
use candor_domain::id::EmployeeId;
use candor_domain::notification::{self, Notification};
use candor_domain::objective::{Family, Filter, Objective, Status};
use candor_domain::params::Bounds;
use candor_domain::summary::{self, Summary};
use candor_domain::time::{Date, Timestamp};
use candor_provisioning::Connector;
use candor_provisioning::connector;
use candor_subscriptions::{self as subscriptions, Subscription};

use crate::{AttentionKind, Matter};

/// Number of days before its end from which a key waits for an admin.
pub const EXPIRES_WITHIN_DAYS: i64 = 14;
/// Number of days after which an objective in progress waits for a check-in.
pub const QUIET_DAYS: i64 = 14;
const DAY_SECONDS: i64 = 86_400;

/// Returns the matter of an inactive subscription, or of one whose newest delivery failed.
#[must_use]
pub fn of_webhook(webhook: &Subscription) -> Option<Matter> {
    let is_failing = webhook.last_delivery_status.is_some_and(|status| status != subscriptions::Status::Success);
    let (kind, at) = match (webhook.active, is_failing) {
        (false, _) => (AttentionKind::WebhookInactive, Some(webhook.updated_at)),
        (true, true) => (AttentionKind::WebhookFailing, webhook.last_delivery_at),
        (true, false) => return None,
    };
    Some(Matter::new(kind, webhook.id, "/webhooks", &*webhook.url).with_time(at))
}

/// Returns the matter of a paused connector, or of one whose newest sync left rows out.
#[must_use]
pub fn of_connector(connector: &Connector) -> Option<Matter> {
    let (kind, at) = match connector.incomplete_at() {
        _ if connector.status() == connector::Status::Paused => {
            (AttentionKind::ConnectorPaused, connector.paused_at)
        }
        Some(at) => (AttentionKind::ConnectorFailing, Some(at)),
        None => return None,
    };
    Some(Matter::new(kind, connector.id, "/connectors", &*connector.hris_source).with_time(at))
}

/// Returns the bounds of the ends of the keys that are valid and expire soon.
#[must_use]
pub const fn bound_ends(now: Timestamp) -> Bounds<Timestamp> {
    let end = now.plus_seconds(EXPIRES_WITHIN_DAYS * DAY_SECONDS);
    Bounds {
        gte: Some(Timestamp::from_millis(now.millis() + 1)),
        lte: Some(Timestamp::from_millis(end.millis() - 1)),
    }
}

/// Returns the matter of a valid key that expires soon.
#[must_use]
pub fn of_key(key: &ApiKey, now: Timestamp) -> Option<Matter> {
    let end = key.notable_end()?;
    let is_soon = key.is_valid(now) && end < now.plus_seconds(EXPIRES_WITHIN_DAYS * DAY_SECONDS);
    is_soon
        .then(|| Matter::new(AttentionKind::ApiKeyExpiring, key.id, "/api-keys", &*key.name).with_time(Some(end)))
}

/// Returns the filter of the objectives that wait for a review, of both families.
#[must_use]
pub fn filter_awaited() -> Filter {
    Filter { in_review: true, ..Filter::of_everyone(&[Status::Proposed]) }
}

/// Returns the filter of the objectives in progress whose last check-in is too long ago, of both families. An objective
/// without a check-in is one of them.
#[must_use]
pub fn filter_quiet(now: Timestamp) -> Filter {
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

/// Returns the matter of an objective for this kind of reason.
#[must_use]
pub fn of_objective(objective: &Objective, kind: AttentionKind) -> Matter {
    let is_of_employees = Family::Employees.scopes().contains(&objective.scope);
    let family = if is_of_employees { Family::Employees } else { Family::Managers };
    let is_quiet = kind == AttentionKind::ObjectiveQuiet;
    let time = if is_quiet { objective.last_check_in_at } else { objective.submitted_at };
    Matter {
        employee_id: Some(objective.owner_id),
        ..Matter::new(kind, objective.id, family.path(), &*objective.title).with_time(time)
    }
}

/// Returns the matter of an objective that was sent back and not submitted since.
#[must_use]
pub fn of_returned_objective(objective: &Objective, reasons: &HashMap<&str, &str>) -> Option<Matter> {
    let reason = reasons.get(objective.id.to_string().as_str())?;
    let is_back = objective.status == Status::Proposed && objective.submitted_at.is_none();
    let matter = of_objective(objective, AttentionKind::ObjectiveReturned);
    is_back.then(|| Matter { reason: Some((*reason).to_owned()), ..matter })
}

fn summary_matter(summary: &Summary, kind: AttentionKind, at: Option<Timestamp>) -> Matter {
    Matter {
        employee_id: Some(summary.employee_id),
        ..Matter::new(kind, summary.id, "/summaries", &*summary.title).with_time(at)
    }
}

/// Returns the matter of a summary that waits for a review.
#[must_use]
pub fn of_summary(summary: &Summary) -> Option<Matter> {
    (summary.status == summary::Status::PendingReview)
        .then(|| summary_matter(summary, AttentionKind::SummaryInReview, summary.submitted_at))
}

/// Returns the matter of a draft that was sent back and not submitted since.
#[must_use]
pub fn of_returned_draft(draft: &Summary, reasons: &HashMap<&str, &str>) -> Option<Matter> {
    let reason = reasons.get(draft.id.to_string().as_str())?;
    let matter = summary_matter(draft, AttentionKind::SummaryReturned, None);
    (draft.status == summary::Status::Draft).then(|| Matter { reason: Some((*reason).to_owned()), ..matter })
}

/// Returns the matter of a summary that was shared with this person, who has not answered.
#[must_use]
pub fn of_shared_summary(summary: &Summary, reader: EmployeeId) -> Option<Matter> {
    let is_unanswered = summary.status == summary::Status::Shared && summary.employee_feedback.is_none();
    (is_unanswered && summary.employee_id == reader)
        .then(|| summary_matter(summary, AttentionKind::SummaryShared, summary.shared_at))
}

/// Returns the matter of an open assignment: the feedback that this reviewer has not submitted, or a due date before
/// today.
#[must_use]
pub fn of_assignment(assignment: &Assignment, reviewer: Option<EmployeeId>, today: Date) -> Option<Matter> {
    let asks_reviewer = assignment.submissions.iter().any(|submission| {
        Some(submission.reviewer_id) == reviewer && submission.status == SubmissionStatus::Pending
    });
    let kind = match assignment.due_date {
        _ if assignment.status != assignment::Status::Open => return None,
        _ if asks_reviewer => AttentionKind::FeedbackRequested,
        Some(due_date) if due_date < today => AttentionKind::AssignmentOverdue,
        Some(_) | None => return None,
    };
    let matter = Matter::new(kind, assignment.id, "/assignments", &*assignment.title);
    Some(Matter {
        employee_id: Some(assignment.employee_id),
        due_date: assignment.due_date,
        ..matter.with_time(Some(assignment.created_at))
    })
}
