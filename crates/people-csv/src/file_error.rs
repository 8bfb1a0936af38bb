//! The error of a file that is refused as a whole.

use candor_domain::problem::ValidationErrors;
use candor_domain::time::Timestamp;
use candor_provisioning::connector::{Sync, SyncStatus};

use super::scan::CsvSyntaxError;

/// The reason why a whole file is refused (decision E8).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CsvFileError {
    /// The file has an invalid header, or exceeds a limit.
    #[error("{0}")]
    Invalid(ValidationErrors),
    /// The file is not CSV, or not UTF-8.
    #[error("{0}")]
    Malformed(String),
}

impl CsvFileError {
    /// Returns the status of the failed sync, for the connector that sent the file.
    #[must_use]
    pub fn sync(&self, at: Timestamp) -> Sync {
        let message = match self {
            Self::Invalid(problems) => {
                let each =
                    problems.as_slice().iter().map(|problem| format!("{} {}", problem.field, problem.message));
                each.collect::<Vec<_>>().join("; ")
            }
            Self::Malformed(message) => message.clone(),
        };
        Sync { at, status: SyncStatus::Failed, message: Some(message) }
    }
}

impl From<CsvSyntaxError> for CsvFileError {
    fn from(broken: CsvSyntaxError) -> Self {
        Self::Malformed(format!(
            "The file is not CSV in UTF-8 at line {}, column {}: {}.",
            broken.line, broken.column, broken.reason
        ))
    }
}
