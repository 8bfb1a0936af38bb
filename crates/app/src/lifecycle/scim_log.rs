//! Storing of the newest SCIM requests.

use std::sync::Arc;
use std::time::Duration;

use candor_service::Services;
use candor_service::usecases::connectors::provider;
use tokio::sync::watch;

use super::repeat_every;

/// Interval at which the newest SCIM requests are stored. An administrator who connects a provider waits to see
/// them.
const INTERVAL: Duration = Duration::from_secs(2);

/// Stores the collected requests regularly until the service stops.
pub(super) async fn store_regularly(services: Arc<Services>, stop: watch::Receiver<bool>) {
    provider::register_metrics();
    repeat_every(INTERVAL, stop, || flush(&services)).await;
}

/// Stores the collected requests.
pub(super) async fn flush(services: &Services) {
    if let Err(error) = services.scim_log.flush(&*services.store).await {
        tracing::warn!(%error, "cannot store the newest SCIM requests; retrying soon");
    }
}
