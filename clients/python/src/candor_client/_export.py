"""Exports: every line of a data set, continued from the last checkpoint where an answer breaks off."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, cast

from . import types
from ._errors import ApiConnectionError, ApiError, CandorError
from ._request import FIRST_PAUSE, LONGEST_PAUSE, AsyncCore, Core, Spec, Unset, given, is_transient

MAX_FAILURES = 8
"""Interruptions without a new checkpoint after which an export fails."""


class _Export:
    """State of an export over its answers."""

    def __init__(self, resources: Sequence[str] | Unset, cursor: str | Unset) -> None:
        self._resources = resources
        self._cursor = cursor
        self._failures = 0
        self._has_header = False
        self._complete: set[str] = set()
        self._last: tuple[str, str] | None = None

    def spec(self) -> Spec:
        """The request for the rest of the export."""
        query = given(resources=self._resources, cursor=self._cursor)
        return Spec("GET", "/exports", query=query, joined=("resources",))

    def shows(self, line: dict[str, Any]) -> bool:
        """Notes a line; returns whether the caller gets it.

        Later answers repeat the header and some rows. Lines that later versions of the service may add are skipped,
        unless they are rows.
        """
        if line["type"] == "checkpoint":
            self._cursor = line["cursor"]
            self._failures = 0
        if "data" in line:
            return self._is_new(line["type"], line["data"]["id"])
        if line["type"] != "header":
            return line["type"] in ("checkpoint", "end")
        is_first = not self._has_header
        self._has_header = True
        return is_first

    def _is_new(self, kind: str, identifier: str) -> bool:
        """Notes a row. Rows are in the order of type and id."""
        if self._last is not None:
            last_kind, last_identifier = self._last
            if kind in self._complete or (kind == last_kind and identifier <= last_identifier):
                return False
            if kind != last_kind:
                self._complete.add(last_kind)
        self._last = (kind, identifier)
        return True

    def pause(self, error: CandorError) -> float:
        """Seconds to wait before the next request; raises the error where another request is useless."""
        self._failures += 1
        if self._failures > MAX_FAILURES or not is_transient(error):
            raise error
        pause = min(FIRST_PAUSE * 2.0 ** (self._failures - 1), LONGEST_PAUSE)
        return max(pause, (error.retry_after or 0.0) if isinstance(error, ApiError) else 0.0)


def _incomplete() -> ApiConnectionError:
    return ApiConnectionError("The export ended before its last line.")


def export(core: Core, resources: Sequence[str] | Unset, cursor: str | Unset) -> Iterator[types.ExportLine]:
    """Yields the lines of an export."""
    state = _Export(resources, cursor)
    while True:
        try:
            for line in core.lines(state.spec()):
                if state.shows(line):
                    yield cast("types.ExportLine", line)
                if line["type"] == "end":
                    return
            raise _incomplete()
        except CandorError as error:
            time.sleep(state.pause(error))


async def export_async(
    core: AsyncCore, resources: Sequence[str] | Unset, cursor: str | Unset
) -> AsyncIterator[types.ExportLine]:
    """Yields the lines of an export."""
    state = _Export(resources, cursor)
    while True:
        try:
            async for line in core.lines(state.spec()):
                if state.shows(line):
                    yield cast("types.ExportLine", line)
                if line["type"] == "end":
                    return
            raise _incomplete()
        except CandorError as error:
            await asyncio.sleep(state.pause(error))
