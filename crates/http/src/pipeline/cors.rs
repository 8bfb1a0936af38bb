//! CORS: pages of other origins may call the API only if the operator lists their origin (decision A14).

use actix_web::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, HeaderMap, HeaderValue,
    ORIGIN, VARY,
};

/// Request headers that pages may send beyond the CORS-safelisted ones.
const REQUEST_HEADERS: &str = "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match";
/// Response headers that pages may read beyond the CORS-safelisted ones.
const RESPONSE_HEADERS: &str = "Candor-Should-Retry, ETag, Idempotent-Replayed, Location, Retry-After, \
                                X-Dry-Run, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, \
                                X-Request-Id";
/// Time for which a browser may cache the preflight answer, in seconds.
const MAX_AGE: &str = "600";

/// Origins whose pages may call the API.
pub(crate) struct Cors {
    any: bool,
    origins: Vec<String>,
}

impl Cors {
    pub(crate) fn new(origins: &[String]) -> Self {
        let origins = origins.iter().map(|origin| origin.trim_end_matches('/').to_owned()).collect::<Vec<_>>();
        Self { any: origins.iter().any(|origin| origin == "*"), origins }
    }

    /// Adds the headers that let pages of a listed origin read the answer. The answer to a preflight request also
    /// gets the headers that let the browser send the request itself.
    pub(crate) fn apply(&self, request: &HeaderMap, response: &mut HeaderMap) {
        if self.origins.is_empty() {
            return;
        }
        response.append(VARY, HeaderValue::from_static("Origin"));
        let Some(origin) = request.get(ORIGIN).filter(|request| self.allows(request)) else { return };
        response.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        response.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(RESPONSE_HEADERS));
        if !request.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
            return;
        }
        if let Some(allow) = response.get(actix_web::http::header::ALLOW).cloned() {
            response.insert(ACCESS_CONTROL_ALLOW_METHODS, allow);
            response.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(REQUEST_HEADERS));
            response.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
        }
    }

    fn allows(&self, origin: &HeaderValue) -> bool {
        self.any || origin.to_str().is_ok_and(|text| self.origins.iter().any(|allowed| allowed == text))
    }
}
