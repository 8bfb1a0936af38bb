//! Adds the error body to refusals that precede a request: malformed HTTP, an oversized head, a late head, and
//! too many connections.
//!
//! The protocol layer answers the first three with an empty body and has no hook, so the stream below it inserts
//! the body.

use std::io::{self, Write};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderMap;
use actix_web::rt::net::TcpStream;
use bytes::Bytes;
use candor_domain::id::RequestId;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::connection::address;
use crate::connection::connections::ConnectionPermit;
use crate::connection::paced::{PacedStream, Times};
use crate::connection::read_gate::ReadGate;
use crate::meters;
use crate::pipeline::api::Api;
use crate::response::error_response::ErrorResponse;

/// First bytes of a refusal by the protocol layer, whose statuses are 4xx.
const START: &[u8] = b"HTTP/1.1 4";
/// End of a response head.
const END: &[u8] = b"\r\n\r\n";
/// Header of a response without a body.
const NO_BODY: &str = "content-length: 0";
/// Maximum size of the response head that actix writes for a refusal, in bytes.
const MAX_HEAD: usize = 512;

/// A client connection that adds the error body to refusals which actix writes without one.
pub(crate) struct ErrorBodyStream {
    stream: PacedStream,
    peer: Option<IpAddr>,
    api: Arc<Api>,
    /// A rewritten refusal that the socket has taken in part.
    pending: Option<PendingRewrite>,
    /// Counts the connection against the limit of its client until it ends.
    _permit: ConnectionPermit,
}

/// Bytes written instead of actix's empty refusal.
struct PendingRewrite {
    bytes: Bytes,
    written: usize,
    /// Number of actix's bytes that the rewrite replaces.
    replaced: usize,
}

impl ErrorBodyStream {
    pub(crate) fn new(
        stream: TcpStream,
        peer: Option<IpAddr>,
        api: Arc<Api>,
        times: Times,
        permit: ConnectionPermit,
    ) -> Self {
        Self { stream: PacedStream::new(stream, times), peer, api, pending: None, _permit: permit }
    }

    /// Returns the gate that stops and resumes reading from this connection.
    pub(crate) fn gate(&self) -> ReadGate {
        self.stream.gate()
    }

    /// Answers 408 to a late head. The protocol layer times out only the first head of a connection.
    fn refuse_late_head(&self) {
        let start = "408 Request Timeout\r\nconnection: close";
        self.stream.try_write(&render_response(&self.api, self.peer, start, &ErrorResponse::late_head()));
    }

    /// Adds the error body to the refusal that the buffer ends with, if it ends with one.
    fn rewrite(&self, buffer: &[u8]) -> Option<PendingRewrite> {
        let (before, status, head) = empty_refusal(buffer)?;
        let now = self.api.services.clock.now();
        let id: RequestId = self.api.services.id(now);
        let error = error(status)?;
        tracing::info!(status = status.as_u16(), request_id = %id, "request");
        let body = error.envelope(id);
        let mut bytes = before.to_vec();
        for line in head.trim_end().split("\r\n").filter(|part| *part != NO_BODY) {
            bytes.extend(line.as_bytes());
            bytes.extend(b"\r\n");
        }
        let more = headers_of(&self.api, self.peer, (id, &error), body.len());
        bytes.extend(more.as_bytes());
        bytes.extend(&body);
        Some(PendingRewrite { bytes: Bytes::from(bytes), written: 0, replaced: buffer.len() })
    }
}

/// Renders the headers of an error answer, up to the blank line.
fn headers_of(api: &Api, peer: Option<IpAddr>, (id, error): (RequestId, &ErrorResponse), length: usize) -> String {
    let should_retry =
        error.should_retry().map(|word| format!("candor-should-retry: {word}\r\n")).unwrap_or_default();
    let client = address::client(peer, &HeaderMap::new(), &[]).address;
    let rate_limit = api.services.limits.look_failures(address::bucket(client), api.services.clock.now());
    format!(
        "content-length: {length}\r\ncontent-type: application/json\r\ncache-control: no-store\r\n\
         {should_retry}x-request-id: {id}\r\n\
         x-ratelimit-limit: {}\r\nx-ratelimit-remaining: {}\r\nx-ratelimit-reset: {}\r\n\r\n",
        rate_limit.limit, rate_limit.remaining, rate_limit.reset_at_seconds,
    )
}

/// Answers 503 to a connection above the client's limit. Bytes that the socket does not take at once are
/// dropped.
pub(crate) fn reject(stream: TcpStream, peer: Option<IpAddr>, api: &Api) {
    meters::count_refused_connection();
    let error = ErrorResponse::unavailable(
        "This address has too many connections to the service; use those that are open.",
        None,
    );
    let start = "503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\ncandor-should-retry: true";
    let bytes = render_response(api, peer, start, &error);
    // tokio has not seen the socket writable yet and would refuse; the raw socket does not block.
    let _ = stream.into_std().and_then(|mut stream| stream.write(&bytes));
}

/// Renders an error answer. `start` is the status line without the version, plus further headers.
fn render_response(api: &Api, peer: Option<IpAddr>, start: &str, error: &ErrorResponse) -> Vec<u8> {
    let id: RequestId = api.services.id(api.services.clock.now());
    let body = error.envelope(id);
    let mut bytes = format!("HTTP/1.1 {start}\r\n{}", headers_of(api, peer, (id, error), body.len())).into_bytes();
    bytes.extend(&body);
    bytes
}

/// Finds a refusal without a body at the end of a buffer. Returns the bytes before it, its status and its head.
fn empty_refusal(buffer: &[u8]) -> Option<(&[u8], StatusCode, &str)> {
    if !buffer.ends_with(END) {
        return None;
    }
    let tail = buffer.len().saturating_sub(MAX_HEAD);
    let start = tail + buffer[tail..].windows(START.len()).rposition(|buffer| buffer == START)?;
    let head = std::str::from_utf8(&buffer[start..]).ok()?;
    let status = head.get(9..12)?.parse().ok().and_then(|code| StatusCode::from_u16(code).ok())?;
    head.split("\r\n").any(|part| part == NO_BODY).then_some((&buffer[..start], status, head))
}

fn error(status: StatusCode) -> Option<ErrorResponse> {
    match status {
        StatusCode::BAD_REQUEST => Some(ErrorResponse::malformed_request("The request is not valid HTTP.")),
        StatusCode::REQUEST_TIMEOUT => Some(ErrorResponse::late_head()),
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => {
            Some(ErrorResponse::malformed_as(status, "The request line and the headers are too large."))
        }
        _ => None,
    }
}

impl AsyncRead for ErrorBodyStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match ready!(Pin::new(&mut self.stream).poll_read(cx, buffer)) {
            // A timeout with an OS error number comes from the kernel: the connection is already gone.
            Err(error) if error.kind() == io::ErrorKind::TimedOut && error.raw_os_error().is_none() => {
                self.refuse_late_head();
                Poll::Ready(Ok(()))
            }
            read => Poll::Ready(read),
        }
    }
}

impl AsyncWrite for ErrorBodyStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        let connection = &mut *self;
        let mut rewrite = match connection.pending.take().or_else(|| connection.rewrite(buffer)) {
            Some(rewrite) => rewrite,
            None => return Pin::new(&mut connection.stream).poll_write(cx, buffer),
        };
        while rewrite.written < rewrite.bytes.len() {
            let write_poll = Pin::new(&mut connection.stream).poll_write(cx, &rewrite.bytes[rewrite.written..]);
            let Poll::Ready(Ok(more @ 1..)) = write_poll else {
                connection.pending = Some(rewrite);
                return write_poll;
            };
            rewrite.written += more;
        }
        Poll::Ready(Ok(rewrite.replaced))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trailing_bodyless_refusals_are_rewritten() {
        let head = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        let refusal_in = |text: &str| {
            empty_refusal(text.as_bytes())
                .map(|(before, status, head)| (before.len(), status.as_u16(), head.len()))
        };
        assert_eq!(refusal_in(head), Some((0, 400, head.len())));
        assert_eq!(
            refusal_in(&format!("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{{}}{head}")),
            Some((40, 400, head.len()))
        );
        assert_eq!(
            refusal_in(&head.replace("content-length: 0", "content-length: 9")),
            None,
            "the answer to a HEAD"
        );
        assert_eq!(refusal_in(&format!("{head}x")), None);
        assert_eq!(refusal_in("HTTP/1.1 304 Not Modified\r\ncontent-length: 0\r\n\r\n"), None);
    }
}
