//! Errors of backups and restores.

use std::io;
use std::path::{Path, PathBuf};

use crate::store;
use candor_cli::error::CommandFailure;

/// Failure of `candor backup` or `candor restore`.
#[derive(Debug, thiserror::Error)]
pub(super) enum BackupError {
    /// A backup was requested, but the configured database is on a server.
    #[error(
        "`candor backup` copies only the embedded database, and {0} is on a server; use `pg_dump \
         --format=custom`, or the backup tool of that server"
    )]
    BackupOnServer(String),
    /// A restore was requested, but the configured database is on a server.
    #[error(
        "`candor restore` restores the embedded database, and {0} is on a server; use `pg_restore`, and then \
         `candor migrate` before the service starts"
    )]
    RestoreOnServer(String),
    /// The target file of a backup exists.
    #[error("{} exists, and a backup never replaces a file; name another file, or remove this one", .0.display())]
    FileExists(PathBuf),
    /// The target database of a restore, or a log beside it, exists.
    #[error(
        "cannot restore {}: {} exists; stop the service, move that file away, and run this command again",
        .database.display(), .found.display()
    )]
    DatabaseExists {
        /// Path of the database.
        database: PathBuf,
        /// The existing file: the database itself, or a log of its changes.
        found: PathBuf,
    },
    /// The database could not be copied, or the copy failed the check.
    #[error(
        "cannot back up {} to {}: {reason}; the incomplete backup was removed; check the free disk space, and run \
         `candor doctor`",
        .database.display(), .file.display()
    )]
    Copy {
        /// Path of the database.
        database: PathBuf,
        /// Path of the backup.
        file: PathBuf,
        /// Error of the database or the operating system.
        reason: String,
    },
    /// The database is damaged.
    #[error(
        "cannot back up {}: the database is damaged: {reason}; the incomplete backup was removed; stop the service, \
         move the files of the database away, and install the newest backup with `candor restore`",
        .database.display()
    )]
    Damaged {
        /// Path of the database.
        database: PathBuf,
        /// Error of the database.
        reason: String,
    },
    /// The backup file failed the check.
    #[error("cannot restore from {}: {reason}; use another backup, with the version of Candor that created it", .file.display())]
    Unusable {
        /// Path of the backup.
        file: PathBuf,
        /// The reason, as a clause.
        reason: String,
    },
    /// The file is incomplete: a log beside it holds further changes.
    #[error(
        "cannot restore from {}: {} has changes that the file lacks; make a backup of the database in that file with \
         `candor backup`, and restore from the new backup",
        .file.display(), .log.display()
    )]
    Incomplete {
        /// Path of the file.
        file: PathBuf,
        /// Path of the log.
        log: PathBuf,
    },
    /// A file operation failed.
    #[error("cannot {what} {}: {source}; check that the folder exists and that this user may use it", .path.display())]
    File {
        /// The operation, as a verb.
        what: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
}

impl BackupError {
    /// Creates the error for a failed copy.
    pub(super) fn copy(database: &Path, file: &Path, reason: &dyn std::fmt::Display) -> Self {
        let (database, reason) = (database.to_owned(), reason.to_string());
        if store::is_damage(&reason) {
            return Self::Damaged { database, reason };
        }
        Self::Copy { database, file: file.to_owned(), reason }
    }

    /// Converts an I/O error into one that names operation and path.
    pub(super) fn file(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { what, path, source }
    }
}

impl CommandFailure for BackupError {}
