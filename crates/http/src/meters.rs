//! Metrics of refused requests and connections, and of the bytes in memory. `pipeline::record` has the metrics of
//! answered requests.

use candor_domain::access::QuotaClass;
use candor_domain::fields::StringEnum;
use candor_service::context::limits::KeylessWrite;
use metrics::{counter, gauge};
use strum::VariantArray;

const REFUSALS: &str = "candor_rate_limit_refusals_total";
const NOT_READING: &str = "candor_http_connections_not_reading_total";
const TURNED_AWAY: &str = "candor_http_connections_refused_total";
const FORWARDED_UNREADABLE: &str = "candor_forwarded_header_unreadable_total";
const RESPONSES_REFUSED: &str = "candor_http_answers_refused_total";
const RESPONSE_BYTES: &str = "candor_http_answer_bytes_in_flight";
const BODIES_REFUSED: &str = "candor_http_bodies_refused_total";
const BODY_BYTES: &str = "candor_http_body_bytes_in_flight";

/// Bytes that a budget counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CountedBytes {
    /// Unsent answers.
    Responses,
    /// Bodies of requests that are not answered yet.
    Bodies,
}

/// Class under which requests without a valid key are counted (decision B1).
pub(crate) const WITHOUT_KEY: &str = "without_key";

/// Quota of the logout tokens of an organization (decision B11).
pub(crate) const LOGOUT: &str = "logout";

/// Registers all counters with fixed labels, so that each is exported before its first count.
pub(crate) fn register(quotas: impl IntoIterator<Item = &'static str>) {
    for name in [NOT_READING, TURNED_AWAY, FORWARDED_UNREADABLE, RESPONSES_REFUSED, BODIES_REFUSED] {
        counter!(name).increment(0);
    }
    for quota in quotas {
        counter!(REFUSALS, "quota" => quota).increment(0);
    }
    bytes_held(CountedBytes::Responses, 0);
    bytes_held(CountedBytes::Bodies, 0);
}

/// Counts a request with an unreadable `X-Forwarded-For` from a trusted proxy.
pub(crate) fn forwarded_header_unreadable() {
    counter!(FORWARDED_UNREADABLE).increment(1);
}

/// Counts a request that was refused because the budget of unsent answers or of bodies is used up.
pub(crate) fn bytes_refused(of: CountedBytes) {
    let name = match of {
        CountedBytes::Responses => RESPONSES_REFUSED,
        CountedBytes::Bodies => BODIES_REFUSED,
    };
    counter!(name).increment(1);
}

/// Reports the bytes of unsent answers or of bodies.
#[expect(clippy::cast_precision_loss, reason = "a gauge is a float, and bytes of memory are far below 2^53")]
pub(crate) fn bytes_held(of: CountedBytes, bytes: usize) {
    let name = match of {
        CountedBytes::Responses => RESPONSE_BYTES,
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
pub(crate) fn count_refused_connection() {
    counter!(TURNED_AWAY).increment(1);
}

/// Returns the values of the label `quota` in the metric of refused requests.
pub(crate) fn quota_names() -> impl Iterator<Item = &'static str> {
    let keyless = KeylessWrite::ALL.iter().map(|write| write.word());
    QuotaClass::VARIANTS.iter().map(|class| class.word()).chain([WITHOUT_KEY, LOGOUT]).chain(keyless)
}
