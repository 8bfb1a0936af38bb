//! The answer to an upload: what became of each row (§4.3, decisions E1, E2, E9).

use std::collections::BTreeMap;

use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use super::columns::UnknownColumn;
use super::row_problem::{Rejection, RowCode, RowProblem};
use super::{CsvRow, File, PersonNames};
use crate::fields::Word;
use crate::people::Employee;
use crate::people::connector::{Sync, SyncStatus};
use crate::time::Timestamp;

/// Problems that an entry lists at most: more than there are columns other than custom ones.
const ROW_PROBLEMS: usize = 20;
/// Problems that an answer lists before its further entries have only their first one. With 10,000 rows, the answer
/// stays within the 8 MB of decision A16.
const FILE_PROBLEMS: usize = 20_000;

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
    /// Every problem as a sentence, for people.
    pub message: String,
    /// The problems one by one, the one that gives `code` first.
    pub problems: Vec<RowProblem>,
}

/// Something that was passed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The column.
    pub column: String,
    /// What of it.
    pub message: String,
}

impl RowError {
    fn of(row: &CsvRow, rejection: &Rejection, most: usize) -> Self {
        Self {
            row_number: row.number,
            email: row.email.chars().take(crate::text::EMAIL_CHARS).collect(),
            code: rejection.code(),
            message: rejection.message_up_to(most),
            problems: rejection.shown(most).to_vec(),
        }
    }
}

impl Warning {
    fn of(column: &UnknownColumn) -> Self {
        let mut message = "is not known and was ignored".to_owned();
        if let Some(probably) = column.probably {
            message.push_str(&format!("; it is probably `{probably}`: rename it in the first row"));
        }
        Self { column: column.name.clone(), message }
    }
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
    pub changes: BTreeMap<String, PlannedChange>,
}

/// Change of one column of a row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedChange {
    /// The stored value; absent where the caller may not read people (decision E9).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<serde_json::Value>,
    /// The value that the row gives.
    pub to: serde_json::Value,
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
        let (mut data, mut room) = (Counts::default(), FILE_PROBLEMS);
        for (row, outcome) in file.rows.iter().zip(outcomes) {
            match outcome {
                RowOutcome::Create => data.created += 1,
                RowOutcome::Update | RowOutcome::Reactivate => data.updated += 1,
                RowOutcome::Deactivate => data.deactivated += 1,
                RowOutcome::Unchanged | RowOutcome::Duplicate => data.skipped += 1,
                RowOutcome::Reject(rejection) => {
                    let error = RowError::of(row, rejection, ROW_PROBLEMS.min(room).max(1));
                    room = room.saturating_sub(error.problems.len());
                    data.errors.push(error);
                }
            }
        }
        Self { data, warnings: file.unknown.iter().map(Warning::of).collect(), plan: None }
    }
}

/// The columns in which a person differs, as a file would say it; with the stored values where `shows_stored`.
pub(super) fn changes(
    before: Option<&Employee>,
    after: &Employee,
    names: &PersonNames,
    shows_stored: bool,
) -> BTreeMap<String, PlannedChange> {
    let before = before.map(|it| cells(it, names)).unwrap_or_default();
    let after = cells(after, names);
    let null = || serde_json::Value::Null;
    let both = before.keys().chain(after.keys());
    let differing = both.filter(|column| before.get(*column) != after.get(*column)).map(|column| {
        let from = shows_stored.then(|| before.get(column).cloned().unwrap_or_else(null));
        let to = after.get(column).cloned().unwrap_or_else(null);
        (column.clone(), PlannedChange { from, to })
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
