//! `candor import`: the CSV upsert from a terminal, for files of any size.

mod send;
mod tally;

use std::path::Path;
use std::time::Duration;

use candor_domain::csv::{MAX_BYTES, MAX_ROWS, Part, Split, Unreadable, split};
use indicatif::{ProgressBar, ProgressStyle};
use tokio::task::spawn_blocking;

use crate::cli::Import;
use crate::error::Error;
use crate::output::Output;
use send::{Door, Target};
use tally::Tally;

/// Where the key is given: never on the command line, where everybody on the machine sees it.
pub(crate) const KEY_VARIABLE: &str = "CANDOR_API_KEY";
/// How often the bar shows that something is going on.
const TICK: Duration = Duration::from_millis(120);

/// Imports a file.
///
/// # Errors
/// A file that cannot be read, a service that does not answer or refuses; [`Error::RowsFailed`] if rows failed.
pub(crate) async fn run(import: Import, output: Output) -> Result<(), Error> {
    // The client blocks, which the runtime's own threads must not.
    let done = spawn_blocking(move || carry_out(&import, output)).await;
    done.unwrap_or_else(|it| Err(Error::Defect { what: "import the file", reason: it.to_string() }))
}

fn carry_out(import: &Import, output: Output) -> Result<(), Error> {
    let key = std::env::var(KEY_VARIABLE).ok().filter(|it| !it.is_empty()).ok_or(Error::NoApiKey(KEY_VARIABLE))?;
    let bytes = std::fs::read(&import.file).map_err(Error::io("read", &import.file))?;
    let Split { parts, duplicates } = split(&bytes, MAX_ROWS, MAX_BYTES).map_err(|it| unreadable(&import.file, it))?;
    let target = Target::new(import, key)?;
    let mut door = Door::new(target)?;
    let mut tally = Tally::skipping(duplicates);
    let bar = bar(&parts, output);
    for (number, part) in parts.iter().enumerate() {
        let answer = door.send(part, number, &|text| bar.set_message(text.to_owned()))?;
        tally.add(part, answer);
        bar.inc(part.numbers.len() as u64);
    }
    bar.finish_and_clear();
    let is_split_dry_run = import.dry_run && parts.len() > 1;
    output.say(&tally.object(import.dry_run), &tally.text(import.dry_run, is_split_dry_run))?;
    match tally.errors.len() {
        0 => Ok(()),
        failed => Err(Error::RowsFailed { failed, dry_run: import.dry_run }),
    }
}

/// A bar on a terminal, and nothing elsewhere.
fn bar(parts: &[Part], output: Output) -> ProgressBar {
    let rows = parts.iter().map(|it| it.numbers.len() as u64).sum();
    if output.json {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(rows);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {human_pos}/{human_len} rows  {elapsed}  {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(TICK);
    bar
}

fn unreadable(file: &Path, reason: Unreadable) -> Error {
    let reason = match reason {
        Unreadable::Malformed(message) => message,
        Unreadable::Invalid(problems) => {
            let each = problems.as_slice().iter().map(|it| format!("{} {}", it.field, it.message));
            each.collect::<Vec<_>>().join(", ")
        }
    };
    Error::NotAFileOfPeople { path: file.to_owned(), reason: reason.trim_end_matches('.').to_owned() }
}
