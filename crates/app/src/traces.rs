//! Traces: the spans of requests and deliveries, exported by OpenTelemetry (OTLP over HTTP) where an endpoint is set.
//!
//! Every span has the target [`TARGET`], so that none of them appears in log lines. Without an endpoint spans are disabled,
//! and a disabled span costs one comparison.

use candor_http::AdoptTrace;

use crate::error::Error;

#[cfg(feature = "otlp")]
mod export;

/// The target of every span.
pub(crate) const TARGET: &str = "candor_spans";

/// The variables that say where traces go. The second one is about traces alone, and wins over the first.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
/// Set to `true`, it turns the export off.
const DISABLED: &str = "OTEL_SDK_DISABLED";

/// Continues the trace of a caller that names one (`traceparent`), so that a request is seen as part of what led to it.
#[cfg(feature = "otlp")]
pub(crate) const ADOPT: Option<AdoptTrace> = Some(export::adopt);
/// In a build without the exporter no trace is continued.
#[cfg(not(feature = "otlp"))]
pub(crate) const ADOPT: Option<AdoptTrace> = None;

#[cfg(feature = "otlp")]
pub(crate) use export::Export;

/// A build without the exporter.
#[cfg(not(feature = "otlp"))]
pub(crate) struct Export;

#[cfg(not(feature = "otlp"))]
impl Export {
    /// Refuses to start where the environment asks for an export that this build does not have.
    ///
    /// # Errors
    /// [`Error::Defect`] if one is asked for.
    fn new() -> Result<Self, Error> {
        let reason = "this build has no exporter; build it with --features otlp, or unset the variable".to_owned();
        Err(Error::Defect { what: "export traces", reason })
    }

    /// There is nothing to send.
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
