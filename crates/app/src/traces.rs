//! Traces: spans of requests and deliveries, exported over OTLP/HTTP if an endpoint is configured.
//!
//! Every span has the target [`TARGET`], which is filtered out of log lines. Without an endpoint, spans are
//! disabled, and a disabled span costs one comparison.

use candor_http::AdoptTrace;

use candor_cli::error::CommandError;

#[cfg(feature = "otlp")]
mod export;

/// The target of every span.
pub(crate) const TARGET: &str = "candor_spans";

/// Variables with the export endpoint. The second one is specific to traces and overrides the first.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
/// Variable that disables the export if it is `true`.
const DISABLED: &str = "OTEL_SDK_DISABLED";

/// Function that continues the caller's trace (`traceparent`), so that the spans of the caller and of the request
/// are connected.
#[cfg(feature = "otlp")]
pub(crate) const ADOPT: Option<AdoptTrace> = Some(export::adopt);
/// No function: a build without the exporter continues no trace.
#[cfg(not(feature = "otlp"))]
pub(crate) const ADOPT: Option<AdoptTrace> = None;

#[cfg(feature = "otlp")]
pub(crate) use export::Export;

/// Placeholder of the exporter in builds without it.
#[cfg(not(feature = "otlp"))]
pub(crate) struct Export;

#[cfg(not(feature = "otlp"))]
impl Export {
    /// Refuses to start if the environment configures an export.
    ///
    /// # Errors
    /// [`CommandError::Refused`] always.
    fn new() -> Result<Self, CommandError> {
        Err(CommandError::Refused {
            what: "export traces".to_owned(),
            reason: "this build has no exporter".to_owned(),
            remedy: "build it with --features otlp, or unset OTEL_EXPORTER_OTLP_*",
        })
    }

    /// Does nothing, because no spans are buffered.
    pub(crate) const fn stop(&self) {}
}

/// Starts the export if the environment names an endpoint.
///
/// # Errors
/// [`CommandError::Defect`] if the export cannot be started as configured.
pub(crate) fn export() -> Result<Option<Export>, CommandError> {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_disabled = std::env::var(DISABLED).is_ok_and(|value| value.eq_ignore_ascii_case("true"));
    if is_disabled || !ENDPOINTS.into_iter().any(is_set) { Ok(None) } else { Export::new().map(Some) }
}
