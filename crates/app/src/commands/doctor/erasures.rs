//! Checks that the database has the erasures and the legal holds of a ledger.

use std::path::Path;

use candor_service::usecases::erasure_ledger::{LedgerDifference, compare};

use super::finding::Finding;
use crate::commands::erasure;
use crate::config::Config;
use crate::{restored, wiring};
use candor_cli::error::CommandError;

const CHECK: &str = "erasures";

/// Compares the database with a ledger.
pub(super) async fn look(config: &Config, ledger: &Path) -> Finding {
    let (difference, all, end) = match compare_with(config, ledger).await {
        Ok(compared) => compared,
        Err(error) => return Finding::from_error(CHECK, &error),
    };
    let LedgerDifference { keys, holds, erasures } = difference;
    if difference == LedgerDifference::default() {
        return Finding::good(
            CHECK,
            format!("nothing of the ledger is missing in the database; the ledger has {all} erasures. {end}"),
        );
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

/// Returns what the database lacks of a ledger, the number of all erasures of the ledger, and the text about its end.
async fn compare_with(config: &Config, ledger: &Path) -> Result<(LedgerDifference, usize, String), CommandError> {
    let ledger = erasure::read(ledger)?;
    let services = wiring::services(config, wiring::link_base(config, config.listen)).await?;
    let difference = compare(&services, &ledger).await;
    let difference = difference.map_err(|failure| erasure::explain("compare with the ledger", failure))?;
    Ok((difference, ledger.erasures.len(), erasure::describe_end(&ledger)))
}
