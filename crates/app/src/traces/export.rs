//! Sends spans to an OpenTelemetry collector.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{TraceContextExt, TracerProvider};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::level_filters::LevelFilter;
use tracing::{Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::registry::LookupSpan;
use ureq::Agent;

use super::TARGET;
use crate::error::Error;
use crate::outgoing_tls;

/// Service name of the spans unless `OTEL_SERVICE_NAME` is set.
const SERVICE: &str = "candor";
/// Time limit for one export request.
const POST_TIMEOUT: Duration = Duration::from_secs(10);
/// Time limit for sending the last spans when the process stops.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum number of bytes read from a collector's answer; anything longer is an error page.
const MAX_ANSWER_BYTES: u64 = 65_536;

/// Exporter that sends spans in batches on its own thread.
pub(crate) struct Export(SdkTracerProvider);

impl Export {
    /// Creates an exporter configured by the standard variables: `OTEL_EXPORTER_OTLP_*`, `OTEL_TRACES_SAMPLER`,
    /// `OTEL_BSP_*`, `OTEL_RESOURCE_ATTRIBUTES`.
    pub(super) fn new() -> Result<Self, Error> {
        let defect = |reason: String| Error::Defect { what: "export traces", reason };
        let agent = Agent::config_builder().http_status_as_error(false).timeout_global(Some(POST_TIMEOUT));
        let agent = agent.tls_config(outgoing_tls::trusting_the_system()).build();
        let exporter = SpanExporter::builder().with_http().with_http_client(Client(agent.into())).build();
        let exporter = exporter.map_err(|error| defect(error.to_string()))?;
        // `OTEL_RESOURCE_ATTRIBUTES` is merged later and overrides these attributes.
        let named = std::env::var_os("OTEL_SERVICE_NAME").is_some();
        let mut resource = Resource::builder();
        if !named {
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
        let wanted = Targets::new().with_target(TARGET, LevelFilter::TRACE);
        let layer = tracing_opentelemetry::layer().with_tracer(self.0.tracer(SERVICE));
        layer.with_location(false).with_threads(false).with_target(false).with_filter(wanted)
    }

    /// Sends the buffered spans. They are lost if the collector does not answer.
    pub(crate) fn stop(&self) {
        drop(self.0.shutdown_with_timeout(STOP_TIMEOUT));
    }
}

/// Sets the parent of a span from the W3C Trace Context headers of a request, if it has any.
pub(super) fn adopt(span: &Span, header: &dyn Fn(&str) -> Option<String>) {
    let names = ["traceparent", "tracestate"];
    let given: HashMap<String, String> =
        names.into_iter().filter_map(|name| Some((name.to_owned(), header(name)?))).collect();
    let context = TraceContextPropagator::new().extract(&given);
    // Malformed headers are ignored: the span then starts a new trace.
    if context.span().span_context().is_valid() {
        drop(span.set_parent(context));
    }
}

/// HTTP client of the exporter. It blocks, on the exporter's own thread.
#[derive(Debug)]
struct Client(Agent);

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let answer = self.0.run(request.map(|request| request.to_vec()))?;
        let (head, mut body) = answer.into_parts();
        let bytes = body.with_config().limit(MAX_ANSWER_BYTES).read_to_vec()?;
        Ok(Response::from_parts(head, bytes.into()))
    }
}
