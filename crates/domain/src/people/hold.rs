//! Legal hold: the data of a person cannot be erased until the hold ends (decision H3).

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::Employee;
use crate::audit::Change;
use crate::decision::Decision;
use crate::event::EventType;
use crate::fields::Fields;
use crate::id::EmployeeId;
use crate::json::Object;
use crate::problem::ValidationErrors;
use crate::refusal::DomainError;
use crate::rule::{self, Field, Text};
use crate::time::Timestamp;

/// Length of the longest reason, in characters.
const REASON_CHARS: usize = 2000;
const REASON: Field<Text> = Field::with_about("reason", rule::text(1..=REASON_CHARS), "Do not name people in it.");

/// The hold on the data of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields named after their meaning")]
pub struct Hold {
    pub reason: String,
    pub held_at: Timestamp,
}

/// The body of a request that sets a hold.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields of the contract, decision H3")]
pub struct HoldDraft {
    pub reason: String,
}

/// A legal hold, as the API shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LegalHold {
    /// Id of the person, with the prefix `emp_`.
    pub employee_id: EmployeeId,
    /// Reason for the hold.
    pub reason: String,
    /// Time at which the hold began. A new reason does not change it.
    pub held_at: Timestamp,
}

impl HoldDraft {
    /// Declares and reads the fields of the body.
    pub fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self { reason: fields.required(&REASON)? })
    }

    /// Reads the body.
    ///
    /// # Errors
    /// Returns every invalid field.
    pub fn parse(body: Object) -> Result<Self, ValidationErrors> {
        Fields::parse_new(body, &["employee_id", "held_at"], Self::read)
    }
}

impl Employee {
    /// Returns the legal hold on the person's data; `None` if there is none.
    #[must_use]
    pub fn legal_hold(&self) -> Option<LegalHold> {
        let hold = self.hold.as_ref()?;
        Some(LegalHold { employee_id: self.id, reason: hold.reason.clone(), held_at: hold.held_at })
    }

    /// Sets a legal hold or gives it another reason. Returns `None` if the hold has this reason already.
    ///
    /// # Errors
    /// [`DomainError::Conflict`] if the person was erased.
    pub fn set_hold(&self, draft: HoldDraft, at: Timestamp) -> Result<Option<Decision<Self>>, DomainError> {
        self.must_exist("hold")?;
        let held_at = match &self.hold {
            Some(hold) if hold.reason == draft.reason => return Ok(None),
            Some(hold) => hold.held_at,
            None => at,
        };
        Ok(Some(self.change_hold(Some(Hold { reason: draft.reason, held_at }), "employee.hold", at)))
    }

    /// Sets a hold again in a database that was restored from an older backup. `None` if the person is held or erased.
    #[must_use]
    pub fn hold_again(&self, hold: Hold, at: Timestamp) -> Option<Decision<Self>> {
        let is_free = self.hold.is_none() && self.erased_at.is_none();
        is_free.then(|| self.change_hold(Some(hold), "employee.hold", at))
    }

    /// Ends the legal hold.
    ///
    /// # Errors
    /// [`DomainError::NotFound`] if there is no hold.
    pub fn release_hold(&self, at: Timestamp) -> Result<Decision<Self>, DomainError> {
        if self.hold.is_none() {
            return Err(DomainError::NotFound);
        }
        Ok(self.change_hold(None, "employee.release_hold", at))
    }

    /// The audit entry tells that there is a hold, not why: more people read the audit log than holds.
    fn change_hold(&self, hold: Option<Hold>, action: &'static str, at: Timestamp) -> Decision<Self> {
        let hold_before = if self.hold.is_some() { json!("set") } else { json!(null) };
        let hold_after = match (&self.hold, &hold) {
            (_, None) => json!(null),
            (None, Some(_)) => json!("set"),
            (Some(_), Some(_)) => json!("changed"),
        };
        let change = Change { from: hold_before, to: hold_after };
        let state = Self { hold, updated_at: at.strictly_after(self.updated_at), ..self.clone() };
        let mut decision = Decision::for_change(self, state, action, vec![EventType::EmployeeHoldChanged]);
        decision.audit.changes.insert("legal_hold".to_owned(), change);
        decision
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::employee;
    use super::*;

    fn draft(reason: &str) -> HoldDraft {
        HoldDraft { reason: reason.to_owned() }
    }

    #[test]
    fn hold_keeps_its_beginning_until_the_release() {
        let (at, later) = (Timestamp::from_millis(5_000), Timestamp::from_millis(6_000));
        let first_hold = employee(1).set_hold(draft("Lawsuit"), at).unwrap().unwrap();
        assert_eq!(
            (first_hold.events.as_slice(), first_hold.audit.action),
            (&[EventType::EmployeeHoldChanged][..], "employee.hold")
        );
        assert_eq!(first_hold.audit.changes["legal_hold"], Change { from: json!(null), to: json!("set") });
        assert_eq!(first_hold.state.set_hold(draft("Lawsuit"), later), Ok(None));
        let second_hold = first_hold.state.set_hold(draft("Appeal"), later).unwrap().unwrap();
        let hold = second_hold.state.legal_hold().unwrap();
        assert_eq!((hold.reason.as_str(), hold.held_at), ("Appeal", at));
        let hold_release = second_hold.state.release_hold(later).unwrap();
        assert_eq!(hold_release.state.legal_hold(), None);
        assert_eq!(hold_release.state.release_hold(later).unwrap_err(), DomainError::NotFound);
    }

    #[test]
    fn hold_is_not_in_the_form_of_a_person() {
        let held_person = employee(1).set_hold(draft("Lawsuit"), Timestamp::from_millis(5_000)).unwrap().unwrap();
        assert!(!serde_json::to_string(&held_person.state).unwrap().contains("Lawsuit"));
    }
}
