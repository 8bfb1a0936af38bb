//! Writes the files of an export anew without the rows that the service removed.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use candor_client::{Removal, RemovedRows};
use candor_domain::export::ExportedResource;
use candor_domain::fields::StringEnum;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::failure::ExportError;
use super::files::{ExportFiles, REMOVED};
use super::manifest::{FileEntry, Manifest, UnfinishedExport};
use super::{ExportFormat, cell};
use crate::error::CommandError;

/// Writes all files anew, without the removed rows, and lists the removed ids in the file `removed.ndjson`. With
/// `folds`, the files keep only the last state of each id. An interruption leaves the old files or the new ones.
///
/// # Errors
/// Files that cannot be read or written.
pub(super) fn rewrite(
    folder: &Path,
    manifest: &mut Manifest,
    removals: &[Removal],
    folds: bool,
) -> Result<(), CommandError> {
    let mut partial_export = UnfinishedExport::begin_rewrite(manifest);
    let mut files = ExportFiles::open(folder, &partial_export.manifest, true)?;
    let mut removed_rows = RemovedRowIds::read(folder, manifest)?;
    let mut resources: Vec<_> = manifest.resources().collect();
    // Conversations come last, because a conversation loses its title with the resource that it is about.
    resources.sort_by_key(|resource| *resource == ExportedResource::Conversations);
    for resource in resources {
        let Some(entry) = manifest.files.get(resource.word()) else { continue };
        let old = OldFile { format: manifest.format, entry, path: &folder.join(&entry.file) };
        old.copy(resource, &mut files, &mut removed_rows, removals, folds)?;
    }
    removed_rows.append_to(&mut files)?;
    files.save(&mut partial_export.manifest)?;
    partial_export.write(folder)?;
    partial_export.finish(folder)?;
    *manifest = partial_export.manifest;
    Ok(())
}

/// Returns `true` if a removal is about the data of this person.
fn is_about(removal: &Removal, id: &str) -> bool {
    matches!(&removal.rows, RemovedRows::AboutPerson(person) if person == id)
}

/// The removed ids: those of the file `removed.ndjson`, and new ones.
struct RemovedRowIds<'a> {
    lines: Vec<String>,
    /// The removal that removed each id.
    ids: BTreeMap<String, &'a Removal>,
}

impl<'a> RemovedRowIds<'a> {
    fn read(folder: &Path, manifest: &Manifest) -> Result<Self, CommandError> {
        let mut lines = vec![];
        if let Some(entry) = manifest.files.get(REMOVED) {
            let path = folder.join(&entry.file);
            let file = File::open(&path).map_err(CommandError::io("read", &path))?;
            for line in BufReader::new(file).lines() {
                lines.push(line.map_err(CommandError::io("read", &path))?);
            }
        }
        Ok(Self { lines, ids: BTreeMap::new() })
    }

    /// Notes a removed row. An id is noted once, although the files of the export have a line for each state of
    /// the row.
    fn add(&mut self, resource: ExportedResource, id: &str, removal: &'a Removal) {
        if self.ids.insert(id.to_owned(), removal).is_none() {
            let line = json!({"id": id, "type": resource.line_type(), "removed_at": removal.removed_at});
            self.lines.push(line.to_string());
        }
    }

    fn append_to(self, files: &mut ExportFiles) -> Result<(), CommandError> {
        self.lines.iter().try_for_each(|line| files.append_line(REMOVED, &format!("{line}\n")))
    }
}

/// A file before the removal.
struct OldFile<'a> {
    format: ExportFormat,
    entry: &'a FileEntry,
    path: &'a Path,
}

impl OldFile<'_> {
    /// Copies the rows that stay.
    fn copy<'a>(
        &self,
        resource: ExportedResource,
        files: &mut ExportFiles,
        removed: &mut RemovedRowIds<'a>,
        removals: &'a [Removal],
        folds: bool,
    ) -> Result<(), CommandError> {
        // Of an erased person, only the last row stays: the pseudonym, which was appended before the removal.
        let is_erased = |id: &str| removals.iter().any(|removal| is_about(removal, id));
        let has_person = resource == ExportedResource::Employees && !removals.is_empty();
        let last_states = if folds || has_person { self.last_states()? } else { HashMap::new() };
        self.for_each_row(|number, row| {
            let is_single = folds || has_person && is_erased(row.id());
            let is_last = !is_single || last_states.get(row.id()).is_none_or(|last| *last == number);
            let (id, before) = (row.id().to_owned(), row.value.clone());
            let mut current_row = Some(row.value);
            for removal in removals {
                // The rows on which this row depends are in files that were rewritten before.
                let is_removed = |id: &str| removed.ids.get(id).is_some_and(|by| std::ptr::eq(*by, removal));
                current_row = current_row
                    .and_then(|value| removal.apply_to(value))
                    .and_then(|value| removal.apply_to_dependent(value, is_removed));
                if current_row.is_none() {
                    removed.add(resource, &id, removal);
                    return Ok(());
                }
            }
            let Some(value) = current_row.filter(|_| is_last) else { return Ok(()) };
            let line = if value == before { row.line } else { self.line(&value)? };
            files.append_line(resource.line_type(), &line)
        })
    }

    /// Returns the row number of the last state of each id.
    fn last_states(&self) -> Result<HashMap<String, u64>, CommandError> {
        let mut last_states = HashMap::new();
        self.for_each_row(|number, row| {
            last_states.insert(row.id().to_owned(), number);
            Ok(())
        })?;
        Ok(last_states)
    }

    fn for_each_row(
        &self,
        mut take: impl FnMut(u64, OldRow) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        let file = File::open(self.path).map_err(CommandError::io("read", self.path))?;
        let to_error =
            |reason: String| CommandError::from(ExportError::DamagedFile { path: self.path.to_owned(), reason });
        match self.format {
            ExportFormat::Ndjson => {
                for (number, line) in (0..).zip(BufReader::new(file).lines()) {
                    let line = line.map_err(CommandError::io("read", self.path))?;
                    let value = serde_json::from_str(&line).map_err(|error| to_error(error.to_string()))?;
                    take(number, OldRow { value, line: format!("{line}\n") })?;
                }
            }
            ExportFormat::Csv => {
                let mut rows = csv::Reader::from_reader(BufReader::new(file));
                for (number, row) in (0..).zip(rows.records()) {
                    let row = row.map_err(|error| to_error(error.to_string()))?;
                    let (value, line) = cell::read(&row, &self.entry.columns);
                    take(number, OldRow { value, line })?;
                }
            }
        }
        Ok(())
    }

    fn line(&self, value: &Value) -> Result<String, CommandError> {
        match self.format {
            ExportFormat::Ndjson => Ok(format!("{value}\n")),
            ExportFormat::Csv => {
                let row = RawValue::from_string(value.to_string()).map_err(ExportError::unreadable)?;
                Ok(cell::write(&row, &mut self.entry.columns.clone()).map_err(ExportError::unreadable)?)
            }
        }
    }
}

/// A row of an exported file before the removal, with its line.
struct OldRow {
    value: Value,
    line: String,
}

impl OldRow {
    fn id(&self) -> &str {
        self.value["id"].as_str().unwrap_or_default()
    }
}
