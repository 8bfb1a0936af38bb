//! Requests by method and path, for operations that this version of the library does not know.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::Method;
use serde::Serialize;

use crate::client::Candor;
use crate::error::Error;
use crate::request::{Core, Options, Spec};
use crate::response::ApiResponse;

impl Candor {
    /// Starts a request by method and path below `/v1`. The request is retried like every other call, and a POST
    /// gets an idempotency key.
    pub fn request(&self, method: Method, path: &str) -> RawRequest {
        let path = format!("/{}", path.trim_start_matches('/'));
        RawRequest { core: Arc::clone(&self.core), spec: Spec::new(method, path), options: Options::default() }
    }
}

/// A request by method and path.
#[must_use = "a request is sent by `send`"]
pub struct RawRequest {
    core: Arc<Core>,
    spec: Spec,
    options: Options,
}

impl RawRequest {
    /// Adds a parameter to the query.
    pub fn query(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.spec.query.push((name.into(), value.into()));
        self
    }

    /// Sets a JSON body.
    pub fn json(mut self, body: &impl Serialize) -> Self {
        self.spec = self.spec.json(body);
        self
    }

    /// Sets a body with this content type.
    pub fn body(mut self, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        self.spec.body = Some((content_type, body.into()));
        self
    }

    /// Adds a header. Headers that the library sets itself, such as `Authorization`, cannot be replaced.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the idempotency key of a POST, by which the service recognizes a repeated request. Default: a new key
    /// for each request.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.options.idempotency_key = Some(key.into());
        self
    }

    /// Sets the time limit of one attempt.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// Sets the maximum number of retries.
    pub fn max_retries(mut self, retries: u32) -> Self {
        self.options.max_retries = Some(retries);
        self
    }

    /// Sets the longest time from the first attempt to the start of the last one.
    pub fn max_wait(mut self, wait: Duration) -> Self {
        self.options.max_wait = Some(wait);
        self
    }

    /// Sends the request, and returns the response with its bytes.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn send(self) -> Result<ApiResponse<Bytes>, Error> {
        self.core.send(&self.spec, &self.options).await
    }
}

impl std::fmt::Debug for RawRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.spec.method, self.spec.path)
    }
}
