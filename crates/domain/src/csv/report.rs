//! The answer to an upload: what became of each row (§4.3, decisions E1, E2, E9).

use std::collections::BTreeMap;

use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use super::{File, PersonNames};
use crate::access::Denied;
use crate::audit::Change;
use crate::fields::Word;
use crate::people::Employee;
use crate::people::connector::{Sync, SyncStatus};
use crate::problem::{Code, Problems};
use crate::refusal::Refusal;
use crate::time::Timestamp;

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

/// Why a row failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// The stable code.
    pub code: RowCode,
    /// What is wrong, for people.
    pub message: String,
}

impl Rejection {
    /// Another row, or somebody who is stored, is in the way.
    pub(super) fn conflict(message: impl Into<String>) -> Self {
        Self { code: RowCode::Other(OtherCode::Conflict), message: message.into() }
    }

    /// The key may not do this.
    pub(super) fn denied(message: impl Into<String>) -> Self {
        Self { code: RowCode::Other(OtherCode::PermissionDenied), message: message.into() }
    }

    /// What is wrong with the cells of a row; the first problem gives the code.
    pub(super) fn of(problems: &Problems) -> Self {
        let said = |it: &crate::problem::Problem| {
            let column = column(&it.field);
            match &it.value {
                Some(value) => format!("{column} {:?} {}", value.chars().take(80).collect::<String>(), it.message),
                None => format!("{column} {}", it.message),
            }
        };
        let code = problems.as_slice().first().map_or(Code::InvalidFormat, |it| it.code);
        let message = problems.as_slice().iter().map(said).collect::<Vec<_>>().join("; ");
        Self { code: RowCode::Field(code), message }
    }
}

impl From<Denied> for Rejection {
    fn from(denied: Denied) -> Self {
        Self::denied(denied.message())
    }
}

impl From<Refusal> for Rejection {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Invalid(problems) | Refusal::Unprocessable(problems) => Self::of(&problems),
            Refusal::Denied(denied) => denied.into(),
            Refusal::Conflict(conflict) => {
                Self::conflict(format!("{} {} is in the way", conflict.field, conflict.current))
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

/// What becomes of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowOutcome {
    /// A person is recorded.
    Create,
    /// A record changes.
    Update,
    /// A person leaves, whatever else changes with it.
    Deactivate,
    /// A person comes back, whatever else changes with it.
    Reactivate,
    /// Everything is as the row says.
    Unchanged,
    /// A later row has the same address.
    Duplicate,
    /// Nothing of it is applied.
    Reject(Rejection),
}

/// What becomes of a row, as a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Action {
    /// See [`RowOutcome::Create`].
    Create,
    /// See [`RowOutcome::Update`].
    Update,
    /// See [`RowOutcome::Deactivate`].
    Deactivate,
    /// See [`RowOutcome::Reactivate`].
    Reactivate,
    /// See [`RowOutcome::Unchanged`] and [`RowOutcome::Duplicate`].
    Skip,
    /// See [`RowOutcome::Reject`].
    Reject,
}

impl Word for Action {
    const NAME: &'static str = "CsvAction";
}

impl RowOutcome {
    /// As a word.
    #[must_use]
    pub const fn action(&self) -> Action {
        match self {
            Self::Create => Action::Create,
            Self::Update => Action::Update,
            Self::Deactivate => Action::Deactivate,
            Self::Reactivate => Action::Reactivate,
            Self::Unchanged | Self::Duplicate => Action::Skip,
            Self::Reject(_) => Action::Reject,
        }
    }
}

/// The body of the answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The counters and the rows that failed.
    pub data: Counts,
    /// What was passed over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Of a dry run, what would become of each row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Vec<PlannedRow>>,
}

/// The counters, which together with the errors sum to the rows (decision E1).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// People recorded.
    pub created: usize,
    /// Records changed, of people who came back too.
    pub updated: usize,
    /// People who left.
    pub deactivated: usize,
    /// Rows that changed nothing, and earlier duplicates.
    pub skipped: usize,
    /// Rows of which nothing was applied.
    pub errors: Vec<RowError>,
}

/// A row that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RowError {
    /// Its number in a spreadsheet.
    pub row_number: u32,
    /// Its address, as given.
    pub email: String,
    /// The stable code.
    pub code: RowCode,
    /// What is wrong, for people.
    pub message: String,
}

/// Something that was passed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The column.
    pub column: String,
    /// What of it.
    pub message: &'static str,
}

/// What would become of a row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedRow {
    /// Its number in a spreadsheet.
    pub row_number: u32,
    /// Its address, as given.
    pub email: String,
    /// What would be done.
    #[serde(serialize_with = "crate::fields::as_word")]
    pub action: Action,
    /// The columns that would change.
    pub changes: BTreeMap<String, Change>,
}

impl Report {
    /// What became of the file, for the connector that sent it.
    #[must_use]
    pub fn sync(&self, at: Timestamp) -> Sync {
        let Counts { created, updated, deactivated, skipped, errors } = &self.data;
        let (failed, rows) = (errors.len(), created + updated + deactivated + skipped + errors.len());
        let status = match failed {
            0 => SyncStatus::Succeeded,
            failed if failed < rows => SyncStatus::Partial,
            _ => SyncStatus::Failed,
        };
        let message = errors.first().map(|it| {
            format!("{failed} of {rows} rows had errors, the first in row {}: {}", it.row_number, it.message)
        });
        Sync { at, status, message }
    }

    /// The answer to a file whose rows came to these ends.
    #[must_use]
    pub fn of<'a>(file: &File, outcomes: impl Iterator<Item = &'a RowOutcome>) -> Self {
        let mut data = Counts::default();
        for (row, outcome) in file.rows.iter().zip(outcomes) {
            match outcome {
                RowOutcome::Create => data.created += 1,
                RowOutcome::Update | RowOutcome::Reactivate => data.updated += 1,
                RowOutcome::Deactivate => data.deactivated += 1,
                RowOutcome::Unchanged | RowOutcome::Duplicate => data.skipped += 1,
                RowOutcome::Reject(Rejection { code, message }) => data.errors.push(RowError {
                    row_number: row.number,
                    email: row.email.chars().take(crate::text::EMAIL_CHARS).collect(),
                    code: *code,
                    message: message.clone(),
                }),
            }
        }
        let warning = |column: &String| Warning { column: column.clone(), message: "is not known and was passed over" };
        Self { data, warnings: file.unknown.iter().map(warning).collect(), plan: None }
    }
}

/// The columns in which a person differs, as a file would say it.
pub(super) fn changes(before: Option<&Employee>, after: &Employee, names: &PersonNames) -> BTreeMap<String, Change> {
    let before = before.map(|it| cells(it, names)).unwrap_or_default();
    let after = cells(after, names);
    let null = || serde_json::Value::Null;
    let both = before.keys().chain(after.keys());
    let differing = both.filter(|it| before.get(*it) != after.get(*it)).map(|it| {
        let change = Change {
            from: before.get(it).cloned().unwrap_or_else(null),
            to: after.get(it).cloned().unwrap_or_else(null),
        };
        (it.clone(), change)
    });
    differing.collect()
}

fn cells(it: &Employee, names: &PersonNames) -> BTreeMap<String, serde_json::Value> {
    let text = |it: &str| serde_json::Value::from(it);
    let manager = it.manager_id.map(|id| names.people.get(&id).cloned().unwrap_or_else(|| id.to_string()));
    let department = it.department_id.map(|id| names.departments.get(&id).cloned().unwrap_or_else(|| id.to_string()));
    let mut cells: BTreeMap<_, _> = [
        ("email", Some(text(&it.email))),
        ("external_id", it.external_id.as_deref().map(text)),
        ("first_name", Some(text(&it.first_name))),
        ("last_name", Some(text(&it.last_name))),
        ("job_title", it.job_title.as_deref().map(text)),
        ("role", Some(text(it.role.word()))),
        ("manager_email", manager.as_deref().map(text)),
        ("department_name", department.as_deref().map(text)),
        ("status", Some(text(it.status.word()))),
        ("hris_source", Some(text(&it.hris_source))),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name.to_owned(), value?)))
    .collect();
    for (key, value) in &it.custom_fields.0 {
        cells.insert(format!("custom.{key}"), serde_json::to_value(value).unwrap_or_default());
    }
    cells
}
