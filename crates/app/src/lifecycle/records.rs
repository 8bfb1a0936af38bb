//! Records that a process keeps in memory and stores at intervals and at its end: last uses of keys, request counts and
//! SCIM requests.

use std::future::Future;
use std::time::Duration;

use candor_service::Services;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};

use super::scim_log;

/// Stores the last uses of keys, request counts and SCIM requests.
pub(super) async fn flush(services: &Services) {
    if let Err(error) = services.auth.flush_uses().await {
        tracing::warn!(%error, "cannot record the last use of API keys; the times since the last record are lost");
    }
    if let Err(error) = services.request_counters.flush(&*services.store, services.clock.now()).await {
        tracing::warn!(%error, "cannot store the request counts; retrying soon");
    }
    scim_log::flush(services).await;
}

/// Waits at most `grace` for the background loops of a process that ends, and until `deadline` for its records. Neither
/// takes time from the other: a loop that goes on must not lose the records.
pub(super) async fn end_background(
    loops: &mut JoinSet<()>,
    grace: Duration,
    records: impl Future<Output = ()>,
    deadline: Instant,
) {
    let loops_end = timeout(grace, async { while loops.join_next().await.is_some() {} });
    let (loops_end, records_end) = tokio::join!(loops_end, timeout_at(deadline, records));
    if loops_end.is_err() {
        tracing::warn!("some background work did not finish before the shutdown; the next start resumes it");
    }
    if records_end.is_err() {
        tracing::warn!(
            "cannot store the last use of API keys and the request counts in time; the times since the last record are lost"
        );
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::task::yield_now;

    use super::*;

    #[tokio::test]
    async fn records_are_stored_despite_a_loop_that_goes_on() {
        let mut loops = JoinSet::new();
        loops.spawn(pending());
        let mut is_stored = false;
        let records = async {
            for _ in 0..100 {
                yield_now().await;
            }
            is_stored = true;
        };
        let deadline = Instant::now() + Duration::from_secs(100);
        end_background(&mut loops, Duration::ZERO, records, deadline).await;
        assert!(is_stored && !loops.is_empty());
    }
}
