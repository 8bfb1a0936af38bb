//! The log of attempts, for the program that uses the client.

use std::sync::Arc;
use std::time::Duration;

use reqwest::{Method, StatusCode};

use crate::error::Error;

/// Receiver of log entries.
pub(crate) type Log = Arc<dyn Fn(&LogEntry<'_>) + Send + Sync>;

/// One attempt of a call. It contains neither keys, bodies nor queries.
#[derive(Debug)]
#[non_exhaustive]
pub struct LogEntry<'a> {
    /// Method of the request.
    pub method: &'a Method,
    /// Path of the request, below `/v1`.
    pub path: &'a str,
    /// Number of earlier attempts of this call.
    pub retries: u32,
    /// Time until the response was complete or the attempt failed.
    pub duration: Duration,
    /// Status of the response, if there was one.
    pub status: Option<StatusCode>,
    /// Id of the request in the logs of the service.
    pub request_id: Option<&'a str>,
    /// The error that the attempt ended with.
    pub error: Option<&'a Error>,
}
