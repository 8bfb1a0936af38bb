//! A file that is written under a temporary name and renamed once it is complete and checked.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::failure::BackupError;
use candor_cli::private_file;

/// A temporary file of this process, removed on drop unless it was published.
pub(super) struct UnfinishedFile(PathBuf);

impl UnfinishedFile {
    /// Chooses the temporary name without creating the file.
    pub(super) fn new_beside(target: &Path) -> Self {
        Self(super::with_suffix(target, &format!(".{}.unfinished", std::process::id())))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Copies another file and flushes the copy.
    ///
    /// # Errors
    /// [`BackupError::File`].
    pub(super) fn fill_from(&self, source: &Path) -> Result<(), BackupError> {
        let mut from = File::open(source).map_err(BackupError::file("read", source))?;
        let mut copy = private_file::create_new(&self.0).map_err(BackupError::file("create", &self.0))?;
        let copy_result = io::copy(&mut from, &mut copy).and_then(|_| copy.sync_all());
        copy_result.map_err(BackupError::file("write", &self.0))
    }

    /// Renames the file to its final name. A file that already has this name is not replaced.
    ///
    /// # Errors
    /// [`BackupError::FileExists`], [`BackupError::File`].
    pub(super) fn publish(self, target: &Path) -> Result<(), BackupError> {
        // Reserves the name: a rename alone would replace an existing file, and some file systems have no hard
        // links.
        match private_file::create_new(target) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(BackupError::FileExists(target.to_owned()));
            }
            Err(error) => return Err(BackupError::file("create", target)(error)),
        }
        let rename_result = fs::rename(&self.0, target).and_then(|()| private_file::sync_folder(target));
        rename_result.map_err(BackupError::file("write", target))
    }
}

impl Drop for UnfinishedFile {
    fn drop(&mut self) {
        // Errors are ignored: a published file is renamed, and the name of a leftover shows that it is unfinished.
        drop(fs::remove_file(&self.0));
    }
}

/// Refuses an existing target before the work of copying.
///
/// # Errors
/// [`BackupError::FileExists`].
pub(super) fn expect_none(path: &Path) -> Result<(), BackupError> {
    if private_file::is_there(path) { Err(BackupError::FileExists(path.to_owned())) } else { Ok(()) }
}
