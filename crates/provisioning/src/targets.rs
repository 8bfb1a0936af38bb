//! Rows to which the references of a user point: manager and department.

use candor_domain::catalog::Department;
use candor_domain::decision::Decision;
use candor_domain::id::{DepartmentId, EmployeeId};

use super::mapping::ManagerReference;

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
        /// Number of managers that would be above the person, or above the deepest person of the person's team,
        /// whichever is more.
        depth: u32,
    },
}

impl ManagerTarget {
    /// Returns the target of a reference. `named` is the person that the reference names, `above` are the people
    /// above that person. `stored` is the user who has the reference, unless they are new, and `height` the number
    /// of levels below them.
    #[must_use]
    pub fn new(
        reference: Option<&ManagerReference>,
        named: Option<EmployeeId>,
        above: &[EmployeeId],
        stored: Option<EmployeeId>,
        height: u32,
    ) -> Self {
        match (reference, named) {
            (None, _) => Self::Absent,
            (Some(_), None) => Self::Unknown,
            (Some(_), Some(id)) => {
                let is_below = stored.is_some_and(|stored| id == stored || above.contains(&stored));
                let depth = u32::try_from(above.len()).unwrap_or(u32::MAX).saturating_add(1 + height);
                Self::Known { id, is_below, depth }
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
        let target_of =
            |above: &[EmployeeId], stored| ManagerTarget::new(Some(&reference), Some(boss), above, stored, 2);
        let target_with = |is_below, depth| ManagerTarget::Known { id: boss, is_below, depth };
        assert_eq!(ManagerTarget::new(None, None, &[], Some(person), 0), ManagerTarget::Absent);
        assert_eq!(ManagerTarget::new(Some(&reference), None, &[], Some(person), 0), ManagerTarget::Unknown);
        assert_eq!(target_of(&[top], Some(person)), target_with(false, 4));
        assert_eq!(target_of(&[person, top], Some(person)), target_with(true, 5));
        assert_eq!(target_of(&[], Some(boss)), target_with(true, 3), "a person is not their own manager");
        assert_eq!(target_of(&[person], None), target_with(false, 4), "no person reports to a new one");
    }
}
