//! The loops that remove data: of erased people, of deleted identity providers, and data whose retention has ended.

use std::sync::Arc;
use std::time::Duration;

use candor_service::Services;
use candor_service::runtime::{erasure, provider_removal, retention};
use tokio::sync::watch;
use tokio::time::timeout;

/// Pause before each look for due erasures or retention runs. A look without work reads one entry of an index.
const PAUSE: Duration = Duration::from_secs(2);

/// Continues the running erasures until the stop.
pub(super) async fn continue_erasures(services: Arc<Services>, mut stop: watch::Receiver<bool>) {
    while !is_stopped_after_pause(&mut stop).await {
        let stop_receiver = stop.clone();
        match erasure::run_due(&services, || !*stop_receiver.borrow()).await {
            Ok(0) => tracing::trace!("no erasure was completed"),
            Ok(completed) => tracing::info!(completed, "completed erasures"),
            Err(error) => tracing::warn!(%error, "cannot continue erasures; retrying soon"),
        }
    }
}

/// Begins and continues the due runs of the retention until the stop.
pub(super) async fn continue_retention(services: Arc<Services>, mut stop: watch::Receiver<bool>) {
    while !is_stopped_after_pause(&mut stop).await {
        let stop_receiver = stop.clone();
        match retention::run_due(&services, || !*stop_receiver.borrow()).await {
            Ok(0) => tracing::trace!("no retention run was completed"),
            Ok(completed) => tracing::info!(completed, "completed retention runs"),
            Err(error) => tracing::warn!(%error, "cannot continue retention runs; retrying soon"),
        }
    }
}

/// Removes the links of deleted identity providers.
pub(super) async fn remove_provider_links(services: &Services, goes_on: impl Fn() -> bool) {
    match provider_removal::remove_links(services, goes_on).await {
        Ok(0) => tracing::trace!("no deleted identity providers"),
        Ok(completed) => tracing::debug!(completed, "deleted the links of deleted identity providers"),
        Err(error) => {
            tracing::warn!(%error, "cannot delete links of deleted identity providers; the next sweep retries")
        }
    }
}

async fn is_stopped_after_pause(stop: &mut watch::Receiver<bool>) -> bool {
    timeout(PAUSE, stop.wait_for(|is_stopped| *is_stopped)).await.is_ok()
}
