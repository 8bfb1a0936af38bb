//! The files of a database, which only their owner may read: they are about people.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use candor_port_storage::StorageError;

use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};

/// Read and written by its owner, by nobody else.
const OWNER_ONLY: u32 = 0o600;
/// The same for a folder.
const OWNERS_FOLDER: u32 = 0o700;
/// What others than the owner may do.
const OTHERS: u32 = 0o077;
/// What SQLite keeps beside a database. It gives new ones the permissions of the database.
const BESIDE: [&str; 2] = ["-wal", "-shm"];

/// Makes the folder and the file of a database, unless they are there, and takes the file from everybody but its owner.
/// It comes before SQLite opens it: that would make what is missing as open as the process makes any file.
pub(crate) fn make_private(path: &Path) -> Result<(), StorageError> {
    let cannot = |what: &str, path: &Path| {
        let what = format!("cannot {what} {}", path.display());
        move |it: io::Error| StorageError::Unavailable(format!("{what}: {it}"))
    };
    if let Some(folder) = path.parent().filter(|it| !it.as_os_str().is_empty()) {
        folder_builder().create(folder).map_err(cannot("make", folder))?;
    }
    match new_file().open(path) {
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(cannot("make", path)(error)),
    }
    let beside = BESIDE.map(|it| PathBuf::from(format!("{}{it}", path.display())));
    [path.to_owned()].iter().chain(&beside).for_each(|it| close_to_others(it));
    Ok(())
}

/// Creates an empty file that only its owner may read and write.
pub(crate) fn create_private(path: &Path) -> Result<(), StorageError> {
    let failed = |error| StorageError::Unavailable(format!("cannot create {}: {error}", path.display()));
    new_file().open(path).map(drop).map_err(failed)
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

/// A file of somebody else cannot be changed, and can be used all the same.
fn close_to_others(path: &Path) {
    let Ok(found) = fs::metadata(path) else { return };
    let mode = found.permissions().mode();
    if !found.is_file() || mode & OTHERS == 0 {
        return;
    }
    match fs::set_permissions(path, Permissions::from_mode(mode & !OTHERS & 0o7777)) {
        Ok(()) => tracing::info!(path = %path.display(), "others could read this file; now its owner alone can"),
        Err(error) => tracing::warn!(
            path = %path.display(), %error,
            "others can read this file, and that cannot be changed: take the permissions from them"
        ),
    }
}
