//! The position of a reader in the feed of events, and the pauses between the requests of the reader.

use std::time::Duration;

use crate::error::Error;

/// Pause before the next request after a page that ended with the newest event.
const SHORTEST_PAUSE: Duration = Duration::from_millis(250);
/// Upper bound of the pauses between requests while no event happens.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Position of a reader of the feed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Position {
    /// Position behind the last page, or the stored position at which the reader continues.
    pub(crate) cursor: Option<String>,
    /// Time at which the reader starts if it has no cursor.
    pub(crate) since: Option<String>,
    pause: Duration,
}

impl Position {
    /// Waits before the next request.
    pub(crate) async fn wait(&self) {
        if !self.pause.is_zero() {
            tokio::time::sleep(self.pause).await;
        }
    }

    /// Sets the position to the end of a page. Returns `true` if it has changed.
    pub(crate) fn advance(&mut self, next: Option<String>, has_more: bool, is_empty: bool) -> bool {
        self.since = None;
        self.pause = match (has_more, is_empty) {
            (true, _) => Duration::ZERO,
            (false, true) => grow_pause(self.pause),
            (false, false) => SHORTEST_PAUSE,
        };
        let has_changed = next.is_some() && next != self.cursor;
        if has_changed {
            self.cursor = next;
        }
        has_changed
    }

    /// Lengthens the pause after a temporary failure.
    ///
    /// # Errors
    /// The failure, if a retry would not change it.
    pub(crate) fn endure(&mut self, error: Error) -> Result<(), Error> {
        if !error.is_transient() {
            return Err(error);
        }
        self.pause = grow_pause(self.pause).max(error.retry_after().unwrap_or_default());
        Ok(())
    }
}

fn grow_pause(pause: Duration) -> Duration {
    (pause * 2).clamp(SHORTEST_PAUSE, LONGEST_PAUSE)
}
