//! Fires `webhook.failing` and `api_key.expiring` when they are due (decision F9).

use candor_domain::access::Tenant;
use candor_domain::access::api_key::ApiKey;
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, Versioned, Write};
use candor_subscriptions::Subscription;
use candor_tables::rows::api_keys::{EXPIRING_DUE, PREVIOUS_EXPIRING_DUE};
use candor_tables::rows::webhooks::FAILING_DUE;

use super::due::handle_due;
use crate::context::error::Error;
use crate::context::services::{Services, render};

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
    // Returns `false` if the event is not due any more, or another change was committed first.
    let report = async |tenant: Tenant, subscription: Versioned<Subscription>, at: Timestamp| {
        let Some(decision) = subscription.value.report_failing() else { return Ok(false) };
        let mut change = ChangeSet::new(services.entry_of_system(SWEEP, decision.audit, at));
        change.events = services.events(&decision.events, &render(&decision.state.for_events())?, at);
        change.writes = vec![Write::FailingReported(subscription.value.id)];
        services.commit_unless_stale(tenant, change).await
    };
    handle_due(services, || FAILING_DUE, goes_on, report).await
}

/// Fires the events of all API keys that expire soon, while `goes_on` returns `true`. Returns the number of
/// keys that this instance handled.
///
/// Safe to run on several instances at once: each event requires the version that was read, so it is fired once.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; the next call continues with the rest.
pub async fn expiring_keys(services: &Services, goes_on: impl Fn() -> bool) -> Result<u64, Error> {
    // Returns `false` if the event is not due any more, or another change was committed first.
    let announce = async |tenant: Tenant, key: Versioned<ApiKey>, at: Timestamp| {
        let Some(decision) = key.value.announce_end(at) else { return Ok(false) };
        let events = services.events(&decision.events, &render(&decision.state)?, at);
        services.commit_of_system(tenant, SWEEP, decision, events, key.version, at).await
    };
    let own = handle_due(services, || EXPIRING_DUE, &goes_on, &announce).await?;
    Ok(own + handle_due(services, || PREVIOUS_EXPIRING_DUE, &goes_on, &announce).await?)
}
