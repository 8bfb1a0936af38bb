//! Tracing spans of requests and use cases.

use tracing::Span;
use tracing::field::Empty;

use crate::connection::address;
use crate::pipeline::api::Api;
use crate::pipeline::exchange::Exchange;
use crate::pipeline::record::known_method;

/// Creates the span of a request; the status is recorded with the answer.
fn span_of(exchange: &Exchange<'_>) -> Span {
    let (method, route) = (known_method(exchange.request.method().as_str()), exchange.pattern);
    tracing::info_span!(
        target: "candor_spans",
        "request",
        otel.kind = "server",
        otel.name = %format_args!("{method} {route}"),
        request_id = %exchange.id,
        http.request.method = %method,
        http.route = route,
        http.response.status_code = Empty,
    )
}

/// Creates the span of a use case.
pub(crate) fn use_case(operation: &str) -> Span {
    tracing::info_span!(target: "candor_spans", "use_case", otel.name = operation)
}

impl Api {
    /// Starts the span of a request whose pattern is known.
    pub(crate) fn begin_span(&self, exchange: &mut Exchange<'_>) {
        exchange.span = span_of(exchange);
        self.adopt_trace(exchange);
    }

    /// Continues the trace that a trusted proxy names. Untrusted clients could otherwise control the sampling of
    /// their requests.
    fn adopt_trace(&self, exchange: &Exchange<'_>) {
        let request = exchange.request;
        let Some(adopt) = self.settings.adopt_trace.filter(|_| !exchange.span.is_disabled()) else { return };
        let proxies = &self.settings.trusted_proxies;
        if request.peer_addr().is_some_and(|peer| address::is_trusted(peer.ip(), proxies)) {
            let header = |name: &str| Some(request.headers().get(name)?.to_str().ok()?.to_owned());
            adopt(&exchange.span, &header);
        }
    }
}
