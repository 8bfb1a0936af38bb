//! What people and departments are called in a file.

use std::collections::HashMap;

use crate::id::{DepartmentId, EmployeeId};

/// The addresses of people and the names of departments, by id.
#[derive(Debug, Clone, Default)]
pub struct PersonNames {
    /// People's addresses.
    pub people: HashMap<EmployeeId, String>,
    /// Departments' names.
    pub departments: HashMap<DepartmentId, String>,
}
