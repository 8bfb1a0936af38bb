//! A lock that admits one serving process per embedded database, because a process caches rows that no other
//! process may change.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::config::DatabaseUrl;
use crate::error::{CommandFailure, IoFailure};
use crate::private_file;

/// Suffix of the lock file. The file stays when the process ends; the system releases the lock on it in any
/// case.
const SUFFIX: &str = ".serving";

/// Failure to take the lock.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LockFailure {
    /// Another process serves the embedded database.
    #[error(
        "another process{} serves {database}; stop it first, or use PostgreSQL, which any number of processes may share",
        named(.process)
    )]
    AlreadyServed {
        /// Path of the database.
        database: String,
        /// The other process's id; empty if it is unknown.
        process: String,
    },
    /// The lock file cannot be used.
    #[error(transparent)]
    Io(#[from] IoFailure),
}

impl CommandFailure for LockFailure {}

fn named(process: &str) -> String {
    if process.is_empty() { String::new() } else { format!(" (process {process})") }
}

/// Lock of the process that serves, copies or restores an embedded database. Other commands do not take it.
#[derive(Debug)]
pub(crate) struct ServingLock(#[expect(dead_code, reason = "the lock lasts as long as the file is open")] File);

impl ServingLock {
    /// Takes the lock. Returns `None` for a server, which any number of processes may share.
    ///
    /// # Errors
    /// [`LockFailure::AlreadyServed`]; [`LockFailure::Io`] if the file cannot be created.
    pub(crate) fn take(database: &DatabaseUrl) -> Result<Option<Self>, LockFailure> {
        let DatabaseUrl::Sqlite(path) = database else { return Ok(None) };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            private_file::create_folder(folder).map_err(IoFailure::during("make the folder", folder))?;
        }
        let path = beside(path);
        let mut options = OpenOptions::new();
        let opened = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        let mut file = opened.map_err(IoFailure::during("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut process = String::new();
                // The process id is only for the error message, so a failed read is ignored.
                let _ = file.read_to_string(&mut process);
                let (database, process) = (database.masked(), process.trim().to_owned());
                return Err(LockFailure::AlreadyServed { database, process });
            }
            Err(TryLockError::Error(error)) => return Err(IoFailure::during("lock", &path)(error).into()),
        }
        let written = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        written.map_err(IoFailure::during("write", &path))?;
        Ok(Some(Self(file)))
    }
}

/// Returns the path of the lock file, which is the same for every path to the database.
fn beside(path: &Path) -> PathBuf {
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
        let held = ServingLock::take(&database).unwrap();
        for again in [&database, &linked] {
            let refused = ServingLock::take(again).unwrap_err().to_string();
            assert!(refused.contains(&format!("process {}", std::process::id())), "{refused}");
        }
        drop(held);
        assert!(ServingLock::take(&linked).unwrap().is_some());
        fs::remove_dir_all(&folder).unwrap();
    }
}
