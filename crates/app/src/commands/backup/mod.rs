//! `candor backup` and `candor restore`: the embedded database as one checked file.

mod failure;
mod file;
mod report;

use std::path::{Path, PathBuf};

use candor_store_sqlite::{check_backup, write_backup};

use crate::serving_lock::ServingLock;
use crate::{restored, store, wiring};
use candor_cli::error::CommandError;
use candor_cli::output::Output;
use candor_cli::private_file;
use candor_settings::{Config, DatabaseUrl};
use failure::BackupError;
use file::UnfinishedFile;
use report::Report;

/// Suffixes of files beside a database that hold changes which are not yet in the database.
const PENDING_CHANGES: [&str; 2] = ["-wal", "-journal"];

/// Copies the embedded database into a new file and checks the copy. A service may be running.
///
/// # Errors
/// [`BackupError`]; a missing database.
pub(crate) async fn back_up(config: &Config, file: PathBuf, output: Output) -> Result<(), CommandError> {
    let DatabaseUrl::Sqlite(database) = &config.database else {
        return Err(BackupError::BackupOnServer(config.database.mask_password()).into());
    };
    store::expect_database(config)?;
    let (database, file) = (absolute(database), absolute(&file));
    let target = file.clone();
    let contents = store::run_blocking(move || {
        file::expect_none(&target)?;
        let partial_file = UnfinishedFile::new_beside(&target);
        let to_error = |error: &dyn std::fmt::Display| BackupError::copy(&database, &target, error);
        write_backup(&database, partial_file.path()).map_err(|error| to_error(&error))?;
        let contents = check_backup(partial_file.path()).map_err(|error| to_error(&error))?;
        partial_file.publish(&target).map(|()| contents)
    })
    .await??;
    let key = wiring::examine_sealing_keys(config, &contents.master_keys)?;
    let report = Report { contents: &contents, key: &key, config };
    output.say(&report.backup_json(&file), &report.backup_text(&file))
}

/// Installs a checked backup as the embedded database, which must not exist, and marks the database as restored.
///
/// # Errors
/// [`BackupError`]; a database in use.
pub(crate) async fn restore(config: &Config, file: PathBuf, output: Output) -> Result<(), CommandError> {
    let DatabaseUrl::Sqlite(database) = &config.database else {
        return Err(BackupError::RestoreOnServer(config.database.mask_password()).into());
    };
    let (database, file) = (absolute(database), absolute(&file));
    expect_no_database(&database)?;
    expect_complete(&file)?;
    let _lock = ServingLock::take(&config.database)?;
    let (target, source) = (database.clone(), file.clone());
    let contents = store::run_blocking(move || {
        let partial_file = UnfinishedFile::new_beside(&target);
        partial_file.fill_from(&source)?;
        let unusable = |reason: String| BackupError::Unusable { file: source.clone(), reason };
        let contents = check_backup(partial_file.path()).map_err(|error| unusable(error.to_string()))?;
        if !contents.unknown.is_empty() {
            let unknown = contents.unknown.join(", ");
            return Err(unusable(format!("a later version of Candor created it, with the migrations {unknown}")));
        }
        partial_file.publish(&target).map(|()| contents)
    })
    .await??;
    restored::mark(&database)?;
    let key = wiring::examine_sealing_keys(config, &contents.master_keys)?;
    let report = Report { contents: &contents, key: &key, config };
    output.say(&report.restore_json(&database, &file), &report.restore_text(&database, &file))
}

/// Requires that neither a database nor a log beside it exists: SQLite would apply a leftover log to the copy.
fn expect_no_database(database: &Path) -> Result<(), BackupError> {
    let database_file = private_file::is_there(database).then(|| database.to_owned());
    match database_file.or_else(|| pending_changes(database)) {
        Some(found) => Err(BackupError::DatabaseExists { database: database.to_owned(), found }),
        None => Ok(()),
    }
}

/// Requires that no log is beside the file: copying the file alone would lose the log's changes.
fn expect_complete(file: &Path) -> Result<(), BackupError> {
    match pending_changes(file) {
        Some(log) => Err(BackupError::Incomplete { file: file.to_owned(), log }),
        None => Ok(()),
    }
}

/// Returns the non-empty log beside a database file, if any. Readers may leave an empty log, which holds no
/// changes.
fn pending_changes(file: &Path) -> Option<PathBuf> {
    let mut logs = PENDING_CHANGES.iter().map(|suffix| with_suffix(file, suffix));
    logs.find(|log| std::fs::metadata(log).is_ok_and(|found| found.len() > 0))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
