//! HTTP settings of the operator.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tracing::Span;

use crate::connection::address::Network;
use crate::response::byte_budget::ByteLimits;

/// Default time budget of a request. A request that exceeds it ends with 504; usual requests take milliseconds.
const REQUEST_BUDGET: Duration = Duration::from_secs(30);
/// Default timeout for receiving a body. A request that exceeds it ends with 408.
const BODY_TIME: Duration = Duration::from_secs(10);

/// Function that renders the metrics of the process in the Prometheus text format.
pub type MetricsText = Arc<dyn Fn() -> String + Send + Sync>;

/// Function that sets the parent of a span from the headers of a request. The second argument returns a header by
/// name.
pub type AdoptTrace = fn(&Span, &dyn Fn(&str) -> Option<String>);

/// HTTP settings of the operator.
#[derive(Clone)]
pub struct HttpSettings {
    /// Origins whose pages may call the API; `*` allows all. Empty by default.
    pub cors_origins: Vec<String>,
    /// Proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<Network>,
    /// Time budget of a request.
    pub request_budget: Duration,
    /// Timeout for receiving a body.
    pub body_time: Duration,
    /// Memory limits of unsent answers.
    pub response_limits: ByteLimits,
    /// Memory limits of bodies, from their first byte until their requests are answered.
    pub body_limits: ByteLimits,
    /// Renders the metrics that `GET /metrics` serves to loopback peers; `None` if metrics have their own
    /// listener.
    pub metrics: Option<MetricsText>,
    /// `true` to serve the console at `/console`.
    pub console: bool,
    /// Adopts the parent span from request headers, if traces are exported. Only headers of trusted proxies
    /// count, because a trace decides the sampling of its spans.
    pub adopt_trace: Option<AdoptTrace>,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            cors_origins: Vec::new(),
            trusted_proxies: Vec::new(),
            request_budget: REQUEST_BUDGET,
            body_time: BODY_TIME,
            response_limits: ByteLimits::default(),
            body_limits: ByteLimits::default(),
            metrics: None,
            console: false,
            adopt_trace: None,
        }
    }
}

impl fmt::Debug for HttpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpSettings")
            .field("cors_origins", &self.cors_origins)
            .field("trusted_proxies", &self.trusted_proxies)
            .field("request_budget", &self.request_budget)
            .field("body_time", &self.body_time)
            .field("console", &self.console)
            .finish_non_exhaustive()
    }
}
