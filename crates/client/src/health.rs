//! Health of a service, which needs no API key.

use std::time::Duration;

use reqwest::redirect::Policy;
use serde_json::Value;

use crate::error::Error;
use crate::tls;

/// Time limit of a probe. A service on the same machine needs far less.
const TIMEOUT: Duration = Duration::from_secs(4);

/// A question about the health of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Probe {
    /// The process responds, whatever the state of its database.
    Live,
    /// The service responds and its database is usable.
    Ready,
}

/// Asks a service for its health once, without a proxy, and returns its answer. An error response is an answer,
/// too.
///
/// # Errors
/// [`Error::Connection`] and [`Error::Timeout`] if no service responds; [`Error::Unreadable`] if the response is
/// not JSON, because another program responds; [`Error::Settings`] if TLS is not available.
pub async fn probe(url: &str, probe: Probe) -> Result<Value, Error> {
    let path = match probe {
        Probe::Live => "livez",
        Probe::Ready => "readyz",
    };
    let config = if url.starts_with("https:") { tls::settings(&[], None)? } else { tls::plain_settings()? };
    let builder = reqwest::Client::builder().tls_backend_preconfigured(config).no_proxy();
    let client = builder.redirect(Policy::none()).timeout(TIMEOUT).build().map_err(Error::Connection)?;
    let to_error = |error: reqwest::Error| {
        if error.is_timeout() { Error::Timeout(TIMEOUT) } else { Error::Connection(error) }
    };
    let response = client.get(format!("{}/{path}", url.trim_end_matches('/'))).send().await.map_err(to_error)?;
    serde_json::from_slice(&response.bytes().await.map_err(to_error)?).map_err(Error::Unreadable)
}
