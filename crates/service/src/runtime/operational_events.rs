//! Fires `webhook.failing` and `api_key.expiring` when they are due (decision F9).

use candor_domain::access::Tenant;
use candor_domain::access::api_key::ApiKey;
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, StorageExt, Versioned, Write};
use candor_subscriptions::Subscription;
use candor_tables::read::LookupColumn;
use candor_tables::rows;

use crate::context::error::Error;
use crate::context::services::{Services, render};

/// Number of rows read per query.
const READ: u16 = 100;
/// Name of this actor in the audit log.
const SWEEP: &str = "sweep";

/// Fires the events of all failing subscriptions, while `goes_on` returns `true`. Returns the number of
/// events that this instance fired.
///
/// The record of the fifth failure stores that the event is due, and the commit of the event clears this. So the
/// event is fired once, also by several instances and after a crash.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; the next call continues with the rest.
pub async fn failing_webhooks(services: &Services, goes_on: impl Fn() -> bool) -> Result<u64, Error> {
    let mut fired_count = 0;
    loop {
        let now = services.clock.now();
        let due = services.store.due(rows::webhooks::FAILING_DUE, now, READ).await?;
        let is_all = due.len() < usize::from(READ);
        let count_before = fired_count;
        for (tenant, subscription) in due {
            if !goes_on() {
                return Ok(fired_count);
            }
            fired_count += u64::from(report_failing(services, tenant, &subscription.value, now).await?);
        }
        // If other instances were faster with the whole batch, the next sweep continues.
        if is_all || fired_count == count_before {
            return Ok(fired_count);
        }
    }
}

/// Fires the event of one failing subscription. Returns `false` if the event is not due any more, or another change
/// was committed first.
async fn report_failing(
    services: &Services,
    tenant: Tenant,
    subscription: &Subscription,
    at: Timestamp,
) -> Result<bool, Error> {
    let Some(decision) = subscription.report_failing() else { return Ok(false) };
    let mut change = ChangeSet::new(services.entry_of_system(SWEEP, decision.audit, at));
    change.events = services.events(&decision.events, &render(&decision.state.for_events())?, at);
    change.writes = vec![Write::FailingReported(subscription.id)];
    services.commit_unless_stale(tenant, change).await
}

/// Fires the events of all API keys that expire soon, while `goes_on` returns `true`. Returns the number of
/// keys that this instance handled.
///
/// Safe to run on several instances at once: each event requires the version that was read, so it is fired once.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; the next call continues with the rest.
pub async fn expiring_keys(services: &Services, goes_on: impl Fn() -> bool) -> Result<u64, Error> {
    let own = keys_by(services, || rows::api_keys::EXPIRING_DUE, &goes_on).await?;
    Ok(own + keys_by(services, || rows::api_keys::PREVIOUS_EXPIRING_DUE, &goes_on).await?)
}

/// Fires the events of keys whose due time is in this column. Returns the number of events that were fired.
async fn keys_by(
    services: &Services,
    column: impl Fn() -> LookupColumn<ApiKey>,
    goes_on: impl Fn() -> bool,
) -> Result<u64, Error> {
    let mut handled_count = 0;
    loop {
        let now = services.clock.now();
        let due = services.store.due(column(), now, READ).await?;
        let is_all = due.len() < usize::from(READ);
        let count_before = handled_count;
        for (tenant, key) in due {
            if !goes_on() {
                return Ok(handled_count);
            }
            handled_count += u64::from(announce_end(services, tenant, key, now).await?);
        }
        if is_all || handled_count == count_before {
            return Ok(handled_count);
        }
    }
}

/// Fires the event of one key. Returns `false` if the event is not due any more, or another change was committed
/// first.
async fn announce_end(
    services: &Services,
    tenant: Tenant,
    key: Versioned<ApiKey>,
    at: Timestamp,
) -> Result<bool, Error> {
    let Some(decision) = key.value.announce_end(at) else { return Ok(false) };
    let events = services.events(&decision.events, &render(&decision.state)?, at);
    services.commit_of_system(tenant, SWEEP, decision, events, key.version, at).await
}
