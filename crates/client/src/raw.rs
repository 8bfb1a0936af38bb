//! Requests by method and path, for operations that this version of the library does not know.

use std::sync::Arc;

use bytes::Bytes;
use reqwest::Method;
use serde::Serialize;

use crate::client::Candor;
use crate::error::Error;
use crate::request::{Core, Options, Spec, header_setters, limit_setters};
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

    header_setters!();

    limit_setters!();

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
