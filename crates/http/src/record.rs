//! Records each request: one log event and metrics, without bodies, queries or addresses.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Instant;

use actix_web::http::StatusCode;
use candor_domain::access::QuotaClass;
use candor_domain::fields::StringEnum;
use candor_domain::id::RequestId;
use candor_service::Services;
use candor_service::context::limits::KeylessWrite;
use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};
use strum::VariantArray;

use crate::exchange::Exchange;

/// Logged status if the client disconnects before the answer, as in nginx.
const CLIENT_CLOSED: u16 = 499;
const IN_FLIGHT: &str = "candor_http_requests_in_flight";
const REQUESTS: &str = "candor_http_requests_total";
const DURATION: &str = "candor_http_request_duration_seconds";
const REFUSALS: &str = "candor_rate_limit_refusals_total";
const NOT_READING: &str = "candor_http_connections_not_reading_total";
const TURNED_AWAY: &str = "candor_http_connections_refused_total";

const FORWARDED_UNREADABLE: &str = "candor_forwarded_header_unreadable_total";
const ANSWERS_REFUSED: &str = "candor_http_answers_refused_total";
const ANSWER_BYTES: &str = "candor_http_answer_bytes_in_flight";
const BODIES_REFUSED: &str = "candor_http_bodies_refused_total";
const BODY_BYTES: &str = "candor_http_body_bytes_in_flight";

/// Bytes that a budget counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CountedBytes {
    /// Unsent answers.
    Answers,
    /// Bodies of requests that are not decided about.
    Bodies,
}

/// Class under which requests without a valid key are counted (decision B1).
pub(crate) const WITHOUT_KEY: &str = "without_key";

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

/// Registers all counters with fixed labels, so that each is exported before its first count.
pub(crate) fn register(quotas: impl IntoIterator<Item = &'static str>) {
    for name in [NOT_READING, TURNED_AWAY, FORWARDED_UNREADABLE, ANSWERS_REFUSED, BODIES_REFUSED] {
        counter!(name).increment(0);
    }
    for quota in quotas {
        counter!(REFUSALS, "quota" => quota).increment(0);
    }
    bytes_held(CountedBytes::Answers, 0);
    bytes_held(CountedBytes::Bodies, 0);
}

/// Counts a request with an unreadable `X-Forwarded-For` from a trusted proxy.
pub(crate) fn forwarded_header_unreadable() {
    counter!(FORWARDED_UNREADABLE).increment(1);
}

/// Counts a request that was refused because of unsent answers or unfinished bodies.
pub(crate) fn bytes_refused(of: CountedBytes) {
    let name = match of {
        CountedBytes::Answers => ANSWERS_REFUSED,
        CountedBytes::Bodies => BODIES_REFUSED,
    };
    counter!(name).increment(1);
}

/// Reports the bytes of unsent answers or of bodies.
#[expect(clippy::cast_precision_loss, reason = "a gauge is a float, and bytes of memory are far below 2^53")]
pub(crate) fn bytes_held(of: CountedBytes, bytes: usize) {
    let name = match of {
        CountedBytes::Answers => ANSWER_BYTES,
        CountedBytes::Bodies => BODY_BYTES,
    };
    gauge!(name).set(bytes as f64);
}

/// Counts a request above a quota.
pub(crate) fn record_refused(quota: &'static str) {
    counter!(REFUSALS, "quota" => quota).increment(1);
}

/// Counts a connection that was closed because its client did not read.
pub(crate) fn not_reading() {
    counter!(NOT_READING).increment(1);
}

/// Counts a connection that was refused because its client has too many.
pub(crate) fn turned_away() {
    counter!(TURNED_AWAY).increment(1);
}

/// Returns the method as a label. Unknown methods share one label, so that clients cannot create time series.
fn known_method(method: &str) -> &'static str {
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

/// Returns the values of the label `quota` in the metric of refused requests.
pub(crate) fn quota_names() -> impl Iterator<Item = &'static str> {
    let keyless = KeylessWrite::ALL.iter().map(|write| write.word());
    QuotaClass::VARIANTS.iter().map(|class| class.word()).chain([WITHOUT_KEY]).chain(keyless)
}
