//! Checks that the database has the erasures of a ledger.

use std::path::Path;

use candor_service::usecases::erasure_ledger::is_present;

use super::finding::Finding;
use crate::commands::erasure;
use crate::config::Config;
use crate::error::Error;
use crate::{restored, wiring};

const CHECK: &str = "erasures";

/// Compares the database with a ledger.
pub(super) async fn look(config: &Config, ledger: &Path) -> Finding {
    match missing(config, ledger).await {
        Ok((0, all)) => Finding::good(CHECK, format!("the database has all {all} erasures of the ledger")),
        Ok((missing, all)) => Finding::warn(
            CHECK,
            format!("the database does not have {missing} of {all} erasures of the ledger"),
            format!("stop the service and run `candor erasure apply {}`", ledger.display()),
        ),
        Err(error) => Finding::from_error(CHECK, &error),
    }
}

/// Warns of a restored database to which no ledger has been applied.
pub(super) fn look_for_restore(config: &Config) -> Option<Finding> {
    let mark = restored::find(config)?;
    Some(Finding::warn(
        CHECK,
        "the database was restored, and no ledger of erasures has been applied since",
        format!(
            "stop the service and run `candor erasure apply LEDGER`; without erasures since the backup, remove {}",
            mark.display()
        ),
    ))
}

/// Returns the number of erasures that the database does not have, and the number of all erasures of the ledger.
async fn missing(config: &Config, ledger: &Path) -> Result<(usize, usize), Error> {
    let entries = erasure::read(ledger)?.erasures;
    let services = wiring::services(config, wiring::link_base(config, config.listen)).await?;
    let mut missing = 0;
    for entry in &entries {
        let is_present = is_present(&services, entry).await;
        missing += usize::from(!is_present.map_err(Error::cannot("read the erasures"))?);
    }
    Ok((missing, entries.len()))
}
