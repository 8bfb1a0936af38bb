//! The response to an upload: the outcome of each row (§4.3, decisions E1, E2, E9).

use std::collections::BTreeMap;
use std::io;

use candor_domain::fields::{StringEnum, string_enum};
use candor_domain::people::Employee;
use candor_domain::time::Timestamp;
use candor_provisioning::connector::{Sync, SyncStatus};
use schemars::JsonSchema;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use super::columns::UnknownColumn;
use super::row_problem::{RowCode, RowProblem, UploadRowError};
use super::{CsvRow, File, PersonNames};

/// Maximum number of problems in an entry: more than there are columns other than custom ones.
const ROW_PROBLEMS: usize = 20;
/// Number of problems in a response after which further entries have only their first one. With 10,000 rows, the
/// response stays within the 8 MB of decision A16.
const FILE_PROBLEMS: usize = 20_000;

/// The outcome of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowOutcome {
    /// The row creates a person.
    Create,
    /// The row changes a person.
    Update,
    /// The row deactivates a person, with or without other changes.
    Deactivate,
    /// The row reactivates a person, with or without other changes.
    Reactivate,
    /// The stored person already equals the row.
    Unchanged,
    /// A later row has the same address.
    Duplicate,
    /// The row is not applied.
    Reject(UploadRowError),
}

/// The outcome of a row, as clients see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Action {
    /// The action of [`RowOutcome::Create`].
    Create,
    /// The action of [`RowOutcome::Update`].
    Update,
    /// The action of [`RowOutcome::Deactivate`].
    Deactivate,
    /// The action of [`RowOutcome::Reactivate`].
    Reactivate,
    /// The action of [`RowOutcome::Unchanged`] and [`RowOutcome::Duplicate`].
    Skip,
    /// The action of [`RowOutcome::Reject`].
    Reject,
}

string_enum!(Action, "CsvAction");

impl RowOutcome {
    /// Returns the action that clients see.
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

/// Result of an upload.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "CsvReport")]
pub struct Report {
    /// Result of the upload. The four counts and the number of `errors` add up to the number of rows.
    pub data: Counts,
    /// Columns that were ignored because their names are unknown, and columns in which numbers or booleans become texts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Effect that each row would have. Present with `dry_run=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<PlannedRow>")]
    pub plan: Option<Vec<PlannedRow>>,
    /// `true` if `plan` ends before the last row of the file, because the response would be larger than about 8 MB. A
    /// smaller file shows the rest. Absent otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub plan_has_more: bool,
}

/// Counters of outcomes. With the errors they sum to the number of rows (decision E1).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Counts {
    /// Number of rows that created a person.
    pub created: usize,
    /// Number of rows that changed a person.
    pub updated: usize,
    /// Number of rows that deactivated a person.
    pub deactivated: usize,
    /// Number of rows that changed nothing or that a later row of the same person replaced.
    pub skipped: usize,
    /// Rejected rows with their reasons.
    pub errors: Vec<RowError>,
}

/// A rejected row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct RowError {
    /// Row number as in a spreadsheet. The header is row 1.
    #[schemars(range(min = 1))]
    pub row_number: u32,
    /// E-mail address of the row, as given.
    pub email: String,
    /// Code of the first problem.
    pub code: RowCode,
    /// All problems of the row in one text, for display.
    pub message: String,
    /// Problems of the row, at most 20. After 20,000 problems in the file, each row lists only its first one.
    pub problems: Vec<RowProblem>,
    /// Row whose correction is enough for this one. Absent if the row has a problem of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1))]
    pub caused_by_row: Option<u32>,
}

/// A warning about a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Warning {
    /// Name of the column in the header.
    pub column: String,
    /// Reason for the warning, and the remedy, for display.
    pub message: String,
}

impl RowError {
    fn new(row: &CsvRow, rejection: &UploadRowError, most: usize) -> Self {
        Self {
            row_number: row.number,
            email: row.email.chars().take(candor_domain::text::EMAIL_CHARS).collect(),
            code: rejection.code(),
            message: rejection.message_up_to(most),
            problems: rejection.first_problems(most).to_vec(),
            caused_by_row: rejection.cause(),
        }
    }
}

impl Warning {
    fn new(column: &UnknownColumn) -> Self {
        let mut message = "is not known and was ignored".to_owned();
        if column.has_full_names {
            message.push_str("; split the names into the columns `first_name` and `last_name`");
        } else if let Some(probably) = column.probably {
            message.push_str(&format!("; it is probably `{probably}`: rename it in the first row"));
        }
        Self { column: column.name.clone(), message }
    }

    /// Creates the warning about texts in place of numbers or booleans. `row` is the first of `count` rows with
    /// such texts.
    pub(super) fn of_lost_type(column: &str, row: u32, count: usize) -> Self {
        let rows = match count {
            0 | 1 => format!("row {row}"),
            2 => format!("row {row} and 1 more row"),
            count => format!("row {row} and {} more rows", count - 1),
        };
        let message = format!(
            "becomes a text in {rows}, where a number or boolean is stored; write numbers as 0.5 and booleans as true or \
             false"
        );
        Self { column: column.to_owned(), message }
    }
}

/// The planned change of a row in a dry run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct PlannedRow {
    /// Row number as in a spreadsheet. The header is row 1.
    #[schemars(range(min = 1))]
    pub row_number: u32,
    /// E-mail address of the row, as given.
    pub email: String,
    /// Effect that the row would have.
    pub action: Action,
    /// Columns that would change, by name. `hris_source` is among them if the source of a stored person would change.
    pub changes: BTreeMap<String, PlannedChange>,
}

/// Change of one column of a row.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct PlannedChange {
    /// Stored value. Null if there is none. Present for keys with `employees:read`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "serde_json::Value")]
    pub from: Option<serde_json::Value>,
    /// Value after the upload. Null if there is none.
    pub to: serde_json::Value,
}

impl Report {
    /// Returns the status of the sync, for the connector that sent the file.
    #[must_use]
    pub fn sync(&self, at: Timestamp) -> Sync {
        let Counts { created, updated, deactivated, skipped, errors } = &self.data;
        let (failed, rows) = (errors.len(), created + updated + deactivated + skipped + errors.len());
        let status = match failed {
            0 => SyncStatus::Succeeded,
            failed if failed < rows => SyncStatus::Partial,
            _ => SyncStatus::Failed,
        };
        let message = errors.first().map(|error| {
            format!("{failed} of {rows} rows had errors, the first in row {}: {}", error.row_number, error.message)
        });
        Sync { at, status, message }
    }

    /// Adds the warnings of a plan.
    #[must_use]
    pub fn with_warnings(mut self, warnings: &[Warning]) -> Self {
        self.warnings.extend_from_slice(warnings);
        self
    }

    /// Creates the response to a file with these outcomes of its rows.
    #[must_use]
    pub fn from_outcomes<'a>(file: &File, outcomes: impl Iterator<Item = &'a RowOutcome>) -> Self {
        let (mut data, mut room) = (Counts::default(), FILE_PROBLEMS);
        for (row, outcome) in file.rows.iter().zip(outcomes) {
            match outcome {
                RowOutcome::Create => data.created += 1,
                RowOutcome::Update | RowOutcome::Reactivate => data.updated += 1,
                RowOutcome::Deactivate => data.deactivated += 1,
                RowOutcome::Unchanged | RowOutcome::Duplicate => data.skipped += 1,
                RowOutcome::Reject(rejection) => {
                    let error = RowError::new(row, rejection, ROW_PROBLEMS.min(room).max(1));
                    room = room.saturating_sub(error.problems.len());
                    data.errors.push(error);
                }
            }
        }
        Self { data, warnings: file.unknown.iter().map(Warning::new).collect(), plan: None, plan_has_more: false }
    }
}

/// Returns the size of a value as JSON, in bytes.
#[must_use]
pub fn json_bytes(value: &impl Serialize) -> usize {
    struct Counter(usize);

    impl io::Write for Counter {
        fn write(&mut self, part: &[u8]) -> io::Result<usize> {
            self.0 += part.len();
            Ok(part.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let mut counter = Counter(0);
    let result = serde_json::to_writer(&mut counter, value);
    debug_assert!(result.is_ok(), "a report has a JSON form");
    counter.0
}

/// Name of the source of a person in a plan. It is no column of a file.
const SOURCE: &str = "hris_source";

/// Returns the columns in which a person differs, as a file would write them, and the source of a stored person if it
/// changes. Stored values are included if `shows_stored`.
pub(super) fn changes(
    before: Option<&Employee>,
    after: &Employee,
    names: &PersonNames,
    shows_stored: bool,
) -> BTreeMap<String, PlannedChange> {
    let cells_before = before.map(|person| cells(person, names)).unwrap_or_default();
    let cells_after = cells(after, names);
    let null = || serde_json::Value::Null;
    let is_new = before.is_none();
    let both = cells_before.keys().chain(cells_after.keys()).filter(|column| !(is_new && *column == SOURCE));
    let differing = both.filter(|column| cells_before.get(*column) != cells_after.get(*column)).map(|column| {
        let from = shows_stored.then(|| cells_before.get(column).cloned().unwrap_or_else(null));
        let to = cells_after.get(column).cloned().unwrap_or_else(null);
        (column.clone(), PlannedChange { from, to })
    });
    differing.collect()
}

fn cells(person: &Employee, names: &PersonNames) -> BTreeMap<String, serde_json::Value> {
    let text = |value: &str| serde_json::Value::from(value);
    let manager = person.manager_id.map(|id| names.people.get(&id).cloned().unwrap_or_else(|| id.to_string()));
    let department =
        person.department_id.map(|id| names.departments.get(&id).cloned().unwrap_or_else(|| id.to_string()));
    let mut cells: BTreeMap<_, _> = [
        ("email", Some(text(&person.email))),
        ("external_id", person.external_id.as_deref().map(text)),
        ("first_name", Some(text(&person.first_name))),
        ("last_name", Some(text(&person.last_name))),
        ("job_title", person.job_title.as_deref().map(text)),
        ("role", Some(text(person.role.word()))),
        ("manager_email", manager.as_deref().map(text)),
        ("department_name", department.as_deref().map(text)),
        ("status", Some(text(person.status.word()))),
        (SOURCE, Some(text(&person.hris_source))),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name.to_owned(), value?)))
    .collect();
    for (key, value) in &person.custom_fields.0 {
        cells.insert(format!("custom.{key}"), serde_json::to_value(value).unwrap_or_default());
    }
    cells
}
