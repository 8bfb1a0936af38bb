//! `candor serve`: runs the service until a stop signal.

use serde_json::json;

use crate::cli::Role;
use crate::config::{Config, LogFormat};
use crate::error::Error;
use crate::lifecycle::Running;
use crate::output::Output;

/// Serves until a stop signal.
///
/// # Errors
/// An error that prevents the start: a taken address, an old schema, a database that does not answer.
pub(crate) async fn run(config: &Config, role: Role, output: Output) -> Result<(), Error> {
    let running = Running::start(config, role).await?;
    let url = running.url.clone();
    let metrics = running.metrics_url.clone();
    let people = match &url {
        Some(url) => format!("Candor listens on {url} (API {url}/v1, reference {url}/docs)"),
        None => "Candor runs background work".to_owned(),
    };
    // Log collectors often read both output streams and expect only JSON lines. The JSON log contains the same
    // addresses.
    if output.json || config.log_format == LogFormat::Text {
        output.say(&json!({"url": url, "metrics_url": metrics}), &people)?;
    }
    running.until_told_to_stop().await
}
