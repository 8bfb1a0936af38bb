//! One request over a connection, up to the head of its response.

use std::error::Error;

use bytes::Bytes;
use candor_domain::attempt_failure::FailureReason;
use http::header::HOST;
use http::{HeaderMap, HeaderValue, Method, Uri};
use http_body_util::Full;
use hyper::Response;
use hyper::body::Incoming;
use url::{Position, Url};

use crate::BoxedFuture;
use crate::connection::{Connection, Wire};
use crate::wire::TooMuchSentError;

/// A request, borrowed from its sender.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "fields named after the parts of a request")]
pub struct OutboundRequest<'r> {
    pub method: &'r Method,
    pub url: &'r Url,
    pub headers: &'r HeaderMap,
    pub body: &'r Bytes,
}

/// The reason why a request on a connection has no response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoResponse {
    /// The connection was closed before any byte of the request was written, so the request may be sent again.
    /// After the first byte, the receiver may have acted on the request.
    Unsent,
    /// The attempt failed for this reason.
    Failed(FailureReason),
}

impl NoResponse {
    /// Returns the reason of a failure.
    #[must_use]
    pub const fn reason(self) -> FailureReason {
        match self {
            Self::Unsent => FailureReason::Closed,
            Self::Failed(reason) => reason,
        }
    }
}

impl From<FailureReason> for NoResponse {
    fn from(reason: FailureReason) -> Self {
        Self::Failed(reason)
    }
}

impl Connection {
    /// Sends a request and waits for the head of the response. `response_bytes` is the maximum number of bytes that the
    /// peer may send, including the part of the body that the caller reads.
    ///
    /// # Errors
    /// Returns the reason why there is no response.
    pub fn exchange<'c>(
        &'c mut self,
        request: OutboundRequest<'c>,
        response_bytes: u64,
    ) -> BoxedFuture<'c, Result<Response<Incoming>, NoResponse>> {
        Box::pin(self.send(request, response_bytes))
    }

    async fn send(
        &mut self,
        request: OutboundRequest<'_>,
        response_bytes: u64,
    ) -> Result<Response<Incoming>, NoResponse> {
        let response = match &mut self.wire {
            Wire::One(sender) => {
                self.allowance.expect_answer(response_bytes);
                sender.try_send_request(http1_request(request)?).await
            }
            Wire::Many(sender) => {
                self.allowance.expect_another(response_bytes);
                let uri = request.url[..Position::AfterQuery].parse();
                sender.try_send_request(http_request(uri, request)?).await
            }
        };
        response.map_err(|error| match error.message() {
            Some(_) => NoResponse::Unsent,
            None => NoResponse::Failed(reason(error.error())),
        })
    }
}

/// Creates an HTTP/1.1 request: its request line has only the path and the query of the URL, and a header has the
/// host.
fn http1_request(request: OutboundRequest<'_>) -> Result<http::Request<Full<Bytes>>, FailureReason> {
    let url = request.url;
    let host = HeaderValue::from_str(&url[Position::BeforeHost..Position::AfterPort]);
    let mut http1 = http_request(url[Position::BeforePath..Position::AfterQuery].parse(), request)?;
    http1.headers_mut().insert(HOST, host.map_err(|_| FailureReason::Malformed)?);
    Ok(http1)
}

fn http_request(
    uri: Result<Uri, http::uri::InvalidUri>,
    request: OutboundRequest<'_>,
) -> Result<http::Request<Full<Bytes>>, FailureReason> {
    let mut http = http::Request::new(Full::new(request.body.clone()));
    *http.method_mut() = request.method.clone();
    *http.uri_mut() = uri.map_err(|_| FailureReason::Malformed)?;
    *http.headers_mut() = request.headers.clone();
    Ok(http)
}

/// Returns the reason for a missing response.
fn reason(error: &hyper::Error) -> FailureReason {
    if error.is_parse_too_large() || is_too_much(error) {
        FailureReason::TooLarge
    } else if error.is_parse() {
        FailureReason::Malformed
    } else {
        FailureReason::Closed
    }
}

/// Returns `true` if an error in the chain, at any depth, says that the receiver was cut off because it sent too
/// much.
fn is_too_much(error: &hyper::Error) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(error) = cause {
        let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        if error.is::<TooMuchSentError>() || inner.is_some_and(|inner| inner.is::<TooMuchSentError>()) {
            return true;
        }
        cause = error.source();
    }
    false
}
