//! Files and folders that only their owner can read, such as the generated master key, profiles with API keys and the
//! folder of an export.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Mode of a file that only its owner can read and write.
pub const OWNER_ONLY: u32 = 0o600;
/// Mode of a folder that only its owner can enter, because it holds personal data.
const OWNERS_FOLDER: u32 = 0o700;

/// Creates a folder unless it exists.
///
/// # Errors
/// The error of the operating system.
pub fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(OWNERS_FOLDER).create(path)
}

/// Returns the permission bits of group and other users on a folder; 0 if it has none or does not exist.
pub fn open_to_others(folder: &Path) -> u32 {
    fs::metadata(folder).map_or(0, |metadata| metadata.permissions().mode() & 0o077)
}

/// Returns `true` if the mode of a file has any bit of `mask`. A missing file has none.
pub fn grants(path: &Path, mask: u32) -> bool {
    fs::metadata(path).is_ok_and(|found| found.permissions().mode() & mask != 0)
}

/// Returns `true` if the path exists; a dangling symbolic link counts as existing.
pub fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Creates an empty file that only its owner can read and write.
///
/// # Errors
/// The error of the operating system, such as `AlreadyExists`.
pub fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(path)
}

/// Returns the text of a file, or `None` if it does not exist.
///
/// # Errors
/// The error of the operating system, if the file exists but cannot be read.
pub fn read(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Creates a file atomically and durably, unless it exists because another process has just created it. Returns
/// the text of the file that exists then.
///
/// # Errors
/// The error of the operating system.
pub fn create(path: &Path, text: &str) -> io::Result<String> {
    let partial_file = write_beside(path, text)?;
    let link_result = fs::hard_link(&partial_file, path);
    fs::remove_file(&partial_file)?;
    match link_result {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(()) | Err(_) => {
            sync_folder(path)?;
            fs::read_to_string(path)
        }
    }
}

/// Creates or replaces a file atomically.
///
/// # Errors
/// The error of the operating system.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let partial_file = write_beside(path, text)?;
    fs::rename(&partial_file, path)?;
    sync_folder(path)
}

fn write_beside(path: &Path, text: &str) -> io::Result<std::path::PathBuf> {
    let partial_file = path.with_extension(format!("{}.unfinished", std::process::id()));
    match fs::remove_file(&partial_file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = create_new(&partial_file)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    Ok(partial_file)
}

/// Flushes the folder of a file, so that the file's name is durable.
///
/// # Errors
/// The error of the operating system.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_file_is_owner_only_and_keeps_its_first_text() {
        let path = std::env::temp_dir().join(format!("candor-private-{}", std::process::id()));
        assert_eq!(read(&path).unwrap(), None);
        assert_eq!(create(&path, "one").unwrap(), "one");
        assert_eq!(create(&path, "two").unwrap(), "one");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        replace(&path, "three").unwrap();
        assert_eq!(read(&path).unwrap().as_deref(), Some("three"));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::remove_file(&path).unwrap();
    }
}
