//! Display names of people and departments in a plan.

use std::collections::HashMap;

use candor_domain::id::{DepartmentId, EmployeeId};

/// The addresses of people and the names of departments, by id.
#[derive(Debug, Clone, Default)]
pub struct PersonNames {
    /// Email addresses of people.
    pub people: HashMap<EmployeeId, String>,
    /// Names of departments, as stored.
    pub departments: HashMap<DepartmentId, String>,
}
