//! Errors of `candor import`.

use std::path::PathBuf;

use super::outcome::ImportOutcome;
use crate::error::{CommandFailure, FAILURE};
use crate::output::count_noun;

/// Failure of an import.
#[derive(Debug, thiserror::Error)]
pub(super) enum ImportError {
    /// The file to import is not a valid file of people.
    #[error("cannot import {}: {reason}; correct the file and try again", .path.display())]
    NotAFileOfPeople {
        /// Path of the file.
        path: PathBuf,
        /// Reason why the file is invalid.
        reason: String,
    },
    /// The upload of a part failed: the service refused it, or the connection broke.
    #[error("cannot import through {url}: {reason}; {outcome}")]
    NotImported {
        /// URL of the service.
        url: String,
        /// Error of the service or of the connection to it.
        reason: String,
        /// Rows that were imported before the failure.
        outcome: ImportOutcome,
    },
    /// A signal ended an import.
    #[error("stopped by {signal}; {outcome}")]
    Interrupted {
        /// Name of the signal, such as `SIGINT`.
        signal: &'static str,
        /// Exit status that shells expect in this case: 128 plus the number of the signal.
        status: u8,
        /// Rows that were imported before the signal.
        outcome: ImportOutcome,
    },
    /// Some rows were rejected.
    #[error("{} {}", count_noun(*.failed, "row"), if *.dry_run {
        "would fail; correct them before the import, which would import the other rows"
    } else {
        "failed; correct them and import the file again: imported rows are skipped"
    })]
    RowsFailed {
        /// Number of rejected rows.
        failed: usize,
        /// `true` if this was a dry run, which imports nothing.
        dry_run: bool,
    },
}

impl CommandFailure for ImportError {
    fn exit_status(&self) -> u8 {
        if let Self::Interrupted { status, .. } = self { *status } else { FAILURE }
    }
}
