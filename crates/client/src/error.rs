//! Errors: one for each way in which a call fails, with the code and the details of the service.

use std::time::Duration;

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;

use crate::generated::basic_types::{ErrorCode, ErrorDetail, FieldProblem};
use crate::headers::{header, now};

/// Header in which the service advises for or against a retry.
const ADVICE: &str = "candor-should-retry";
/// End of messages that have details. The text of an [`ApiError`] has the details themselves in place of this
/// hint.
const POINTER: &str = " See `details`.";
/// Statuses of failures that a later attempt may overcome: 408, 429, 502, 503 and 504.
const TRANSIENT: [StatusCode; 5] = [
    StatusCode::REQUEST_TIMEOUT,
    StatusCode::TOO_MANY_REQUESTS,
    StatusCode::BAD_GATEWAY,
    StatusCode::SERVICE_UNAVAILABLE,
    StatusCode::GATEWAY_TIMEOUT,
];

/// An error of a call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The service answered with an error.
    #[error(transparent)]
    Api(Box<ApiError>),
    /// No complete response arrived: no connection, or a broken one.
    #[error("The connection failed: {}.", innermost(.0))]
    Connection(#[source] reqwest::Error),
    /// One attempt took longer than its timeout.
    #[error("No response within {} ms.", .0.as_millis())]
    Timeout(Duration),
    /// The response of an export ended before its last line.
    #[error("The export ended before its last line.")]
    Interrupted,
    /// The resource still has the version of `if_none_match`.
    #[error("The resource has not changed.")]
    NotModified,
    /// The response has a shape that this version cannot read.
    #[error("Cannot read the response: {0}.")]
    Unreadable(#[source] serde_json::Error),
    /// A setting or an argument is missing or wrong. Nothing was sent.
    #[error("{0}")]
    Settings(String),
}

impl Error {
    /// Returns the error of the service, if the service answered.
    #[must_use]
    pub fn api(&self) -> Option<&ApiError> {
        if let Self::Api(error) = self { Some(error) } else { None }
    }

    /// Returns the stable code of the service's error; `None` if the service did not answer with an error.
    #[must_use]
    pub fn code(&self) -> Option<&ErrorCode> {
        self.api().map(|error| &error.code)
    }

    /// Returns `true` if the failure is temporary, so that a later attempt may succeed.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Connection(_) | Self::Timeout(_) | Self::Interrupted => true,
            Self::Api(error) => error.is_transient(),
            Self::NotModified | Self::Unreadable(_) | Self::Settings(_) => false,
        }
    }

    /// Returns `true` if the request cannot have reached the service.
    #[must_use]
    pub fn is_unsent(&self) -> bool {
        match self {
            Self::Connection(error) => error.is_connect(),
            Self::Settings(_) => true,
            Self::Api(_) | Self::Timeout(_) | Self::Interrupted | Self::NotModified | Self::Unreadable(_) => false,
        }
    }

    /// Returns `true` if the certificate of the service was rejected, for instance because the system does not
    /// know the authority that issued it.
    #[must_use]
    pub fn is_certificate_rejected(&self) -> bool {
        let Self::Connection(error) = self else { return false };
        causes(error).any(|cause| matches!(tls_error(cause), Some(rustls::Error::InvalidCertificate(_))))
    }

    /// Returns the pause that the service asks for before a retry; `None` if it asks for none.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.api()?.retry_after()
    }
}

/// Returns an error and its causes, the innermost last.
fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    let outer: &(dyn std::error::Error + 'static) = error;
    std::iter::successors(Some(outer), |cause| cause.source())
}

/// Returns the TLS error that `cause` is, or that it wraps. Looks into I/O errors, because the `source` of an I/O
/// error skips the error that it wraps. `None` if there is no TLS error.
fn tls_error<'a>(cause: &'a (dyn std::error::Error + 'static)) -> Option<&'a rustls::Error> {
    cause.downcast_ref().or_else(|| tls_error(cause.downcast_ref::<std::io::Error>()?.get_ref()?))
}

/// Returns the message of the innermost cause, which names the failure of the network.
fn innermost(error: &reqwest::Error) -> String {
    let text = causes(error).last().map(ToString::to_string).unwrap_or_default();
    text.trim_end_matches('.').to_owned()
}

/// An error response of the service. A code that this version of the library does not know is
/// [`ErrorCode::Unknown`]. The text of the error has the message, each problem of a field, the status, the code
/// and the request id.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", self.sentence())]
#[non_exhaustive]
pub struct ApiError {
    /// Stable code: branch on it.
    pub code: ErrorCode,
    /// Status of the response.
    pub status: StatusCode,
    /// Explanation of the error for people, without the details; programs use `code`.
    pub message: String,
    /// One entry for each problem; empty if the service has nothing to add.
    pub details: Vec<ErrorDetail>,
    /// Id of the request in the logs of the service.
    pub request_id: Option<String>,
    /// Headers of the response.
    pub headers: HeaderMap,
    /// Body of the response, as it arrived.
    pub body: Bytes,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, headers: HeaderMap, bytes: Bytes) -> Self {
        let mut body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let details = if let Value::Array(details) = body["error"]["details"].take() { details } else { vec![] };
        let error = &body["error"];
        let text = |name: &str| error[name].as_str().map(str::to_owned);
        Self {
            code: error["code"].as_str().unwrap_or("unknown").into(),
            message: text("message").unwrap_or_else(|| format!("The service answered {}.", status.as_u16())),
            details: details.into_iter().filter_map(|detail| serde_json::from_value(detail).ok()).collect(),
            request_id: text("request_id").or_else(|| header(&headers, "x-request-id").map(str::to_owned)),
            status,
            headers,
            body: bytes,
        }
    }

    /// Returns the pause of the header `Retry-After`, which is a number of seconds or a date. `None` if the header
    /// is missing or invalid.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        let text = header(&self.headers, RETRY_AFTER.as_str())?;
        match text.parse() {
            Ok(seconds) => Some(Duration::from_secs(seconds)),
            Err(_) => Some(httpdate::parse_http_date(text).ok()?.duration_since(now()).unwrap_or_default()),
        }
    }

    /// Returns the problems of fields and parameters among the details.
    pub fn field_problems(&self) -> impl Iterator<Item = &FieldProblem> {
        self.details.iter().filter_map(|detail| match detail {
            ErrorDetail::FieldProblem(problem) => Some(&**problem),
            ErrorDetail::MissingScope(_)
            | ErrorDetail::MissingAccessLevel(_)
            | ErrorDetail::RefusedEnvironment(_)
            | ErrorDetail::Conflict(_)
            | ErrorDetail::IdempotencyConflict(_)
            | ErrorDetail::RateLimit(_)
            | ErrorDetail::Unknown(_) => None,
        })
    }

    /// Returns the window of the quota that a 429 names. `None` if the error names no quota.
    pub(crate) fn quota_window(&self) -> Option<Duration> {
        self.details.iter().find_map(|detail| match detail {
            ErrorDetail::RateLimit(limit) => Some(Duration::from_secs(limit.window_seconds.try_into().ok()?)),
            ErrorDetail::FieldProblem(_)
            | ErrorDetail::MissingScope(_)
            | ErrorDetail::MissingAccessLevel(_)
            | ErrorDetail::RefusedEnvironment(_)
            | ErrorDetail::Conflict(_)
            | ErrorDetail::IdempotencyConflict(_)
            | ErrorDetail::Unknown(_) => None,
        })
    }

    fn sentence(&self) -> String {
        let message = self.message.strip_suffix(POINTER).unwrap_or(&self.message);
        let mut text = message.trim_end_matches('.').to_owned();
        for problem in self.field_problems() {
            text.push_str(&format!("; {} {}", problem.field, problem.message.trim_end_matches('.')));
        }
        if let Some(pause) = self.retry_after().filter(|_| self.status == StatusCode::TOO_MANY_REQUESTS) {
            text.push_str(&format!("; send it again after {:.0} s", pause.as_secs_f64()));
        }
        text.push_str(&format!(" ({} {}", self.status.as_u16(), self.code));
        if let Some(id) = &self.request_id {
            text.push_str(&format!(", request {id}"));
        }
        text.push(')');
        text
    }

    fn is_transient(&self) -> bool {
        match header(&self.headers, ADVICE) {
            Some("true") => true,
            Some("false") => false,
            _ => TRANSIENT.contains(&self.status),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderName;

    /// File of cases that the tests of the other client libraries use too.
    const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/errors.json");

    #[test]
    fn text_of_an_error_has_its_problems_and_its_request() {
        let cases: Vec<Value> = serde_json::from_slice(&std::fs::read(CASES).unwrap()).unwrap();
        assert!(cases.len() >= 6);
        for case in cases {
            let mut headers = HeaderMap::new();
            for (name, value) in case["headers"].as_object().into_iter().flatten() {
                headers.insert(name.parse::<HeaderName>().unwrap(), value.as_str().unwrap().parse().unwrap());
            }
            let status = u16::try_from(case["status"].as_u64().unwrap()).unwrap();
            let status = StatusCode::from_u16(status).unwrap();
            let error = ApiError::new(status, headers, case["body"].to_string().into());
            assert_eq!(error.to_string(), case["text"].as_str().unwrap(), "{}", case["name"]);
        }
    }
}
