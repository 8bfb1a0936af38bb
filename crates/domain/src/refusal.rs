//! Why a request is not carried out, in the domain's words; the adapter gives each its status (§7).

use serde::Serialize;

use crate::access::Denied;
use crate::problem::{Flaw, Problems};

/// A decision against a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Decidable from the request alone: `validation_error` (decision A3).
    #[error("the request is invalid: {0}")]
    Invalid(Problems),
    /// Needs stored data to be seen: `unprocessable` (decision A3).
    #[error("the request cannot be processed: {0}")]
    Unprocessable(Problems),
    /// The resource is absent, or another organization's, which looks the same (decision A2).
    #[error("not found")]
    NotFound,
    /// The caller may not do this.
    #[error("{}", .0.message())]
    Denied(Denied),
    /// The state of things is against it.
    #[error("{}", .0.message())]
    Conflict(Box<Conflict>),
}

/// The one entry of a `conflict`'s details (§7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The field that is in the way.
    pub field: String,
    /// Its current value.
    pub current: serde_json::Value,
    /// For state machines: what was attempted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempted_transition: Option<String>,
    /// For uniqueness: the resource that has the value already (decision D4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflicting_id: Option<String>,
    /// For limits over time: when the same request may be sent again.
    #[serde(skip)]
    pub retry_after: Option<RetryAfter>,
}

/// A conflict that ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryAfter {
    /// Whole seconds until then, at least 1.
    pub seconds: i64,
    /// The message for people, instead of the one that names the field.
    pub message: &'static str,
}

impl Conflict {
    /// What is in the way, for people. A value that is taken is not repeated: it may be personal, and stands beside this.
    #[must_use]
    pub fn message(&self) -> String {
        let Self { field, current, attempted_transition, retry_after, .. } = self;
        if let Some(retry_after) = retry_after {
            return retry_after.message.to_owned();
        }
        match attempted_transition {
            Some(attempted) => format!("`{attempted}` is not possible while `{field}` is {current}."),
            None => format!("Another resource has this `{field}` already."),
        }
    }
}

impl Refusal {
    /// A transition that the state machine does not have.
    #[must_use]
    pub fn transition(field: &str, current: impl Serialize, attempted: &str) -> Self {
        Self::Conflict(Box::new(Conflict {
            field: field.to_owned(),
            current: serde_json::to_value(current).unwrap_or_default(),
            attempted_transition: Some(attempted.to_owned()),
            conflicting_id: None,
            retry_after: None,
        }))
    }

    /// A value that another resource has already.
    #[must_use]
    pub fn taken(field: &str, current: impl Serialize, holder: impl ToString) -> Self {
        Self::Conflict(Box::new(Conflict {
            field: field.to_owned(),
            current: serde_json::to_value(current).unwrap_or_default(),
            attempted_transition: None,
            conflicting_id: Some(holder.to_string()),
            retry_after: None,
        }))
    }

    /// One field is invalid.
    #[must_use]
    pub fn invalid(field: &str, flaw: Flaw) -> Self {
        Self::Invalid(Problems::one(field, flaw))
    }

    /// One field is unprocessable.
    #[must_use]
    pub fn unprocessable(field: &str, flaw: Flaw) -> Self {
        Self::Unprocessable(Problems::one(field, flaw))
    }
}

impl From<Problems> for Refusal {
    fn from(problems: Problems) -> Self {
        Self::Invalid(problems)
    }
}

impl From<Denied> for Refusal {
    fn from(denied: Denied) -> Self {
        Self::Denied(denied)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_says_what_is_in_the_way_and_repeats_nothing_personal() {
        let said = |refusal: Refusal| {
            let Refusal::Conflict(conflict) = refusal else { panic!("{refusal:?}") };
            conflict.message()
        };
        let transition = Refusal::transition("status", "active", "reactivate");
        assert_eq!(said(transition), r#"`reactivate` is not possible while `status` is "active"."#);
        let taken = Refusal::taken("email", "ada@example.com", "emp_1");
        assert_eq!(said(taken), "Another resource has this `email` already.");
    }

    #[test]
    fn refusal_is_an_error_with_a_message() {
        let refusals: [Box<dyn std::error::Error>; 4] = [
            Refusal::invalid("title", Flaw::required()).into(),
            Refusal::NotFound.into(),
            Refusal::from(Denied::TestKey).into(),
            Refusal::transition("status", "active", "reactivate").into(),
        ];
        let messages = refusals.map(|refusal| refusal.to_string());
        let wanted = [
            "the request is invalid: title: is required",
            "not found",
            "Test keys cannot access this endpoint.",
            r#"`reactivate` is not possible while `status` is "active"."#,
        ];
        assert_eq!(messages, wanted);
    }
}
