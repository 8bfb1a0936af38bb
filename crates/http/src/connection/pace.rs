//! Minimum rate at which a client must take an answer of unknown size. Such an answer holds rows in memory, and
//! occupies one of the concurrent exports of its organization.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Sleep, sleep};

/// Bytes that the client must take in each interval.
pub(crate) const PACE_BYTES: usize = 64 * 1000;

/// Counts the bytes that a client takes in the interval after a blocked write.
#[derive(Default)]
pub(crate) struct Pace(Option<Interval>);

/// An interval that begins with a blocked write.
struct Interval {
    taken: usize,
    end: Pin<Box<Sleep>>,
}

impl Pace {
    /// Counts a write. The interval ends when the client has taken [`PACE_BYTES`], or all bytes that were offered.
    pub(crate) fn note(&mut self, taken: usize, offered: usize) {
        let Some(interval) = &mut self.0 else { return };
        interval.taken += taken;
        if taken == offered || interval.taken >= PACE_BYTES {
            self.0 = None;
        }
    }

    /// Completes when the interval is over, and never for an answer of known size. Called for each blocked write.
    pub(crate) fn poll_end(&mut self, is_streaming: bool, time: Duration, cx: &mut Context<'_>) -> Poll<()> {
        if !is_streaming {
            self.0 = None;
            return Poll::Pending;
        }
        let interval = self.0.get_or_insert_with(|| Interval { taken: 0, end: Box::pin(sleep(time)) });
        interval.end.as_mut().poll(cx)
    }

    /// Returns `true` while an interval runs.
    #[cfg(test)]
    pub(crate) fn has_begun(&self) -> bool {
        self.0.is_some()
    }
}
