//! Records each request: one log event and metrics, without bodies, queries or addresses.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Instant;

use actix_web::http::StatusCode;
use candor_domain::id::RequestId;
use candor_service::Services;
use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};

use crate::pipeline::exchange::Exchange;

/// Logged status if the client disconnects before the answer, as in nginx.
const CLIENT_CLOSED: u16 = 499;
const IN_FLIGHT: &str = "candor_http_requests_in_flight";
const REQUESTS: &str = "candor_http_requests_total";
const DURATION: &str = "candor_http_request_duration_seconds";
/// Paths that monitoring polls every few seconds; logged only at debug level.
const PROBES: [&str; 3] = ["/livez", "/readyz", "/metrics"];

/// Metrics handles of one kind of request, cached per thread. A lookup by labels costs more than counting.
struct Meters {
    requests: Counter,
    duration: Histogram,
}

/// Labels of the metrics: method, route pattern, status.
type Labels = (&'static str, &'static str, u16);

thread_local! {
    static METERS: RefCell<HashMap<Labels, Meters>> = RefCell::default();
    static FLIGHT: Gauge = gauge!(IN_FLIGHT);
}

fn count(method: &'static str, route: &'static str, status: StatusCode, seconds: f64) {
    METERS.with_borrow_mut(|all| {
        let meters = all.entry((method, route, status.as_u16())).or_insert_with(|| Meters {
            requests: counter!(REQUESTS, "method" => method, "route" => route, "status" => status.as_str().to_owned()),
            duration: histogram!(DURATION, "method" => method, "route" => route),
        });
        meters.requests.increment(1);
        meters.duration.record(seconds);
    });
}

/// A request in progress. Dropping it unfinished records that the client disconnected.
pub(crate) struct Record {
    begun: Instant,
    request: Option<RequestId>,
}

impl Record {
    /// Starts recording a request at its arrival.
    pub(crate) fn begin(request: RequestId) -> Self {
        FLIGHT.with(|gauge| gauge.increment(1.0));
        Self { begun: Instant::now(), request: Some(request) }
    }

    /// Records the answer of the request, also in the statistics of the caller's data set.
    pub(crate) fn finish(
        mut self,
        services: &Services,
        exchange: &Exchange<'_>,
        status: StatusCode,
        bytes: usize,
    ) {
        self.request = None;
        let caller = exchange.caller.as_deref();
        if let Some(caller) = caller {
            services.request_counters.add(caller.tenant, status.as_u16(), exchange.at);
        }
        let duration = self.begun.elapsed();
        let method = known_method(exchange.request.method().as_str());
        let route = exchange.pattern;
        count(method, route, status, duration.as_secs_f64());
        let duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        if PROBES.contains(&route) {
            tracing::debug!(method, route, status = status.as_u16(), duration_us, request_id = %exchange.id, bytes, "request");
            return;
        }
        tracing::info!(
            method,
            route,
            status = status.as_u16(),
            duration_us,
            request_id = %exchange.id,
            key_id = caller.map(|caller| tracing::field::display(caller.key)),
            organization_id = caller.map(|caller| tracing::field::display(caller.tenant.organization)),
            bytes,
            "request"
        );
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        FLIGHT.with(|gauge| gauge.decrement(1.0));
        if let Some(request) = self.request {
            let duration_us = u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX);
            tracing::info!(status = CLIENT_CLOSED, duration_us, request_id = %request, "request");
        }
    }
}

/// Returns the method as a label. Unknown methods share one label: they are texts of a client, which would create time
/// series, and fill logs.
pub(crate) fn known_method(method: &str) -> &'static str {
    match method {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PATCH" => "PATCH",
        "PUT" => "PUT",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}
