//! The CSV upsert: reading an uploaded file of people, and planning the change of each row (§4.3, decisions E).
//!
//! [`File::read`] parses the bytes strictly: a file that may be truncated or mangled is refused as a whole. Then
//! [`plan`] compares the rows with the stored people and decides all of them together, so that reporting lines are
//! judged by their final state. Nothing here reads or writes a store.

mod columns;
mod decide;
mod file_error;
mod graph;
mod lookup_keys;
mod matching;
mod names;
mod options;
mod parts;
mod plan;
mod read;
mod recognize;
mod report;
mod row_cells;
mod row_problem;
mod scan;
mod split;
mod statuses;

pub use columns::UnknownColumn;
pub use file_error::CsvFileError;
pub use lookup_keys::LookupKeys;
pub use names::PersonNames;
pub use options::PlanOptions;
pub use parts::FailedRows;
pub use plan::{Plan, PlanDisplay, PlannedStep, plan, plan_in_pieces};
pub use read::{CsvRow, File, too_many_bytes, too_much_stored};
pub use report::{Action, Counts, PlannedRow, Report, RowError, RowOutcome, Warning, json_bytes};
pub use row_cells::CellCounter;
pub use row_problem::{OtherCode, RowCode, RowProblem, UploadRowError};
pub use split::{Part, Split, split};

use std::collections::{BTreeSet, HashMap};

use candor_domain::catalog::Department;
use candor_domain::fields::string_enum;
use candor_domain::id::{ConnectorId, EmployeeId};
use candor_domain::params::{self, Params};
use candor_domain::people::{Employee, ManagedFields};
use strum::{IntoStaticStr, VariantArray};

/// Maximum size of a file, in bytes (§8).
pub const MAX_BYTES: usize = 5 * 1024 * 1024;
/// Maximum number of people in a file (§8).
pub const MAX_ROWS: usize = 10_000;
/// Maximum number of columns: all known ones, every custom field that a person may have, and many unknown ones.
pub const MAX_COLUMNS: usize = 500;

/// Meaning of an empty cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum EmptyCell {
    /// The stored value stays.
    Keep,
    /// The stored value is removed, if it is optional.
    Clear,
}

string_enum!(EmptyCell, "CsvEmptyCell");

/// Query parameters of an upload.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UploadRequest {
    /// `true` for a trial that writes nothing.
    pub dry_run: bool,
    /// `true` if empty cells remove stored values.
    pub clear_empty: bool,
    /// Id of the uploading connector, as the client sent it.
    pub connector: Option<String>,
    /// Names of columns that are ignored without a warning.
    pub ignore_columns: Vec<String>,
}

impl UploadRequest {
    /// Reads the parameters of `POST /employees/csv` into a request. Problems are recorded in `params`.
    pub fn read(params: &mut Params) -> Self {
        let dry_run = params.one(&params::flag(
            "dry_run",
            "`true` returns the effect of each row without any changes. Default: `false`.",
        ));
        let empty = params.one(&params::word("empty", "Meaning of an empty cell. Default: `keep`."));
        let connector = params.one(&params::plain(
            "connector_id",
            "Connector on whose behalf the file is uploaded. It then manages the people. Needs an admin-level \
             key.",
        ));
        let ignore_columns = params.many(&params::plain(
            "ignore_columns",
            "Column of the file that is ignored without a warning. Without this, a file with a column that \
             appears to mark people who have left is refused.",
        ));
        let clear_empty = empty == Some(EmptyCell::Clear);
        Self { dry_run: dry_run.unwrap_or(false), clear_empty, connector, ignore_columns }
    }
}

/// The stored resources that a file refers to.
#[derive(Debug, Clone, Default)]
pub struct StoredRows {
    /// People that the file names by address or external id, in rows or as managers.
    pub people: Vec<Employee>,
    /// Departments that the file names.
    pub departments: Vec<Department>,
    /// The manager of each of these people and of every manager above them.
    pub lines: HashMap<EmployeeId, EmployeeId>,
    /// The number of levels below each of these people, if any.
    pub heights: HashMap<EmployeeId, u32>,
    /// Active org admins, at most one page of them: enough to know if one remains after the upload.
    pub org_admins: BTreeSet<EmployeeId>,
    /// The custom keys that each connector of these people owns.
    pub managed: HashMap<ConnectorId, ManagedFields>,
}
