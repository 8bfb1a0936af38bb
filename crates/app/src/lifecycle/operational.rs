//! The part of a sweep that fires operational events.

use candor_service::Services;
use candor_service::runtime::operational_events;

/// Fires the operational events that are due.
pub(super) async fn fire_due_events(services: &Services, goes_on: impl Fn() -> bool) {
    match operational_events::failing_webhooks(services, &goes_on).await {
        Ok(0) => tracing::trace!("no subscription starts to fail"),
        Ok(fired) => tracing::info!(fired, "fired events about failing subscriptions"),
        Err(error) => {
            tracing::warn!(%error, "cannot fire events about failing subscriptions; the next sweep retries")
        }
    }
    match operational_events::expiring_keys(services, &goes_on).await {
        Ok(0) => tracing::trace!("no event about an API key is due"),
        Ok(fired) => tracing::info!(fired, "fired events about API keys that expire soon"),
        Err(error) => tracing::warn!(%error, "cannot fire events about expiring API keys; the next sweep retries"),
    }
}
