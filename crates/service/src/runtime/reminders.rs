//! Org admins are told that an API key ends soon (decisions G).

use candor_domain::access::Tenant;
use candor_domain::access::api_key::ApiKey;
use candor_domain::time::Timestamp;
use candor_port_storage::{StorageExt, Versioned};
use candor_tables::rows;

use crate::context::error::Error;
use crate::context::services::Services;

/// Keys read at once.
const READ: u16 = 100;
/// What the audit log calls this.
const SWEEP: &str = "sweep";

/// Tells of every key that ends soon, as long as `goes_on` says so; says of how many this instance told.
///
/// Any number of instances may do this at once: each reminder is made on the version that was read, so it is given once.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; what is left is done the next time.
pub async fn due_reminders(services: &Services, goes_on: impl Fn() -> bool) -> Result<u64, Error> {
    let mut told = 0;
    loop {
        let at = services.clock.now();
        let due = services.store.due(rows::api_keys::REMIND_AT, at, READ).await?;
        let is_all = due.len() < usize::from(READ);
        let before = told;
        for (tenant, key) in due {
            if !goes_on() {
                return Ok(told);
            }
            told += u64::from(remind(services, tenant, key, at).await?);
        }
        // Where others were faster with all of them, the next sweep looks again.
        if is_all || told == before {
            return Ok(told);
        }
    }
}

/// Says whether this instance told of the key.
async fn remind(services: &Services, tenant: Tenant, key: Versioned<ApiKey>, at: Timestamp) -> Result<bool, Error> {
    let Some(decision) = key.value.remind(at) else { return Ok(false) };
    services.commit_of_system(tenant, SWEEP, decision, key.version, at).await
}
