//! Reading of a response within its limits.

use bytes::{Bytes, BytesMut};
use candor_sign_in::fetch_failure::{FetchError, max_age};
use candor_tokens::strict_json::MAX_DOCUMENT_BYTES;
use http::header::{AGE, CACHE_CONTROL, CONTENT_LENGTH};
use http::{HeaderMap, HeaderName};
use http_body_util::BodyExt;
use hyper::body::Incoming;

/// Reads a body of at most 256 KiB. Refuses a body whose announced or actual length exceeds this limit.
pub(crate) async fn read(headers: &HeaderMap, mut body: Incoming) -> Result<Bytes, FetchError> {
    let content_length = header(headers, &CONTENT_LENGTH).and_then(|digits| digits.parse::<u64>().ok());
    if content_length.is_some_and(|bytes| bytes > MAX_DOCUMENT_BYTES as u64) {
        return Err(FetchError::TooLarge);
    }
    let mut document = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| FetchError::Closed)?;
        let Some(data) = frame.data_ref() else { continue };
        if document.len() + data.len() > MAX_DOCUMENT_BYTES {
            return Err(FetchError::TooLarge);
        }
        document.extend_from_slice(data);
    }
    Ok(document.freeze())
}

/// Returns the time for which a response may be reused, in seconds; `None` if the response does not state it.
pub(crate) fn lifetime(headers: &HeaderMap) -> Option<i64> {
    let directives: Vec<_> =
        headers.get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok()).collect();
    let directives = (!directives.is_empty()).then(|| directives.join(","));
    max_age(directives.as_deref(), header(headers, &AGE))
}

fn header<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}
