//! Reads the rest of a response, so that its connection can be used for another request.

use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::time::timeout;

/// Maximum number of bytes of a body that are read to keep the connection (decision F1).
const MAX_BODY_BYTES: usize = 4 * 1024;
/// Longest wait for a body. The attempt has ended, and only the reuse of the connection depends on the body.
const PATIENCE: Duration = Duration::from_secs(1);

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
