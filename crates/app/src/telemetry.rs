//! Telemetry of the process: log lines on standard error, and metrics on demand.

use std::io::IsTerminal;
use std::sync::Arc;

use candor_http::MetricsText;
use candor_service::Services;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::filter::{ParseError, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{Layer, Registry};

use crate::log_queue::{self, LastLines, LogQueue};
use crate::traces::{self, Export};
use crate::{process_metrics, tenant_metrics};
use candor_cli::error::CommandError;
use candor_settings::{Config, LogFormat};

/// Histogram buckets of durations, in seconds: from a cached read to a client's usual timeout.
const SECONDS: [f64; 14] =
    [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// Histogram buckets of deliveries and mails, in seconds. Receivers and mail servers may be slower, and deliveries
/// and mails wait under load.
const DELIVERY_SECONDS: [f64; 19] = [
    0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0, 30.0, 60.0,
    600.0, 3600.0,
];

/// The metric whose label contains the running version.
const BUILD: &str = "candor_build_info";

/// Type of a metric.
enum MetricType {
    Counter,
    Gauge,
    Histogram,
}

use MetricType::{Counter, Gauge, Histogram};

/// All metrics with their help texts.
const METRICS: [(MetricType, &str, &str); 55] = [
    (Gauge, BUILD, "Always 1; the label contains the version."),
    (
        Counter,
        "candor_log_lines_dropped_total",
        "Log lines that were dropped because standard error was not read.",
    ),
    (Counter, "candor_http_requests_total", "Number of requests, by method, route pattern and status."),
    (Histogram, "candor_http_request_duration_seconds", "Duration of requests, from the head to the response."),
    (Gauge, "candor_http_requests_in_flight", "Requests in progress."),
    (Counter, "candor_http_connections_refused_total", "Connections refused because the client had too many."),
    (
        Counter,
        "candor_http_connections_not_reading_total",
        "Connections closed because the client did not read its responses.",
    ),
    (Gauge, "candor_http_answer_bytes_in_flight", "Unread bytes of large responses."),
    (
        Gauge,
        "candor_http_body_bytes_in_flight",
        "Bytes of large request bodies whose requests are not decided yet.",
    ),
    (
        Counter,
        "candor_http_answers_refused_total",
        "Requests rejected because the API key had too many unread bytes of responses.",
    ),
    (
        Counter,
        "candor_http_bodies_refused_total",
        "Requests rejected because the API key had too many bytes of unfinished bodies.",
    ),
    (Gauge, "candor_exports_running", "Exports that are being sent."),
    (Counter, "candor_export_rows_total", "Rows that exports have read from the store."),
    (Counter, "candor_exports_total", "Ended exports, by outcome."),
    (
        Counter,
        "candor_forwarded_header_unreadable_total",
        "Requests with an unreadable X-Forwarded-For from a trusted proxy.",
    ),
    (Counter, "candor_rate_limit_refusals_total", "Requests rejected because a quota was used up, by quota."),
    (Gauge, "candor_rate_limit_store_up", "1 if the server of the shared quotas responds."),
    (
        Counter,
        "candor_rate_limit_store_failures_total",
        "Requests for which the server of the shared quotas did not respond.",
    ),
    (Histogram, "candor_store_commit_seconds", "Time to save a change, including waiting."),
    (Gauge, "candor_store_queue_length", "Changes that wait for the writer of the embedded database."),
    (
        Counter,
        "candor_store_groups_total",
        "Transactions of the embedded database, each with one or more changes.",
    ),
    (Counter, "candor_store_grouped_changes_total", "Changes saved in transactions of the embedded database."),
    (Gauge, "candor_search_backlog_tables", "Tables of a data set with rows that the search index lacks."),
    (Counter, "candor_search_indexed_rows_total", "Rows added to the search index."),
    (Gauge, "candor_tenant_rows", "Rows of an organization: resources, events and audit entries."),
    (Gauge, "candor_tenant_bytes", "Estimated bytes of the rows of an organization, without indexes."),
    (Gauge, "candor_store_pool_size", "Size of the database connection pool."),
    (Gauge, "candor_store_pool_in_use", "Database connections of the pool in use."),
    (Gauge, "candor_store_pool_waiting", "Changes that wait for a connection of the database pool."),
    (Gauge, "candor_store_node_up", "1 if the cluster node accepts connections and responds."),
    (Gauge, "candor_store_replica_up", "1 if the replica can be read."),
    (
        Gauge,
        "candor_store_replica_lag_seconds",
        "Age of the newest change on the replica, 0 if it has replayed everything.",
    ),
    (Counter, "candor_store_replica_reads_total", "Reads that the replica served."),
    (Counter, "candor_store_replica_fallbacks_total", "Reads that the primary served instead of the replica."),
    (
        Gauge,
        "candor_clock_difference_seconds",
        "Time by which the clock of this machine is ahead of the clock of the database.",
    ),
    (
        Counter,
        "candor_retention_refusals_total",
        "Sweeps that deleted nothing because the clocks differed by more than an hour.",
    ),
    (Gauge, "candor_webhook_queue_due", "Due webhook deliveries that no worker has claimed."),
    (
        Gauge,
        "candor_webhook_queue_oldest_seconds",
        "Age of the oldest due webhook delivery that no worker has claimed.",
    ),
    (Counter, "candor_webhook_attempts_total", "Webhook delivery attempts, by result."),
    (Histogram, "candor_webhook_attempt_seconds", "Duration of a webhook delivery attempt."),
    (Histogram, "candor_webhook_latency_seconds", "Time from an event to its first webhook delivery attempt."),
    (Gauge, "candor_webhook_attempts_in_flight", "Webhook delivery attempts in progress."),
    (Counter, "candor_webhook_unsent_total", "Webhook deliveries dropped without another attempt, by reason."),
    (Counter, "candor_scim_brake_refusals_total", "Deactivations by identity providers that a brake refused."),
    (Counter, "candor_scim_issues_total", "New issues of identity providers, by kind."),
    (
        Counter,
        "candor_identity_token_refusals_total",
        "Bearer tokens of identity providers that were refused, by cause.",
    ),
    (Counter, "candor_identity_key_fetches_total", "Fetches of the keys of identity providers, by outcome."),
    (
        Counter,
        "candor_webhook_leases_lost_total",
        "Webhook delivery attempts whose result came too late to be recorded.",
    ),
    (
        Counter,
        "candor_webhook_leases_forgotten_total",
        "Webhook deliveries that waited too long in memory and will be claimed again.",
    ),
    (Gauge, "candor_mail_queue_due", "Due mails that no worker has claimed."),
    (Gauge, "candor_mail_queue_oldest_seconds", "Age of the oldest due mail that no worker has claimed."),
    (Counter, "candor_mail_attempts_total", "Attempts to send a mail, by result."),
    (Histogram, "candor_mail_attempt_seconds", "Duration of an attempt to send a mail."),
    (Gauge, "candor_mail_attempts_in_flight", "Attempts to send a mail in progress."),
    (
        Counter,
        "candor_mail_leases_lost_total",
        "Attempts to send a mail whose result came too late to be recorded.",
    ),
];

/// Default filter of noisy libraries: thread starts, malformed requests (the service logs its own event), and
/// trace export. A configured filter that names one of these libraries overrides this default.
const QUIET: &str =
    "actix_server=warn,actix_http=off,opentelemetry=off,opentelemetry_sdk=off,opentelemetry_otlp=off";

/// Starts logging, and trace export if the environment configures it. Logs never go to standard output. Panics are
/// logged too, because the standard hook waits for the reader of standard error.
///
/// # Errors
/// [`CommandError::Defect`] if the filter is invalid, if logging was started before, or if traces cannot be exported as
/// configured; [`CommandError::Io`] if the thread of the log cannot be started.
pub(crate) fn start_logs(config: &Config) -> Result<(Option<Export>, LastLines), CommandError> {
    let defect = |reason: String| CommandError::Defect { what: "start the log", reason };
    let filter = format!("{QUIET},{}=off,{}", traces::TARGET, config.log);
    let filter: Targets = filter.parse().map_err(|error: ParseError| defect(error.to_string()))?;
    let export = traces::export()?;
    let (queue, last) = log_queue::start().map_err(CommandError::io("start", "the log"))?;
    let start_result = match &export {
        None => tracing_subscriber::registry().with(lines(config, queue).with_filter(filter)).try_init(),
        Some(export) => with_traces(filter, lines(config, queue), export),
    };
    start_result.map_err(|error| defect(error.to_string()))?;
    std::panic::set_hook(Box::new(|panic| tracing::error!("{}", panic.to_string().replace('\n', " "))));
    Ok((export, last))
}

/// Layer that writes log lines.
type Lines = Box<dyn Layer<Registry> + Send + Sync>;

#[cfg(feature = "otlp")]
fn with_traces(filter: Targets, lines: Lines, export: &Export) -> Result<(), TryInitError> {
    tracing_subscriber::registry().with(lines.with_filter(filter)).with(export.layer()).try_init()
}

#[cfg(not(feature = "otlp"))]
fn with_traces(filter: Targets, lines: Lines, _: &Export) -> Result<(), TryInitError> {
    tracing_subscriber::registry().with(lines.with_filter(filter)).try_init()
}

/// Creates the layer that writes events as lines to standard error.
fn lines(config: &Config, queue: LogQueue) -> Lines {
    let lines = tracing_subscriber::fmt::layer().with_writer(queue);
    match config.log_format {
        LogFormat::Text => lines.with_ansi(std::io::stderr().is_terminal()).boxed(),
        LogFormat::Json => lines.json().flatten_event(true).with_current_span(false).with_span_list(false).boxed(),
    }
}

/// Starts collecting metrics and returns the handle that renders them.
///
/// # Errors
/// [`CommandError::Defect`] if collecting was started before.
pub(crate) fn start_metrics() -> Result<PrometheusHandle, CommandError> {
    let defect = |reason: String| CommandError::Defect { what: "start the metrics", reason };
    let seconds = Matcher::Suffix("_seconds".to_owned());
    let deliveries = Matcher::Prefix("candor_webhook_".to_owned());
    let mails = Matcher::Prefix("candor_mail_".to_owned());
    let builder = PrometheusBuilder::new()
        .set_buckets_for_metric(seconds, &SECONDS)
        .and_then(|builder| builder.set_buckets_for_metric(deliveries, &DELIVERY_SECONDS))
        .and_then(|builder| builder.set_buckets_for_metric(mails, &DELIVERY_SECONDS));
    let handle =
        builder.and_then(PrometheusBuilder::install_recorder).map_err(|error| defect(error.to_string()))?;
    for (shape, name, says) in METRICS {
        match shape {
            Counter => metrics::describe_counter!(name, says),
            Gauge => metrics::describe_gauge!(name, says),
            Histogram => metrics::describe_histogram!(name, says),
        }
    }
    metrics::counter!(log_queue::DROPPED).increment(0);
    metrics::gauge!(BUILD, "version" => env!("CARGO_PKG_VERSION")).set(1);
    Ok(handle)
}

/// Returns a function that renders the metrics, including current values of the process (memory, files,
/// processor time).
pub(crate) fn metrics_text(handle: PrometheusHandle, services: Arc<Services>) -> MetricsText {
    process_metrics::describe();
    Arc::new(move || {
        process_metrics::collect();
        let sizes = tenant_metrics::render_sizes(&services.tenant_sizes.largest(), help);
        format!("{}{}{sizes}", handle.render(), process_metrics::processor_time())
    })
}

/// Returns the description of a metric.
fn help(name: &str) -> &'static str {
    METRICS.iter().find(|metric| metric.1 == name).map_or("", |metric| metric.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metric_help_refers_to_no_other_metric() {
        // The exporter has its own order, so a help text must not refer to the metric before it.
        for (_, name, help) in METRICS {
            let refers = help
                .split(|character: char| !character.is_alphanumeric())
                .any(|word| ["them", "those", "these"].contains(&word));
            assert!(!refers && help.ends_with('.'), "{name}: {help}");
        }
    }

    #[test]
    fn metrics_are_all_documented_for_operators() {
        let page = include_str!("../../../docs/operations.md");
        for (_, name, _) in METRICS {
            assert!(page.contains(&format!("`{name}")), "{name}");
        }
    }
}
