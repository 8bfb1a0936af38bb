//! The files of an export while rows are appended.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use candor_domain::fields::StringEnum;
use ring::digest::{Context, SHA256};
use rustix::fs::OFlags;
use serde_json::value::RawValue;

use super::cell;
use super::failure::ExportError;
use super::manifest::{FileEntry, Manifest, PART};
use crate::arguments::ExportFormat;
use crate::error::CommandError;
use crate::private_file::OWNER_ONLY;

/// Name of the file with the removed ids. The file is created when something is removed for the first time.
pub(super) const REMOVED: &str = "removed";
/// Size of each read, in bytes, while the digest of an existing file is computed again.
const BLOCK_BYTES: usize = 64 * 1024;

/// Open files by the type of their rows.
pub(super) struct ExportFiles {
    format: ExportFormat,
    by_type: BTreeMap<&'static str, OpenFile>,
}

struct OpenFile {
    /// Name of the file in the manifest.
    word: &'static str,
    path: PathBuf,
    writer: BufWriter<File>,
    digest: Context,
    entry: FileEntry,
}

impl ExportFiles {
    /// Opens the files of a manifest behind the bytes that the manifest lists, and removes later bytes. `is_part`
    /// selects the temporary names.
    ///
    /// # Errors
    /// [`CommandError::Io`]; [`ExportError::DamagedFile`] if a file is shorter than listed.
    pub(super) fn open(folder: &Path, manifest: &Manifest, is_part: bool) -> Result<Self, CommandError> {
        let mut by_type = BTreeMap::new();
        let resources = manifest.resources().map(|resource| (resource.word(), resource.line_type()));
        for (word, line_type) in resources.chain([(REMOVED, REMOVED)]) {
            let Some(entry) = manifest.files.get(word) else { continue };
            let name = if is_part { format!("{}{PART}", entry.file) } else { entry.file.clone() };
            by_type.insert(line_type, OpenFile::open(word, folder.join(name), entry.clone())?);
        }
        Ok(Self { format: manifest.format, by_type })
    }

    /// Appends a row of this type. Rows of other types are ignored.
    ///
    /// # Errors
    /// [`CommandError::Io`]; [`ExportError::Unreadable`] if the row is no object.
    pub(super) fn append(&mut self, kind: &str, row: &RawValue) -> Result<(), CommandError> {
        let Some(file) = self.by_type.get_mut(kind) else { return Ok(()) };
        let text = match self.format {
            ExportFormat::Ndjson => format!("{}\n", row.get()),
            ExportFormat::Csv => cell::write(row, &mut file.entry.columns).map_err(ExportError::unreadable)?,
        };
        file.append(&text)
    }

    /// Appends the line of a row as it is.
    ///
    /// # Errors
    /// [`CommandError::Io`].
    pub(super) fn append_line(&mut self, kind: &str, line: &str) -> Result<(), CommandError> {
        self.by_type.get_mut(kind).map_or(Ok(()), |file| file.append(line))
    }

    /// Writes all rows to the files, and their sizes and digests to the manifest.
    ///
    /// # Errors
    /// [`CommandError::Io`].
    pub(super) fn save(&mut self, manifest: &mut Manifest) -> Result<(), CommandError> {
        for file in self.by_type.values_mut() {
            let save_result = file.writer.flush().and_then(|()| file.writer.get_ref().sync_data());
            save_result.map_err(CommandError::io("write", &file.path))?;
            let digest = file.digest.clone().finish();
            file.entry.sha256 = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
            manifest.files.insert(file.word.to_owned(), file.entry.clone());
        }
        Ok(())
    }
}

impl OpenFile {
    fn open(word: &'static str, path: PathBuf, entry: FileEntry) -> Result<Self, CommandError> {
        let mut options = OpenOptions::new();
        let file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(OWNER_ONLY)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(&path);
        let file = file.map_err(CommandError::io("open", &path))?;
        let size = file.metadata().map_err(CommandError::io("read", &path))?.len();
        if size < entry.bytes {
            let reason = format!("the file has {size} bytes instead of {}", entry.bytes);
            return Err(ExportError::DamagedFile { path, reason }.into());
        }
        file.set_len(entry.bytes).map_err(CommandError::io("write", &path))?;
        let digest = digest_of(&file).map_err(CommandError::io("read", &path))?;
        let mut writer = BufWriter::new(file);
        writer.seek(SeekFrom::End(0)).map_err(CommandError::io("read", &path))?;
        Ok(Self { word, path, writer, digest, entry })
    }

    /// Appends a row. The first row of a CSV file follows the names of the columns.
    fn append(&mut self, text: &str) -> Result<(), CommandError> {
        if self.entry.bytes == 0 && !self.entry.columns.is_empty() {
            let names = cell::names(&self.entry.columns);
            self.append_text(&names)?;
        }
        self.entry.rows += 1;
        self.append_text(text)
    }

    fn append_text(&mut self, text: &str) -> Result<(), CommandError> {
        self.digest.update(text.as_bytes());
        self.entry.bytes += text.len() as u64;
        self.writer.write_all(text.as_bytes()).map_err(CommandError::io("write", &self.path))
    }
}

/// Returns the digest of a file up to its end.
fn digest_of(file: &File) -> std::io::Result<Context> {
    let (mut digest, mut reader) = (Context::new(&SHA256), BufReader::new(file));
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let read = reader.read(&mut block)?;
        if read == 0 {
            return Ok(digest);
        }
        digest.update(&block[..read]);
    }
}
