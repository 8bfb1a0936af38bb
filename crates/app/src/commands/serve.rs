//! `candor serve`: the service, until it is told to stop.

use serde_json::json;

use crate::cli::Role;
use crate::config::{Config, LogFormat};
use crate::error::Error;
use crate::lifecycle::Running;
use crate::output::Output;

/// Serves until a signal says to stop.
///
/// # Errors
/// Whatever keeps it from starting: a taken address, an old schema, a database that does not answer.
pub(crate) async fn run(config: &Config, role: Role, output: Output) -> Result<(), Error> {
    let running = Running::start(config, role).await?;
    let url = running.url.clone();
    let metrics = running.metrics_url.clone();
    let people = match &url {
        Some(url) => format!("Candor listens on {url} (API {url}/v1, reference {url}/docs)"),
        None => "Candor runs background work".to_owned(),
    };
    // A collector of JSON lines often reads both streams, and the log says the same.
    if output.json || config.log_format == LogFormat::Text {
        output.say(&json!({"url": url, "metrics_url": metrics}), &people)?;
    }
    running.until_told_to_stop().await
}
