//! A socket that fails when its peer sends more than allowed.
//!
//! All bytes of the peer count, including headers, informational responses, control frames and certificates. A
//! peer can therefore neither keep an attempt busy nor fill memory.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Allowance for the TLS handshake, in bytes. Certificate chains have a few KiB.
const FOR_HANDSHAKE: u64 = 64 * 1024;
/// Largest allowance for concurrent requests on one connection, in responses.
const AT_MOST: u64 = 4;

/// The number of bytes that the peer may still send.
#[derive(Debug, Clone)]
pub struct Allowance(Arc<AtomicU64>);

impl Allowance {
    /// Sets the allowance to that of one response: everything up to the head, and the part of the body that is read.
    /// Unused bytes of earlier responses are dropped.
    pub(crate) fn expect_answer(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    /// Adds the allowance of one more concurrent response.
    pub(crate) fn expect_another(&self, bytes: u64) {
        let more = |left: u64| Some(left.saturating_add(bytes).min(AT_MOST * bytes));
        // The closure always returns a value, so the update cannot fail.
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok();
    }

    fn spend(&self, bytes: usize) {
        let less = |left: u64| Some(left.saturating_sub(bytes as u64));
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).ok();
    }

    fn is_spent(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

/// The error after a peer sent more than allowed.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the peer sent more than the allowed number of bytes")]
pub(crate) struct TooMuchSentError;

/// A socket that deducts received bytes from the allowance. Reads fail when nothing is left of it.
#[derive(Debug)]
pub struct MeteredSocket {
    socket: TcpStream,
    allowance: Allowance,
}

impl MeteredSocket {
    /// Wraps a socket, with the allowance of a TLS handshake.
    #[must_use]
    pub fn new(socket: TcpStream) -> (Self, Allowance) {
        let allowance = Allowance(Arc::new(AtomicU64::new(FOR_HANDSHAKE)));
        (Self { socket, allowance: allowance.clone() }, allowance)
    }
}

impl AsyncRead for MeteredSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.allowance.is_spent() {
            return Poll::Ready(Err(io::Error::other(TooMuchSentError)));
        }
        let length_before = buffer.filled().len();
        let read_poll = Pin::new(&mut self.socket).poll_read(cx, buffer);
        self.allowance.spend(buffer.filled().len() - length_before);
        read_poll
    }
}

impl AsyncWrite for MeteredSocket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
