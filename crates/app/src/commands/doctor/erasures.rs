//! Checks that the database has the erasures and the legal holds of a ledger.

use std::path::Path;

use candor_domain::time::Timestamp;
use candor_service::usecases::erasure_ledger::{LedgerDifference, compare};

use super::finding::Finding;
use crate::commands::erasure;
use crate::{restored, wiring};
use candor_cli::error::CommandError;
use candor_settings::Config;

const CHECK: &str = "erasures";

/// Compares the database with a ledger.
pub(super) async fn look(config: &Config, ledger: &Path) -> Finding {
    let (difference, all, written_at) = match compare_with(config, ledger).await {
        Ok(compared) => compared,
        Err(error) => return Finding::from_error(CHECK, &error),
    };
    let LedgerDifference { keys, holds, erasures } = difference;
    if difference == LedgerDifference::default() {
        let text = format!("nothing of the ledger is missing in the database; the ledger has {all} erasures");
        let end = erasure::describe_end(written_at);
        return if written_at.is_some() {
            Finding::good(CHECK, format!("{text}. {end}"))
        } else {
            Finding::warn(CHECK, format!("{text}, but its end has no seal"), end)
        };
    }
    Finding::warn(
        CHECK,
        format!(
            "the database does not have {erasures} of {all} erasures of the ledger, and {holds} legal holds differ from \
             the ledger; {keys} API keys that the ledger names are not revoked"
        ),
        format!("stop the service and run `candor erasure apply {}`", ledger.display()),
    )
}

/// Warns of a restored database to which no ledger has been applied.
pub(super) fn look_for_restore(config: &Config) -> Option<Finding> {
    let mark = restored::find(config)?;
    Some(Finding::warn(
        CHECK,
        "the database was restored, and no ledger of erasures has been applied since",
        format!(
            "stop the service and run `candor erasure apply LEDGER`; if nothing was erased since the backup, remove {}",
            mark.display()
        ),
    ))
}

/// Returns what the database lacks of a ledger, the number of all erasures of the ledger, and the proven time at which it
/// was written.
async fn compare_with(
    config: &Config,
    ledger: &Path,
) -> Result<(LedgerDifference, usize, Option<Timestamp>), CommandError> {
    let ledger = erasure::read(ledger)?;
    let services = wiring::services(config, wiring::link_base(config, config.listen)).await?;
    let difference = compare(&services, &ledger).await;
    let difference = difference.map_err(|failure| erasure::explain("compare with the ledger", failure))?;
    Ok((difference, ledger.erasures.len(), ledger.end.as_ref().map(|end| end.written_at)))
}
