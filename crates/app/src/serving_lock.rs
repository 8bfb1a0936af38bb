//! A lock that admits one serving process per embedded database, because a process caches rows that no other
//! process may change.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use candor_cli::error::{CommandFailure, IoError};
use candor_cli::private_file;
use candor_settings::DatabaseUrl;

/// Suffix of the lock file. The file stays when the process ends; the system releases the lock on it in any
/// case.
const SUFFIX: &str = ".serving";

/// Failure to take the lock.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LockError {
    /// Another process serves the embedded database.
    #[error(
        "another process{} serves {database}; stop it first, or use PostgreSQL, which any number of processes may share",
        describe_process(.process)
    )]
    AlreadyServed {
        /// Path of the database.
        database: String,
        /// The other process's id; empty if it is unknown.
        process: String,
    },
    /// The database file has several names, each of which would have a write-ahead log of its own.
    #[error(
        "{} has {links} names (hard links), and changes through one name would be lost through another; copy \
         the database with `candor backup`, and remove the other names", .path.display()
    )]
    Linked {
        /// Path of the database.
        path: PathBuf,
        /// Number of names.
        links: u64,
    },
    /// The lock file cannot be used.
    #[error(transparent)]
    Io(#[from] IoError),
}

impl CommandFailure for LockError {}

fn describe_process(process: &str) -> String {
    if process.is_empty() { String::new() } else { format!(" (process {process})") }
}

/// Lock of the process that serves, copies or restores an embedded database, or applies a ledger to it. Other
/// commands do not take the lock.
///
/// The file beside the database names the process, and its lock is the only one until the database exists. The
/// lock on the database itself also holds for other names and mounts of the database. That lock is of another kind
/// than the locks of SQLite. The database file must stay open as long as the process uses the database: closing it
/// would release the locks of SQLite.
#[derive(Debug)]
pub(crate) struct ServingLock {
    _beside: File,
    database: Option<File>,
}

impl ServingLock {
    /// Takes the lock. Returns `None` for a server, which any number of processes may share.
    ///
    /// # Errors
    /// [`LockError::AlreadyServed`]; [`LockError::Linked`]; [`LockError::Io`] if a file cannot be created or
    /// locked.
    pub(crate) fn take(database: &DatabaseUrl) -> Result<Option<Self>, LockError> {
        let DatabaseUrl::Sqlite(path) = database else { return Ok(None) };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            private_file::create_folder(folder).map_err(IoError::naming_operation("create the folder", folder))?;
        }
        let path = lock_file_path(path);
        let mut options = OpenOptions::new();
        let file_result = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        let mut file = file_result.map_err(IoError::naming_operation("open", &path))?;
        if !try_lock(&file, &path)? {
            let mut process = String::new();
            // The process id is only for the error message, so a failed read is ignored.
            let _ = file.read_to_string(&mut process);
            let (database, process) = (database.mask_password(), process.trim().to_owned());
            return Err(LockError::AlreadyServed { database, process });
        }
        let write_result = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        write_result.map_err(IoError::naming_operation("write", &path))?;
        let mut lock = Self { _beside: file, database: None };
        lock.hold(database)?;
        Ok(Some(lock))
    }

    /// Locks the database itself, if it exists and is not locked yet.
    ///
    /// # Errors
    /// Those of [`ServingLock::take`].
    pub(crate) fn hold(&mut self, database: &DatabaseUrl) -> Result<(), LockError> {
        let (DatabaseUrl::Sqlite(path), None) = (database, &self.database) else { return Ok(()) };
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(IoError::naming_operation("open", path)(error).into()),
        };
        let links = file.metadata().map_err(IoError::naming_operation("examine", path))?.nlink();
        if links > 1 {
            return Err(LockError::Linked { path: path.to_owned(), links });
        }
        if !try_lock(&file, path)? {
            return Err(LockError::AlreadyServed { database: database.mask_password(), process: String::new() });
        }
        self.database = Some(file);
        Ok(())
    }
}

/// Tries to lock a file. Returns `false` if another process has the lock.
fn try_lock(file: &File, path: &Path) -> Result<bool, LockError> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(IoError::naming_operation("lock", path)(error).into()),
    }
}

/// Returns the path of the lock file. Paths that lead to the database through symbolic links have the same lock
/// file.
fn lock_file_path(path: &Path) -> PathBuf {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut name = OsString::from(path);
    name.push(SUFFIX);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_is_exclusive_across_path_aliases() {
        let folder = std::env::temp_dir().join(format!("candor-serving-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (path, link) = (folder.join("candor.db"), folder.join("link.db"));
        fs::write(&path, "").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let (database, linked) = (DatabaseUrl::Sqlite(path), DatabaseUrl::Sqlite(link));
        let first_lock = ServingLock::take(&database).unwrap();
        for again in [&database, &linked] {
            let error = ServingLock::take(again).unwrap_err().to_string();
            assert!(error.contains(&format!("process {}", std::process::id())), "{error}");
        }
        drop(first_lock);
        assert!(ServingLock::take(&linked).unwrap().is_some());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn lock_is_on_the_database_itself() {
        let folder = std::env::temp_dir().join(format!("candor-inode-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("candor.db");
        let database = DatabaseUrl::Sqlite(path.clone());
        let mut first_lock = ServingLock::take(&database).unwrap().unwrap();
        fs::write(&path, "").unwrap();
        first_lock.hold(&database).unwrap();
        // Another mount of the file has the same inode and another folder.
        assert!(matches!(File::open(&path).unwrap().try_lock(), Err(TryLockError::WouldBlock)));
        drop(first_lock);
        let other_mount = File::open(&path).unwrap();
        other_mount.try_lock().unwrap();
        assert!(matches!(ServingLock::take(&database), Err(LockError::AlreadyServed { .. })));
        drop(other_mount);
        fs::hard_link(&path, folder.join("second.db")).unwrap();
        let error = ServingLock::take(&database).unwrap_err().to_string();
        assert!(error.contains("2 names"), "{error}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
