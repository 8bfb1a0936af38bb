//! What is written down of each request: one log event and the metrics, without bodies, queries or addresses.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Instant;

use actix_web::http::StatusCode;
use candor_domain::access::QuotaClass;
use candor_domain::fields::Word;
use candor_domain::id::RequestId;
use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};
use strum::VariantArray;

use crate::exchange::Exchange;

/// What is logged for a client that went away before the answer (as nginx does).
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

/// Class under which requests without a valid key are counted (decision B1).
pub(crate) const WITHOUT_KEY: &str = "without_key";
/// Class under which attempts to accept an invitation are counted (decisions G).
pub(crate) const INVITATION_ACCEPT: &str = "invitation_accept";

/// Asked for every few seconds by whoever watches the process: too often to be worth a line unless lines are looked for.
const PROBES: [&str; 3] = ["/livez", "/readyz", "/metrics"];

/// The meters of one kind of request, looked up once per thread: finding them by their labels costs more than counting.
struct Meters {
    requests: Counter,
    duration: Histogram,
}

/// What tells the meters apart: method, route pattern, status.
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

/// A request that is being answered. Dropped before it is finished, it says that the client went away.
pub(crate) struct Record {
    begun: Instant,
    request: Option<RequestId>,
}

impl Record {
    /// The request has arrived.
    pub(crate) fn begin(request: RequestId) -> Self {
        FLIGHT.with(|it| it.increment(1.0));
        Self { begun: Instant::now(), request: Some(request) }
    }

    /// The answer is there.
    pub(crate) fn finish(mut self, exchange: &Exchange<'_>, status: StatusCode, bytes: usize) {
        self.request = None;
        let elapsed = self.begun.elapsed();
        let method = known_method(exchange.request.method().as_str());
        let route = exchange.pattern;
        count(method, route, status, elapsed.as_secs_f64());
        let duration_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        if PROBES.contains(&route) {
            tracing::debug!(method, route, status = status.as_u16(), duration_us, request_id = %exchange.id, bytes, "request");
            return;
        }
        let caller = exchange.caller.as_deref();
        tracing::info!(
            method,
            route,
            status = status.as_u16(),
            duration_us,
            request_id = %exchange.id,
            key_id = caller.map(|it| tracing::field::display(it.key)),
            organization_id = caller.map(|it| tracing::field::display(it.tenant.organization)),
            bytes,
            "request"
        );
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        FLIGHT.with(|it| it.decrement(1.0));
        if let Some(request) = self.request {
            let duration_us = u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX);
            tracing::info!(status = CLIENT_CLOSED, duration_us, request_id = %request, "request");
        }
    }
}

/// Registers every counter of this crate that has a fixed set of labels, so that each is exported before it first counts.
pub(crate) fn register(quotas: impl IntoIterator<Item = &'static str>) {
    for name in [NOT_READING, TURNED_AWAY, FORWARDED_UNREADABLE, ANSWERS_REFUSED] {
        counter!(name).increment(0);
    }
    for quota in quotas {
        counter!(REFUSALS, "quota" => quota).increment(0);
    }
    answer_bytes(0);
}

/// Counts a request whose trusted proxy sent an `X-Forwarded-For` that cannot be read.
pub(crate) fn forwarded_header_unreadable() {
    counter!(FORWARDED_UNREADABLE).increment(1);
}

/// Counts a request that was refused because earlier answers were not yet sent.
pub(crate) fn answer_refused() {
    counter!(ANSWERS_REFUSED).increment(1);
}

/// Reports the bytes of answers that are not yet sent.
#[expect(clippy::cast_precision_loss, reason = "a gauge is a float, and bytes of memory are far below 2^53")]
pub(crate) fn answer_bytes(bytes: usize) {
    gauge!(ANSWER_BYTES).set(bytes as f64);
}

/// A quota was used up.
pub(crate) fn refused(quota: &'static str) {
    counter!(REFUSALS, "quota" => quota).increment(1);
}

/// A connection was given up because its client took nothing of its answers.
pub(crate) fn not_reading() {
    counter!(NOT_READING).increment(1);
}

/// A connection was refused because its client has too many.
pub(crate) fn turned_away() {
    counter!(TURNED_AWAY).increment(1);
}

/// Methods that clients make up are one label, so that nobody can make up metrics.
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

/// Returns the names under which requests are counted and refused, for metrics.
pub(crate) fn quota_names() -> impl Iterator<Item = &'static str> {
    QuotaClass::VARIANTS.iter().map(|class| class.word()).chain([WITHOUT_KEY, INVITATION_ACCEPT])
}
