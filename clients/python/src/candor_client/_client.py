"""The clients."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from types import TracebackType
from typing import Literal, ParamSpec, Self, TypeVar

import httpx2

from . import types
from ._answer import Answer, AnswerInfo, last_answer
from ._errors import CandorError
from ._events import AsyncEventFeed, EventFeed
from ._export import export, export_async
from ._generated.resources import AsyncResources, Resources
from ._request import MAX_RETRIES, TIMEOUT, UNSET, AsyncCore, Core, LogEntry, Settings, Unset

P = ParamSpec("P")
T = TypeVar("T")


def _last() -> AnswerInfo:
    info = last_answer.get()
    if info is None:
        raise CandorError("The method made no request: pass one that does, for instance `employees.get`.")
    return info


class Candor(Resources):
    """A client of one Candor service with one API key.

    `api_key` and `base_url` default to CANDOR_API_KEY and CANDOR_URL; the URL may end in `/v1`. With `environment`
    a key of the other environment is refused. `http` replaces the HTTP client, for proxies and certificates.
    """

    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        environment: Literal["live", "test"] | None = None,
        timeout: float = TIMEOUT,
        max_retries: int = MAX_RETRIES,
        user_agent: str | None = None,
        log: Callable[[LogEntry], None] | None = None,
        http: httpx2.Client | None = None,
    ) -> None:
        settings = Settings.resolve(api_key, base_url, environment, timeout, max_retries, user_agent, log)
        core = Core(settings, http)
        super().__init__(core)
        self.events: EventFeed = EventFeed(core)

    def with_answer(self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Answer[T]:
        """Calls a method of this client, and returns its result with status, headers, request id and quota."""
        last_answer.set(None)
        data = method(*args, **kwargs)
        return Answer(data, _last())

    def export(
        self,
        *,
        resources: Sequence[types.ExportedResource] | Unset = UNSET,
        cursor: str | Unset = UNSET,
    ) -> Iterator[types.ExportLine]:
        """Yields every resource of the organization, as lines in the order of resource and id.

        The first line is the header with `events_cursor`. Pass it to `events.follow` afterwards: the rows, and then
        every event from there on, result in the current data. An interrupted answer is continued from its last
        checkpoint, and each row comes once. The line `end` has the counts of the last answer. To continue in another
        process, store the `cursor` of a checkpoint and pass it with the same `resources`. Needs the scope
        `exports:read` and an admin-level key of the organization.
        """
        return export(self._core, resources, cursor)

    def close(self) -> None:
        """Closes the connections, unless they are those of the caller's HTTP client."""
        self._core.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncCandor(AsyncResources):
    """An asynchronous client of one Candor service with one API key.

    `api_key` and `base_url` default to CANDOR_API_KEY and CANDOR_URL; the URL may end in `/v1`. With `environment`
    a key of the other environment is refused. `http` replaces the HTTP client, for proxies and certificates.
    """

    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        environment: Literal["live", "test"] | None = None,
        timeout: float = TIMEOUT,
        max_retries: int = MAX_RETRIES,
        user_agent: str | None = None,
        log: Callable[[LogEntry], None] | None = None,
        http: httpx2.AsyncClient | None = None,
    ) -> None:
        settings = Settings.resolve(api_key, base_url, environment, timeout, max_retries, user_agent, log)
        core = AsyncCore(settings, http)
        super().__init__(core)
        self.events: AsyncEventFeed = AsyncEventFeed(core)

    async def with_answer(
        self, method: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> Answer[T]:
        """Calls a method of this client, and returns its result with status, headers, request id and quota."""
        last_answer.set(None)
        data = await method(*args, **kwargs)
        return Answer(data, _last())

    def export(
        self,
        *,
        resources: Sequence[types.ExportedResource] | Unset = UNSET,
        cursor: str | Unset = UNSET,
    ) -> AsyncIterator[types.ExportLine]:
        """Yields every resource of the organization, as lines in the order of resource and id.

        The first line is the header with `events_cursor`. Pass it to `events.follow` afterwards: the rows, and then
        every event from there on, result in the current data. An interrupted answer is continued from its last
        checkpoint, and each row comes once. The line `end` has the counts of the last answer. To continue in another
        process, store the `cursor` of a checkpoint and pass it with the same `resources`. Needs the scope
        `exports:read` and an admin-level key of the organization.
        """
        return export_async(self._core, resources, cursor)

    async def aclose(self) -> None:
        """Closes the connections, unless they are those of the caller's HTTP client."""
        await self._core.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
