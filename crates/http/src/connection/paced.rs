//! A connection that reads only as fast as its client takes answers.
//!
//! While a write waits for the client, nothing is read from the client. A write that waits too long ends the
//! connection, because pending answers hold memory. Pipelined requests reach the protocol layer one head at a
//! time.
//!
//! Small unread answers can sit in the kernel of the client and look as if they were read. A client that
//! pipelined requests and then sends nothing more therefore gets the same timeout as a blocked write.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use actix_web::rt::net::TcpStream;
use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use crate::connection::blank_line::BlankLine;
use crate::connection::pace::Pace;
use crate::connection::read_gate::{Allowance, PIECE_BYTES, ReadGate};
use crate::meters;

/// Timeouts of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// Timeout for the rest of a request head after its first byte.
    pub(crate) head: Duration,
    /// Timeout for a write, and for the next request of a client that has pipelined.
    pub(crate) write: Duration,
    /// Time in which the client of an answer of unknown size must take 64 kB.
    pub(crate) pace: Duration,
}

/// A stream that limits reads to the client's pace.
pub(crate) struct PacedStream {
    stream: TcpStream,
    gate: ReadGate,
    times: Times,
    /// Bytes read from the socket and not yet passed to the protocol layer.
    ahead: BytesMut,
    blank_line: BlankLine,
    /// Number of bytes passed to the protocol layer since it last parsed. A blank line sets the number to
    /// [`PIECE_BYTES`], so that the protocol layer parses before it gets more bytes.
    unseen: usize,
    /// Timer for the rest of a request head; `None` while no head is incomplete.
    head: Option<Pin<Box<Sleep>>>,
    /// Timer of a blocked write.
    waiting: Option<Pin<Box<Sleep>>>,
    pace: Pace,
    /// `true` if a request arrived before the previous one was answered.
    sent_ahead: bool,
    /// Timer for silence after pipelined requests.
    silent: Option<Pin<Box<Sleep>>>,
}

impl PacedStream {
    pub(crate) fn new(stream: TcpStream, times: Times) -> Self {
        let (gate, blank_line) = (ReadGate::default(), BlankLine::default());
        Self {
            stream,
            gate,
            times,
            ahead: BytesMut::new(),
            blank_line,
            unseen: 0,
            head: None,
            waiting: None,
            pace: Pace::default(),
            sent_ahead: false,
            silent: None,
        }
    }

    /// Returns the gate that controls reading from this connection.
    pub(crate) fn gate(&self) -> ReadGate {
        self.gate.clone()
    }

    /// Writes as many bytes as the socket takes without blocking. No other write may be in progress.
    pub(crate) fn try_write(&self, bytes: &[u8]) {
        let _ = self.stream.try_write(bytes);
    }

    /// Checks for a closed connection while reading is paused.
    fn poll_end(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut byte = [0];
        match ready!(self.stream.poll_peek(cx, &mut ReadBuf::new(&mut byte))) {
            Ok(0) => Poll::Ready(Ok(())),
            Ok(_) => Poll::Pending,
            Err(error) => Poll::Ready(Err(error)),
        }
    }

    /// Passes at most `most` bytes of a body to the protocol layer.
    fn poll_body(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>, most: usize) -> Poll<io::Result<()>> {
        let most = most.min(buffer.remaining());
        if !self.ahead.is_empty() {
            let most = most.min(self.ahead.len());
            buffer.put_slice(&self.ahead.split_to(most));
            return Poll::Ready(Ok(()));
        }
        if most == buffer.remaining() {
            return Pin::new(&mut self.stream).poll_read(cx, buffer);
        }
        let mut piece = ReadBuf::new(buffer.initialize_unfilled_to(most));
        ready!(Pin::new(&mut self.stream).poll_read(cx, &mut piece))?;
        let length = piece.filled().len();
        buffer.advance(length);
        Poll::Ready(Ok(()))
    }

    /// Passes bytes up to the next blank line to the protocol layer. Later bytes wait until it has parsed these
    /// bytes.
    fn poll_to_blank_line(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let unseen = std::mem::take(&mut self.unseen);
        if self.ahead.is_empty() {
            let mut piece = [0; PIECE_BYTES];
            let mut piece = ReadBuf::new(&mut piece);
            let Poll::Ready(read) = Pin::new(&mut self.stream).poll_read(cx, &mut piece) else {
                return self.poll_late(cx);
            };
            read?;
            self.silent = None;
            if piece.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            self.ahead.extend_from_slice(piece.filled());
        } else if self.gate.is_between_requests() {
            self.sent_ahead = true;
        }
        let room = PIECE_BYTES.saturating_sub(unseen).min(buffer.remaining());
        if room == 0 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let next = &self.ahead[..room.min(self.ahead.len())];
        let end = self.blank_line.end(next);
        let length = end.unwrap_or(next.len());
        buffer.put_slice(&next[..length]);
        self.ahead.advance(length);
        self.unseen = if end.is_some() { PIECE_BYTES } else { unseen + length };
        Poll::Ready(Ok(()))
    }

    /// Times out the rest of a head, and the next request of a client that has pipelined.
    fn poll_late(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Times { head, write, .. } = self.times;
        if self.gate.has_head_begun() {
            ready!(self.head.get_or_insert_with(|| Box::pin(sleep(head))).as_mut().poll(cx));
            return Poll::Ready(Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "the head of a request takes too long",
            )));
        }
        if self.sent_ahead && self.gate.is_between_requests() {
            ready!(self.silent.get_or_insert_with(|| Box::pin(sleep(write))).as_mut().poll(cx));
            // Reports end of input, so that the connection closes gracefully.
            return Poll::Ready(Ok(()));
        }
        Poll::Pending
    }
}

impl AsyncRead for PacedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let stream = &mut *self;
        if !stream.gate.has_head_begun() {
            stream.head = None;
        }
        if stream.waiting.is_some() {
            stream.gate.wait(cx.waker());
            return Poll::Pending;
        }
        let length_before = buffer.filled().len();
        match stream.gate.allowance() {
            Allowance::Nothing => {
                stream.gate.wait(cx.waker());
                return stream.poll_end(cx);
            }
            Allowance::Body(most) => ready!(stream.poll_body(cx, buffer, most))?,
            Allowance::ToBlankLine => ready!(stream.poll_to_blank_line(cx, buffer))?,
        }
        stream.gate.record_read(buffer.filled().len() - length_before);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for PacedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if let Poll::Ready(written) = Pin::new(&mut self.stream).poll_write(cx, bytes) {
            if self.waiting.take().is_some() {
                self.gate.wake();
            }
            let deadline = Instant::now() + self.times.write;
            if let Some(silent) = &mut self.silent {
                silent.as_mut().reset(deadline);
            }
            if let Ok(byte_count) = written {
                self.pace.note(byte_count, bytes.len());
            }
            return Poll::Ready(written);
        }
        let time = self.times.write;
        let is_blocked = self.waiting.get_or_insert_with(|| Box::pin(sleep(time))).as_mut().poll(cx).is_ready();
        if !is_blocked {
            let (is_streaming, time) = (self.gate.is_streaming(), self.times.pace);
            ready!(self.pace.poll_end(is_streaming, time, cx));
        }
        meters::not_reading();
        // The close then resets the connection, which frees the kernel's send buffer at once.
        let _ = self.stream.set_zero_linger();
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read its answers")))
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
    use std::future::poll_fn;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// Longer than any test runs.
    const EVER: Duration = Duration::from_secs(600);

    async fn pair(write: Duration) -> (PacedStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        (PacedStream::new(stream, Times { head: EVER, write, pace: EVER }), client)
    }

    /// Writes until the socket's send buffer is full.
    async fn fill(server: &mut PacedStream) -> usize {
        let mut sum = 0;
        poll_fn(|cx| {
            while let Poll::Ready(written) = Pin::new(&mut *server).poll_write(cx, &[0; 65_536]) {
                sum += written.unwrap();
            }
            Poll::Ready(())
        })
        .await;
        sum
    }

    #[tokio::test]
    async fn stalled_write_stops_reads_until_progress_wakes_them() {
        let (mut server, mut client) = pair(EVER).await;
        let mut sum = fill(&mut server).await;
        client.write_all(b"more").await.unwrap();
        server.stream.readable().await.unwrap();
        let mut bytes = [0; 16];
        let read = poll_fn(|cx| {
            let read = Pin::new(&mut server).poll_read(cx, &mut ReadBuf::new(&mut bytes));
            Poll::Ready(read.is_ready())
        });
        assert!(!read.await, "the read waits, though there is input");

        let mut sink = vec![0; 65_536];
        let mut remaining_bytes = sum;
        while remaining_bytes > 0 {
            remaining_bytes -= client.read(&mut sink).await.unwrap();
        }
        sum = server.write(b"x").await.unwrap();
        assert_eq!(sum, 1);
        assert_eq!(server.read(&mut bytes).await.unwrap(), 4);
    }

    #[tokio::test]
    async fn client_that_reads_nothing_times_out() {
        let (mut server, _client) = pair(Duration::from_millis(50)).await;
        fill(&mut server).await;
        let write_result = tokio::time::timeout(EVER, server.write_all(&[0; 65_536])).await.unwrap();
        assert_eq!(write_result.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn slow_client_times_out_only_during_an_answer_of_unknown_size() {
        let (mut server, mut client) = pair(EVER).await;
        server.times.pace = Duration::ZERO;
        fill(&mut server).await;
        let write = async |server: &mut PacedStream| {
            poll_fn(|cx| Poll::Ready(Pin::new(&mut *server).poll_write(cx, &[0; 65_536]).is_pending())).await
        };
        assert!(write(&mut server).await, "an answer of known size waits");
        let streaming = server.gate().begin_stream();
        let write_result = tokio::time::timeout(EVER, server.write_all(&[0; 65_536])).await.unwrap();
        assert_eq!(write_result.unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(streaming);
        assert!(write(&mut server).await, "the answer has ended");

        server.times.pace = EVER;
        let _streaming = server.gate().begin_stream();
        assert!(write(&mut server).await);
        assert!(server.pace.has_begun());
        let mut sink = vec![0; 1 << 20];
        while write(&mut server).await {
            let _ = client.read(&mut sink).await.unwrap();
        }
        assert!(!server.pace.has_begun(), "the client has taken 64 kB, or all there is");
    }

    #[tokio::test]
    async fn pipelining_client_times_out_only_after_its_last_request() {
        const ASK: &[u8] = b"GET / HTTP/1.1\r\n\r\n";
        let mut bytes = [0; 64];
        let (mut server, mut client) = pair(Duration::from_millis(50)).await;
        client.write_all(&ASK.repeat(2)).await.unwrap();
        for _ in 0..2 {
            assert_eq!(server.read(&mut bytes).await.unwrap(), ASK.len());
            drop(server.gate().begin_response());
        }
        let read_result =
            tokio::time::timeout(EVER, server.read(&mut bytes)).await.expect("the connection stays open");
        assert_eq!(read_result.unwrap(), 0);

        let (mut server, mut client) = pair(Duration::ZERO).await;
        for _ in 0..2 {
            client.write_all(ASK).await.unwrap();
            assert_eq!(server.read(&mut bytes).await.unwrap(), ASK.len());
            drop(server.gate().begin_response());
            let next = poll_fn(|cx| {
                let read = Pin::new(&mut server).poll_read(cx, &mut ReadBuf::new(&mut bytes));
                Poll::Ready(read.is_pending())
            });
            assert!(next.await, "the read waits for the next request");
        }
    }

    #[tokio::test]
    async fn answering_request_notices_disconnect_but_reads_no_input() {
        let (mut server, mut client) = pair(EVER).await;
        let _answering = server.gate().begin_response();
        client.write_all(b"next").await.unwrap();
        server.stream.readable().await.unwrap();
        let mut bytes = [0; 16];
        let read = poll_fn(|cx| {
            let read = Pin::new(&mut server).poll_read(cx, &mut ReadBuf::new(&mut bytes));
            Poll::Ready(read.is_ready())
        });
        assert!(!read.await);
        let (mut server, client) = pair(EVER).await;
        let _answering = server.gate().begin_response();
        drop(client);
        assert_eq!(server.read(&mut bytes).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn pipelined_input_is_read_in_pieces_and_bodies_at_once() {
        let (mut server, mut client) = pair(EVER).await;
        client.write_all(&[0; 100_000]).await.unwrap();
        server.stream.readable().await.unwrap();
        let gate = server.gate();
        let mut read_piece = async || {
            let mut bytes = vec![0; 65_536];
            poll_fn(|cx| {
                let mut buffer = ReadBuf::new(&mut bytes);
                while Pin::new(&mut server).poll_read(cx, &mut buffer).is_ready() && buffer.remaining() > 0 {}
                Poll::Ready(buffer.filled().len())
            })
            .await
        };
        assert_eq!((read_piece().await, read_piece().await), (PIECE_BYTES, PIECE_BYTES));
        let _answering = gate.begin_response();
        let receiving = gate.begin_body(Some(20_000));
        assert_eq!(read_piece().await, 20_000);
        assert_eq!(read_piece().await, 0, "what comes behind the body waits");
        drop(receiving);
        let _receiving = gate.begin_body(None);
        assert_eq!(read_piece().await, PIECE_BYTES);
    }
}
