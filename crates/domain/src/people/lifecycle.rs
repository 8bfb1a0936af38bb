//! Deactivation, reactivation, rehire and acceptance of invitations (§3.3, decision D6).

use super::{Employee, Patch, References, Status};
use crate::decision::Decision;
use crate::event::EventType;
use crate::fields::{Fields, StringEnum};
use crate::problem::ValidationErrors;
use crate::refusal::DomainError;
use crate::time::Timestamp;
use crate::update::{Update, parse_update};

/// The body of a rehire, validated on its own, with the fields that change (§4.3).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rehire(Patch);

impl Rehire {
    /// Declares and reads the fields of a rehire.
    pub fn read(fields: &mut Fields) -> Self {
        Self(Patch::read_rehire(fields))
    }

    /// Returns the changes that the rehire makes.
    #[must_use]
    pub const fn patch(&self) -> &Patch {
        &self.0
    }
}

parse_update!(Rehire, []);

impl Update<Rehire> {
    /// Checks the rehire against the stored person.
    ///
    /// # Errors
    /// One problem for each wrong field, and for too many custom fields.
    pub fn resolve_with(&self, stored: &Employee) -> Result<Rehire, ValidationErrors> {
        let (rehire, mut fields) = self.compare(stored);
        rehire.0.check_custom_fields(stored, &mut fields);
        fields.finish(Some(rehire))
    }
}

impl Employee {
    /// Deactivates a person who leaves (§3.3).
    ///
    /// # Errors
    /// Returns [`DomainError::Conflict`] if the person is deactivated already.
    pub fn deactivate(&self, at: Timestamp) -> Result<Decision<Self>, DomainError> {
        if self.status == Status::Deactivated {
            return Err(self.refuse("deactivate"));
        }
        let deactivated_at = at.strictly_after(self.updated_at);
        let state = Self {
            status: Status::Deactivated,
            deactivated_at: Some(deactivated_at),
            updated_at: deactivated_at,
            ..self.clone()
        };
        Ok(Decision::for_change(self, state, "employee.deactivate", vec![EventType::EmployeeDeactivated]))
    }

    /// Reactivates a person, who keeps the reporting line and the custom fields (§3.3). API keys from before the
    /// deactivation stay off.
    ///
    /// # Errors
    /// Returns [`DomainError::Conflict`] if the person is not deactivated.
    pub fn reactivate(&self, at: Timestamp) -> Result<Decision<Self>, DomainError> {
        self.must_have_left("reactivate")?;
        let state = self.clone().mark_returned(at);
        Ok(Decision::for_change(self, state, "employee.reactivate", vec![EventType::EmployeeReactivated]))
    }

    /// Rehires a person, possibly with another manager or department (§3.3).
    ///
    /// # Errors
    /// Returns [`DomainError::Conflict`] if the person is not deactivated, and the errors of [`Employee::update`].
    pub fn rehire(&self, body: &Rehire, found: &References, at: Timestamp) -> Result<Decision<Self>, DomainError> {
        self.must_have_left("rehire")?;
        let state = self.apply_patch(&body.0, found)?.mark_returned(at);
        Ok(Decision::for_change(self, state, "employee.rehire", vec![EventType::EmployeeRehired]))
    }

    /// Activates an invited person who accepts (§3.3, decision D6).
    ///
    /// # Errors
    /// Returns [`DomainError::NotFound`] unless the person is pending, so that clients cannot tell used from
    /// unknown tokens.
    pub fn accept_invitation(&self, at: Timestamp) -> Result<Decision<Self>, DomainError> {
        if self.status != Status::PendingInvite {
            return Err(DomainError::NotFound);
        }
        let state = self.clone().mark_active(at);
        Ok(Decision::for_change(self, state, "employee.accept_invitation", vec![EventType::EmployeeUpdated]))
    }

    fn mark_returned(self, at: Timestamp) -> Self {
        let active = self.mark_active(at);
        Self { returned_at: Some(active.updated_at), ..active }
    }

    fn mark_active(self, at: Timestamp) -> Self {
        let updated_at = at.strictly_after(self.updated_at);
        Self { status: Status::Active, deactivated_at: None, updated_at, ..self }
    }

    fn must_have_left(&self, attempted: &str) -> Result<(), DomainError> {
        self.must_exist(attempted)?;
        if self.status == Status::Deactivated { Ok(()) } else { Err(self.refuse(attempted)) }
    }

    fn refuse(&self, attempted: &str) -> DomainError {
        DomainError::transition("status", self.status.word(), attempted)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::employee;
    use super::*;
    use Status::{Active, Deactivated, PendingInvite};

    #[test]
    fn lifecycle_action_follows_the_table_of_statuses() {
        let time = Timestamp::from_millis(5_000);
        let table = [
            //               deactivate         reactivate    rehire        accept
            (Active, [Some(Deactivated), None, None, None]),
            (Deactivated, [None, Some(Active), Some(Active), None]),
            (PendingInvite, [Some(Deactivated), None, None, Some(Active)]),
        ];
        for (from, row) in table {
            let deactivated_at = (from == Deactivated).then_some(Timestamp::from_millis(1_500));
            let person = Employee { status: from, deactivated_at, ..employee(1) };
            let results = [
                person.deactivate(time),
                person.reactivate(time),
                person.rehire(&Rehire::default(), &References::default(), time),
                person.accept_invitation(time),
            ];
            let statuses = results.map(|result| result.ok().map(|decision| decision.state.status));
            assert_eq!(statuses, row, "from {from:?}");
        }
    }

    #[test]
    fn lifecycle_action_fires_one_event_and_sets_deactivated_at() {
        let time = Timestamp::from_millis(5_000);
        let departure = employee(1).deactivate(time).unwrap();
        assert_eq!(
            (departure.events, departure.state.deactivated_at),
            (vec![EventType::EmployeeDeactivated], Some(time))
        );
        let reactivation = departure.state.reactivate(time).unwrap();
        assert_eq!(
            (reactivation.events, reactivation.state.deactivated_at),
            (vec![EventType::EmployeeReactivated], None)
        );
        assert_eq!(reactivation.state.returned_at, Some(reactivation.state.updated_at));
        let rehiring = departure.state.rehire(&Rehire::default(), &References::default(), time).unwrap();
        assert_eq!(rehiring.events, [EventType::EmployeeRehired]);
    }

    #[test]
    fn rehire_accepts_only_manager_department_and_custom_fields() {
        use crate::json::Value;
        use crate::problem::Code;
        let former_employee = employee(1).deactivate(Timestamp::from_millis(5_000)).unwrap().state;
        let parse = |body: &str| {
            let Ok(Value::Object(body)) = serde_json::from_str(body) else { panic!("{body}") };
            let problems = |problems: ValidationErrors| {
                problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect::<Vec<_>>()
            };
            Rehire::parse(body).resolve_with(&former_employee).map_err(problems)
        };
        assert_eq!(parse("{}"), Ok(Rehire::default()));
        let body = r#"{"manager_id":null,"department_id":null,"custom_fields":{"grade":3}}"#;
        let time = Timestamp::from_millis(6_000);
        let state = former_employee.rehire(&parse(body).unwrap(), &References::default(), time).unwrap().state;
        assert_eq!(serde_json::to_string(&state.custom_fields).unwrap(), r#"{"grade":3}"#);
        for unknown in ["email", "first_name", "role", "status", "id", "send_invite"] {
            let result = parse(&format!(r#"{{"{unknown}":"x"}}"#));
            assert_eq!(result.unwrap_err(), [(unknown.to_owned(), Code::UnknownField)], "{unknown}");
        }
        let both = parse(r#"{"manager_id":1,"email":"x"}"#).unwrap_err();
        let expected_codes = [("manager_id", Code::InvalidFormat), ("email", Code::UnknownField)];
        assert_eq!(both, expected_codes.map(|(field, code)| (field.to_owned(), code)));
    }

    #[test]
    fn rehire_under_an_own_report_is_a_reporting_cycle() {
        use super::super::ReportingLine;
        use crate::fields::Reference;
        use crate::id::EmployeeId;
        let former_employee = employee(1).deactivate(Timestamp::from_millis(5_000)).unwrap().state;
        let manager = EmployeeId::from_ulid(ulid::Ulid(2));
        let expected_manager = Some(Some(Reference { text: manager.to_string(), id: Some(manager) }));
        let body = Rehire(Patch { manager: expected_manager, ..Patch::default() });
        let references_to = |is_below| References {
            manager: Some(ReportingLine { status: Active, is_below, depth: 1 }),
            ..References::default()
        };
        let time = Timestamp::from_millis(6_000);
        assert!(matches!(
            former_employee.rehire(&body, &references_to(true), time),
            Err(DomainError::Unprocessable(_))
        ));
        assert_eq!(
            former_employee.rehire(&body, &references_to(false), time).unwrap().state.manager_id,
            Some(manager)
        );
    }
}
