//! Notifies org admins of API keys that expire soon (decisions G).

use candor_domain::access::Tenant;
use candor_domain::access::api_key::ApiKey;
use candor_domain::time::Timestamp;
use candor_port_storage::Versioned;
use candor_tables::rows::api_keys::REMIND_AT;

use super::due::handle_due;
use crate::context::error::Error;
use crate::context::services::Services;

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
    // Returns `false` if there is no reminder to send or another change was committed first.
    let remind = async |tenant: Tenant, key: Versioned<ApiKey>, at: Timestamp| {
        let Some(decision) = key.value.remind(at) else { return Ok(false) };
        services.commit_of_system(tenant, SWEEP, decision, vec![], key.version, at).await
    };
    handle_due(services, || REMIND_AT, goes_on, remind).await
}
