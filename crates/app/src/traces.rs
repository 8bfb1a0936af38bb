//! Traces: the spans of requests and deliveries, exported by OpenTelemetry (OTLP over HTTP) where an endpoint is set.
//!
//! Every span has the target [`TARGET`], so that log lines stay as they are. Without an endpoint nobody wants them, and
//! one that nobody wants costs a comparison.

use candor_http::AdoptTrace;

use crate::error::Error;

#[cfg(feature = "otlp")]
mod export;

/// The target of every span.
pub(crate) const TARGET: &str = "candor_spans";

/// The variables of which one says where traces go; the second is for the signal alone and wins.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
/// `true` turns everything off.
const DISABLED: &str = "OTEL_SDK_DISABLED";

/// Continues the trace of a caller that names one (`traceparent`), so that a request is seen as part of what led to it.
#[cfg(feature = "otlp")]
pub(crate) const ADOPT: Option<AdoptTrace> = Some(export::adopt);
/// Nobody's trace is continued.
#[cfg(not(feature = "otlp"))]
pub(crate) const ADOPT: Option<AdoptTrace> = None;

#[cfg(feature = "otlp")]
pub(crate) use export::Export;

/// A build without the exporter.
#[cfg(not(feature = "otlp"))]
pub(crate) struct Export;

#[cfg(not(feature = "otlp"))]
impl Export {
    /// Why there is none.
    ///
    /// # Errors
    /// [`Error::Defect`] if one is asked for.
    fn new() -> Result<Self, Error> {
        let reason = "this build has no exporter; build it with --features otlp, or unset the variable".to_owned();
        Err(Error::Defect { what: "export traces", reason })
    }

    /// Nothing waits.
    pub(crate) const fn stop(&self) {}
}

/// Where traces are exported to, if the environment names an endpoint.
///
/// # Errors
/// [`Error::Defect`] if it cannot be done as the environment wants it.
pub(crate) fn export() -> Result<Option<Export>, Error> {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|it| !it.is_empty());
    let disabled = std::env::var(DISABLED).is_ok_and(|it| it.eq_ignore_ascii_case("true"));
    if disabled || !ENDPOINTS.into_iter().any(is_set) { Ok(None) } else { Export::new().map(Some) }
}
