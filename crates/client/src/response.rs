//! Responses: status, headers, request id and quota beside the typed body.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::headers::header;

/// A response with its body.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ApiResponse<T> {
    /// Parsed body of the response.
    pub data: T,
    /// Status of the response.
    pub status: StatusCode,
    /// Headers of the response.
    pub headers: HeaderMap,
    /// Number of requests that were sent before this one for the same call.
    pub retries: u32,
}

/// State of the quota that a request counted against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RateLimitState {
    /// Maximum number of requests in one window.
    pub limit: u64,
    /// Number of requests that are left in this window.
    pub remaining: u64,
    /// Time at which the window is empty again, if no further request comes.
    pub reset: SystemTime,
}

impl<T> ApiResponse<T> {
    /// Returns the id of the request in the logs of the service. `None` if the response does not have it.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        header(&self.headers, "x-request-id")
    }

    /// Returns the ETag of the resource, which `if_match` and `if_none_match` take. `None` if the response has no
    /// ETag.
    #[must_use]
    pub fn etag(&self) -> Option<&str> {
        header(&self.headers, "etag")
    }

    /// Returns `true` if this is a replay: the response to an earlier request with the same idempotency key.
    #[must_use]
    pub fn is_replayed(&self) -> bool {
        header(&self.headers, "idempotent-replayed") == Some("true")
    }

    /// Returns the state of the quota; `None` if the response does not have it.
    #[must_use]
    pub fn rate_limit(&self) -> Option<RateLimitState> {
        let number = |name| header(&self.headers, name)?.parse::<u64>().ok();
        Some(RateLimitState {
            limit: number("x-ratelimit-limit")?,
            remaining: number("x-ratelimit-remaining")?,
            reset: SystemTime::UNIX_EPOCH + Duration::from_secs(number("x-ratelimit-reset")?),
        })
    }

    pub(crate) fn map<U>(self, convert: impl FnOnce(T) -> U) -> ApiResponse<U> {
        ApiResponse { data: convert(self.data), status: self.status, headers: self.headers, retries: self.retries }
    }
}

impl ApiResponse<Bytes> {
    /// Reads the body as JSON; an empty body counts as `null`.
    ///
    /// # Errors
    /// [`Error::Unreadable`] if the body has another shape.
    pub fn json<T: DeserializeOwned>(self) -> Result<ApiResponse<T>, Error> {
        let body: &[u8] = if self.data.is_empty() { b"null" } else { &self.data };
        let data = serde_json::from_slice(body).map_err(Error::Unreadable)?;
        Ok(self.map(|_| data))
    }
}
