//! `candor serve`: runs the service until a stop signal.

use std::fmt::Write as _;
use std::thread;

use candor_domain::secret::Secret;
use serde_json::{Value, json};

use super::console;
use crate::cli::Role;
use crate::lifecycle::RunningServer;
use candor_cli::error::CommandError;
use candor_cli::output::Output;
use candor_settings::{Config, LogFormat};

/// Serves until a stop signal.
///
/// # Errors
/// An error that prevents the start: a taken address, an old schema, a database that does not answer.
pub(crate) async fn run(config: &Config, role: Role, output: Output) -> Result<(), CommandError> {
    let running = RunningServer::start(config, role).await?;
    let url = running.url.clone();
    let metrics = running.metrics_url.clone();
    let mut human_text = match &url {
        Some(url) => format!("Candor listens on {url} (API {url}/v1, reference {url}/docs)"),
        None => "Candor runs background work".to_owned(),
    };
    let may_print = output.json || config.log_format == LogFormat::Text;
    let link = match &url {
        Some(_) if config.console && may_print => console::first_link(&running.services).await,
        _ => None,
    };
    let link = link.map(|link| link.url);
    if let Some(link) = &link {
        let _ = write!(human_text, "\nThis link opens the console once, within 30 minutes:\n{}", link.reveal());
    }
    // Log collectors often read both output streams and expect only JSON lines. The JSON log contains the same
    // addresses.
    if may_print {
        let console = link.as_ref().map(Secret::reveal);
        greet(output, json!({"url": url, "metrics_url": metrics, "console_url": console}), human_text);
    }
    running.until_told_to_stop().await
}

/// Prints the addresses. The service runs on if standard output is closed, full or not read.
pub(super) fn greet(output: Output, object: Value, human_text: String) {
    let greeting = move || {
        if let Err(error) = output.say(&object, &human_text) {
            tracing::warn!(%error, "cannot print the addresses; the service runs");
        }
    };
    if let Err(error) = thread::Builder::new().name("candor-greeting".to_owned()).spawn(greeting) {
        tracing::warn!(%error, "cannot print the addresses; the service runs");
    }
}
