//! The CSV upsert: what a file of people asks for, row by row, and what becomes of it (§4.3, decisions E).
//!
//! [`File::read`] takes the bytes apart, strictly: a file that may have been cut or mangled is refused whole. Then
//! [`plan`] holds the rows against what is stored and decides all of them together, so that reporting lines are judged
//! as they will be in the end. Nothing here reads or writes a store.

mod columns;
mod decide;
mod graph;
mod guess;
mod matching;
mod names;
mod plan;
mod read;
mod report;
mod row_problem;
mod scan;
mod split;
mod steps;

pub use columns::UnknownColumn;
pub use names::PersonNames;
pub use plan::{Plan, PlanOptions, plan};
pub use read::{CsvRow, File, UnreadableFile, too_many_bytes};
pub use report::{Action, Counts, PlannedRow, Report, RowError, RowOutcome, Warning};
pub use row_problem::{OtherCode, Rejection, RowCode, RowProblem};
pub use split::{Part, Split, split};
pub use steps::Step;

use strum::{IntoStaticStr, VariantArray};

use std::collections::HashMap;

use crate::fields::Word;
use crate::id::{ConnectorId, EmployeeId};
use crate::library::Department;
use crate::params::{self, Params};
use crate::people::Employee;
use crate::problem::Problems;

/// The largest file, in bytes (§8).
pub const MAX_BYTES: usize = 5 * 1024 * 1024;
/// The most people in a file (§8).
pub const MAX_ROWS: usize = 10_000;
/// The most columns: all that there are, every custom field that a person may have, and many that are passed over.
pub const MAX_COLUMNS: usize = 500;

/// What stands in an empty cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Empty {
    /// Nothing: what is stored stays.
    Keep,
    /// What is stored is removed, where it can be.
    Clear,
}

impl Word for Empty {
    const NAME: &'static str = "CsvEmptyCell";
}

/// The query of an upload.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UploadRequest {
    /// Whether nothing is to be written.
    pub dry_run: bool,
    /// Whether empty cells remove what is stored.
    pub clear_empty: bool,
    /// The connector that uploads, as it was given.
    pub connector: Option<String>,
}

impl UploadRequest {
    /// Reads the parameters of `POST /employees/csv`.
    ///
    /// # Errors
    /// Every parameter that is wrong.
    pub fn parse(mut params: Params) -> Result<Self, Problems> {
        let request = Self::read(&mut params);
        params.finish(request)
    }

    /// The parameters of `POST /employees/csv`.
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
        Self { dry_run: dry_run.unwrap_or(false), clear_empty: empty == Some(Empty::Clear), connector }
    }
}

/// What is stored of everything that a file names.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// The people whom the file names by address or external id, as themselves or as managers.
    pub people: Vec<Employee>,
    /// The departments that it names.
    pub departments: Vec<Department>,
    /// The manager of each of these people and of everybody above them.
    pub lines: HashMap<EmployeeId, EmployeeId>,
    /// The custom keys that the connectors of these people own.
    pub managed_keys: HashMap<ConnectorId, Vec<String>>,
}
