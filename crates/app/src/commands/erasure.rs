//! `candor erasure`: the ledger of erasures, and what an operator does about them.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use candor_domain::id::{EmployeeId, ErasureId, KeyId};
use candor_domain::time::Timestamp;
use candor_service::Services;
use candor_service::runtime::erasure;
use candor_service::usecases::erasure_ledger::{self, AppliedLedger, Ledger, LedgerEntry, LedgerError, Refusal};
use serde_json::json;
use tokio::time::sleep;

use crate::error::to_command_error;
use crate::serving_lock::ServingLock;
use crate::{restored, store, wiring};
use candor_cli::error::{CommandError, CommandFailure};
use candor_cli::output::{Output, printable};
use candor_settings::{Config, DatabaseUrl};

/// Pause between two runs of the erasures: the old search index is removed some seconds after its replacement.
const PAUSE: Duration = Duration::from_secs(1);
/// Maximum number of runs without a completed erasure. The service continues the rest.
const MAX_IDLE_RUNS: u32 = 60;

/// Failure of `candor erasure`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ErasureCommandError {
    /// A line of the ledger is not valid.
    #[error("{file} is not a complete ledger: {flaw}; write it again with `candor erasure ledger`")]
    Ledger {
        /// Path of the ledger.
        file: String,
        /// The line, and what is wrong.
        flaw: String,
    },
    /// A line about a legal hold has no seal of this master key, so that the reason of the hold cannot be read.
    #[error(
        "a line of the ledger about a legal hold on {0} has no seal of this master key, so nothing was repeated; use the \
         key ring with which the ledger was written"
    )]
    UnsealedHold(EmployeeId),
    /// A line about a revoked API key has no seal of this master key.
    #[error(
        "a line of the ledger about the revocation of {0} has no seal of this master key, so nothing was repeated; use the \
         key ring with which the ledger was written"
    )]
    UnsealedKey(KeyId),
    /// The end of the ledger has no seal of this master key over the lines before it.
    #[error(
        "the end of the ledger has no seal of this master key over the lines before it, so nothing was repeated: lines were \
         altered, removed or added; use the ledger as it was written, and the key ring with which it was written, or name \
         the erasures to repeat all the same with `--force ID`"
    )]
    UnsealedEnd,
    /// The database has none of the organizations of the ledger.
    #[error(
        "the database has no organization of the ledger, so nothing was repeated; use the ledger that was written from \
         this database"
    )]
    OtherDatabase,
    /// No seal proves that the ledger has all its lines.
    #[error(
        "the ledger was applied, but no seal of this master key proves that it has all its lines: revocations, holds and \
         erasures may be missing; apply a ledger of this version, or compare the lines{0}"
    )]
    Unproven(String),
    /// Erasures are still running.
    #[error("the erasures have begun and are not complete; the service continues them when it runs, see its log")]
    Incomplete,
    /// Erasures that the operator must name were not repeated.
    #[error(
        "{0} erasures of the ledger were not repeated; the lines above name each of them, the reason and the next step"
    )]
    Refused(usize),
}

impl CommandFailure for ErasureCommandError {}

/// Converts a failure of the ledger into an error for the operator. `action` is the failed operation, such as
/// `apply the ledger`.
pub(super) fn explain(action: &str, failure: LedgerError) -> CommandError {
    match failure {
        LedgerError::OtherDatabase => ErasureCommandError::OtherDatabase.into(),
        LedgerError::UnsealedHold(person) => ErasureCommandError::UnsealedHold(person).into(),
        LedgerError::UnsealedKey(key) => ErasureCommandError::UnsealedKey(key).into(),
        LedgerError::UnsealedEnd => ErasureCommandError::UnsealedEnd.into(),
        LedgerError::Service(error) => to_command_error(action)(error),
    }
}

/// Reads a ledger from its file.
///
/// # Errors
/// A file that cannot be read; [`ErasureCommandError::Ledger`].
pub(super) fn read(file: &Path) -> Result<Ledger, CommandError> {
    let text = std::fs::read_to_string(file).map_err(CommandError::io("read", file))?;
    erasure_ledger::parse(&text).map_err(|flaw| {
        let file = printable(&file.display().to_string()).into_owned();
        ErasureCommandError::Ledger { file, flaw: flaw.to_string() }.into()
    })
}

/// Prints the ledger of all organizations.
///
/// # Errors
/// A database that does not exist or does not answer; a closed standard output.
pub(crate) async fn ledger(config: &Config) -> Result<(), CommandError> {
    let services = wiring::services(config, wiring::link_base(config, config.listen)).await?;
    let ledger = erasure_ledger::read(&services).await.map_err(to_command_error("read the erasures"))?;
    let text = erasure_ledger::to_text(&services, &ledger).map_err(to_command_error("write the ledger"))?;
    let mut stdout = std::io::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(CommandError::io("write", "to standard output"))
}

/// Applies a ledger: revokes API keys, sets and ends legal holds, and repeats the erasures that the database does not
/// have. Then completes all erasures of which no hold keeps data. After the last erasure, rewrites the file of an
/// embedded database, and removes the mark of a restored database.
///
/// # Errors
/// An invalid ledger, a service that uses the embedded database; see [`ErasureCommandError`].
pub(crate) async fn apply(
    config: &Config,
    file: &Path,
    named: &[ErasureId],
    output: Output,
) -> Result<(), CommandError> {
    let ledger = read(file)?;
    let _lock = ServingLock::take(&config.database)?;
    let services = wiring::services(config, wiring::link_base(config, config.listen)).await?;
    let outcome = erasure_ledger::apply(&services, &ledger, named)
        .await
        .map_err(|failure| explain("apply the ledger", failure))?;
    let is_complete = complete(&services).await?;
    let kept_entries = kept_by_holds(&services, &ledger).await?;
    if is_complete {
        rewrite_file(config).await?;
    }
    let is_finished = is_complete && outcome.refused.is_empty();
    let mut human_text = format!("{}\n{}", describe_end(outcome.written_at), describe(&outcome, &kept_entries));
    let is_proven = outcome.written_at.is_some();
    if is_finished && is_proven {
        restored::remove(config)?;
        human_text.push_str("\nStart the service: `candor serve`.");
    }
    let refusals = outcome.refused.iter().map(|(entry, reason)| json!({"id": entry.id, "reason": word(*reason)}));
    let kept_counts = kept_entries.iter().map(|(entry, count)| json!({"id": entry.id, "count": count}));
    let object = json!({
        "written_at": outcome.written_at,
        "revoked_keys": outcome.revoked_keys, "held": outcome.held.len(), "released": outcome.released, "held_beside_ledger": outcome.held_beside_ledger,
        "repeated": outcome.begun, "present": outcome.present, "unknown_people": outcome.unknown_people,
        "refused": refusals.collect::<Vec<_>>(), "kept_by_hold": kept_counts.collect::<Vec<_>>(), "is_complete": is_complete,
    });
    output.say(&object, &human_text)?;
    match outcome.refused.len() {
        _ if is_finished && is_proven => Ok(()),
        _ if is_finished => {
            let next_step = restored::find(config).map(|mark| format!(" and remove {}", mark.display()));
            Err(ErasureCommandError::Unproven(next_step.unwrap_or_default()).into())
        }
        _ if !is_complete => Err(ErasureCommandError::Incomplete.into()),
        count => Err(ErasureCommandError::Refused(count).into()),
    }
}

/// Returns the text about the proven time at which a ledger was written, which the operator compares with the time of the
/// last change; a warning if no seal proves it.
pub(super) fn describe_end(written_at: Option<Timestamp>) -> String {
    match written_at {
        Some(time) => format!("The ledger was written at {time}."),
        None => "No seal proves that the ledger has all its lines. Write the ledger again when the service runs."
            .to_owned(),
    }
}

const fn word(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::NotSealed => "not_sealed",
        Refusal::Held => "legal_hold",
        Refusal::Failed => "failed",
    }
}

/// Returns the report for the operator: the numbers of holds and erasures, then a line for each hold that ended or
/// that the ledger does not have, and for each erasure that kept data or was not repeated.
fn describe(outcome: &AppliedLedger, kept: &[(&LedgerEntry, u32)]) -> String {
    let mut text = format!(
        "API keys revoked again: {}. Legal holds set again: {}, ended again: {}. Erasures repeated: {}. Already in the \
         database: {}. Not needed, because the person is not in the database: {}.",
        outcome.revoked_keys.len(),
        outcome.held.len(),
        outcome.released.len(),
        outcome.begun,
        outcome.present,
        outcome.unknown_people.len()
    );
    for person in &outcome.released {
        text.push_str(&format!("\nThe legal hold on {person} was ended again: it had ended since the backup."));
    }
    for person in &outcome.held_beside_ledger {
        text.push_str(&format!(
            "\n{person} is under a legal hold that is not in the ledger: the hold is newer, or it had ended before a \
             ledger of an earlier version was written. If the hold had ended, end it when the service runs."
        ));
    }
    for (entry, count) in kept {
        text.push_str(&format!(
            "\n{}: legal holds keep {count} resources or conversations. The erasure may have removed some of them \
             from the original database before the holds began. It continues when the holds end.",
            entry.id
        ));
    }
    for (entry, refusal) in &outcome.refused {
        let (id, person) = (entry.id, entry.employee_id);
        let reason = match refusal {
            Refusal::Held => format!("{person} is under a legal hold in this database"),
            Refusal::NotSealed => {
                format!("the line about {person} was sealed with another master key, or was altered")
            }
            Refusal::Failed => {
                text.push_str(&format!(
                    "\n{id} was not repeated: cannot erase {person}. The log has the reason; --force does not help."
                ));
                continue;
            }
        };
        text.push_str(&format!(
            "\n{id} was not repeated: {reason}. If the person must be erased all the same, run this command \
             again with --force {id}."
        ));
    }
    text
}

/// Returns the erasures of the ledger of which legal holds keep data, each with the number of kept resources and
/// conversations.
async fn kept_by_holds<'a>(
    services: &Services,
    ledger: &'a Ledger,
) -> Result<Vec<(&'a LedgerEntry, u32)>, CommandError> {
    let mut entries = vec![];
    for entry in &ledger.erasures {
        let count = erasure_ledger::kept_by_hold(services, entry).await;
        entries.push((entry, count.map_err(to_command_error(format!("read the erasure {}", entry.id)))?));
    }
    entries.retain(|(_, count)| *count > 0);
    Ok(entries)
}

/// Rewrites the file of an embedded database. This delays no request, because no service runs.
async fn rewrite_file(config: &Config) -> Result<(), CommandError> {
    if matches!(config.database, DatabaseUrl::Sqlite(_)) {
        store::rewrite_erased(config, |_| ()).await?;
    }
    Ok(())
}

/// Runs the erasures until all are completed. Returns `false` if some cannot be completed.
async fn complete(services: &Services) -> Result<bool, CommandError> {
    let mut idle = 0;
    while erasure::is_running(services).await.map_err(to_command_error("read the erasures"))? {
        if idle == MAX_IDLE_RUNS {
            return Ok(false);
        }
        let completed_count =
            erasure::run_due(services, || true).await.map_err(to_command_error("complete the erasures"))?;
        idle = if completed_count == 0 { idle + 1 } else { 0 };
        sleep(PAUSE).await;
    }
    Ok(true)
}

/// Rewrites the tables that had rows of erased people, or the whole file of an embedded database.
///
/// # Errors
/// A database that does not answer; a table that stays locked.
pub(crate) async fn scrub(config: &Config, output: Output) -> Result<(), CommandError> {
    let begin = |table: &str| tracing::info!(table, "rewriting a table, which is locked meanwhile");
    let Some(tables) = store::rewrite_erased(config, begin).await? else {
        let human_text = "The database file was rewritten and no longer contains rows of erased people. Older backups \
                          may still contain them.";
        return output.say(&json!({"tables": [], "file": true}), human_text);
    };
    if !tables.contains(&"pg_statistic") {
        tracing::warn!(
            "statistics of old rows may be in the files of pg_statistic; as an administrator of the server, run \
             `VACUUM FULL pg_statistic` in this database"
        );
    }
    let human_text = format!(
        "{} tables were rewritten and no longer contain rows of erased people. Archived write-ahead logs, standbys and \
         older backups may still contain them.",
        tables.len()
    );
    output.say(&json!({"tables": tables}), &human_text)
}
