//! Rows that the references of a user name.

use super::mapping::ManagerReference;
use crate::catalog::Department;
use crate::decision::Decision;
use crate::id::{DepartmentId, EmployeeId};

/// The manager that a user names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManagerTarget {
    /// The user names no manager.
    Absent,
    /// No person has the reference yet.
    Unknown,
    /// The person with the reference.
    Known {
        /// Id of the manager.
        id: EmployeeId,
        /// `true` if the manager is the person, or reports to them at any depth.
        is_below: bool,
    },
}

impl ManagerTarget {
    /// Returns the target of a reference. `named` is the person that the reference names, `above` are the people
    /// above that person. `stored` is the user who has the reference, unless they are new.
    #[must_use]
    pub fn new(
        reference: Option<&ManagerReference>,
        named: Option<EmployeeId>,
        above: &[EmployeeId],
        stored: Option<EmployeeId>,
    ) -> Self {
        match (reference, named) {
            (None, _) => Self::Absent,
            (Some(_), None) => Self::Unknown,
            (Some(_), Some(id)) => {
                let is_below = stored.is_some_and(|stored| id == stored || above.contains(&stored));
                Self::Known { id, is_below }
            }
        }
    }
}

/// The department that a user names.
#[derive(Debug, Clone, PartialEq)]
pub enum DepartmentTarget {
    /// The user names no department.
    Absent,
    /// The department with the name.
    Known {
        /// Id of the department.
        id: DepartmentId,
        /// `true` if it is archived.
        is_archived: bool,
    },
    /// The department to create.
    New(Box<Decision<Department>>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use ulid::Ulid;

    #[test]
    fn manager_below_the_person_is_marked() {
        let [boss, person, top] = [1, 2, 3].map(|number| EmployeeId::from_ulid(Ulid(number)));
        let reference = ManagerReference::new("boss-1".to_owned());
        let named = |above: &[EmployeeId], stored| ManagerTarget::new(Some(&reference), Some(boss), above, stored);
        let known = |is_below| ManagerTarget::Known { id: boss, is_below };
        assert_eq!(ManagerTarget::new(None, None, &[], Some(person)), ManagerTarget::Absent);
        assert_eq!(ManagerTarget::new(Some(&reference), None, &[], Some(person)), ManagerTarget::Unknown);
        assert_eq!(named(&[top], Some(person)), known(false));
        assert_eq!(named(&[person, top], Some(person)), known(true));
        assert_eq!(named(&[], Some(boss)), known(true), "a person is not their own manager");
        assert_eq!(named(&[person], None), known(false), "no person reports to a new one");
    }
}
