//! What a key that acts for a person may not do to the records of people: give out roles, and bring anybody under that
//! person (decision B5). Either would widen what the key itself may do and see.

use super::{Draft, Employee, Patch, Role};
use crate::access::Denied;
use crate::id::EmployeeId;

/// Where a change of somebody's reporting line leads, seen from the person whom the caller acts for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineChange {
    /// Whether the new manager is that person, or reports to them at any depth.
    pub to_below: bool,
    /// Whether whoever gets the manager is that person, or reports to them already, at any depth. Somebody new does not.
    pub from_below: bool,
}

impl LineChange {
    /// Whether it brings somebody under that person who was not there before.
    #[must_use]
    pub const fn brings_under(self) -> bool {
        self.to_below && !self.from_below
    }
}

/// What is refused to whoever acts for a person who is no org admin.
fn authorize(acts_for: Option<EmployeeId>, gives_a_role: bool, line: LineChange) -> Result<(), Denied> {
    if acts_for.is_some() && (gives_a_role || line.brings_under()) { Err(Denied::ActsForPerson) } else { Ok(()) }
}

impl Draft {
    /// Requires that a caller who acts for this person, or for nobody in particular, may record the new person.
    ///
    /// # Errors
    /// [`Denied::ActsForPerson`] for a role other than everybody's, and for somebody new under the caller's person.
    pub fn may_be_recorded_by(&self, acts_for: Option<EmployeeId>, line: LineChange) -> Result<(), Denied> {
        authorize(acts_for, self.role != Role::Employee, line)
    }
}

impl Patch {
    /// The manager whom the person gets, if it is another one than before.
    #[must_use]
    pub fn new_manager(&self, stored: &Employee) -> Option<EmployeeId> {
        let wanted = self.manager.as_ref()?.as_ref()?.id;
        wanted.filter(|it| stored.manager_id != Some(*it))
    }

    /// Requires that a caller who acts for this person, or for nobody in particular, may change the record like this.
    ///
    /// # Errors
    /// [`Denied::ActsForPerson`] for another role, and for somebody who comes under the caller's person.
    pub fn may_be_made_by(
        &self,
        stored: &Employee,
        acts_for: Option<EmployeeId>,
        line: LineChange,
    ) -> Result<(), Denied> {
        authorize(acts_for, self.role.is_some_and(|it| it != stored.role), line)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::employee;
    use super::*;
    use crate::fields::Reference;
    use crate::json::{Object, Value};
    use ulid::Ulid;

    const NOBODY: LineChange = LineChange { to_below: false, from_below: false };

    fn person(number: u128) -> EmployeeId {
        EmployeeId::from_ulid(Ulid(number))
    }

    fn draft(role: &str) -> Draft {
        let text = |name: &str, it: &str| (name.to_owned(), Value::Text(it.to_owned()));
        let body: Object =
            [text("email", "a@example.com"), text("first_name", "A"), text("last_name", "B"), text("role", role)]
                .into();
        Draft::parse(body).unwrap()
    }

    #[test]
    fn who_acts_for_a_person_gives_nobody_a_role() {
        for (word, role) in [("employee", Role::Employee), ("manager", Role::Manager), ("org_admin", Role::OrgAdmin)] {
            let denied = (role != Role::Employee).then_some(Denied::ActsForPerson);
            assert_eq!(draft(word).may_be_recorded_by(Some(person(9)), NOBODY).err(), denied, "new {word}");
            assert_eq!(draft(word).may_be_recorded_by(None, NOBODY), Ok(()), "new {word}, by an unbound key");
            for before in [Role::Employee, Role::Manager, Role::OrgAdmin] {
                let stored = Employee { role: before, ..employee(1) };
                let patch = Patch { role: Some(role), ..Patch::default() };
                let denied = (role != before).then_some(Denied::ActsForPerson);
                assert_eq!(patch.may_be_made_by(&stored, Some(person(9)), NOBODY).err(), denied, "{before:?} {word}");
                assert_eq!(patch.may_be_made_by(&stored, None, NOBODY), Ok(()), "{before:?} {word}");
            }
        }
        assert_eq!(Patch::default().may_be_made_by(&employee(1), Some(person(9)), NOBODY), Ok(()));
    }

    #[test]
    fn who_acts_for_a_person_brings_nobody_under_them() {
        let table = [
            // the manager is below, the person is below already, allowed
            (false, false, true),
            (false, true, true),
            (true, true, true),
            (true, false, false),
        ];
        for (to_below, from_below, allowed) in table {
            let line = LineChange { to_below, from_below };
            let denied = (!allowed).then_some(Denied::ActsForPerson);
            assert_eq!(Patch::default().may_be_made_by(&employee(1), Some(person(9)), line).err(), denied, "{line:?}");
            assert_eq!(draft("employee").may_be_recorded_by(Some(person(9)), line).err(), denied, "{line:?}");
            assert_eq!(draft("employee").may_be_recorded_by(None, line), Ok(()), "{line:?}");
        }
    }

    #[test]
    fn only_another_manager_is_a_new_one() {
        let stored = Employee { manager_id: Some(person(2)), ..employee(1) };
        let to = |id: Option<u128>| {
            let id = id.map(person);
            Patch { manager: Some(id.map(|it| Reference { text: it.to_string(), id })), ..Patch::default() }
        };
        let table = [(Patch::default(), None), (to(None), None), (to(Some(2)), None), (to(Some(3)), Some(person(3)))];
        for (patch, wanted) in table {
            assert_eq!(patch.new_manager(&stored), wanted, "{patch:?}");
        }
    }
}
