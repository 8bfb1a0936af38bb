//! Notifies org admins of API keys that expire soon (decisions G).

use candor_domain::access::Tenant;
use candor_domain::access::api_key::ApiKey;
use candor_domain::time::Timestamp;
use candor_port_storage::{StorageExt, Versioned};
use candor_tables::rows;

use crate::context::error::Error;
use crate::context::services::Services;

/// Number of keys read per query.
const READ: u16 = 100;
/// Name of this actor in the audit log.
const SWEEP: &str = "sweep";

/// Sends reminders of all keys that expire soon, while `goes_on` returns `true`. Returns the number of reminders
/// that this instance sent.
///
/// Safe to run on several instances at once: each reminder requires the version that was read, so it is sent
/// once.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; the next call continues with the rest.
pub async fn due_reminders(services: &Services, goes_on: impl Fn() -> bool) -> Result<u64, Error> {
    let mut reminded_count = 0;
    loop {
        let now = services.clock.now();
        let due = services.store.due(rows::api_keys::REMIND_AT, now, READ).await?;
        let is_all = due.len() < usize::from(READ);
        let count_before = reminded_count;
        for (tenant, key) in due {
            if !goes_on() {
                return Ok(reminded_count);
            }
            reminded_count += u64::from(remind(services, tenant, key, now).await?);
        }
        // If other instances were faster with every key of the batch, the next sweep continues.
        if is_all || reminded_count == count_before {
            return Ok(reminded_count);
        }
    }
}

/// Sends the reminder of one key. Returns `false` if there is none to send or another change was committed
/// first.
async fn remind(
    services: &Services,
    tenant: Tenant,
    key: Versioned<ApiKey>,
    at: Timestamp,
) -> Result<bool, Error> {
    let Some(decision) = key.value.remind(at) else { return Ok(false) };
    services.commit_of_system(tenant, SWEEP, decision, vec![], key.version, at).await
}
