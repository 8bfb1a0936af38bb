//! What an answer, or its absence, means; and what is read of a body that nobody wants.

use std::error::Error;
use std::time::Duration;

use candor_domain::webhook::FailureReason;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::time::timeout;

use crate::wire::TooMuch;

/// So much of a body is read at most, to keep the connection (decision F1).
const MAX_BODY_BYTES: usize = 4 * 1024;
/// So long a body is waited for at most: the attempt is over, only the connection is at stake.
const PATIENCE: Duration = Duration::from_secs(1);

/// Why there was no answer.
pub(crate) fn reason(error: &hyper::Error) -> FailureReason {
    if error.is_parse_too_large() || is_too_much(error) {
        FailureReason::TooLarge
    } else if error.is_parse() {
        FailureReason::Malformed
    } else {
        FailureReason::Closed
    }
}

/// Whether the receiver was cut off because it sent too much, however deep the cause lies.
fn is_too_much(error: &hyper::Error) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(it) = cause {
        let inner = it.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        if it.is::<TooMuch>() || inner.is_some_and(|it| it.is::<TooMuch>()) {
            return true;
        }
        cause = it.source();
    }
    false
}

/// Reads a body to its end, if that is near; whether it was.
pub(crate) async fn drain(body: Incoming) -> bool {
    timeout(PATIENCE, read(body)).await.unwrap_or(false)
}

async fn read(mut body: Incoming) -> bool {
    let mut left = MAX_BODY_BYTES;
    while !body.is_end_stream() {
        match body.frame().await {
            None => return true,
            Some(Err(_)) => return false,
            Some(Ok(frame)) => match left.checked_sub(frame.data_ref().map_or(0, |it| it.len())) {
                Some(rest) => left = rest,
                None => return false,
            },
        }
    }
    true
}
