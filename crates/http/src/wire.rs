//! Gives the envelope to the few answers that are made before a request exists: to what cannot be read as HTTP, to a
//! head that is too large, to one that does not arrive in time, and to a connection too many.
//!
//! The protocol layer answers the first three with an empty body and has no hook for more, so the stream that it writes
//! to puts the body in.

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

use crate::api::Api;
use crate::connections::ConnectionPermit;
use crate::error_response::ErrorResponse;
use crate::paced::{PacedStream, Times};
use crate::read_gate::ReadGate;
use crate::{address, record};

/// How an answer to what is no request begins.
const START: &[u8] = b"HTTP/1.1 4";
/// Where the end of a head is.
const END: &[u8] = b"\r\n\r\n";
/// The line that says that there is no body.
const NO_BODY: &str = "content-length: 0";
/// Such a head is shorter than this.
const MAX_HEAD: usize = 512;

/// A connection.
pub(crate) struct Wire {
    stream: PacedStream,
    peer: Option<IpAddr>,
    api: Arc<Api>,
    instead: Option<Instead>,
    /// Given back when the connection ends.
    _permit: ConnectionPermit,
}

/// What is written in permit of what was to be written.
struct Instead {
    bytes: Bytes,
    written: usize,
    stands_for: usize,
}

impl Wire {
    pub(crate) fn new(
        stream: TcpStream,
        peer: Option<IpAddr>,
        api: Arc<Api>,
        times: Times,
        permit: ConnectionPermit,
    ) -> Self {
        Self { stream: PacedStream::new(stream, times), peer, api, instead: None, _permit: permit }
    }

    /// What tells this connection when to read.
    pub(crate) fn gate(&self) -> ReadGate {
        self.stream.gate()
    }

    /// Tells a client that a head is late that is not the first of its connection; the protocol layer times only that.
    fn refuse_late_head(&self) {
        let error = ErrorResponse::slow_client();
        self.stream.say(&whole(&self.api, self.peer, "408 Request Timeout\r\nconnection: close", error));
    }

    fn completed(&self, buffer: &[u8]) -> Option<Instead> {
        let (before, status, head) = empty_refusal(buffer)?;
        let at = self.api.services.clock.now();
        let id: RequestId = self.api.services.id(at);
        let error = error(status)?;
        tracing::info!(status = status.as_u16(), request_id = %id, "request");
        let body = error.envelope(id);
        let mut bytes = before.to_vec();
        for line in head.trim_end().split("\r\n").filter(|it| *it != NO_BODY) {
            bytes.extend(line.as_bytes());
            bytes.extend(b"\r\n");
        }
        let more = headers_of(&self.api, self.peer, (id, &error), body.len());
        bytes.extend(more.as_bytes());
        bytes.extend(&body);
        Some(Instead { bytes: Bytes::from(bytes), written: 0, stands_for: buffer.len() })
    }
}

/// The lines of the head of an error answer that follow its status, and the end of the head.
fn headers_of(api: &Api, peer: Option<IpAddr>, (id, error): (RequestId, &ErrorResponse), length: usize) -> String {
    let should_retry = error.should_retry().map(|word| format!("candor-should-retry: {word}\r\n")).unwrap_or_default();
    let client = address::client(peer, &HeaderMap::new(), &[]).address;
    let rate_limit = api.services.limits.look_failures(address::bucket(client), api.services.clock.now());
    format!(
        "content-length: {length}\r\ncontent-type: application/json\r\ncache-control: no-store\r\n{should_retry}x-request-id: {id}\r\n\
         x-ratelimit-limit: {}\r\nx-ratelimit-remaining: {}\r\nx-ratelimit-reset: {}\r\n\r\n",
        rate_limit.limit, rate_limit.remaining, rate_limit.reset_at_seconds,
    )
}

/// Tells a client that it has too many connections, as far as that can be done without waiting.
pub(crate) fn turn_away(stream: TcpStream, peer: Option<IpAddr>, api: &Api) {
    record::turned_away();
    let error = ErrorResponse::unavailable(
        "This address has too many connections to the service; use those that are open.",
        None,
    );
    let start = "503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\ncandor-should-retry: true";
    let bytes = whole(api, peer, start, error);
    // Nobody knows yet whether the stream can be written to, so it is asked itself; it does not block.
    let _ = stream.into_std().and_then(|mut it| it.write(&bytes));
}

/// An answer that begins with this status and these lines.
fn whole(api: &Api, peer: Option<IpAddr>, start: &str, error: ErrorResponse) -> Vec<u8> {
    let id: RequestId = api.services.id(api.services.clock.now());
    let body = error.envelope(id);
    let mut bytes = format!("HTTP/1.1 {start}\r\n{}", headers_of(api, peer, (id, &error), body.len())).into_bytes();
    bytes.extend(&body);
    bytes
}

/// The refusal without a body that a buffer ends with: what stands before it, its status and its head.
fn empty_refusal(buffer: &[u8]) -> Option<(&[u8], StatusCode, &str)> {
    if !buffer.ends_with(END) {
        return None;
    }
    let tail = buffer.len().saturating_sub(MAX_HEAD);
    let start = tail + buffer[tail..].windows(START.len()).rposition(|it| it == START)?;
    let head = std::str::from_utf8(&buffer[start..]).ok()?;
    let status = head.get(9..12)?.parse().ok().and_then(|it| StatusCode::from_u16(it).ok())?;
    head.split("\r\n").any(|it| it == NO_BODY).then_some((&buffer[..start], status, head))
}

fn error(status: StatusCode) -> Option<ErrorResponse> {
    match status {
        StatusCode::BAD_REQUEST => Some(ErrorResponse::malformed("This cannot be read as an HTTP request.")),
        StatusCode::REQUEST_TIMEOUT => Some(ErrorResponse::slow_client()),
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => {
            Some(ErrorResponse::malformed_as(status, "The request line and the headers are too large."))
        }
        _ => None,
    }
}

impl AsyncRead for Wire {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match ready!(Pin::new(&mut self.stream).poll_read(cx, buffer)) {
            // The system's own time-outs have a number; there is nobody to tell.
            Err(error) if error.kind() == io::ErrorKind::TimedOut && error.raw_os_error().is_none() => {
                self.refuse_late_head();
                Poll::Ready(Ok(()))
            }
            read => Poll::Ready(read),
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        let wire = &mut *self;
        let mut instead = match wire.instead.take().or_else(|| wire.completed(buffer)) {
            Some(instead) => instead,
            None => return Pin::new(&mut wire.stream).poll_write(cx, buffer),
        };
        while instead.written < instead.bytes.len() {
            let written = Pin::new(&mut wire.stream).poll_write(cx, &instead.bytes[instead.written..]);
            let Poll::Ready(Ok(more @ 1..)) = written else {
                wire.instead = Some(instead);
                return written;
            };
            instead.written += more;
        }
        Poll::Ready(Ok(instead.stands_for))
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
    fn only_a_refusal_without_a_body_at_the_end_is_completed() {
        let head = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        let found = |text: &str| {
            empty_refusal(text.as_bytes()).map(|(before, status, head)| (before.len(), status.as_u16(), head.len()))
        };
        assert_eq!(found(head), Some((0, 400, head.len())));
        assert_eq!(
            found(&format!("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{{}}{head}")),
            Some((40, 400, head.len()))
        );
        assert_eq!(found(&head.replace("content-length: 0", "content-length: 9")), None, "the answer to a HEAD");
        assert_eq!(found(&format!("{head}x")), None);
        assert_eq!(found("HTTP/1.1 304 Not Modified\r\ncontent-length: 0\r\n\r\n"), None);
    }
}
