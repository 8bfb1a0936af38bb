//! `candor export`: writes all resources of an organization to files, and keeps them current on demand.

mod cell;
mod failure;
mod files;
mod follow;
mod manifest;
mod removal;

use std::fs::{File, TryLockError};
use std::path::Path;
use std::pin::pin;

use candor_client::{Candor, ExportOptions};
use candor_domain::export::ExportedResource;
use candor_domain::fields::StringEnum;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::signal::unix::{SignalKind, signal};

use crate::arguments::{ExportCommand, ExportFormat};
use crate::error::CommandError;
use crate::output::{Output, table};
use crate::private_file;
use crate::remote::{Account, RemoteError};
use failure::ExportError;
use files::ExportFiles;
use manifest::{Manifest, UnfinishedExport};

/// Permission bits with which other users can exchange files of a folder.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// Name of the command in `User-Agent`.
const USER_AGENT: &str = concat!("candor-export/", env!("CARGO_PKG_VERSION"));
/// Template of the progress line.
const PROGRESS: &str = "{spinner} {human_pos} rows  {elapsed}";

/// A line of an export, with the row as it arrived.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    cursor: Option<String>,
    started_at: Option<String>,
    events_cursor: Option<String>,
}

/// Exports to files. With `--compact`, the files keep only the last state of each id. With `--follow`, follows the
/// feed and keeps the files current.
///
/// # Errors
/// A service that does not answer or refuses; a folder that has another export, is in use, or can be written by other
/// users; damaged files; [`ExportError::Interrupted`] by a signal.
pub(crate) async fn run(command: ExportCommand, output: Output) -> Result<(), CommandError> {
    let listen = |kind| signal(kind).map_err(CommandError::io("listen", "for signals"));
    let (mut interrupt, mut terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    let (follows, folder) = (command.follow, command.out.clone());
    let mut work = pin!(carry_out(command, output));
    let interruption = |signal, status| {
        // A signal is the normal end of a command that follows the feed, because the feed has no end.
        let is_following = follows && Manifest::read(&folder).is_ok_and(|manifest| manifest.is_some());
        if is_following { Ok(()) } else { Err(ExportError::Interrupted { signal, status }.into()) }
    };
    tokio::select! {
        done = &mut work => done,
        _ = interrupt.recv() => interruption("SIGINT", 130),
        _ = terminate.recv() => interruption("SIGTERM", 143),
    }
}

async fn carry_out(command: ExportCommand, output: Output) -> Result<(), CommandError> {
    let candor = Account::find(command.account)?.client(USER_AGENT)?;
    let folder = &*command.out;
    private_file::create_folder(folder).map_err(CommandError::io("create", folder))?;
    if private_file::open_to_others(folder) & WRITABLE_BY_OTHERS != 0 {
        return Err(ExportError::OpenFolder(folder.to_owned()).into());
    }
    let _lock = lock(folder)?;
    let mut resources = command.resources;
    if resources.is_empty() {
        resources = ExportedResource::ALL.to_vec();
    }
    resources.sort_unstable();
    resources.dedup();
    if command.follow {
        require_all_for_removals(&resources)?;
    }
    let complete = Manifest::read(folder)?;
    if let (Some(_), Some(rewritten)) = (&complete, UnfinishedExport::read(folder)?) {
        rewritten.finish(folder)?;
    }
    let mut manifest = match Manifest::read(folder)? {
        Some(_) if !command.follow && !command.compact => {
            return Err(ExportError::Complete(folder.to_owned()).into());
        }
        Some(manifest) if manifest.is_of(&resources, command.format) => manifest,
        Some(_) => return Err(ExportError::OtherExport(folder.to_owned()).into()),
        None => {
            let partial_export = UnfinishedExport::read(folder)?
                .unwrap_or_else(|| UnfinishedExport::new(&resources, command.format));
            if !partial_export.manifest.is_of(&resources, command.format) {
                return Err(ExportError::OtherExport(folder.to_owned()).into());
            }
            let manifest = export(&candor, folder, partial_export, output).await?;
            report(&manifest, output)?;
            manifest
        }
    };
    if command.compact {
        removal::rewrite(folder, &mut manifest, &[], true)?;
    }
    if command.follow { follow::run(&candor, folder, manifest, command.compact).await } else { Ok(()) }
}

/// Refuses a choice of resources without the further resources that tell which of the chosen rows are about an
/// erased person.
fn require_all_for_removals(resources: &[ExportedResource]) -> Result<(), ExportError> {
    let words = |all: Vec<ExportedResource>| all.iter().map(|one| one.word()).collect::<Vec<_>>().join(",");
    for resource in resources {
        let missing: Vec<_> =
            resource.depends_on().iter().filter(|other| !resources.contains(other)).copied().collect();
        if !missing.is_empty() {
            return Err(ExportError::MissingResources { resource: resource.word(), missing: words(missing) });
        }
    }
    Ok(())
}

/// Locks a folder until the lock is dropped. Two processes would otherwise append to the same files.
fn lock(folder: &Path) -> Result<File, CommandError> {
    let folder_file = File::open(folder).map_err(CommandError::io("open", folder))?;
    match folder_file.try_lock() {
        Ok(()) => Ok(folder_file),
        Err(TryLockError::WouldBlock) => Err(ExportError::InUse(folder.to_owned()).into()),
        Err(TryLockError::Error(error)) => Err(CommandError::io("lock", folder)(error)),
    }
}

/// Writes the rest of an export to the files of a folder, and gives them their final names.
async fn export(
    candor: &Candor,
    folder: &Path,
    mut unfinished: UnfinishedExport,
    output: Output,
) -> Result<Manifest, CommandError> {
    let progress = if output.json { ProgressBar::hidden() } else { ProgressBar::no_length() };
    if let Ok(style) = ProgressStyle::with_template(PROGRESS) {
        progress.set_style(style);
    }
    if !unfinished.is_complete {
        let mut files = ExportFiles::open(folder, &unfinished.manifest, true)?;
        progress.set_position(unfinished.manifest.rows());
        let options = ExportOptions::new()
            .resources(unfinished.manifest.resources().map(|resource| resource.word().to_owned()))
            .cursor(unfinished.cursor.clone());
        let mut lines = candor.export(options);
        let to_error = |error| RemoteError::naming_request("export")(error);
        while let Some(text) = lines.next_text().await.map_err(to_error)? {
            let line: Line<'_> = serde_json::from_slice(&text).map_err(ExportError::unreadable)?;
            if let Some(row) = line.data {
                files.append(&line.kind, row)?;
                progress.inc(1);
            } else if let Some(cursor) = line.events_cursor.filter(|_| unfinished.cursor.is_none()) {
                // A continued export keeps the header of its beginning.
                unfinished.manifest.cursor = cursor;
                unfinished.manifest.started_at = line.started_at.unwrap_or_default();
            } else if line.cursor.is_some() {
                unfinished.cursor = line.cursor;
                files.save(&mut unfinished.manifest)?;
                unfinished.write(folder)?;
            }
        }
        files.save(&mut unfinished.manifest)?;
        unfinished.is_complete = true;
        unfinished.write(folder)?;
    }
    unfinished.finish(folder)?;
    progress.finish_and_clear();
    Ok(unfinished.manifest)
}

fn report(manifest: &Manifest, output: Output) -> Result<(), CommandError> {
    let rows: Vec<_> = manifest
        .files
        .iter()
        .map(|(resource, file)| vec![resource.clone(), file.rows.to_string(), file.file.clone()])
        .collect();
    output.say(&json!({"export": manifest}), &table(&rows))
}
