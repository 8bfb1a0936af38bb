//! The pseudonym that an erased person keeps.

use super::ErasureDraft;
use crate::audit::AuditDraft;
use crate::decision::Decision;
use crate::event::EventType;
use crate::people::{CustomFields, Employee, MANUAL, Role, Status};
use crate::refusal::DomainError;
use crate::text::ERASED_DOMAIN;
use crate::time::Timestamp;

/// First name of every erased person.
pub const FORMER_FIRST_NAME: &str = "Former";
/// Last name of every erased person.
pub const FORMER_LAST_NAME: &str = "employee";
/// Body of a message whose author was erased.
pub const ERASED_BODY: &str = "[erased]";

/// Comment of the audit entry of a repeated erasure.
const REPEATED: &str = "Repeated after a restore of the database";

/// Returns the name of an erased person, as audit entries and keys have it.
#[must_use]
pub fn former_name() -> String {
    format!("{FORMER_FIRST_NAME} {FORMER_LAST_NAME}")
}

impl Employee {
    /// Erases the person: only the id, the status, the times and a pseudonym stay. The audit entry has no values.
    ///
    /// # Errors
    /// [`DomainError::Conflict`] if the person is not deactivated, is on hold, or was erased before.
    pub fn erase(&self, draft: ErasureDraft, at: Timestamp) -> Result<Decision<Self>, DomainError> {
        self.must_exist("erase")?;
        if let Some(hold) = &self.hold {
            return Err(DomainError::transition("legal_hold", hold.held_at, "erase"));
        }
        if self.status != Status::Deactivated {
            return Err(DomainError::transition("status", crate::fields::StringEnum::word(self.status), "erase"));
        }
        Ok(self.pseudonymize(draft.reason, at))
    }

    /// Repeats an erasure in a database that was restored from an older backup. The status and the legal hold were
    /// checked when the person was erased first, so the status and the hold in the backup do not count. Returns
    /// `None` if the person is already erased.
    #[must_use]
    pub fn erase_again(&self, at: Timestamp) -> Option<Decision<Self>> {
        if self.erased_at.is_some() {
            return None;
        }
        let deactivated_at = self.deactivated_at.or(Some(at));
        let person = Self { status: Status::Deactivated, deactivated_at, hold: None, ..self.clone() };
        Some(person.pseudonymize(Some(REPEATED.to_owned()), at))
    }

    fn pseudonymize(&self, reason: Option<String>, at: Timestamp) -> Decision<Self> {
        // Every field is listed: a new field must not stay with an erased person unnoticed.
        let erased_at = at.strictly_after(self.updated_at);
        let state = Self {
            id: self.id,
            email: format!("erased-{}@{ERASED_DOMAIN}", self.id),
            external_id: None,
            first_name: FORMER_FIRST_NAME.to_owned(),
            last_name: FORMER_LAST_NAME.to_owned(),
            job_title: None,
            role: Role::Employee,
            manager_id: None,
            department_id: None,
            status: self.status,
            custom_fields: CustomFields::default(),
            is_hris_managed: false,
            hris_source: MANUAL.to_owned(),
            connector_id: None,
            created_at: self.created_at,
            updated_at: erased_at,
            deactivated_at: self.deactivated_at,
            returned_at: self.returned_at,
            address_changed_at: None,
            hold: self.hold.clone(),
            hold_changes: self.hold_changes,
            erased_at: Some(erased_at),
            is_twin: false,
        };
        let audit = AuditDraft { comment: reason, ..AuditDraft::new(&state, "employee.erase") };
        Decision { state, events: vec![EventType::EmployeeErased], audit, notices: vec![] }
    }

    /// Requires that the person was not erased.
    ///
    /// # Errors
    /// [`DomainError::Conflict`] with the status `erased`.
    pub fn must_exist(&self, attempted: &str) -> Result<(), DomainError> {
        if self.erased_at.is_some() {
            return Err(DomainError::transition("status", ERASED, attempted));
        }
        Ok(())
    }
}

/// Status in the refusal of a change to an erased person.
const ERASED: &str = "erased";
