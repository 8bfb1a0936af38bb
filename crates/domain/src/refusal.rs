//! Refusals of a request in terms of the domain. The HTTP adapter maps each to a status (§7).

use serde::Serialize;

use crate::access::PermissionError;
use crate::problem::{ValidationErrors, ValueError};
use crate::time::Timestamp;

/// The reason why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DomainError {
    /// The request alone shows that it is invalid: `validation_error` (decision A3).
    #[error("the request is invalid: {0}")]
    Invalid(ValidationErrors),
    /// Stored data shows that the request is invalid: `unprocessable` (decision A3).
    #[error("the request cannot be processed: {0}")]
    Unprocessable(ValidationErrors),
    /// The resource does not exist or belongs to another organization, which clients cannot tell apart (decision
    /// A2).
    #[error("not found")]
    NotFound,
    /// The caller lacks the permission.
    #[error("{}", .0.message())]
    Denied(PermissionError),
    /// The current state of a resource does not allow the request.
    #[error("{}", .0.message())]
    Conflict(Box<Conflict>),
}

/// The only entry in the details of a `conflict` (§7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The field with the conflicting value.
    pub field: String,
    /// Current value of the field.
    pub current: serde_json::Value,
    /// The refused transition of a state machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempted_transition: Option<String>,
    /// Id of the resource that already has the unique value (decision D4). Absent if the caller does not see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflicting_id: Option<String>,
    /// The rule about the whole organization that the change would break.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<BrokenRule>,
    /// The time after which the request may be repeated, for limits over time.
    #[serde(skip)]
    pub retry_after: Option<RetryAfter>,
}

/// A rule about a whole organization, which a change of one resource would break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BrokenRule {
    /// An organization keeps at least one active org admin (decision D12).
    LastAdmin,
}

impl BrokenRule {
    /// Returns the message for people, with the remedy.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::LastAdmin => {
                "The person is the last active org admin. Give another person the role `org_admin` first."
            }
        }
    }
}

/// Time until a conflict resolves itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryAfter {
    /// Whole seconds until the conflict resolves itself, at least 1.
    pub seconds: i64,
    /// Message for human readers, instead of the message that names the field.
    pub message: &'static str,
}

impl Conflict {
    /// Returns the message for people. A taken value is not repeated: it may be personal, and `current` contains
    /// it.
    #[must_use]
    pub fn message(&self) -> String {
        let Self { field, current, attempted_transition, rule, retry_after, .. } = self;
        if let Some(rule) = rule {
            return rule.message().to_owned();
        }
        if let Some(retry_after) = retry_after {
            return retry_after.message.to_owned();
        }
        match attempted_transition {
            Some(attempted) => format!("`{attempted}` is not possible while `{field}` is {current}."),
            None => format!("Another resource has this `{field}` already."),
        }
    }
}

impl DomainError {
    /// Creates the refusal of a transition that the state machine does not have.
    #[must_use]
    pub fn transition(field: &str, current: impl Serialize, attempted: &str) -> Self {
        Self::Conflict(Box::new(Conflict {
            field: field.to_owned(),
            current: serde_json::to_value(current).unwrap_or_default(),
            attempted_transition: Some(attempted.to_owned()),
            conflicting_id: None,
            rule: None,
            retry_after: None,
        }))
    }

    /// Creates the refusal of a unique value that another resource already has. `holder` is `None` if the caller
    /// does not see the other resource.
    #[must_use]
    pub fn already_taken(field: &str, current: impl Serialize, holder: Option<impl ToString>) -> Self {
        Self::Conflict(Box::new(Conflict {
            field: field.to_owned(),
            current: serde_json::to_value(current).unwrap_or_default(),
            attempted_transition: None,
            conflicting_id: holder.map(|holder| holder.to_string()),
            rule: None,
            retry_after: None,
        }))
    }

    /// Creates the refusal of a change that would break a rule about the whole organization.
    #[must_use]
    pub fn broken_rule(field: &str, current: impl Serialize, rule: BrokenRule) -> Self {
        Self::Conflict(Box::new(Conflict {
            field: field.to_owned(),
            current: serde_json::to_value(current).unwrap_or_default(),
            attempted_transition: None,
            conflicting_id: None,
            rule: Some(rule),
            retry_after: None,
        }))
    }

    /// Creates the refusal of one invalid field.
    #[must_use]
    pub fn invalid(field: &str, flaw: ValueError) -> Self {
        Self::Invalid(ValidationErrors::one(field, flaw))
    }

    /// Creates the refusal of one unprocessable field.
    #[must_use]
    pub fn unprocessable(field: &str, flaw: ValueError) -> Self {
        Self::Unprocessable(ValidationErrors::one(field, flaw))
    }
}

impl From<ValidationErrors> for DomainError {
    fn from(problems: ValidationErrors) -> Self {
        Self::Invalid(problems)
    }
}

/// Requires that a resource is not archived: only then can it change.
pub(crate) fn must_be_active(archived_at: Option<Timestamp>, attempted: &str) -> Result<(), DomainError> {
    archived_at.map_or(Ok(()), |time| Err(DomainError::transition("archived_at", time, attempted)))
}

/// Requires that a resource is archived: only then can it be restored.
pub(crate) fn must_be_archived(archived_at: Option<Timestamp>) -> Result<(), DomainError> {
    archived_at.map(drop).ok_or_else(|| DomainError::transition("archived_at", archived_at, "restore"))
}

impl From<PermissionError> for DomainError {
    fn from(denied: PermissionError) -> Self {
        Self::Denied(denied)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflict_message_names_the_field_but_no_personal_value() {
        let message = |refusal: DomainError| {
            let DomainError::Conflict(conflict) = refusal else { panic!("{refusal:?}") };
            conflict.message()
        };
        let transition = DomainError::transition("status", "active", "reactivate");
        assert_eq!(message(transition), r#"`reactivate` is not possible while `status` is "active"."#);
        let taken_conflict = DomainError::already_taken("email", "ada@example.com", Some("emp_1"));
        assert_eq!(message(taken_conflict), "Another resource has this `email` already.");
    }

    #[test]
    fn refusal_is_an_error_with_a_message() {
        let refusals: [Box<dyn std::error::Error>; 4] = [
            DomainError::invalid("title", ValueError::required()).into(),
            DomainError::NotFound.into(),
            DomainError::from(PermissionError::TestKey).into(),
            DomainError::transition("status", "active", "reactivate").into(),
        ];
        let messages = refusals.map(|refusal| refusal.to_string());
        let expected_messages = [
            "the request is invalid: title: is required",
            "not found",
            "Test keys cannot access this endpoint.",
            r#"`reactivate` is not possible while `status` is "active"."#,
        ];
        assert_eq!(messages, expected_messages);
    }
}
