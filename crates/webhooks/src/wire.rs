//! A socket that gives up when its peer sends more than it was allowed to.
//!
//! Headers, informational answers, control frames, certificates: whatever a receiver sends counts, so nothing it thinks
//! of can keep an attempt busy or fill memory.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// For the TLS handshake: certificate chains have a few KiB.
const FOR_HANDSHAKE: u64 = 64 * 1024;
/// For everything up to an answer's head, and the part of its body that is read.
const FOR_ANSWER: u64 = 64 * 1024;
/// What concurrent requests on one connection may add up to.
const AT_MOST: u64 = 4 * FOR_ANSWER;

/// How many bytes the peer may still send.
#[derive(Debug, Clone)]
pub(crate) struct Allowance(Arc<AtomicU64>);

impl Allowance {
    /// One answer is expected; what others left over does not count.
    pub(crate) fn expect_answer(&self) {
        self.0.store(FOR_ANSWER, Ordering::Relaxed);
    }

    /// One more answer is expected beside others.
    pub(crate) fn expect_another(&self) {
        let more = |left: u64| Some(left.saturating_add(FOR_ANSWER).min(AT_MOST));
        // The closure always answers, so there is no failure to see.
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

/// The peer sent more than it was allowed to.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the receiver sent more than is read")]
pub(crate) struct TooMuch;

/// The socket.
#[derive(Debug)]
pub(crate) struct Metered {
    socket: TcpStream,
    allowance: Allowance,
}

impl Metered {
    pub(crate) fn new(socket: TcpStream) -> (Self, Allowance) {
        let allowance = Allowance(Arc::new(AtomicU64::new(FOR_HANDSHAKE)));
        (Self { socket, allowance: allowance.clone() }, allowance)
    }
}

impl AsyncRead for Metered {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.allowance.is_spent() {
            return Poll::Ready(Err(io::Error::other(TooMuch)));
        }
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.socket).poll_read(cx, buffer);
        self.allowance.spend(buffer.filled().len() - before);
        polled
    }
}

impl AsyncWrite for Metered {
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
