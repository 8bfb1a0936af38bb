//! Events: follows the feed without an end, from a stored cursor.

use std::collections::VecDeque;
use std::fmt;

use futures_util::stream::{self, BoxStream, StreamExt};

use crate::error::Error;
use crate::feed::Position;
use crate::generated::resources::Events;
use crate::generated::types::{Event, ListEventsFilter, ListEventsQuery};
use crate::pages::Page;

/// Maximum number of events that one request returns.
const PAGE: i64 = 100;

/// Callback that receives positions in the feed.
type OnCursor = Box<dyn FnMut(&str) + Send + Sync>;

/// Start position, filter and cursor callback of [`Events::follow`].
#[derive(Default)]
pub struct FollowOptions {
    position: Position,
    filter: Option<ListEventsFilter>,
    on_cursor: Option<OnCursor>,
}

impl FollowOptions {
    /// Creates settings that follow all events from the oldest one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Continues at a stored position.
    #[must_use]
    pub fn cursor(mut self, cursor: impl Into<Option<String>>) -> Self {
        self.position.cursor = cursor.into();
        self
    }

    /// Starts at a time at most 30 days ago, or with `now` at the next event. A cursor takes precedence.
    #[must_use]
    pub fn since(mut self, since: impl Into<String>) -> Self {
        self.position.since = Some(since.into());
        self
    }

    /// Follows only events that match the filter.
    #[must_use]
    pub fn filter(mut self, filter: ListEventsFilter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Sets the callback that stores positions in the feed. When the program asks for the first event after a
    /// batch, [`Follower::next`] calls the callback with the position behind that batch.
    #[must_use]
    pub fn on_cursor(mut self, on_cursor: impl FnMut(&str) + Send + Sync + 'static) -> Self {
        self.on_cursor = Some(Box::new(on_cursor));
        self
    }
}

impl fmt::Debug for FollowOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FollowOptions").field("position", &self.position).finish_non_exhaustive()
    }
}

/// Events of one response of the feed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EventBatch {
    /// The events, in the order in which their changes were saved.
    pub events: Vec<Event>,
    /// Position behind these events: store it once they are processed.
    pub cursor: Option<String>,
}

/// Reads the feed of events from a position on, and waits for new events.
#[must_use = "the feed is read as events are taken"]
pub struct Follower {
    events: Events,
    options: FollowOptions,
    ready: VecDeque<Event>,
    /// Position behind the events in `ready`, until `on_cursor` receives it.
    unreported: Option<String>,
}

impl Events {
    /// Follows the feed: first the stored events, then new ones as they happen.
    ///
    /// Polls with growing pauses of up to 5 seconds, and continues after temporary failures. After a restart
    /// from a stored cursor, the events behind that cursor are returned again.
    pub fn follow(&self, options: FollowOptions) -> Follower {
        Follower { events: self.clone(), options, ready: VecDeque::new(), unreported: None }
    }
}

impl Follower {
    /// Returns the next event, and waits for it if there is none.
    ///
    /// # Errors
    /// Failures that a retry would not change, such as a revoked key.
    pub async fn next(&mut self) -> Result<Event, Error> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(event);
            }
            if let (Some(cursor), Some(on_cursor)) = (self.unreported.take(), &mut self.options.on_cursor) {
                on_cursor(&cursor);
            }
            let batch = self.next_batch().await?;
            self.ready = batch.events.into();
            self.unreported = batch.cursor;
        }
    }

    /// Returns the next events, and waits for them if there are none. Use either this function or
    /// [`Follower::next`].
    ///
    /// # Errors
    /// Failures that a retry would not change, such as a revoked key.
    pub async fn next_batch(&mut self) -> Result<EventBatch, Error> {
        loop {
            self.options.position.wait().await;
            match self.read().await {
                Ok(page) => {
                    let is_empty = page.data.is_empty();
                    let position = &mut self.options.position;
                    if position.advance(page.next_cursor, page.has_more, is_empty) || !is_empty {
                        return Ok(EventBatch { events: page.data, cursor: position.cursor.clone() });
                    }
                }
                Err(error) => self.options.position.endure(error)?,
            }
        }
    }

    /// Returns the position behind the last batch.
    #[must_use]
    pub fn cursor(&self) -> Option<&str> {
        self.options.position.cursor.as_deref()
    }

    /// Returns the events as a stream, which ends with its first error.
    #[must_use]
    pub fn into_stream(self) -> BoxStream<'static, Result<Event, Error>> {
        let next = |mut follower: Self| async move { Ok(Some((follower.next().await?, follower))) };
        stream::try_unfold(self, next).boxed()
    }

    async fn read(&self) -> Result<Page<Event>, Error> {
        let mut query = ListEventsQuery::new().limit(PAGE);
        query.filter.clone_from(&self.options.filter);
        let position = &self.options.position;
        match &position.cursor {
            Some(cursor) => query.cursor = Some(cursor.clone()),
            None => query.since.clone_from(&position.since),
        }
        self.events.list(query).max_retries(0).await
    }
}

impl fmt::Debug for Follower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Follower").field("options", &self.options).finish_non_exhaustive()
    }
}
