//! The loop that removes the data about erased people.

use std::sync::Arc;
use std::time::Duration;

use candor_service::Services;
use candor_service::runtime::erasure::run_due;
use tokio::sync::watch;
use tokio::time::timeout;

/// Pause between two runs. A run without an erasure reads one entry of an index.
const PAUSE: Duration = Duration::from_secs(2);

/// Continues the running erasures until the stop.
pub(super) async fn continue_regularly(services: Arc<Services>, mut stop: watch::Receiver<bool>) {
    while timeout(PAUSE, stop.wait_for(|is_stopped| *is_stopped)).await.is_err() {
        let stopped = stop.clone();
        match run_due(&services, || !*stopped.borrow()).await {
            Ok(0) => tracing::trace!("no erasure was completed"),
            Ok(completed) => tracing::info!(completed, "completed erasures"),
            Err(error) => tracing::warn!(%error, "cannot continue erasures; retrying soon"),
        }
    }
}
