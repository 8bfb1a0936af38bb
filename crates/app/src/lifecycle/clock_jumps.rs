//! Corrects due times and leases after the clock of the machine was set back.

use std::sync::Arc;
use std::time::Duration;

use candor_service::Services;
use candor_service::runtime::clock_jumps::{CorrectionSchedule, correct};
use tokio::sync::watch;
use tokio::time::timeout;

use candor_settings::Config;

/// Interval at which the wall clock is compared with the monotonic clock.
const INTERVAL: Duration = Duration::from_secs(5);
/// Time that a lease may last beyond the timeout of its attempt.
const BEYOND_TIMEOUT: Duration = Duration::from_secs(60);

/// Corrects due times and leases at the start, and twice after the clock was set back, until the service stops.
pub(super) async fn correct_delays(services: Arc<Services>, config: Config, mut stop: watch::Receiver<bool>) {
    let mail = config.smtp.as_ref().map(|smtp| smtp.server.timeout).unwrap_or_default();
    let longest = config.webhooks_timeout.max(mail) + BEYOND_TIMEOUT;
    let mut schedule = CorrectionSchedule::new(&*services.clock, longest);
    loop {
        if schedule.is_due(&*services.clock) {
            match correct(&services, longest).await {
                Ok(()) => schedule.note_correction(),
                Err(error) => {
                    tracing::warn!(
                        %error,
                        "cannot correct times that were stored while the clock was wrong; retrying soon"
                    );
                }
            }
        }
        if timeout(INTERVAL, stop.wait_for(|is_stopped| *is_stopped)).await.is_ok() {
            return;
        }
    }
}
