//! Files of a database. Only their owner may read them, because they hold personal data.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use candor_port_storage::StorageError;

use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};

/// Permissions of a file: read and write for its owner only.
const OWNER_ONLY: u32 = 0o600;
/// Permissions of a folder: its owner only.
const OWNERS_FOLDER: u32 = 0o700;
/// Permission bits of group and others.
const OTHERS: u32 = 0o077;
/// Suffixes of the files that SQLite keeps beside a database. It creates them with the permissions of the
/// database.
const BESIDE: [&str; 2] = ["-wal", "-shm"];

/// Creates the folder and the file of a database if they do not exist, and removes the permissions of group
/// and others. Call it before SQLite opens the file: SQLite would create it with the default permissions of
/// the process.
pub(crate) fn make_private(path: &Path) -> Result<(), StorageError> {
    let cannot = |what: &str, path: &Path| {
        let what = format!("cannot {what} {}", path.display());
        move |error: io::Error| StorageError::Unavailable(format!("{what}: {error}"))
    };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        folder_builder().create(folder).map_err(cannot("create", folder))?;
    }
    match new_file().open(path) {
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(cannot("create", path)(error)),
    }
    let companion_paths = BESIDE.map(|suffix| PathBuf::from(format!("{}{suffix}", path.display())));
    [path.to_owned()].iter().chain(&companion_paths).for_each(|path| close_to_others(path));
    Ok(())
}

/// Creates an empty file that only its owner may read and write.
pub(crate) fn create_private(path: &Path) -> Result<(), StorageError> {
    let to_error = |error| StorageError::Unavailable(format!("cannot create {}: {error}", path.display()));
    new_file().open(path).map(drop).map_err(to_error)
}

fn folder_builder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(OWNERS_FOLDER);
    builder
}

fn new_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(OWNER_ONLY);
    options
}

/// Removes the permissions of group and others. A failure is only logged: the file of another owner can still
/// be used.
fn close_to_others(path: &Path) {
    let Ok(file_metadata) = fs::metadata(path) else { return };
    let mode = file_metadata.permissions().mode();
    if !file_metadata.is_file() || mode & OTHERS == 0 {
        return;
    }
    match fs::set_permissions(path, Permissions::from_mode(mode & !OTHERS & 0o7777)) {
        Ok(()) => tracing::info!(
            path = %path.display(),
            "restricted a file to its owner; other users could read the file"
        ),
        Err(error) => tracing::warn!(
            path = %path.display(), %error,
            "cannot restrict a file that other users can read; run `chmod 600` on the file"
        ),
    }
}
