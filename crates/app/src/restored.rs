//! Mark of a restored database to which no ledger of erasures has been applied. The backup may have the data of
//! people who were erased after the backup was made.

use std::path::{Path, PathBuf};
use std::{fs, io};

use candor_cli::error::CommandError;
use candor_cli::private_file;
use candor_settings::{Config, DatabaseUrl};

const TEXT: &str = "This database was restored. `candor erasure apply` repeats the erasures since the backup, and removes \
                    this file.\n";

/// Marks a database that was restored.
///
/// # Errors
/// [`CommandError::Io`] if the file beside the database cannot be written.
pub(crate) fn mark(database: &Path) -> Result<(), CommandError> {
    let file = file_of(database);
    fs::write(&file, TEXT).map_err(CommandError::io("write", file))
}

/// Returns the path of the file that marks the embedded database as restored, or `None` if there is none. A
/// PostgreSQL database has no such file.
pub(crate) fn find(config: &Config) -> Option<PathBuf> {
    match &config.database {
        DatabaseUrl::Sqlite(database) => Some(file_of(database)).filter(|file| private_file::is_there(file)),
        DatabaseUrl::Postgres(_) => None,
    }
}

/// Removes the mark of a database, once the erasures of a ledger are in it.
///
/// # Errors
/// [`CommandError::Io`] if the mark cannot be removed.
pub(crate) fn remove(config: &Config) -> Result<(), CommandError> {
    let Some(file) = find(config) else { return Ok(()) };
    match fs::remove_file(&file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(CommandError::io("remove", file)(error)),
        _ => Ok(()),
    }
}

fn file_of(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".restored");
    PathBuf::from(name)
}
