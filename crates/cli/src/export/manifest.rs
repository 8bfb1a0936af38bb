//! The file `manifest.json` of a complete export, and the state of an unfinished one.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use candor_domain::export::ExportedResource;
use candor_domain::fields::StringEnum;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::failure::ExportError;
use super::files::REMOVED;
use crate::arguments::ExportFormat;
use crate::error::CommandError;
use crate::private_file::OWNER_ONLY;

/// File that describes a complete export.
const MANIFEST: &str = "manifest.json";
/// File with the state of an unfinished export.
const UNFINISHED: &str = "manifest.json.part";
/// Ending of the temporary name of a file.
pub(super) const PART: &str = ".part";

/// Description of the files of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// Time when the export began.
    pub(super) started_at: String,
    /// Cursor of `GET /events`: the files, with every event from this cursor on, are the current data.
    pub(super) cursor: String,
    pub(super) format: ExportFormat,
    /// The exported files by resource.
    pub(super) files: BTreeMap<String, FileEntry>,
}

/// One file of an export.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileEntry {
    /// Name of the file in the folder.
    pub(super) file: String,
    /// Number of rows in the file.
    pub(super) rows: u64,
    /// Size of the file in bytes.
    pub(super) bytes: u64,
    /// SHA-256 of the content in hexadecimal digits.
    pub(super) sha256: String,
    /// Columns of a CSV file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) columns: Vec<String>,
}

impl Manifest {
    /// Reads the manifest of a complete export, if there is one.
    ///
    /// # Errors
    /// [`CommandError::Io`]; [`ExportError::DamagedFile`].
    pub(super) fn read(folder: &Path) -> Result<Option<Self>, CommandError> {
        let path = folder.join(MANIFEST);
        read::<Self>(&path)?.map(|manifest| manifest.check_names(&path)).transpose()
    }

    /// Returns the manifest if its files have the names that this command gives them, so that the command writes
    /// to no other file.
    fn check_names(self, path: &Path) -> Result<Self, CommandError> {
        let is_own = |(word, entry): (&String, &FileEntry)| {
            let format = if word == REMOVED { ExportFormat::Ndjson } else { self.format };
            let is_known = word == REMOVED || ExportedResource::from_word(word).is_ok();
            is_known && entry.file == format!("{word}.{}", format.file_ending())
        };
        match self.files.iter().all(is_own) {
            true => Ok(self),
            false => {
                let reason = "the manifest names other files than those of an export".to_owned();
                Err(ExportError::DamagedFile { path: path.to_owned(), reason }.into())
            }
        }
    }

    /// Replaces the manifest of a complete export.
    ///
    /// # Errors
    /// [`CommandError::Io`].
    pub(super) fn write(&self, folder: &Path) -> Result<(), CommandError> {
        write(self, &folder.join(MANIFEST))
    }

    /// Returns `true` if this is an export of these resources in this format.
    pub(super) fn is_of(&self, resources: &[ExportedResource], format: ExportFormat) -> bool {
        self.format == format && self.resources().eq(resources.iter().copied())
    }

    /// Returns the exported resources, in the order of the lines.
    pub(super) fn resources(&self) -> impl Iterator<Item = ExportedResource> {
        ExportedResource::ALL.iter().copied().filter(|resource| self.files.contains_key(resource.word()))
    }

    /// Returns the number of rows of all files.
    pub(super) fn rows(&self) -> u64 {
        self.files.values().map(|file| file.rows).sum()
    }
}

/// State of an export at its last checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UnfinishedExport {
    /// Cursor of the last checkpoint.
    pub(super) cursor: Option<String>,
    /// `true` if all rows are in the files and only the names are temporary.
    pub(super) is_complete: bool,
    /// Files at the checkpoint; later bytes are not part of them.
    pub(super) manifest: Manifest,
}

impl UnfinishedExport {
    /// Creates the state of an export without rows.
    pub(super) fn new(resources: &[ExportedResource], format: ExportFormat) -> Self {
        let file = |resource: &ExportedResource| {
            let file = format!("{}.{}", resource.word(), format.file_ending());
            (resource.word().to_owned(), FileEntry { file, ..FileEntry::default() })
        };
        let files = resources.iter().map(file).collect();
        let manifest = Manifest { started_at: String::new(), cursor: String::new(), format, files };
        Self { cursor: None, is_complete: false, manifest }
    }

    /// Creates the state in which the files of a complete export are written anew, with a file for the removed ids.
    pub(super) fn begin_rewrite(complete: &Manifest) -> Self {
        let mut manifest = complete.clone();
        let removal_file = FileEntry {
            file: format!("{REMOVED}.{}", ExportFormat::Ndjson.file_ending()),
            ..FileEntry::default()
        };
        manifest.files.entry(REMOVED.to_owned()).or_insert(removal_file);
        for entry in manifest.files.values_mut() {
            (entry.rows, entry.bytes) = (0, 0);
        }
        Self { cursor: None, is_complete: true, manifest }
    }

    /// Reads the state of an unfinished export, if there is one.
    ///
    /// # Errors
    /// [`CommandError::Io`]; [`ExportError::DamagedFile`].
    pub(super) fn read(folder: &Path) -> Result<Option<Self>, CommandError> {
        let path = folder.join(UNFINISHED);
        let Some(partial_export) = read::<Self>(&path)? else { return Ok(None) };
        Ok(Some(Self { manifest: partial_export.manifest.check_names(&path)?, ..partial_export }))
    }

    /// Replaces the stored state.
    ///
    /// # Errors
    /// [`CommandError::Io`].
    pub(super) fn write(&self, folder: &Path) -> Result<(), CommandError> {
        write(self, &folder.join(UNFINISHED))
    }

    /// Gives the files of a complete export their final names. Skips files that an interrupted earlier call has
    /// renamed.
    ///
    /// # Errors
    /// [`CommandError::Io`].
    pub(super) fn finish(&self, folder: &Path) -> Result<(), CommandError> {
        for entry in self.manifest.files.values() {
            let (part, path) = (folder.join(format!("{}{PART}", entry.file)), folder.join(&entry.file));
            match fs::rename(&part, &path) {
                Err(error) if error.kind() != ErrorKind::NotFound || !path.exists() => {
                    return Err(CommandError::io("rename", &part)(error));
                }
                _ => {}
            }
        }
        self.manifest.write(folder)?;
        let state = folder.join(UNFINISHED);
        fs::remove_file(&state).map_err(CommandError::io("remove", &state))
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, CommandError> {
    let text = match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        read => read.map_err(CommandError::io("read", path))?,
    };
    let to_error =
        |error: serde_json::Error| ExportError::DamagedFile { path: path.to_owned(), reason: error.to_string() };
    Ok(Some(serde_json::from_slice(&text).map_err(to_error)?))
}

/// Writes a file under another name and renames it, so that a crash leaves the old or the new content.
fn write(value: &impl Serialize, path: &Path) -> Result<(), CommandError> {
    let new = path.with_extension("new");
    let text = serde_json::to_vec_pretty(value)
        .map_err(|error| CommandError::Defect { what: "describe the export", reason: error.to_string() })?;
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(OWNER_ONLY).open(&new);
    let write_result = file.and_then(|mut file| file.write_all(&text).and_then(|()| file.sync_all()));
    write_result.and_then(|()| fs::rename(&new, path)).map_err(CommandError::io("write", path))
}
