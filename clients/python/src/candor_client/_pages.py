"""Lists: a page at a time, or entry by entry across pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from ._response import ResponseInfo, last_response
from ._request import AsyncCore, Core, Spec

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a list."""

    data: list[T]
    next_cursor: str | None
    """Position after this page: store it, and pass it as `cursor` to continue later."""
    has_more: bool
    response: ResponseInfo | None


def _page(body: Any) -> Page[Any]:
    return Page(body["data"], body["next_cursor"], body["has_more"], last_response.get())


def _behind(spec: Spec, cursor: str | None) -> Spec:
    query = {name: value for name, value in spec.query.items() if name != "since"}
    return replace(spec, query={**query, "cursor": cursor})


class Pages(Generic[T]):
    """A list: iterate over its entries, or over its pages. Each iteration sends the requests again."""

    def __init__(self, core: Core, spec: Spec) -> None:
        self._core = core
        self._spec = spec

    def first(self) -> Page[T]:
        """Returns the first page."""
        return _page(self._core.send(self._spec))

    def pages(self) -> Iterator[Page[T]]:
        """Yields every page."""
        page = self.first()
        yield page
        while page.has_more and page.next_cursor:
            page = _page(self._core.send(_behind(self._spec, page.next_cursor)))
            yield page

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page.data


class AsyncPages(Generic[T]):
    """A list: iterate over its entries, or over its pages. Each iteration sends the requests again."""

    def __init__(self, core: AsyncCore, spec: Spec) -> None:
        self._core = core
        self._spec = spec

    async def first(self) -> Page[T]:
        """Returns the first page."""
        return _page(await self._core.send(self._spec))

    async def pages(self) -> AsyncIterator[Page[T]]:
        """Yields every page."""
        page = await self.first()
        yield page
        while page.has_more and page.next_cursor:
            page = _page(await self._core.send(_behind(self._spec, page.next_cursor)))
            yield page

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for entry in page.data:
                yield entry
