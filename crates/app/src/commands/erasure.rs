//! `candor erasure`: the ledger of erasures, and what an operator does about them.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use candor_domain::id::ErasureId;
use candor_service::runtime::erasure;
use candor_service::usecases::erasure_ledger::{self, Ledger, LedgerEntry, RepeatedErasure, RepeatedHold};
use candor_service::{Error as Defect, Services};
use serde_json::json;
use tokio::time::sleep;

use crate::config::{Config, DatabaseUrl};
use crate::error::{CommandFailure, Error};
use crate::output::{Output, printable};
use crate::serving_lock::ServingLock;
use crate::{restored, store, wiring};

/// Pause between two runs of the erasures. The search index is removed some seconds after its replacement.
const PAUSE: Duration = Duration::from_secs(1);
/// Maximum number of runs without a completed erasure. The service continues the rest.
const MAX_IDLE_RUNS: u32 = 60;

/// Failure of `candor erasure`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ErasureFailure {
    /// A line of the ledger is not valid.
    #[error("{file} is not a complete ledger: {flaw}; write it again with `candor erasure ledger`")]
    Ledger {
        /// Path of the ledger.
        file: String,
        /// The line, and what is wrong.
        flaw: String,
    },
    /// A line with a legal hold has no seal of this master key, so that its reason cannot be read.
    #[error(
        "the legal hold on {0} in the ledger has no seal of this master key, so nothing was repeated; use the key ring with \
         which the ledger was written"
    )]
    UnsealedHold(String),
    /// Erasures are still running.
    #[error("the erasures are begun and not complete; the service continues them when it runs, see its log")]
    Incomplete,
    /// Erasures that the operator must name were not repeated.
    #[error("{0} erasures of the ledger were not repeated, see above; check each, then name it with --force ID")]
    Refused(usize),
    /// The database does not have people of the ledger.
    #[error(
        "the database does not have {0} people of the ledger, who are listed above; check that the ledger belongs to \
         this database"
    )]
    UnknownPeople(usize),
}

impl CommandFailure for ErasureFailure {}

/// Reads a ledger from its file.
///
/// # Errors
/// A file that cannot be read; [`ErasureFailure::Ledger`].
pub(super) fn read(file: &Path) -> Result<Ledger, Error> {
    let text = std::fs::read_to_string(file).map_err(Error::io("read", file))?;
    erasure_ledger::parse(&text).map_err(|flaw| {
        let file = printable(&file.display().to_string()).into_owned();
        ErasureFailure::Ledger { file, flaw: flaw.to_string() }.into()
    })
}

/// Prints the ledger of all organizations.
///
/// # Errors
/// A database that does not exist or does not answer; a closed standard output.
pub(crate) async fn ledger(config: &Config) -> Result<(), Error> {
    let services = wiring::services(config, wiring::link_base(config, config.listen)).await?;
    let ledger = erasure_ledger::read(&services).await.map_err(Error::cannot("read the erasures"))?;
    let text = erasure_ledger::to_text(&ledger).map_err(Error::cannot("write the ledger"))?;
    let mut stdout = std::io::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(Error::io("write", "to standard output"))
}

/// Repeats the erasures that the database does not have, and completes them.
///
/// # Errors
/// An invalid ledger, a service that uses the embedded database; see [`ErasureFailure`].
pub(crate) async fn apply(config: &Config, file: &Path, named: &[ErasureId], output: Output) -> Result<(), Error> {
    let ledger = read(file)?;
    let _lock = ServingLock::take(&config.database)?;
    let services = wiring::services(config, wiring::link_base(config, config.listen)).await?;
    let hold_count = hold_again(&services, &ledger).await?;
    let (mut begun, mut present, mut unknown, mut refused) = (0, 0, vec![], vec![]);
    for entry in &ledger.erasures {
        match erasure_ledger::repeat(&services, entry, named.contains(&entry.id)).await {
            Ok(RepeatedErasure::Begun) => begun += 1,
            Ok(RepeatedErasure::Present) => present += 1,
            Ok(RepeatedErasure::UnknownPerson) => unknown.push(entry.employee_id.to_string()),
            Ok(RepeatedErasure::NotSealed) => refused.push((entry, "not_sealed")),
            Ok(RepeatedErasure::Held) => refused.push((entry, "legal_hold")),
            // One erasure that cannot be repeated does not keep the others.
            Err(Defect::Bug(reason)) => {
                tracing::error!(erasure = %entry.id, reason, "cannot repeat an erasure");
                refused.push((entry, "failed"));
            }
            Err(error) => return Err(Error::cannot(format!("repeat the erasure {}", entry.id))(error)),
        }
    }
    let is_complete = complete(&services).await?;
    let kept_entries = kept_by_holds(&services, &ledger).await?;
    let mut people = format!(
        "Legal holds set again: {hold_count}. Erasures repeated: {begun}. Already in the database: {present}."
    );
    people.push_str(&exceptions(&unknown, &kept_entries, &refused));
    let reasons: Vec<_> =
        refused.iter().map(|(entry, reason)| json!({"id": entry.id, "reason": reason})).collect();
    let object = json!({
        "held": hold_count, "repeated": begun, "present": present, "unknown_people": unknown, "refused": reasons,
        "kept_by_hold": kept_entries.iter().map(|(entry, count)| json!({"id": entry.id, "count": count})).collect::<Vec<_>>(),
        "is_complete": is_complete,
    });
    // A ledger of another database names people that this one does not have: it proves nothing.
    if is_complete && refused.is_empty() && unknown.is_empty() {
        finish_restore(config).await?;
        people.push_str("\nStart the service: `candor serve`.");
    }
    output.say(&object, &people)?;
    match unknown.len() {
        _ if !is_complete => Err(ErasureFailure::Incomplete.into()),
        _ if !refused.is_empty() => Err(ErasureFailure::Refused(refused.len()).into()),
        0 => Ok(()),
        count => Err(ErasureFailure::UnknownPeople(count).into()),
    }
}

/// Returns a line for each person that the database lacks, and for each erasure that kept data or was not repeated.
fn exceptions(unknown: &[String], kept: &[(&LedgerEntry, u32)], refused: &[(&LedgerEntry, &str)]) -> String {
    let mut text = String::new();
    for person in unknown {
        text.push_str(&format!("\nThe database does not have {person}."));
    }
    for (entry, count) in kept {
        text.push_str(&format!(
            "\n{}: legal holds keep {count} resources or conversations. This erasure may have removed some of them from the \
             original database before the hold. It continues when the holds end.",
            entry.id
        ));
    }
    for (entry, reason) in refused {
        let reason = match *reason {
            "legal_hold" => "is under a legal hold in this database",
            "failed" => "could not be erased, see the log",
            _ => "is in a line without a seal of this master key",
        };
        text.push_str(&format!(
            "\n{} was not repeated: {} {reason}. Check it, then add --force {}.",
            entry.id, entry.employee_id, entry.id
        ));
    }
    text
}

/// Returns the erasures of the ledger of which legal holds keep data, with the number of resources and conversations.
async fn kept_by_holds<'a>(services: &Services, ledger: &'a Ledger) -> Result<Vec<(&'a LedgerEntry, u32)>, Error> {
    let mut entries = vec![];
    for entry in &ledger.erasures {
        let count = erasure_ledger::kept_by_hold(services, entry).await;
        entries.push((entry, count.map_err(Error::cannot(format!("read the erasure {}", entry.id)))?));
    }
    entries.retain(|(_, count)| *count > 0);
    Ok(entries)
}

/// Removes the mark of a restored database. No service runs, so that the rewrite of an embedded one delays no request.
async fn finish_restore(config: &Config) -> Result<(), Error> {
    if matches!(config.database, DatabaseUrl::Sqlite(_)) {
        store::rewrite_erased(config, |_| ()).await?;
    }
    restored::remove(config)
}

/// Sets the legal holds of the ledger again, and returns their number. They keep data from the erasures, so each must be
/// set before the first erasure.
async fn hold_again(services: &Services, ledger: &Ledger) -> Result<usize, Error> {
    let mut hold_count = 0;
    for entry in &ledger.holds {
        let was_missing = erasure_ledger::hold_again(services, entry).await;
        match was_missing.map_err(Error::cannot(format!("hold the data of {}", entry.employee_id)))? {
            RepeatedHold::Set => hold_count += 1,
            RepeatedHold::Unchanged => {}
            RepeatedHold::NotSealed => {
                return Err(ErasureFailure::UnsealedHold(entry.employee_id.to_string()).into());
            }
        }
    }
    Ok(hold_count)
}

/// Runs the erasures until all are completed. Returns `false` if some cannot be completed.
async fn complete(services: &Services) -> Result<bool, Error> {
    let mut idle = 0;
    while erasure::is_running(services).await.map_err(Error::cannot("read the erasures"))? {
        if idle == MAX_IDLE_RUNS {
            return Ok(false);
        }
        let completed_count =
            erasure::run_due(services, || true).await.map_err(Error::cannot("complete the erasures"))?;
        idle = if completed_count == 0 { idle + 1 } else { 0 };
        sleep(PAUSE).await;
    }
    Ok(true)
}

/// Rewrites the tables that had rows of erased people, or the whole file of an embedded database.
///
/// # Errors
/// A database that does not answer; a table that stays locked.
pub(crate) async fn scrub(config: &Config, output: Output) -> Result<(), Error> {
    let begin = |table: &str| tracing::info!(table, "rewriting a table, which is locked meanwhile");
    let Some(tables) = store::rewrite_erased(config, begin).await? else {
        let people = "The database file was rewritten. Backups may still contain the rows.";
        return output.say(&json!({"tables": [], "file": true}), people);
    };
    if !tables.contains(&"pg_statistic") {
        tracing::warn!(
            "statistics of old rows may be in the files of pg_statistic; as an administrator of the server, run \
             `VACUUM FULL pg_statistic` in this database"
        );
    }
    let people = format!(
        "{} tables were rewritten. Archived write-ahead logs, standbys and backups may still contain the rows.",
        tables.len()
    );
    output.say(&json!({"tables": tables}), &people)
}
