//! Keeps the files of a complete export current: appends the state of each changed resource, and removes the rows
//! that the service removed.

use std::path::Path;

use candor_client::{Candor, ChangesOptions};

use super::files::ExportFiles;
use super::manifest::Manifest;
use super::removal;
use crate::error::CommandError;
use crate::remote::RemoteError;

/// Follows the feed from the cursor of the manifest, without an end. With `folds`, files that are written anew keep
/// only one line of each id.
///
/// # Errors
/// A refusal of the service, such as of a cursor that is older than the feed; files that cannot be read or written.
pub(super) async fn run(
    candor: &Candor,
    folder: &Path,
    mut manifest: Manifest,
    folds: bool,
) -> Result<(), CommandError> {
    let mut files = ExportFiles::open(folder, &manifest, false)?;
    let mut changes = candor.changes(ChangesOptions::new().cursor(manifest.cursor.clone()));
    loop {
        let batch = changes.next().await.map_err(RemoteError::naming_request("follow the events"))?;
        for row in &batch.upserts {
            files.append(row.row_type, &row.data)?;
        }
        if let Some(cursor) = batch.cursor {
            manifest.cursor = cursor;
        }
        files.save(&mut manifest)?;
        if batch.removals.is_empty() {
            manifest.write(folder)?;
        } else {
            drop(files);
            removal::rewrite(folder, &mut manifest, &batch.removals, folds)?;
            files = ExportFiles::open(folder, &manifest, false)?;
        }
    }
}
