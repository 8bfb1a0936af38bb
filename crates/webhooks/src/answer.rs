//! The meaning of a response or its absence, and the draining of response bodies.

use std::error::Error;
use std::time::Duration;

use candor_domain::webhook::FailureReason;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::time::timeout;

use crate::wire::TooMuch;

/// Maximum number of bytes of a body that are read to keep the connection (decision F1).
const MAX_BODY_BYTES: usize = 4 * 1024;
/// Longest wait for a body. The attempt has ended, and only the reuse of the connection depends on the body.
const PATIENCE: Duration = Duration::from_secs(1);

/// Returns the reason for a missing response.
pub(crate) fn reason(error: &hyper::Error) -> FailureReason {
    if error.is_parse_too_large() || is_too_much(error) {
        FailureReason::TooLarge
    } else if error.is_parse() {
        FailureReason::Malformed
    } else {
        FailureReason::Closed
    }
}

/// Returns `true` if the receiver was cut off because it sent too much, at any depth of the error chain.
fn is_too_much(error: &hyper::Error) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(error) = cause {
        let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        if error.is::<TooMuch>() || inner.is_some_and(|inner| inner.is::<TooMuch>()) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Reads a body to its end and returns `true` if the end came within the limits.
pub(crate) async fn drain(body: Incoming) -> bool {
    timeout(PATIENCE, read(body)).await.unwrap_or(false)
}

async fn read(mut body: Incoming) -> bool {
    let mut remaining_bytes = MAX_BODY_BYTES;
    while !body.is_end_stream() {
        match body.frame().await {
            None => return true,
            Some(Err(_)) => return false,
            Some(Ok(frame)) => match remaining_bytes.checked_sub(frame.data_ref().map_or(0, |data| data.len())) {
                Some(rest) => remaining_bytes = rest,
                None => return false,
            },
        }
    }
    true
}
