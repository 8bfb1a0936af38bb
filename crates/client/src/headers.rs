//! Headers of responses, and the time that their values are compared with.

use std::time::SystemTime;

use reqwest::header::HeaderMap;

/// Returns the time of this machine, which signatures and `Retry-After` are compared with.
#[expect(clippy::disallowed_methods, reason = "a client has no Clock port")]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}

/// Returns the text of a header. `None` if the header is missing or is not a text.
pub(crate) fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
