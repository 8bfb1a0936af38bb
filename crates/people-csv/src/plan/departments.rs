//! Departments of rows: lookup of existing ones, and creation of missing ones.

use candor_domain::catalog::{Department, department};
use candor_domain::id::DepartmentId;
use candor_domain::people::Employee;
use candor_domain::problem::{ValidationErrors, ValueError};
use candor_domain::text::{check_length, single_line};
use candor_domain::ulid::Ulid;

use super::super::columns::Column;
use super::super::decide::ReferenceChange;
use super::super::row_problem::UploadRowError;
use super::super::{CsvRow, File};
use super::Planner;

/// The department that a row names.
pub(super) enum DepartmentCell<'a> {
    /// A stored department, or no department.
    Known(ReferenceChange<DepartmentId>),
    /// A missing department that the key may create.
    Missing {
        /// The name as the file has it.
        name: &'a str,
        /// The name in the form in which names are compared.
        key: &'a str,
    },
}

impl<'a> Planner<'a> {
    /// Looks up the department of a row among the stored departments.
    pub(super) fn department(
        &self,
        row: &'a CsvRow,
        stored: Option<&Employee>,
    ) -> Result<DepartmentCell<'a>, UploadRowError> {
        let file: &'a File = self.file;
        let Some(cell) = file.cell(row, &Column::DepartmentName) else {
            let clears = self.options.clear_empty && self.file.is_empty(row, &Column::DepartmentName);
            return Ok(DepartmentCell::Known(if clears { ReferenceChange::Clear } else { ReferenceChange::Keep }));
        };
        let name = cell.trim();
        let wrong = |flaw| UploadRowError::from_problems(&ValidationErrors::one("department_name", flaw));
        check_length(name, 1..=department::NAME_CHARS).map_err(wrong)?;
        // A name that passes the check above is short enough for a key.
        let key = file.department_key(row).unwrap_or_default();
        let Some(department) = self.departments_by_name.get(key) else {
            if !self.options.is_admin {
                return Err(UploadRowError::denied_department(name));
            }
            single_line(name, 1..=department::NAME_CHARS).map_err(wrong)?;
            return Ok(DepartmentCell::Missing { name, key });
        };
        let is_own = stored.is_some_and(|person| person.department_id == Some(department.id));
        if is_own || department.archived_at.is_none() {
            Ok(DepartmentCell::Known(ReferenceChange::Set(department.id)))
        } else {
            Err(wrong(ValueError::not_found(name)))
        }
    }

    /// Returns the id of the department that the file creates under this name and its key.
    pub(super) fn new_department(&mut self, name: &str, key: &str, ids: &mut dyn FnMut() -> Ulid) -> DepartmentId {
        let (id, _) = self.departments.entry(key.to_owned()).or_insert_with(|| {
            let id = DepartmentId::from_ulid(ids());
            (id, Department::create_with_free_name(id, name.to_owned(), self.options.at))
        });
        *id
    }
}
