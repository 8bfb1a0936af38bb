//! Backup of the whole database into one file beside a running service, and the check of such a file.

use std::fs::{self, File};
use std::path::Path;

use candor_port_storage::StorageError;
use candor_port_storage::error::Read;
use candor_port_storage::upkeep::MasterKey;
use candor_tables::copy::PROGRESS_TABLE;

use crate::connection::checkpoint::truncate;
use crate::connection::files;
use crate::connection::open::{DatabaseLocation, Source, read_only, read_unchanging};
use crate::migrate;
use crate::reads::upkeep;
use crate::sql::{Db, Sql};

/// Contents of a backup that passed the check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupContents {
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Every table of Candor with its number of rows, by name.
    pub tables: Vec<(String, u64)>,
    /// Master keys that sealed data in the database.
    pub master_keys: Vec<MasterKey>,
    /// Migrations of this program that the backup lacks; the next start applies them.
    pub pending: Vec<String>,
    /// Versions of migrations that this program does not have, because a later version of Candor made the
    /// database.
    pub unknown: Vec<String>,
}

/// Writes the committed state of `database` into a new file that only its owner may read.
///
/// The backup is one read transaction, so the service keeps reading and writing. It contains no free pages
/// and therefore no deleted data. The function returns after the file has been flushed to the disk.
///
/// # Errors
/// The database cannot be read, or the file exists or cannot be written; an incomplete file may be left then.
pub fn write_backup(database: &Path, file: &Path) -> Read<()> {
    let mut db = read_only(as_text(database)?)?;
    files::create_private(file)?;
    // `VACUUM INTO` accepts an empty file and keeps its permissions.
    db.run(&Sql::new("VACUUM INTO ?").bind(as_text(file)?))?;
    sync(file)
}

/// Checks a backup that no process uses, and returns its contents.
///
/// # Errors
/// The file is not a database of Candor, is damaged, or is an incomplete result of `candor copy`.
pub fn check_backup(file: &Path) -> Read<BackupContents> {
    let bytes = fs::metadata(file).map_err(|error| unreadable(file, &error))?.len();
    let mut db = read_unchanging(as_text(file)?)?;
    for name in ["__diesel_schema_migrations", "organizations"] {
        if !has_table(&mut db, name)? {
            return Err(StorageError::Failed(format!("it is no database of Candor: it has no table {name}")));
        }
    }
    if has_table(&mut db, PROGRESS_TABLE)? {
        return Err(StorageError::Failed("it is the target of a `candor copy` that is not complete".to_owned()));
    }
    expect_integrity(&mut db)?;
    let master_keys = if has_table(&mut db, "master_keys")? { upkeep::master_keys(&mut db)? } else { vec![] };
    let (pending, unknown) = (migrate::pending(&mut db)?, migrate::unknown_versions(&mut db)?);
    Ok(BackupContents { bytes, tables: count_rows(&mut db)?, master_keys, pending, unknown })
}

/// Checks the indexes and foreign keys of a database, which a running service may use. Reads the whole file.
///
/// # Errors
/// The database cannot be read, or is damaged.
pub fn check_database(database: &Path) -> Read<()> {
    expect_integrity(&mut read_only(as_text(database)?)?)
}

/// Rewrites the whole database file without its unused room. A running service may use the database; its writes
/// wait meanwhile.
///
/// `secure_delete` overwrites a row where it lies. When SQLite moves rows between pages, a copy may stay behind in
/// the unused room of a page, and only a rewrite removes it. The temporary file and the write-ahead log each need
/// as much room as the database, in the folder of the database.
///
/// # Errors
/// The database cannot be opened, or stays in use; its folder has no room.
pub fn rewrite(database: &Path) -> Read<()> {
    let source = Source::new(&DatabaseLocation::File(database.to_owned()))?;
    let mut db = source.writer()?;
    let folder = as_text(database.parent().unwrap_or(database))?.replace('\'', "''");
    // By default, the temporary file would be in memory, or in a folder that other users can read.
    let rewrite = format!("PRAGMA temp_store = file; PRAGMA temp_store_directory = '{folder}'; VACUUM;");
    db.batch(&rewrite)?;
    truncate(&source)
}

fn has_table(db: &mut Db, name: &str) -> Read<bool> {
    db.exists(Sql::new("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").bind(name))
}

/// Checks indexes against their tables, and every foreign key.
fn expect_integrity(db: &mut Db) -> Read<()> {
    let text = |db: &mut Db, pragma: &'static str| {
        db.first(Sql::new(pragma), |row| row.text().map_err(StorageError::Failed))
    };
    let check_result = text(db, "PRAGMA integrity_check(1)")?.flatten().unwrap_or_default();
    if check_result != "ok" {
        return Err(StorageError::Failed(format!("it is damaged: {check_result}")));
    }
    match text(db, "PRAGMA foreign_key_check")?.flatten() {
        None => Ok(()),
        Some(table) => {
            Err(StorageError::Failed(format!("it is damaged: a row of {table} refers to a missing row")))
        }
    }
}

/// Counts the rows of every table, except those of SQLite and diesel.
fn count_rows(db: &mut Db) -> Read<Vec<(String, u64)>> {
    let names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*' \
                 AND name <> '__diesel_schema_migrations' ORDER BY name";
    let names = db.rows(Sql::new(names), |row| row.text().map_err(StorageError::Failed))?;
    let count = |name: String| {
        let rows = db.number(Sql::new(format!("SELECT count(*) FROM {name}")))?.unsigned_abs();
        Ok((name, rows))
    };
    names.into_iter().flatten().map(count).collect()
}

/// Flushes the file and its directory entry to the disk.
fn sync(file: &Path) -> Read<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    for path in [file, folder] {
        File::open(path).and_then(|opened| opened.sync_all()).map_err(|error| unreadable(path, &error))?;
    }
    Ok(())
}

fn as_text(path: &Path) -> Read<&str> {
    path.to_str().ok_or_else(|| StorageError::Failed(format!("{} is not Unicode", path.display())))
}

fn unreadable(path: &Path, error: &std::io::Error) -> StorageError {
    StorageError::Unavailable(format!("cannot use {}: {error}", path.display()))
}
