//! What an operator sets about HTTP.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tracing::Span;

use crate::address::Network;
use crate::answer_budget::AnswerLimits;

/// A request takes milliseconds; one that takes this long is given up with 504.
const REQUEST_BUDGET: Duration = Duration::from_secs(30);
/// A client that sends its body slower than this is given up with 408.
const BODY_TIME: Duration = Duration::from_secs(10);

/// Renders the metrics of the process in the Prometheus text format.
pub type MetricsText = Arc<dyn Fn() -> String + Send + Sync>;

/// Gives a span the parent that the headers of a request name; it is asked for a header by its name.
pub type AdoptTrace = fn(&Span, &dyn Fn(&str) -> Option<String>);

/// What an operator sets about HTTP.
#[derive(Clone)]
pub struct HttpSettings {
    /// Origins whose pages may call the API; `*` for any. None unless set.
    pub cors_origins: Vec<String>,
    /// Proxies that may say for whom they speak in `X-Forwarded-For`.
    pub trusted_proxies: Vec<Network>,
    /// The longest a request may take.
    pub request_budget: Duration,
    /// The longest the body of a request may take to arrive.
    pub body_time: Duration,
    /// Bounds of the answers that are in memory because clients have not read them yet.
    pub answer_limits: AnswerLimits,
    /// Answers `GET /metrics` to loopback peers; nobody gets one if absent, because it has a listener of its own.
    pub metrics: Option<MetricsText>,
    /// Makes the span of a request part of the trace that its headers name, where traces are exported. Only the headers
    /// of trusted proxies count: a trace decides whether its spans are sampled.
    pub adopt_trace: Option<AdoptTrace>,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            cors_origins: Vec::new(),
            trusted_proxies: Vec::new(),
            request_budget: REQUEST_BUDGET,
            body_time: BODY_TIME,
            answer_limits: AnswerLimits::default(),
            metrics: None,
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
            .finish_non_exhaustive()
    }
}
