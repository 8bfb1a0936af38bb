//! Requests and retries: a call is sent up to four times within 30 seconds, and a POST has the same idempotency
//! key each time. After a used-up quota the limit is up to 65 seconds, because the window of a quota is longer
//! than 30 seconds.

use std::fmt;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH, USER_AGENT,
};
use reqwest::{Method, RequestBuilder, StatusCode, Url};
use ring::rand::{SecureRandom, SystemRandom};
use serde::Serialize;

use crate::error::{ApiError, Error};
use crate::headers::header;
use crate::log::{Log, LogEntry};
use crate::response::ApiResponse;

/// Longest time from the first attempt to the start of the last one, except for a used-up quota.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// Longest time from the first attempt to the start of the last one after a used-up quota.
const MAX_QUOTA_WAIT: Duration = Duration::from_secs(65);
/// Window of a quota if the error names none.
const QUOTA_WINDOW: Duration = Duration::from_secs(60);
/// Time after the window of a quota for the random part of the pause.
const QUOTA_MARGIN: Duration = Duration::from_secs(5);
/// Upper bound of the first pause. The bound doubles with each retry, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// Upper bound of every pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(8);
/// Time limit of a response that is received line by line: in effect none. Each part has the time limit of the
/// client.
const UNLIMITED: Duration = Duration::from_secs(30 * 86_400);
const JSON: &str = "application/json";

/// The part of a client that sends requests.
pub(crate) struct Core {
    pub(crate) http: reqwest::Client,
    /// Headers of the caller for each request.
    pub(crate) headers: HeaderMap,
    pub(crate) base: String,
    pub(crate) timeout: Duration,
    pub(crate) max_retries: u32,
    pub(crate) max_wait: Option<Duration>,
    pub(crate) log: Option<Log>,
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Core").field("base", &self.base).finish_non_exhaustive()
    }
}

/// A request that a method of the client describes and [`Core`] sends.
#[derive(Clone)]
pub(crate) struct Spec {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) body: Option<(&'static str, Bytes)>,
    /// Error message of the first argument that cannot be sent.
    pub(crate) problem: Option<String>,
}

impl Spec {
    pub(crate) fn new(method: Method, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), query: Vec::new(), body: None, problem: None }
    }

    pub(crate) fn json(mut self, body: &impl Serialize) -> Self {
        match serde_json::to_vec(body) {
            Ok(text) => self.body = Some((JSON, text.into())),
            Err(error) => self.problem = Some(format!("The body cannot be written: {error}.")),
        }
        self
    }
}

/// Settings of one call.
#[derive(Clone, Default)]
pub(crate) struct Options {
    pub(crate) idempotency_key: Option<String>,
    pub(crate) if_match: Option<String>,
    pub(crate) if_none_match: Option<String>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) max_retries: Option<u32>,
    pub(crate) max_wait: Option<Duration>,
    pub(crate) headers: Vec<(String, String)>,
}

/// Writes the methods that set the limits of a request, for a type with [`Options`].
macro_rules! limit_setters {
    () => {
        /// Sets the time limit of one attempt.
        pub fn timeout(mut self, timeout: std::time::Duration) -> Self {
            self.options.timeout = Some(timeout);
            self
        }

        /// Sets the maximum number of retries of one request, such as that for a page.
        pub fn max_retries(mut self, retries: u32) -> Self {
            self.options.max_retries = Some(retries);
            self
        }

        /// Sets the longest time from the first attempt of a request to the start of its last attempt.
        pub fn max_wait(mut self, wait: std::time::Duration) -> Self {
            self.options.max_wait = Some(wait);
            self
        }
    };
}

/// Writes the methods that set headers of a request, for a type with [`Options`].
macro_rules! header_setters {
    () => {
        /// Sets the idempotency key of a POST, by which the service recognizes a repeated request. Default: a new key
        /// for each request.
        pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
            self.options.idempotency_key = Some(key.into());
            self
        }

        /// Adds a header. Headers that the library sets itself, such as `Authorization`, cannot be replaced.
        pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
            self.options.headers.push((name.into(), value.into()));
            self
        }
    };
}

pub(crate) use {header_setters, limit_setters};

impl Core {
    /// Sends a request. Retries it after temporary failures, within the limits of `options` or else of the client.
    pub(crate) async fn send(&self, spec: &Spec, options: &Options) -> Result<ApiResponse<Bytes>, Error> {
        let request = self.request(spec, options)?;
        let max_retries = options.max_retries.unwrap_or(self.max_retries);
        let max_wait = options.max_wait.or(self.max_wait);
        let start = Instant::now();
        let mut retries = 0;
        loop {
            let attempt =
                request.try_clone().ok_or_else(|| Error::Settings("The body cannot be repeated.".into()))?;
            let error = match self.attempt(spec, options, attempt, retries).await {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            retries += 1;
            let pause = error.retry_after().unwrap_or_default() + jitter(retries);
            let longest = max_wait.unwrap_or_else(|| longest_wait(&error));
            if retries > max_retries || !error.is_transient() || start.elapsed() + pause > longest {
                return Err(error);
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// Sends a request once, and returns the response with its body still to come. The time limit of the client is
    /// for the head of the response; the body has no limit.
    pub(crate) async fn open(&self, spec: &Spec) -> Result<reqwest::Response, Error> {
        let options = Options { timeout: Some(UNLIMITED), ..Options::default() };
        let start = Instant::now();
        let sent_request = tokio::time::timeout(self.timeout, self.request(spec, &options)?.send()).await;
        let outcome = match sent_request {
            Err(_) => Err(Error::Timeout(self.timeout)),
            Ok(Err(error)) => Err(Error::Connection(error.without_url())),
            Ok(Ok(response)) if response.status().is_success() => Ok(response),
            Ok(Ok(response)) => {
                let (status, headers) = (response.status(), response.headers().clone());
                match response.bytes().await {
                    Ok(data) => Err(Error::Api(Box::new(ApiError::new(status, headers, data)))),
                    Err(error) => Err(Error::Connection(error.without_url())),
                }
            }
        };
        if let Some(log) = &self.log {
            let headers = outcome.as_ref().ok().map(reqwest::Response::headers);
            log(&LogEntry {
                method: &spec.method,
                path: &spec.path,
                retries: 0,
                duration: start.elapsed(),
                status: outcome.as_ref().ok().map(reqwest::Response::status),
                request_id: headers.and_then(|headers| header(headers, "x-request-id")),
                error: outcome.as_ref().err(),
            });
        }
        outcome
    }

    fn request(&self, spec: &Spec, options: &Options) -> Result<RequestBuilder, Error> {
        if let Some(problem) = &spec.problem {
            return Err(Error::Settings(problem.clone()));
        }
        let address = format!("{}{}", self.base, spec.path);
        let mut url = Url::parse(&address)
            .map_err(|_| Error::Settings(format!("{address:?} is not a URL: correct the path.")))?;
        if !spec.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&spec.query);
        }
        let timeout = options.timeout.unwrap_or(self.timeout);
        let request = self.http.request(spec.method.clone(), url).timeout(timeout);
        let request = request.headers(self.headers(spec, options)?);
        Ok(spec.body.iter().fold(request, |request, (_, body)| request.body(body.clone())))
    }

    /// Returns the headers of a request: those of the client and of the options, and those that the operation
    /// needs.
    fn headers(&self, spec: &Spec, options: &Options) -> Result<HeaderMap, Error> {
        let mut headers = self.headers.clone();
        add_headers(&mut headers, &options.headers)?;
        let mut add = |name: HeaderName, value: &str| -> Result<(), Error> {
            let wrong = |_| Error::Settings(format!("The value of {name} has an invalid character."));
            headers.insert(&name, HeaderValue::from_str(value).map_err(wrong)?);
            Ok(())
        };
        if spec.method == Method::POST {
            let key = options.idempotency_key.clone().or_else(new_key);
            let key = key.ok_or_else(|| {
                Error::Settings(
                    "Cannot create an idempotency key: the operating system provides no random numbers.".into(),
                )
            })?;
            add(HeaderName::from_static("idempotency-key"), &key)?;
        }
        for (name, value) in [(IF_MATCH, &options.if_match), (IF_NONE_MATCH, &options.if_none_match)] {
            value.iter().try_for_each(|value| add(name.clone(), value))?;
        }
        spec.body.iter().try_for_each(|(kind, _)| add(CONTENT_TYPE, kind))?;
        Ok(headers)
    }

    async fn attempt(
        &self,
        spec: &Spec,
        options: &Options,
        request: RequestBuilder,
        retries: u32,
    ) -> Result<ApiResponse<Bytes>, Error> {
        let start = Instant::now();
        let timeout = options.timeout.unwrap_or(self.timeout);
        let response = receive(request, retries, timeout).await;
        let (status, headers) =
            response.as_ref().map_or((None, None), |whole| (Some(whole.status), Some(&whole.headers)));
        let request_id = headers.and_then(|headers| header(headers, "x-request-id")).map(str::to_owned);
        let outcome = response.and_then(check_status);
        if let Some(log) = &self.log {
            log(&LogEntry {
                method: &spec.method,
                path: &spec.path,
                retries,
                duration: start.elapsed(),
                status,
                request_id: request_id.as_deref(),
                error: outcome.as_ref().err(),
            });
        }
        outcome
    }
}

/// Adds headers of the caller, except those that the library sets for each request.
pub(crate) fn add_headers(headers: &mut HeaderMap, given: &[(String, String)]) -> Result<(), Error> {
    for (name, value) in given {
        let wrong = || Error::Settings(format!("{name:?} is no header, or its value has an invalid character."));
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        let value = HeaderValue::from_str(value).map_err(|_| wrong())?;
        if ![ACCEPT, AUTHORIZATION, USER_AGENT].contains(&name) {
            headers.insert(name, value);
        }
    }
    Ok(())
}

/// Receives a response with its body.
async fn receive(request: RequestBuilder, retries: u32, timeout: Duration) -> Result<ApiResponse<Bytes>, Error> {
    let to_error = |error: reqwest::Error| {
        // A timeout of the connection attempt is no `Timeout`: nothing was sent, so `is_unsent` must be true.
        let is_sent = !error.is_connect();
        if error.is_timeout() && is_sent { Error::Timeout(timeout) } else { Error::Connection(error) }
    };
    let response = request.send().await.map_err(|error| to_error(error.without_url()))?;
    let (status, headers) = (response.status(), response.headers().clone());
    let data = response.bytes().await.map_err(|error| to_error(error.without_url()))?;
    Ok(ApiResponse { data, status, headers, retries })
}

fn check_status(response: ApiResponse<Bytes>) -> Result<ApiResponse<Bytes>, Error> {
    match response.status {
        StatusCode::NOT_MODIFIED => Err(Error::NotModified),
        status if status.is_success() => Ok(response),
        status => Err(Error::Api(Box::new(ApiError::new(status, response.headers, response.data)))),
    }
}

/// Returns the longest time from the first attempt to the start of the last one, which depends on the error.
fn longest_wait(error: &Error) -> Duration {
    match error.api() {
        Some(api) if api.status == StatusCode::TOO_MANY_REQUESTS => {
            (api.quota_window().unwrap_or(QUOTA_WINDOW) + QUOTA_MARGIN).min(MAX_QUOTA_WAIT)
        }
        _ => MAX_WAIT,
    }
}

/// Returns a random pause between zero and a bound that doubles with each retry.
fn jitter(retry: u32) -> Duration {
    let longest_pause = FIRST_PAUSE.saturating_mul(1 << (retry - 1).min(16)).min(LONGEST_PAUSE);
    let fraction = random().map_or(1.0, |bytes| f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX));
    longest_pause.mul_f64(fraction)
}

fn new_key() -> Option<String> {
    Some(URL_SAFE_NO_PAD.encode(random::<16>()?))
}

/// Returns random bytes of the operating system; `None` if it fails to provide them.
fn random<const SIZE: usize>() -> Option<[u8; SIZE]> {
    let mut bytes = [0; SIZE];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_up_quota_is_waited_for_within_its_window() {
        let longest = |status: StatusCode, window: Option<u64>| {
            let details =
                window.map(|seconds| format!(r#"{{"quota":"write","limit":1,"window_seconds":{seconds}}}"#));
            let body = format!(r#"{{"error":{{"details":[{}]}}}}"#, details.unwrap_or_default());
            let error = ApiError::new(status, HeaderMap::new(), body.into());
            longest_wait(&Error::Api(Box::new(error))).as_secs()
        };
        let windows = [(Some(60), 65), (Some(10), 15), (Some(3600), 65), (None, 65)];
        for (window, seconds) in windows {
            assert_eq!(longest(StatusCode::TOO_MANY_REQUESTS, window), seconds, "{window:?}");
        }
        assert_eq!(longest(StatusCode::SERVICE_UNAVAILABLE, Some(60)), 30);
        assert_eq!(longest_wait(&Error::Interrupted).as_secs(), 30);
    }
}
