//! `candor import`: uploads a CSV file of any size to a running service.

mod failure;
mod outcome;
mod plan;
mod progress;
mod send;
mod separator;
mod tally;

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;

use candor_people_csv::{CsvFileError, MAX_BYTES, MAX_ROWS, Split, split};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::{MissedTickBehavior, interval};

use crate::arguments::Import;
use crate::error::CommandError;
use crate::output::Output;
use crate::remote::Account;
use failure::ImportError;
use progress::Progress;
use send::Connection;

/// File argument that means standard input.
const STANDARD_INPUT: &str = "-";
/// Interval of the checks whether the service has been silent for too long.
const WATCH: Duration = Duration::from_millis(250);

/// Imports a file and reports the result, also after a failure.
///
/// # Errors
/// A file that cannot be read, a service that does not answer or refuses; [`ImportError::RowsFailed`] if rows
/// failed; [`ImportError::Interrupted`] by a signal.
pub(crate) async fn run(import: Import, output: Output) -> Result<(), CommandError> {
    let dry_run = import.dry_run;
    let progress = Progress::new(dry_run, output);
    let import_result = import_until_signal(import, &progress).await;
    progress.say_what_was_done(output, import_result.as_ref().err())?;
    match import_result? {
        0 => Ok(()),
        failed => Err(ImportError::RowsFailed { failed, dry_run }.into()),
    }
}

/// Imports the file until it is done or a signal comes, and returns the number of failed rows.
async fn import_until_signal(import: Import, progress: &Progress) -> Result<usize, CommandError> {
    let listen = |kind| signal(kind).map_err(CommandError::io("listen", "for signals"));
    let (mut interrupt, mut terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    let interruption = |signal, status| ImportError::Interrupted { signal, status, outcome: progress.outcome() };
    let mut work = pin!(carry_out(import, progress));
    let mut watch = interval(WATCH);
    watch.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            done = &mut work => return done,
            _ = interrupt.recv() => return Err(interruption("SIGINT", 130).into()),
            _ = terminate.recv() => return Err(interruption("SIGTERM", 143).into()),
            _ = watch.tick() => progress.watch(),
        }
    }
}

async fn carry_out(import: Import, progress: &Progress) -> Result<usize, CommandError> {
    let account = Account::find(import.account.clone())?;
    let connection = Connection::new(&import, &account)?;
    let (Split { parts, duplicates, .. }, separators) = read_parts(import.file, import.ignore_columns).await?;
    if let Some(name) = separators {
        progress.note(&format!("the cells are separated by {name}; they are sent with commas"));
    }
    progress.begin(&parts, duplicates);
    for (number, part) in parts.iter().enumerate() {
        let response =
            connection.send(part, number, progress).await.map_err(|reason| ImportError::NotImported {
                url: connection.address().to_owned(),
                reason: reason.trim_end_matches('.').to_owned(),
                outcome: progress.outcome(),
            })?;
        progress.record_response(number, part, response);
    }
    Ok(progress.count_failed())
}

/// Reads and divides the file on a thread of its own: standard input may be slow, and a signal must be seen
/// meanwhile. Also returns the name of the former separators if they were not commas.
async fn read_parts(file: PathBuf, ignored: Vec<String>) -> Result<(Split, Option<&'static str>), CommandError> {
    let work = spawn_blocking(move || {
        let (bytes, separators) = separator::with_commas(read(&file)?);
        let mut parts = split(&bytes, MAX_ROWS, MAX_BYTES).map_err(|error| unreadable(&file, error))?;
        parts.ignore_columns(&ignored).map_err(|problems| unreadable(&file, CsvFileError::Invalid(problems)))?;
        Ok((parts, separators))
    });
    let defect = |error: JoinError| CommandError::Defect { what: "read the file", reason: error.to_string() };
    work.await.map_err(defect)?
}

fn read(file: &Path) -> Result<Vec<u8>, CommandError> {
    if file.as_os_str() != STANDARD_INPUT {
        return std::fs::read(file).map_err(CommandError::io("read", file));
    }
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes).map_err(CommandError::io("read", "standard input"))?;
    Ok(bytes)
}

fn unreadable(file: &Path, reason: CsvFileError) -> ImportError {
    let reason = match reason {
        CsvFileError::Malformed(message) => message,
        CsvFileError::Invalid(problems) => {
            let each = problems.as_slice().iter().map(|problem| format!("{} {}", problem.field, problem.message));
            each.collect::<Vec<_>>().join(", ")
        }
    };
    let path = if file.as_os_str() == STANDARD_INPUT { Path::new("standard input") } else { file };
    ImportError::NotAFileOfPeople { path: path.to_owned(), reason: reason.trim_end_matches('.').to_owned() }
}
