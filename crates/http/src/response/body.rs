//! Response bodies that the connection takes in pieces.
//!
//! A connection copies a piece into its own buffer before it writes. A body given as a whole would be in memory
//! twice for as long as its client reads.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use bytes::Bytes;
use tokio::task::yield_now;

use crate::response::byte_budget::BytePermit;

/// Size of one piece: it fills the write buffer of a connection.
pub(crate) const PIECE_BYTES: usize = 32 * 1024;

/// A body of known length, emitted in pieces.
struct Pieces {
    rest: Bytes,
    /// Permit for the memory of the body. Dropped with the body, after the last piece or at the end of the
    /// connection.
    _permit: Option<BytePermit>,
    /// Completes after the thread has served other requests; awaited before each further piece.
    pause: Option<Pin<Box<dyn Future<Output = ()>>>>,
}

/// Creates the body of an answer, which keeps the permit for its memory.
pub(crate) fn with_permit(bytes: Bytes, permit: Option<BytePermit>) -> BoxBody {
    if bytes.len() <= PIECE_BYTES {
        BoxBody::new(bytes)
    } else {
        BoxBody::new(Pieces { rest: bytes, _permit: permit, pause: None })
    }
}

impl MessageBody for Pieces {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.rest.len() as u64)
    }

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        // Without the pause, a client that reads as fast as this writes would occupy the thread. Waking the task
        // does not help: the runtime polls for I/O only after 61 ready tasks.
        if let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(context));
        }
        self.pause = Some(Box::pin(yield_now()));
        let next = self.rest.len().min(PIECE_BYTES);
        Poll::Ready(Some(Ok(self.rest.split_to(next))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_body_is_streamed_in_pieces_and_complete() {
        let whole: Bytes = (0..PIECE_BYTES * 2 + 7).map(|number| u8::try_from(number % 251).unwrap()).collect();
        let mut body = with_permit(whole.clone(), None);
        assert_eq!(body.size(), BodySize::Sized(whole.len() as u64));
        let mut body_bytes = Vec::new();
        let mut context = Context::from_waker(std::task::Waker::noop());
        let mut pauses = 0;
        loop {
            match body.as_pin_mut().poll_next(&mut context) {
                Poll::Ready(Some(piece)) => {
                    let piece = piece.unwrap();
                    assert!(piece.len() <= PIECE_BYTES);
                    body_bytes.extend(piece);
                }
                Poll::Ready(None) => break,
                Poll::Pending => pauses += 1,
            }
        }
        assert_eq!(pauses, 2, "one between any two pieces");
        assert_eq!(body_bytes, whole);
    }
}
