"""Events: endless iterators over the feed, which can continue from a stored cursor."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from typing import cast

from . import types
from ._changes import ChangeBatch
from ._errors import ApiError, CandorError
from ._pages import Page
from ._request import UNSET, Unset, is_transient
from .resources import AsyncEvents, Events

SHORTEST_PAUSE = 0.25
LONGEST_PAUSE = 5.0
PAGE = 100


class _Position:
    """Position in the feed, and the pause before the next request."""

    def __init__(self, cursor: str | Unset, since: str | Unset) -> None:
        self.cursor = cursor
        self.since = since
        self.pause = 0.0

    def advance(self, page: Page[types.FeedEvent]) -> str | None:
        """Sets the position to the end of a page. Returns it if it has changed."""
        self.pause = 0.0 if page.data else self._grown()
        self.since = UNSET
        if not page.next_cursor or page.next_cursor == self.cursor:
            return None
        self.cursor = page.next_cursor
        return self.cursor

    def failed(self, error: CandorError) -> None:
        """Lengthens the pause after a temporary failure; raises other failures."""
        if not is_transient(error):
            raise error
        least = (error.retry_after or 0.0) if isinstance(error, ApiError) else 0.0
        self.pause = max(self._grown(), least)

    def _grown(self) -> float:
        return min(max(self.pause * 2, SHORTEST_PAUSE), LONGEST_PAUSE)


def _is_erased(event: types.FeedEvent) -> bool:
    return types.is_erased_event(event)


def _full(events: Iterable[types.FeedEvent]) -> list[types.Event]:
    """Returns the events whose data was not erased. Not all type checkers narrow the rest by `is_erased_event`."""
    return [cast("types.Event", event) for event in events if not _is_erased(event)]


class EventFeed(Events):
    """Operations below `/events`, `follow`, and `changes`."""

    def follow(
        self,
        *,
        cursor: str | Unset = UNSET,
        since: str | Unset = UNSET,
        filter: types.ListEventsFilter | Unset = UNSET,
        on_cursor: Callable[[str], None] | None = None,
        stop: threading.Event | None = None,
    ) -> Iterator[types.Event]:
        """Yields all stored events, then new ones as they happen, in the order in which their changes were saved.

        Polls with growing pauses of up to 5 seconds, and continues after temporary failures. `on_cursor` gets the
        position after each batch once all of its events were consumed: store it, and pass it as `cursor` after a
        restart. Events whose data was erased are skipped: `changes` tells what is to be removed.

        Another thread, or a signal handler, ends the iteration by setting `stop`: no event follows, a pause ends at once,
        and a request under way ends first. `on_cursor` is not called for a batch of which events are left.
        """
        stop = stop or threading.Event()
        for page, moved in self._pages(_Position(cursor, since), filter, stop):
            for event in _full(page.data):
                if stop.is_set():
                    return
                yield event
            if moved and on_cursor:
                on_cursor(moved)

    def changes(
        self,
        *,
        cursor: str | Unset = UNSET,
        since: str | Unset = UNSET,
        stop: threading.Event | None = None,
    ) -> Iterator[ChangeBatch]:
        """Yields the changes of all exported resources, page after page: rows to store and rows to remove.

        The rows of an export and then every batch from its `events_cursor` on result in the current data, without
        anything that was erased or removed since. Polls as `follow` does, and ends when `stop` is set.
        """
        for page, moved in self._pages(_Position(cursor, since), UNSET, stop or threading.Event()):
            if page.data or moved:
                yield ChangeBatch.of_events(page.data, page.next_cursor)

    def _pages(
        self, position: _Position, filter: types.ListEventsFilter | Unset, stop: threading.Event
    ) -> Iterator[tuple[Page[types.FeedEvent], str | None]]:
        """Yields pages until `stop` is set, each with the position behind it if that has changed."""
        while not stop.is_set():
            try:
                listed = self.list(
                    filter=filter, cursor=position.cursor, since=position.since, limit=PAGE, max_retries=0
                )
                page = listed.first()
            except CandorError as error:
                position.failed(error)
            else:
                yield page, position.advance(page)
                if page.has_more:
                    continue
            stop.wait(max(position.pause, SHORTEST_PAUSE))


class AsyncEventFeed(AsyncEvents):
    """Operations below `/events`, `follow`, and `changes`."""

    async def follow(
        self,
        *,
        cursor: str | Unset = UNSET,
        since: str | Unset = UNSET,
        filter: types.ListEventsFilter | Unset = UNSET,
        on_cursor: Callable[[str], Awaitable[None]] | None = None,
    ) -> AsyncIterator[types.Event]:
        """Yields all stored events, then new ones as they happen, in the order in which their changes were saved.

        Polls with growing pauses of up to 5 seconds, and continues after temporary failures. `on_cursor` gets the
        position after each batch once all of its events were consumed: store it, and pass it as `cursor` after a
        restart. Events whose data was erased are skipped: `changes` tells what is to be removed.
        """
        async for page, moved in self._pages(_Position(cursor, since), filter):
            for event in _full(page.data):
                yield event
            if moved and on_cursor:
                await on_cursor(moved)

    async def changes(
        self, *, cursor: str | Unset = UNSET, since: str | Unset = UNSET
    ) -> AsyncIterator[ChangeBatch]:
        """Yields the changes of all exported resources, page after page: rows to store and rows to remove.

        The rows of an export and then every batch from its `events_cursor` on result in the current data, without
        anything that was erased or removed since. Polls as `follow` does.
        """
        async for page, moved in self._pages(_Position(cursor, since), UNSET):
            if page.data or moved:
                yield ChangeBatch.of_events(page.data, page.next_cursor)

    async def _pages(
        self, position: _Position, filter: types.ListEventsFilter | Unset
    ) -> AsyncIterator[tuple[Page[types.FeedEvent], str | None]]:
        """Yields pages, each with the position behind it if that has changed."""
        while True:
            try:
                listed = self.list(
                    filter=filter, cursor=position.cursor, since=position.since, limit=PAGE, max_retries=0
                )
                page = await listed.first()
            except CandorError as error:
                position.failed(error)
            else:
                yield page, position.advance(page)
                if page.has_more:
                    continue
            await asyncio.sleep(max(position.pause, SHORTEST_PAUSE))
