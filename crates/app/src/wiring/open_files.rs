//! Folders and files of the service that other users of the machine can read.

use std::path::{Path, PathBuf};

use candor_cli::private_file;

use super::master_key_file;
use candor_settings::{Config, DatabaseUrl};

/// Returns the folders of the embedded database and its master key that group or other users can access. Candor
/// creates these folders with mode 0700, so another program has created them or changed their mode.
pub(crate) fn open_folders(config: &Config) -> Vec<PathBuf> {
    let DatabaseUrl::Sqlite(database) = &config.database else { return vec![] };
    let parent_folder =
        database.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut folders = vec![parent_folder.to_owned()];
    if parent_folder != config.data_dir {
        folders.push(config.data_dir.clone());
    }
    folders.retain(|folder| private_file::open_to_others(folder) != 0);
    folders
}

/// A file with secrets that other users can read.
pub(crate) struct OpenFile {
    pub(crate) path: PathBuf,
    /// Shell command that removes the access of other users.
    pub(crate) remedy: String,
}

/// Returns files with secrets that other users can read: a generated master key with a mode wider than 0600, and a
/// configuration file with secrets that users outside its group can read.
pub(crate) fn open_files(config: &Config) -> Vec<OpenFile> {
    /// Permission bits of group and other users.
    const GROUP_AND_OTHERS: u32 = 0o077;
    /// Permission bits of users outside the group. Packages install the configuration file with a group of its
    /// own.
    const OTHERS: u32 = 0o007;
    let mut files = vec![];
    if config.master_key.is_none() && matches!(config.database, DatabaseUrl::Sqlite(_)) {
        files.push((master_key_file(config), GROUP_AND_OTHERS, "chmod 600"));
    }
    files.extend(config.file_with_secrets.iter().map(|path| (path.clone(), OTHERS, "chmod o-rwx")));
    files.retain(|(path, mask, _)| private_file::grants(path, *mask));
    files
        .into_iter()
        .map(|(path, _, close)| OpenFile { remedy: format!("{close} {}", path.display()), path })
        .collect()
}
