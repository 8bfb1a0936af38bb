//! What is wrong with a row: all of its problems, of which the first gives the code.

use serde::Serialize;

use crate::access::Denied;
use crate::problem::{Code, Problem, Problems};
use crate::refusal::Refusal;

/// The field of problems that concern a row as a whole.
const ROW: &str = "row";
/// Characters of a value that a message repeats at most.
const VALUE_CHARS: usize = 80;

/// Why a row failed, for machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum RowCode {
    /// A cell is wrong.
    Field(Code),
    /// Anything else.
    Other(OtherCode),
}

/// Why a row failed when no single cell is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OtherCode {
    /// The key may not do this.
    PermissionDenied,
    /// Another row, or somebody who is stored, is in the way.
    Conflict,
}

/// One thing that is wrong with a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RowProblem {
    /// The column, or `row` for the row as a whole.
    pub field: String,
    /// The stable code.
    pub code: RowCode,
    /// What is wrong, for people. For a code of a field, `field` is its subject.
    pub message: String,
}

impl RowProblem {
    fn of_cell(problem: &Problem) -> Self {
        let message = match &problem.value {
            Some(value) => format!("{:?} {}", value.chars().take(VALUE_CHARS).collect::<String>(), problem.message),
            None => problem.message.clone(),
        };
        Self { field: column(&problem.field), code: RowCode::Field(problem.code), message }
    }

    /// Returns the problem as a sentence that names its column.
    fn sentence(&self) -> String {
        match self.code {
            RowCode::Field(_) => format!("{} {}", self.field, self.message),
            RowCode::Other(_) => self.message.clone(),
        }
    }
}

/// Why a row failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// All problems of the row, the one that decided its code first.
    problems: Vec<RowProblem>,
}

impl Rejection {
    fn other(code: OtherCode, field: &str, message: impl Into<String>) -> Self {
        let problem = RowProblem { field: field.to_owned(), code: RowCode::Other(code), message: message.into() };
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

    /// Creates the rejection of a row whose department the key may not create.
    pub(super) fn denied_department(name: &str) -> Self {
        let message = format!("department_name {name:?} does not exist, and creating it needs an admin-level key");
        Self::other(OtherCode::PermissionDenied, "department_name", message)
    }

    /// Creates the rejection of a row with these problems of its cells.
    pub(super) fn of(problems: &Problems) -> Self {
        Self { problems: problems.as_slice().iter().map(RowProblem::of_cell).collect() }
    }

    /// Adds the problems of another rejection whose columns have none yet.
    pub(super) fn add(&mut self, other: Self) {
        let known: Vec<_> = self.problems.iter().map(|problem| problem.field.clone()).collect();
        self.problems.extend(other.problems.into_iter().filter(|problem| !known.contains(&problem.field)));
    }

    /// Returns `true` if the row as a whole is wrong, so that its cells say nothing.
    pub(super) fn is_of_shape(&self) -> bool {
        self.problems.iter().any(|problem| problem.field == ROW && matches!(problem.code, RowCode::Field(_)))
    }

    /// Returns `true` if a cell of this column is wrong.
    pub(super) fn is_about(&self, column: &str) -> bool {
        self.problems.iter().any(|problem| problem.field == column)
    }

    /// The code of the first problem.
    #[must_use]
    pub fn code(&self) -> RowCode {
        self.problems.first().map_or(RowCode::Field(Code::InvalidFormat), |problem| problem.code)
    }

    /// Returns the problems as sentences, for people.
    #[must_use]
    pub fn message(&self) -> String {
        self.message_up_to(self.problems.len())
    }

    /// Returns the first problems as sentences, for people, and how many more there are.
    pub(super) fn message_up_to(&self, most: usize) -> String {
        let shown = self.shown(most);
        let sentences = shown.iter().map(RowProblem::sentence).collect::<Vec<_>>().join("; ");
        match self.problems.len() - shown.len() {
            0 => sentences,
            1 => format!("{sentences}; and 1 more problem"),
            more => format!("{sentences}; and {more} more problems"),
        }
    }

    /// Returns the problems, the one that gives the code first.
    #[must_use]
    pub fn problems(&self) -> &[RowProblem] {
        &self.problems
    }

    /// Returns the first problems of the row.
    pub(super) fn shown(&self, most: usize) -> &[RowProblem] {
        self.problems.get(..most).unwrap_or(&self.problems)
    }
}

impl From<Denied> for Rejection {
    fn from(denied: Denied) -> Self {
        Self::other(OtherCode::PermissionDenied, ROW, denied.message())
    }
}

impl From<Refusal> for Rejection {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Invalid(problems) | Refusal::Unprocessable(problems) => Self::of(&problems),
            Refusal::Denied(denied) => denied.into(),
            Refusal::Conflict(conflict) => {
                let message = format!("{} {} is in the way", conflict.field, conflict.current);
                Self::other(OtherCode::Conflict, &column(&conflict.field), message)
            }
            Refusal::NotFound => Self::conflict("the person is not there any more"),
        }
    }
}

/// The column that a member of a person is given in.
fn column(field: &str) -> String {
    match field {
        "manager_id" => "manager_email".to_owned(),
        "department_id" => "department_name".to_owned(),
        _ => field.strip_prefix("custom_fields.").map_or_else(|| field.to_owned(), |key| format!("custom.{key}")),
    }
}
