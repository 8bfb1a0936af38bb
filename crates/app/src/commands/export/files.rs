//! The files of an export while rows are appended.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use candor_domain::export::ExportedResource;
use candor_domain::fields::StringEnum;
use ring::digest::{Context, SHA256};
use serde_json::value::RawValue;

use super::cell;
use super::failure::ExportFailure;
use super::manifest::{FileEntry, Manifest, PART};
use crate::cli::ExportFormat;
use crate::error::Error;
use crate::private_file::OWNER_ONLY;

/// Size of the reads with which the digest of an existing file is computed again.
const BLOCK_BYTES: usize = 64 * 1024;

/// Open files by the type of their rows.
pub(super) struct ExportFiles {
    format: ExportFormat,
    by_type: BTreeMap<&'static str, OpenFile>,
}

struct OpenFile {
    resource: ExportedResource,
    path: PathBuf,
    writer: BufWriter<File>,
    digest: Context,
    entry: FileEntry,
}

impl ExportFiles {
    /// Opens the files of a manifest behind the bytes that it lists, and removes later bytes. `is_part` selects
    /// the temporary names.
    ///
    /// # Errors
    /// [`Error::Io`]; [`ExportFailure::DamagedFile`] if a file is shorter than listed.
    pub(super) fn open(folder: &Path, manifest: &Manifest, is_part: bool) -> Result<Self, Error> {
        let mut by_type = BTreeMap::new();
        for resource in manifest.resources() {
            let Some(entry) = manifest.files.get(resource.word()) else { continue };
            let name = if is_part { format!("{}{PART}", entry.file) } else { entry.file.clone() };
            let file = OpenFile::open(resource, folder.join(name), entry.clone())?;
            by_type.insert(resource.line_type(), file);
        }
        Ok(Self { format: manifest.format, by_type })
    }

    /// Appends a row of this type. Rows of other types are ignored.
    ///
    /// # Errors
    /// [`Error::Io`]; [`ExportFailure::Unreadable`] if the row is no object.
    pub(super) fn append(&mut self, kind: &str, row: &RawValue) -> Result<(), Error> {
        let format = self.format;
        self.by_type.get_mut(kind).map_or(Ok(()), |file| file.append(format, row))
    }

    /// Writes all rows to the files, and their sizes and digests to the manifest.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn save(&mut self, manifest: &mut Manifest) -> Result<(), Error> {
        for file in self.by_type.values_mut() {
            let saved = file.writer.flush().and_then(|()| file.writer.get_ref().sync_data());
            saved.map_err(Error::io("write", &file.path))?;
            let digest = file.digest.clone().finish();
            file.entry.sha256 = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
            manifest.files.insert(file.resource.word().to_owned(), file.entry.clone());
        }
        Ok(())
    }
}

impl OpenFile {
    fn open(resource: ExportedResource, path: PathBuf, entry: FileEntry) -> Result<Self, Error> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).mode(OWNER_ONLY).open(&path);
        let file = file.map_err(Error::io("open", &path))?;
        let size = file.metadata().map_err(Error::io("read", &path))?.len();
        if size < entry.bytes {
            let reason = format!("it has {size} bytes instead of {}", entry.bytes);
            return Err(ExportFailure::DamagedFile { path, reason }.into());
        }
        file.set_len(entry.bytes).map_err(Error::io("write", &path))?;
        let digest = digest_of(&file).map_err(Error::io("read", &path))?;
        let mut writer = BufWriter::new(file);
        writer.seek(SeekFrom::End(0)).map_err(Error::io("read", &path))?;
        Ok(Self { resource, path, writer, digest, entry })
    }

    fn append(&mut self, format: ExportFormat, row: &RawValue) -> Result<(), Error> {
        let text = match format {
            ExportFormat::Ndjson => format!("{}\n", row.get()),
            ExportFormat::Csv => cell::lines(row, &mut self.entry.columns).map_err(ExportFailure::unreadable)?,
        };
        self.digest.update(text.as_bytes());
        self.entry.rows += 1;
        self.entry.bytes += text.len() as u64;
        self.writer.write_all(text.as_bytes()).map_err(Error::io("write", &self.path))
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
