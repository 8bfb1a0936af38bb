//! Reasons why there is no backup, or why one is not restored.

use std::io;
use std::path::{Path, PathBuf};

/// Why `candor backup` or `candor restore` failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BackupFailure {
    /// The configured database is on a server, and a backup was asked for.
    #[error(
        "`candor backup` copies the embedded database, and {0} is on a server; use `pg_dump --format=custom`, or \
         what that server is backed up with"
    )]
    BackupOnServer(String),
    /// The configured database is on a server, and a restore was asked for.
    #[error(
        "`candor restore` restores the embedded database, and {0} is on a server; use `pg_restore`, and then \
         `candor migrate` before the service starts"
    )]
    RestoreOnServer(String),
    /// The file that a backup was to be written to exists.
    #[error("{} exists, and a backup never replaces a file; name another file, or remove this one", .0.display())]
    FileExists(PathBuf),
    /// The database that was to be restored exists, or a part of it does.
    #[error(
        "cannot restore {}: {} exists; stop the service, move that file away, and run this again",
        .database.display(), .found.display()
    )]
    DatabaseExists {
        /// Path of the database.
        database: PathBuf,
        /// The database itself, or a log of its changes.
        found: PathBuf,
    },
    /// The database could not be copied, or its copy has not passed the check.
    #[error(
        "cannot back up {} to {}: {reason}; nothing was kept: check the room on the disk and `candor doctor`",
        .database.display(), .file.display()
    )]
    Copy {
        /// Path of the database.
        database: PathBuf,
        /// Path of the backup.
        file: PathBuf,
        /// Answer of the database or the system.
        reason: String,
    },
    /// The file has not passed the check.
    #[error("cannot restore from {}: {reason}; use another backup, with the version of Candor that made it", .file.display())]
    Unusable {
        /// Path of the backup.
        file: PathBuf,
        /// The reason, as a clause.
        reason: String,
    },
    /// The file is only a part of a database: there is a log of changes beside it.
    #[error(
        "cannot restore from {}: {} has changes that are not in it; make a backup of that database with `candor backup`",
        .file.display(), .log.display()
    )]
    Incomplete {
        /// Path of the file.
        file: PathBuf,
        /// Path of the log.
        log: PathBuf,
    },
    /// A file could not be used.
    #[error("cannot {what} {}: {source}; check that the folder exists and that this user may use it", .path.display())]
    File {
        /// The verb.
        what: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// Answer of the system.
        source: io::Error,
    },
}

impl BackupFailure {
    /// The error of a copy that was not made.
    pub(super) fn copy(database: &Path, file: &Path, reason: &dyn std::fmt::Display) -> Self {
        Self::Copy { database: database.to_owned(), file: file.to_owned(), reason: reason.to_string() }
    }

    /// Adds verb and path to an error of the system.
    pub(super) fn file(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { what, path, source }
    }
}
