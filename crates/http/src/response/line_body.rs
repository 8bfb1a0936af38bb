//! Body of lines that are read from the store as the client takes them, compressed as they are sent.

use std::fmt;

use actix_web::body::{BodyStream, BoxBody};
use bytes::Bytes;
use candor_fair_share::large_work::PIECE_BYTES;
use candor_service::Error;
use candor_service::usecases::line_stream::LineStream;
use futures_util::stream;
use tokio::task::yield_now;

use crate::connection::read_gate::StreamGuard;
use crate::response::compress::{Encoding, StreamEncoder};
use crate::response::health::Readiness;

/// Reason for the end of a response before its last line.
#[derive(Debug, Clone, Copy, thiserror::Error)]
enum LinesError {
    #[error("cannot read the lines")]
    Failed,
    #[error("the key may no longer read these lines")]
    Refused,
    #[error("the service is shutting down")]
    Draining,
}

/// Lines of an answer and their compressor.
pub(crate) struct LineBody {
    lines: LineStream,
    encoder: Option<StreamEncoder>,
    /// Lines that are read and not yet sent.
    text: Bytes,
    is_complete: bool,
}

impl LineBody {
    pub(crate) fn new(lines: LineStream) -> Self {
        Self { lines, encoder: None, text: Bytes::new(), is_complete: false }
    }

    /// Sets the encoding in which the lines are sent. Returns `false` if there is no memory for the compressor. Then
    /// the lines are sent uncompressed.
    pub(crate) fn compress(&mut self, encoding: Encoding) -> bool {
        self.encoder = StreamEncoder::new(encoding);
        self.encoder.is_some()
    }

    /// Returns the body of the response. The body holds the guard `streaming` until the response ends.
    pub(crate) fn into_body(self, readiness: Readiness, streaming: Option<StreamGuard>) -> BoxBody {
        let state = (self, readiness, streaming);
        let parts = stream::try_unfold(state, |(mut lines, readiness, streaming)| async move {
            let part = lines.next(&readiness).await?;
            Ok::<_, LinesError>(part.map(|part| (part, (lines, readiness, streaming))))
        });
        BoxBody::new(BodyStream::new(Box::pin(parts)))
    }

    /// Returns the next part of the body; `None` after the last one.
    async fn next(&mut self, readiness: &Readiness) -> Result<Option<Bytes>, LinesError> {
        loop {
            if !self.text.is_empty() {
                let piece = self.text.split_to(self.text.len().min(PIECE_BYTES));
                // Without the pause, a client that reads as fast as this writes would occupy the thread.
                yield_now().await;
                return self.encode_piece(piece).map(Some);
            }
            if self.is_complete {
                let end = self.encoder.take().map(StreamEncoder::finish);
                return end.transpose().map_err(|error| log_failure(&error));
            }
            if readiness.is_draining() {
                return Err(LinesError::Draining);
            }
            match self.lines.next().await {
                Ok(Some(text)) => self.text = text,
                Ok(None) => self.is_complete = true,
                Err(Error::Refused(_)) => return Err(log_revocation()),
                Err(error) => return Err(log_failure(&error)),
            }
        }
    }

    fn encode_piece(&mut self, piece: Bytes) -> Result<Bytes, LinesError> {
        let is_last_of_page = self.text.is_empty();
        match &mut self.encoder {
            None => Ok(piece),
            Some(encoder) => encoder.compress(&piece, is_last_of_page).map_err(|error| log_failure(&error)),
        }
    }
}

/// Logs the cause of a failure. The response has begun, so the client only sees its end.
fn log_failure(error: &dyn fmt::Display) -> LinesError {
    tracing::error!(
        cause = %error,
        "cannot continue an NDJSON response; the response ends early, and the client may send the request again"
    );
    LinesError::Failed
}

/// Logs that the key of the running answer was revoked, has expired or lost its rights.
fn log_revocation() -> LinesError {
    tracing::info!("an NDJSON response ends early, because its API key was revoked, expired or lost its rights");
    LinesError::Refused
}

impl fmt::Debug for LineBody {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("LineBody")
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn compressed_pieces_are_readable_after_each_flush() {
        let pieces: [&[u8]; 3] = [b"{\"a\":1}\n", b"{\"a\":2}\n", b"{\"a\":3}\n"];
        for encoding in [Encoding::Zstd, Encoding::Gzip] {
            let mut encoder = StreamEncoder::new(encoding).unwrap();
            let mut chunks = vec![];
            for piece in pieces {
                chunks.extend(encoder.compress(piece, true).unwrap());
            }
            let whole = pieces.concat();
            let mut read = vec![0; whole.len()];
            match encoding {
                Encoding::Zstd => {
                    zstd::stream::read::Decoder::new(&*chunks).unwrap().read_exact(&mut read).unwrap()
                }
                Encoding::Gzip => flate2::read::GzDecoder::new(&*chunks).read_exact(&mut read).unwrap(),
            }
            assert_eq!(read, whole, "{encoding:?}");
            chunks.extend(encoder.finish().unwrap());
            let mut text = vec![];
            match encoding {
                Encoding::Zstd => {
                    zstd::stream::read::Decoder::new(&*chunks).unwrap().read_to_end(&mut text).unwrap()
                }
                Encoding::Gzip => flate2::read::GzDecoder::new(&*chunks).read_to_end(&mut text).unwrap(),
            };
            assert_eq!(text, whole, "{encoding:?}");
        }
    }
}
