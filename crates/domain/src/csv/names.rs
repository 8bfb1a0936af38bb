//! Display names of people and departments in a plan.

use std::collections::HashMap;

use crate::id::{DepartmentId, EmployeeId};

/// The addresses of people and the names of departments, by id.
#[derive(Debug, Clone, Default)]
pub struct PersonNames {
    /// Addresses by person.
    pub people: HashMap<EmployeeId, String>,
    /// Names by department.
    pub departments: HashMap<DepartmentId, String>,
}
