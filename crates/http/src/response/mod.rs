//! Answers before the common response headers are added.

pub(crate) mod body;
pub(crate) mod byte_budget;
pub(crate) mod compress;
pub(crate) mod error_response;
pub(crate) mod etag;
pub(crate) mod health;
pub(crate) mod line_body;

use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use bytes::Bytes;
use candor_service::usecases::line_stream::LineStream;

use crate::response::error_response::ErrorResponse;
use crate::response::line_body::LineBody;

const SHOULD_RETRY: HeaderName = HeaderName::from_static("candor-should-retry");
/// Media type of the API's bodies.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Media type of lines of JSON.
const LINES: HeaderValue = HeaderValue::from_static("application/x-ndjson");

/// A response without the common headers.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Bytes,
    /// `true` if the body is already in its final content encoding.
    pub(crate) is_encoded: bool,
    /// Lines that follow instead of a body.
    pub(crate) lines: Option<LineBody>,
}

impl Response {
    /// Creates an answer without a body.
    pub(crate) fn empty(status: StatusCode) -> Self {
        Self { status, headers: Vec::new(), body: Bytes::new(), is_encoded: false, lines: None }
    }

    /// Creates an answer with a body.
    pub(crate) fn with_body(content_type: HeaderValue, body: Bytes) -> Self {
        let mut response = Self { body, ..Self::empty(StatusCode::OK) };
        response.headers.push((CONTENT_TYPE, content_type));
        response
    }

    /// Creates the answer with these lines; `None` for the answer to `HEAD`.
    pub(crate) fn with_lines(lines: Option<LineStream>) -> Self {
        Self { lines: lines.map(LineBody::new), ..Self::with_body(LINES, Bytes::new()) }
    }

    /// Creates the answer to `OPTIONS`: the methods of a path.
    pub(crate) fn options(allow: &HeaderValue) -> Self {
        let mut response = Self::empty(StatusCode::NO_CONTENT);
        response.headers.push((ALLOW, allow.clone()));
        response
    }

    /// Creates an error answer with this body.
    pub(crate) fn refuse(content_type: HeaderValue, body: Bytes, error: ErrorResponse) -> Self {
        let mut response = Self::with_body(content_type, body);
        response.status = error.status;
        if let Some(should_retry) = error.should_retry() {
            let word = if should_retry { "true" } else { "false" };
            response.headers.push((SHOULD_RETRY, HeaderValue::from_static(word)));
        }
        if let Some(seconds) = error.retry_after_seconds {
            response.headers.push((RETRY_AFTER, HeaderValue::from(seconds)));
        }
        if let Some(allow) = error.allow {
            response.headers.push((ALLOW, allow));
        }
        if error.status == StatusCode::UNAUTHORIZED {
            response.headers.push((WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")));
        }
        response
    }
}
