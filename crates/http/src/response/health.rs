//! Liveness and readiness of the process.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use bytes::Bytes;
use candor_service::Services;
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::response::error_response::ErrorResponse;
use crate::response::{JSON, Response};

const STARTING: u8 = 0;
const READY: u8 = 1;
const DRAINING: u8 = 2;

/// Lifetime of a probe result. Frequent health checks therefore cannot load the database.
const PROBE_SERVES: Duration = Duration::from_secs(1);
/// Timeout of a probe. A store that takes longer to write one row is not ready.
const PROBE_TIME: Duration = Duration::from_secs(5);

/// Lifecycle state of the process, shared with the code that starts and stops it.
#[derive(Clone, Default)]
pub struct Readiness(Arc<State>);

#[derive(Default)]
struct State {
    phase: AtomicU8,
    probed: Mutex<Option<ProbeResult>>,
}

/// Result of the latest probe of the store.
struct ProbeResult {
    /// Time of the monotonic clock at which the probe ended.
    at: Duration,
    outcome: Result<(), String>,
}

impl fmt::Debug for Readiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Readiness").field(&self.0.phase).finish()
    }
}

impl Readiness {
    /// Creates the state of a starting process: not ready.
    #[must_use]
    pub fn new_unready() -> Self {
        Self::default()
    }

    /// Marks the process as ready. The schema must be up to date.
    pub fn set_ready(&self) {
        self.0.phase.store(READY, Ordering::SeqCst);
    }

    /// Marks the process as draining, so that load balancers stop sending requests.
    pub fn set_draining(&self) {
        self.0.phase.store(DRAINING, Ordering::SeqCst);
    }

    /// Returns whether the process is draining.
    pub(crate) fn is_draining(&self) -> bool {
        self.0.phase.load(Ordering::SeqCst) == DRAINING
    }

    /// Succeeds if the process is ready and the database accepts writes.
    pub(crate) async fn check(&self, services: &Services) -> Result<(), ErrorResponse> {
        match self.0.phase.load(Ordering::SeqCst) {
            READY => {
                let to_unavailable = |cause| {
                    ErrorResponse::unavailable("The database does not answer or takes no writes.", Some(cause))
                };
                self.probe(services).await.map_err(to_unavailable)
            }
            STARTING => Err(ErrorResponse::unavailable("The service is starting.", None)),
            _ => Err(ErrorResponse::unavailable("The service is stopping.", None)),
        }
    }

    /// Fails if the last commit lacked room. Otherwise writes a probe row, at most once per [`PROBE_SERVES`].
    /// Concurrent callers share one probe.
    async fn probe(&self, services: &Services) -> Result<(), String> {
        let now = services.clock.steady();
        if let Some(cause) = services.commit_health.lacks_room(now) {
            return Err(cause);
        }
        let mut last_probe = self.0.probed.lock().await;
        let is_fresh =
            |last_probe: &&ProbeResult| services.clock.steady().saturating_sub(last_probe.at) < PROBE_SERVES;
        if let Some(fresh) = last_probe.as_ref().filter(is_fresh) {
            return fresh.outcome.clone();
        }
        let outcome = match timeout(PROBE_TIME, services.store.probe_write(services.clock.now())).await {
            Ok(written) => written.map_err(|error| error.to_string()),
            Err(_) => Err(format!("no row was written within {PROBE_TIME:?}")),
        };
        *last_probe = Some(ProbeResult { at: services.clock.steady(), outcome: outcome.clone() });
        outcome
    }
}

/// Creates the answer of a healthy process, with `word` as its status.
pub(crate) fn status(word: &str) -> Response {
    Response::with_body(JSON, Bytes::from(format!(r#"{{"status":"{word}"}}"#)))
}
