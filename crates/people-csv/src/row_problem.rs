//! Problems of a row, of which the first gives the row's code.

use candor_domain::access::PermissionError;
use candor_domain::problem::{Code, FieldError, ValidationErrors, ValueError};
use candor_domain::refusal::DomainError;
use candor_domain::schema::{inline_schema, open};
use schemars::JsonSchema;
use serde::Serialize;

/// Field of a problem that concerns the whole row.
const ROW: &str = "row";
/// Maximum number of characters of a value in a message.
const VALUE_CHARS: usize = 80;

/// Stable code of a row's failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum RowCode {
    /// The code of a wrong cell.
    Field(Code),
    /// The code of a failure without a wrong cell.
    Other(OtherCode),
}

inline_schema!(RowCode, "RowCode", |generator| open(generator, Code::NAME));

/// Stable code of a failure without a wrong cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OtherCode {
    /// The API key lacks a permission.
    PermissionDenied,
    /// Another row or a stored person contradicts the row.
    Conflict,
}

/// A problem of a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct RowProblem {
    /// Column, or `row` for the whole row.
    pub field: String,
    /// Kind of problem: a field error code, `permission_denied` or `conflict`.
    pub code: RowCode,
    /// Required correction, for display.
    pub message: String,
    /// Row whose correction solves this problem, too. Absent for a problem of the row itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1))]
    pub caused_by_row: Option<u32>,
}

impl RowProblem {
    fn from_cell(problem: &FieldError) -> Self {
        let message = match &problem.value {
            Some(value) => format!("{:?} {}", shorten(value), problem.message),
            None => problem.message.clone(),
        };
        Self { field: column(&problem.field), code: RowCode::Field(problem.code), message, caused_by_row: None }
    }

    /// Returns the problem as a sentence that names its column.
    fn sentence(&self) -> String {
        match self.code {
            RowCode::Field(_) => format!("{} {}", self.field, self.message),
            RowCode::Other(_) => self.message.clone(),
        }
    }
}

/// The rejection of a row, with its problems. Its text has values of cells, which may be personal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
pub struct UploadRowError {
    /// All problems of the row. The first gives the code.
    problems: Vec<RowProblem>,
}

impl UploadRowError {
    fn other(code: OtherCode, field: &str, message: impl Into<String>) -> Self {
        let problem = RowProblem {
            field: field.to_owned(),
            code: RowCode::Other(code),
            message: message.into(),
            caused_by_row: None,
        };
        Self { problems: vec![problem] }
    }

    /// Creates the rejection of a row that contradicts another row or a stored person.
    pub(super) fn conflict(message: impl Into<String>) -> Self {
        Self::other(OtherCode::Conflict, ROW, message)
    }

    /// Creates the rejection of a row whose address belongs to another person.
    pub(super) fn taken_email(message: impl Into<String>) -> Self {
        Self::other(OtherCode::Conflict, "email", message)
    }

    /// Creates the rejection of a row whose manager has a row that was not imported. `cause` is the row to correct.
    pub(super) fn without_manager(address: &str, row: u32, cause: u32) -> Self {
        let mut flaw = ValueError::not_found(address);
        flaw.message = not_imported(row, cause);
        let mut rejection = Self::from_problems(&ValidationErrors::one("manager_email", flaw));
        rejection.problems.iter_mut().for_each(|problem| problem.caused_by_row = Some(cause));
        rejection
    }

    /// Returns the number of the row whose correction solves all problems of this row, or `None` if the problems
    /// have no common cause.
    pub(super) fn cause(&self) -> Option<u32> {
        let mut causes = self.problems.iter().map(|problem| problem.caused_by_row);
        let first = causes.next()??;
        causes.all(|cause| cause == Some(first)).then_some(first)
    }

    /// Creates the rejection of a row whose department the key may not create.
    pub(super) fn denied_department(name: &str) -> Self {
        let message = format!("department_name {name:?} does not exist, and creating it needs an admin-level key");
        Self::other(OtherCode::PermissionDenied, "department_name", message)
    }

    /// Creates the rejection of a row with these problems of its cells.
    pub(super) fn from_problems(problems: &ValidationErrors) -> Self {
        Self { problems: problems.as_slice().iter().map(RowProblem::from_cell).collect() }
    }

    /// Adds the problems of another rejection, except in columns that already have one.
    pub(super) fn add(&mut self, other: Self) {
        let fields: Vec<_> = self.problems.iter().map(|problem| problem.field.clone()).collect();
        self.problems.extend(other.problems.into_iter().filter(|problem| !fields.contains(&problem.field)));
    }

    /// Returns `true` if the row is truncated or has more cells than the header, so that its cells have no
    /// meaning.
    pub(super) fn has_wrong_shape(&self) -> bool {
        self.problems.iter().any(|problem| problem.field == ROW && matches!(problem.code, RowCode::Field(_)))
    }

    /// Returns `true` if a cell of this column is wrong.
    pub(super) fn is_about(&self, column: &str) -> bool {
        self.problems.iter().any(|problem| problem.field == column)
    }

    /// Returns the code of the first problem.
    #[must_use]
    pub fn code(&self) -> RowCode {
        self.problems.first().map_or(RowCode::Field(Code::InvalidFormat), |problem| problem.code)
    }

    /// Returns the problems as sentences for people.
    #[must_use]
    pub fn message(&self) -> String {
        self.message_up_to(self.problems.len())
    }

    /// Returns at most `most` problems as sentences for people, and the number of omitted problems.
    pub(super) fn message_up_to(&self, most: usize) -> String {
        let problems = self.first_problems(most);
        let sentences = problems.iter().map(RowProblem::sentence).collect::<Vec<_>>().join("; ");
        match self.problems.len() - problems.len() {
            0 => sentences,
            1 => format!("{sentences}; and 1 more problem"),
            more => format!("{sentences}; and {more} more problems"),
        }
    }

    /// Returns the problems. The first one determines the code of the rejection.
    #[must_use]
    pub fn problems(&self) -> &[RowProblem] {
        &self.problems
    }

    /// Returns at most `most` problems of the row.
    pub(super) fn first_problems(&self, most: usize) -> &[RowProblem] {
        self.problems.get(..most).unwrap_or(&self.problems)
    }
}

/// Returns the message for the address of a person whose row, `row`, was not imported. `cause` is the row to
/// correct.
pub(super) fn not_imported(row: u32, cause: u32) -> String {
    let reason = if row == cause { String::new() } else { format!(" because of row {cause}") };
    format!("is in row {row}, which was not imported{reason}: correct that row first")
}

impl From<PermissionError> for UploadRowError {
    fn from(denied: PermissionError) -> Self {
        Self::other(OtherCode::PermissionDenied, ROW, denied.message())
    }
}

impl From<DomainError> for UploadRowError {
    fn from(refusal: DomainError) -> Self {
        match refusal {
            DomainError::Invalid(problems) | DomainError::Unprocessable(problems) => {
                Self::from_problems(&problems)
            }
            DomainError::Denied(denied) => denied.into(),
            DomainError::Conflict(conflict) if conflict.rule.is_some() => {
                Self::other(OtherCode::Conflict, &column(&conflict.field), conflict.message())
            }
            DomainError::Conflict(conflict) => {
                let message = format!("{} {} conflicts with this row", conflict.field, conflict.current);
                Self::other(OtherCode::Conflict, &column(&conflict.field), message)
            }
            DomainError::NotFound => {
                Self::conflict("the person of this row does not exist any more; upload the file again")
            }
        }
    }
}

/// Returns the beginning of a value, with an ellipsis if the value was truncated. An erasure recognizes a truncated
/// address by the ellipsis.
fn shorten(value: &str) -> String {
    match value.char_indices().nth(VALUE_CHARS) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

/// Returns the column of a member of a person.
fn column(field: &str) -> String {
    match field {
        "manager_id" => "manager_email".to_owned(),
        "department_id" => "department_name".to_owned(),
        _ => field.strip_prefix("custom_fields.").map_or_else(|| field.to_owned(), |key| format!("custom.{key}")),
    }
}
