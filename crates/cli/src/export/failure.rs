//! Errors of `candor export`.

use std::path::PathBuf;

use crate::error::{CommandFailure, FAILURE, WRONG_USAGE};

/// Failure of an export.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExportError {
    /// The folder has a complete export already.
    #[error(
        "{} has a complete export; choose another folder, or add --follow to keep it current, or --compact to keep \
         only the last state of each id",
        .0.display()
    )]
    Complete(PathBuf),
    /// The folder has an export of other resources or in another format.
    #[error(
        "{} has an export of other resources or in another format; repeat its --resources and --format, or choose \
         another folder",
        .0.display()
    )]
    OtherExport(PathBuf),
    /// The removals of an erasure cannot be followed with these resources alone.
    #[error(
        "cannot follow {resource} alone: an erasure names the person only, and other resources tell which rows are about \
         the person; add {missing} to --resources"
    )]
    MissingResources {
        /// Name of the resource.
        resource: &'static str,
        /// Names of the resources to add, separated by commas.
        missing: String,
    },
    /// Other users can exchange the files of the folder.
    #[error("other users can write to {}; run `chmod go-w` on it, or choose another folder", .0.display())]
    OpenFolder(PathBuf),
    /// Another process exports to the folder.
    #[error("another candor export writes to {}; wait for its end, or choose another folder", .0.display())]
    InUse(PathBuf),
    /// A file in the folder is not as this command wrote it.
    #[error("cannot read {}: {reason}; remove the folder and export again", .path.display())]
    DamagedFile {
        /// Path of the file.
        path: PathBuf,
        /// Reason why the file is damaged.
        reason: String,
    },
    /// The service sent something that is no line of an export.
    #[error("cannot read the export: {0}; check that the URL is that of a Candor service")]
    Unreadable(String),
    /// A signal ended an export.
    #[error("stopped by {signal}; run the same command again to continue from the last checkpoint")]
    Interrupted {
        /// Name of the signal, such as `SIGINT`.
        signal: &'static str,
        /// Exit status that shells expect in this case: 128 plus the number of the signal.
        status: u8,
    },
}

impl ExportError {
    /// Creates the failure of a line or an event that cannot be read.
    pub(super) fn unreadable(error: serde_json::Error) -> Self {
        Self::Unreadable(error.to_string())
    }
}

impl CommandFailure for ExportError {
    fn exit_status(&self) -> u8 {
        match self {
            Self::Interrupted { status, .. } => *status,
            Self::Complete(_)
            | Self::OtherExport(_)
            | Self::MissingResources { .. }
            | Self::OpenFolder(_)
            | Self::InUse(_) => WRONG_USAGE,
            Self::DamagedFile { .. } | Self::Unreadable(_) => FAILURE,
        }
    }
}
