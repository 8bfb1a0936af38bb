//! Sends spans to an OpenTelemetry collector.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{TraceContextExt, TracerProvider};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use reqwest::blocking::Client;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use tracing::level_filters::LevelFilter;
use tracing::{Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::registry::LookupSpan;

use super::TARGET;
use candor_cli::error::CommandError;

/// Service name of the spans unless `OTEL_SERVICE_NAME` is set.
const SERVICE: &str = "candor";
/// Time limit for one export request.
const POST_TIMEOUT: Duration = Duration::from_secs(10);
/// Time limit for sending the last spans when the process stops.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// Exporter that sends spans in batches on its own thread.
pub(crate) struct Export(SdkTracerProvider);

impl Export {
    /// Creates an exporter configured by the standard variables: `OTEL_EXPORTER_OTLP_*`, `OTEL_TRACES_SAMPLER`,
    /// `OTEL_BSP_*`, `OTEL_RESOURCE_ATTRIBUTES`.
    pub(super) fn new() -> Result<Self, CommandError> {
        let defect = |reason: String| CommandError::Defect { what: "export traces", reason };
        let exporter = SpanExporter::builder().with_http().with_http_client(client()?).build();
        let exporter = exporter.map_err(|error| defect(error.to_string()))?;
        // `OTEL_RESOURCE_ATTRIBUTES` is merged later and overrides these attributes.
        let has_service_name = std::env::var_os("OTEL_SERVICE_NAME").is_some();
        let mut resource = Resource::builder();
        if !has_service_name {
            resource = resource.with_service_name(SERVICE);
        }
        let resource =
            resource.with_attribute(opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
        let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build());
        Ok(Self(provider.build()))
    }

    /// Returns the layer that passes spans to the exporter. It ignores log events.
    pub(crate) fn layer<S>(&self) -> impl Layer<S> + Send + Sync + use<S>
    where
        S: Subscriber + Send + Sync + for<'a> LookupSpan<'a>,
    {
        let span_filter = Targets::new().with_target(TARGET, LevelFilter::TRACE);
        let layer = tracing_opentelemetry::layer().with_tracer(self.0.tracer(SERVICE));
        layer.with_location(false).with_threads(false).with_target(false).with_filter(span_filter)
    }

    /// Sends the buffered spans. They are lost if the collector does not answer within two seconds.
    pub(crate) fn stop(&self) {
        drop(self.0.shutdown_with_timeout(STOP_TIMEOUT));
    }
}

/// Sets the parent of a span from the W3C Trace Context headers of a request, if the request has any.
pub(super) fn adopt(span: &Span, header: &dyn Fn(&str) -> Option<String>) {
    let names = ["traceparent", "tracestate"];
    let headers: HashMap<String, String> =
        names.into_iter().filter_map(|name| Some((name.to_owned(), header(name)?))).collect();
    let context = TraceContextPropagator::new().extract(&headers);
    // Malformed headers are ignored: the span then starts a new trace.
    if context.span().span_context().is_valid() {
        drop(span.set_parent(context));
    }
}

/// Returns the HTTP client of the exporter. Its calls block, on the exporter's own thread. It trusts the
/// authorities of the system, as webhooks, mails and PostgreSQL do. The variables `SSL_CERT_FILE` and
/// `SSL_CERT_DIR` replace these authorities. Unreadable certificates are skipped.
fn client() -> Result<Client, CommandError> {
    let defect = |reason: String| CommandError::Defect { what: "export traces", reason };
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let tls = tls.with_safe_default_protocol_versions().map_err(|error| defect(error.to_string()))?;
    let tls = tls.with_root_certificates(roots).with_no_client_auth();
    let client = Client::builder().tls_backend_preconfigured(tls).timeout(POST_TIMEOUT);
    client.build().map_err(|error| defect(error.to_string()))
}
