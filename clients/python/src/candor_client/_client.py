"""The clients."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, ParamSpec, Self, TypeVar, overload

import httpx2

from . import types
from ._employees import AsyncEmployeeImport, EmployeeImport
from ._errors import CandorError
from ._events import AsyncEventFeed, EventFeed
from ._export import export, export_async
from ._request import MAX_RETRIES, TIMEOUT, UNSET, AsyncCore, Core, LogEntry, Settings, Unset, is_dry_run, requested
from ._response import ApiResponse, ResponseInfo, last_response
from .resources import AsyncResources, Resources

P = ParamSpec("P")
T = TypeVar("T")


def _last() -> ResponseInfo:
    info = last_response.get()
    if info is None:
        raise CandorError("The method made no request: pass one that does, for instance `employees.get`.")
    return info


class Candor(Resources):
    """A client of one Candor service with one API key.

    `api_key` and `base_url` default to CANDOR_API_KEY and CANDOR_URL; the URL may end in `/v1`. With `environment`
    a key of the other environment is refused. `max_wait` is the longest time in seconds from the first attempt of a
    call to its last; by default 30, and for a used-up quota its window. `headers` are sent with each request. `http`
    replaces the HTTP client, for proxies and certificates.
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
        max_wait: float | None = None,
        headers: Mapping[str, str] | None = None,
        http: httpx2.Client | None = None,
    ) -> None:
        settings = Settings.resolve(
            api_key, base_url, environment, timeout, max_retries, user_agent, log, max_wait, headers
        )
        core = Core(settings, http)
        super().__init__(core)
        self.employees: EmployeeImport = EmployeeImport(core)
        self.events: EventFeed = EventFeed(core)

    def with_response(self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> ApiResponse[T]:
        """Calls a method of this client, and returns its result with status, headers, request id and quota."""
        last_response.set(None)
        data = method(*args, **kwargs)
        return ApiResponse(data, _last())

    @overload
    def dry_run(  # type: ignore[overload-overlap]
        self, method: Callable[P, types.CsvReport], *args: P.args, **kwargs: P.kwargs
    ) -> types.CsvReport: ...

    @overload
    def dry_run(
        self, method: Callable[P, object], *args: P.args, **kwargs: P.kwargs
    ) -> types.DryRun: ...

    def dry_run(self, method: Callable[P, Any], *args: P.args, **kwargs: P.kwargs) -> Any:
        """Returns the effects of a call of a method of this client, without any change.

        For instance `dry_run(client.employees.update, id, job_title="Engineer")`. `data` is the body that the call would
        return; ids and secrets that it would create are None. A CSV file has its own form, `types.CsvReport`.
        """
        last_response.set(None)
        token = is_dry_run.set(True)
        try:
            effects = method(*args, **kwargs)
        finally:
            is_dry_run.reset(token)
        _last()
        return effects

    def request(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        extra_headers: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        max_wait: float | None = None,
    ) -> Any:
        """Sends a request by method and path, for instance `request("GET", "/employees")`.

        `path` is that of the API document, without `/v1`. It is retried and answered as the other methods are.
        """
        return self._core.send(
            requested(
                method,
                path,
                body=body,
                query=query,
                headers=extra_headers,
                idempotency_key=idempotency_key,
                if_match=if_match,
                timeout=timeout,
                max_retries=max_retries,
                max_wait=max_wait,
            )
        )

    def export(
        self,
        *,
        resources: Sequence[types.ExportedResource] | Unset = UNSET,
        cursor: str | Unset = UNSET,
    ) -> Iterator[types.ExportLine]:
        """Yields every resource of the organization, as lines in the order of resource and id.

        The first line is the header with `events_cursor`. Pass it to `events.changes` afterwards: the rows, and then
        every batch from there on, result in the current data. An interrupted answer is continued from its last
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
    a key of the other environment is refused. `max_wait` is the longest time in seconds from the first attempt of a
    call to its last; by default 30, and for a used-up quota its window. `headers` are sent with each request. `http`
    replaces the HTTP client, for proxies and certificates.
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
        max_wait: float | None = None,
        headers: Mapping[str, str] | None = None,
        http: httpx2.AsyncClient | None = None,
    ) -> None:
        settings = Settings.resolve(
            api_key, base_url, environment, timeout, max_retries, user_agent, log, max_wait, headers
        )
        core = AsyncCore(settings, http)
        super().__init__(core)
        self.employees: AsyncEmployeeImport = AsyncEmployeeImport(core)
        self.events: AsyncEventFeed = AsyncEventFeed(core)

    async def with_response(
        self, method: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> ApiResponse[T]:
        """Calls a method of this client, and returns its result with status, headers, request id and quota."""
        last_response.set(None)
        data = await method(*args, **kwargs)
        return ApiResponse(data, _last())

    @overload
    async def dry_run(  # type: ignore[overload-overlap]
        self, method: Callable[P, Awaitable[types.CsvReport]], *args: P.args, **kwargs: P.kwargs
    ) -> types.CsvReport: ...

    @overload
    async def dry_run(
        self, method: Callable[P, Awaitable[object]], *args: P.args, **kwargs: P.kwargs
    ) -> types.DryRun: ...

    async def dry_run(self, method: Callable[P, Any], *args: P.args, **kwargs: P.kwargs) -> Any:
        """Returns the effects of a call of a method of this client, without any change.

        For instance `dry_run(client.employees.update, id, job_title="Engineer")`. `data` is the body that the call would
        return; ids and secrets that it would create are None. A CSV file has its own form, `types.CsvReport`.
        """
        last_response.set(None)
        token = is_dry_run.set(True)
        try:
            effects = await method(*args, **kwargs)
        finally:
            is_dry_run.reset(token)
        _last()
        return effects

    async def request(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        extra_headers: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        max_wait: float | None = None,
    ) -> Any:
        """Sends a request by method and path, for instance `request("GET", "/employees")`.

        `path` is that of the API document, without `/v1`. It is retried and answered as the other methods are.
        """
        return await self._core.send(
            requested(
                method,
                path,
                body=body,
                query=query,
                headers=extra_headers,
                idempotency_key=idempotency_key,
                if_match=if_match,
                timeout=timeout,
                max_retries=max_retries,
                max_wait=max_wait,
            )
        )

    def export(
        self,
        *,
        resources: Sequence[types.ExportedResource] | Unset = UNSET,
        cursor: str | Unset = UNSET,
    ) -> AsyncIterator[types.ExportLine]:
        """Yields every resource of the organization, as lines in the order of resource and id.

        The first line is the header with `events_cursor`. Pass it to `events.changes` afterwards: the rows, and then
        every batch from there on, result in the current data. An interrupted answer is continued from its last
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
