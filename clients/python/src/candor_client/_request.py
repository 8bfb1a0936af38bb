"""Requests and retries: one call is sent up to four times within 30 seconds, a POST always with one key.

A used-up quota is waited for: its window is longer than that.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import time
import uuid
import weakref
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import Enum
from typing import IO, Any, Final, Literal, TypeAlias, cast
from urllib.parse import quote

import httpx2

from ._response import ResponseInfo, last_response
from ._errors import ApiConnectionError, ApiError, ApiTimeoutError, CandorError, NotModifiedError, envelope
from ._generated.errors import ERROR_CLASSES
from ._generated.tables import KEYED_FILTERS
from ._version import VERSION

RETRIED_STATUSES: Final = frozenset({408, 429, 502, 503, 504})
TIMEOUT: Final = 30.0
MAX_RETRIES: Final = 3
MAX_WAIT: Final = 30.0
"""Longest time in seconds from the first attempt to the start of the last one, but for a used-up quota."""
MAX_QUOTA_WAIT: Final = 65.0
"""Longest such time for a used-up quota, whose window the error names."""
QUOTA_WINDOW: Final = 60.0
"""Window of a quota if the error names none."""
FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 8.0


class _Unset(Enum):
    UNSET = "UNSET"

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> Literal[False]:
        return False


UNSET: Final = _Unset.UNSET
"""Default of parameters that the caller omits. They are not sent, while None is sent as null."""
Unset: TypeAlias = Literal[_Unset.UNSET]


def given(**members: Any) -> dict[str, Any]:
    """Returns the members that the caller gave."""
    return {name: value for name, value in members.items() if value is not UNSET}


def plain(value: Any) -> Any:
    """Converts a date, a time, a sequence or a mapping to what JSON can encode."""
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise CandorError("A datetime needs a time zone: pass one with `tzinfo`, such as `datetime.UTC`.")
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    return list(cast("Iterable[Any]", value))


def segment(text: str) -> str:
    """Encodes a text as a segment of a path."""
    return quote(text, safe="")


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One attempt of a call. It contains neither keys, bodies nor queries."""

    method: str
    path: str
    attempt: int
    seconds: float
    status: int | None
    request_id: str | None
    error: str | None


@dataclass(slots=True)
class Spec:
    """A request as generated methods describe it."""

    method: str
    path: str
    body: dict[str, Any] | None = None
    body_required: bool = False
    csv: str | bytes | IO[Any] | None = None
    query: dict[str, Any] = field(default_factory=dict[str, Any])
    joined: tuple[str, ...] = ()
    idempotency_key: str | None = None
    if_match: str | None = None
    if_none_match: str | None = None
    timeout: float | None = None
    max_retries: int | None = None
    max_wait: float | None = None
    headers: Mapping[str, str] | None = None
    has_dry_run: bool = False


is_dry_run: ContextVar[bool] = ContextVar("candor_dry_run", default=False)
"""True while a method is called for the effects of its operation only."""
logger = logging.getLogger("candor")
"""Has one line for each attempt, at the level DEBUG."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a client."""

    api_key: str
    base_url: str
    timeout: float
    max_retries: int
    user_agent: str
    log: Callable[[LogEntry], None] | None
    max_wait: float | None
    headers: Mapping[str, str]

    @classmethod
    def resolve(
        cls,
        api_key: str | None,
        base_url: str | None,
        environment: Literal["live", "test"] | None,
        timeout: float,
        max_retries: int,
        user_agent: str | None,
        log: Callable[[LogEntry], None] | None,
        max_wait: float | None,
        headers: Mapping[str, str] | None,
    ) -> Settings:
        """Adds values from the environment. Raises an error if a value is missing or malformed."""
        key = api_key or os.environ.get("CANDOR_API_KEY")
        url = base_url or os.environ.get("CANDOR_URL")
        if not key:
            raise CandorError("No API key: pass `api_key`, or set CANDOR_API_KEY.")
        if not url:
            raise CandorError("No URL of the service: pass `base_url`, or set CANDOR_URL.")
        if environment and not key.startswith(f"cdr_{environment}_"):
            raise CandorError(f"The API key is not a {environment} key: pass one, or change `environment`.")
        if not url.startswith(("http://", "https://")) or not _host(url):
            raise CandorError(f"{url!r} is no URL of a service: it needs http:// or https:// and a host.")
        if httpx2.URL(url).userinfo:
            # The URL is not shown: a password may be in it.
            raise CandorError(
                "The URL of the service has a user or a password: leave them out, the API key is enough."
            )
        base = url.rstrip("/").removesuffix("/v1") + "/v1"
        agent = f"candor-python/{VERSION}"
        agent = f"{user_agent} {agent}" if user_agent else agent
        own = {name.lower(): value for name, value in (headers or {}).items()}
        return cls(key, base, timeout, max_retries, agent, log, max_wait, own)


def _host(url: str) -> str:
    """Returns the host of a URL, or an empty text if the URL is not valid."""
    try:
        return "" if any(letter.isspace() for letter in url) else httpx2.URL(url).host
    except httpx2.InvalidURL:
        return ""


def requested(
    method: str, path: str, *, body: Mapping[str, Any] | None, query: Mapping[str, Any] | None, **options: Any
) -> Spec:
    """Returns the request of a caller by method and path."""
    if not path.startswith("/"):
        raise CandorError(f"{path!r} is no path: it begins with a slash, such as /employees.")
    return Spec(
        method.upper(),
        path.removeprefix("/v1"),
        body=None if body is None else dict(body),
        body_required=body is not None,
        query=dict(query or {}),
        **options,
    )


class _Call:
    """State of one call over its attempts, for synchronous and asynchronous clients."""

    def __init__(self, settings: Settings, spec: Spec) -> None:
        self._settings = settings
        self._spec = spec
        self._begun = time.monotonic()
        self._attempt_begun = self._begun
        self.attempt = 0
        self.retries = settings.max_retries if spec.max_retries is None else spec.max_retries
        self.max_wait = settings.max_wait if spec.max_wait is None else spec.max_wait
        headers = {
            **settings.headers,
            **{name.lower(): value for name, value in (spec.headers or {}).items()},
            "authorization": f"Bearer {settings.api_key}",
            "accept": "application/json",
            "user-agent": settings.user_agent,
        }
        if is_dry_run.get() and not spec.has_dry_run:
            raise CandorError("The operation has no dry run, so nothing was sent.")
        content: bytes | None = None
        if spec.method == "POST":
            headers["idempotency-key"] = spec.idempotency_key or str(uuid.uuid4())
        if spec.if_match is not None:
            headers["if-match"] = spec.if_match
        if spec.if_none_match is not None:
            headers["if-none-match"] = spec.if_none_match
        if spec.csv is not None:
            headers["content-type"] = "text/csv"
            text: str | bytes = spec.csv if isinstance(spec.csv, str | bytes) else spec.csv.read()
            content = text.encode() if isinstance(text, str) else text
        elif spec.body is not None and (spec.body or spec.body_required):
            headers["content-type"] = "application/json"
            content = json.dumps(spec.body, ensure_ascii=False, separators=(",", ":"), default=plain).encode()
        self.request: dict[str, Any] = {
            "method": spec.method,
            "url": settings.base_url + spec.path,
            "params": query(spec) + ([("dry_run", "true")] if is_dry_run.get() else []) or None,
            "headers": headers,
            "content": content,
            "timeout": settings.timeout if spec.timeout is None else spec.timeout,
        }

    def begin(self) -> None:
        """Begins an attempt."""
        self._attempt_begun = time.monotonic()

    def read(self, response: httpx2.Response) -> Any:
        """Returns the body of a successful response; raises an error for other responses."""
        info = ResponseInfo(response.status_code, response.headers, self.attempt)
        last_response.set(info)
        if response.status_code == 304:
            self._log(info, "NotModifiedError")
            raise NotModifiedError("The resource has the version of `if_none_match`.")
        body: Any = None
        if response.content:
            try:
                body = response.json()
            except ValueError as cause:
                if response.is_success:
                    self._log(info, "ApiConnectionError")
                    raise ApiConnectionError("The answer is not complete.") from cause
        if response.is_success:
            self._log(info, None)
            return body
        failure = ERROR_CLASSES.get(str(envelope(body).get("code")), ApiError)(info, body)
        self._log(info, type(failure).__name__)
        raise failure

    def opened(self, response: httpx2.Response) -> None:
        """Notes the head of an answer whose body is still to come."""
        info = ResponseInfo(response.status_code, response.headers, self.attempt)
        last_response.set(info)
        self._log(info, None)

    def failed(self, cause: httpx2.TransportError) -> ApiConnectionError:
        """Returns the error for an attempt without an answer."""
        if isinstance(cause, httpx2.TimeoutException):
            error: ApiConnectionError = ApiTimeoutError(f"No answer within {self.request['timeout']} s.")
        else:
            error = ApiConnectionError(f"The connection failed: {cause or type(cause).__name__}.")
        error.__cause__ = cause
        self._log(None, type(error).__name__)
        return error

    def pause(self, error: CandorError) -> float:
        """Returns the seconds to wait before the next attempt; raises the error if no attempt follows."""
        self.attempt += 1
        if self.attempt > self.retries or not is_transient(error):
            raise error
        pause: float = random.random() * min(FIRST_PAUSE * 2 ** (self.attempt - 1), LONGEST_PAUSE)
        pause += (error.retry_after or 0.0) if isinstance(error, ApiError) else 0.0
        if time.monotonic() - self._begun + pause > self._longest(error):
            raise error
        return pause

    def _longest(self, error: CandorError) -> float:
        """Returns the longest time from the first attempt to the start of the last one."""
        if self.max_wait is not None:
            return self.max_wait
        if isinstance(error, ApiError) and error.status == 429:
            return min((error.window or QUOTA_WINDOW) + 5.0, MAX_QUOTA_WAIT)
        return MAX_WAIT

    def _log(self, info: ResponseInfo | None, error: str | None) -> None:
        seconds = time.monotonic() - self._attempt_begun
        status, request_id = (info.status, info.request_id) if info else (None, None)
        entry = LogEntry(self._spec.method, self._spec.path, self.attempt, seconds, status, request_id, error)
        logger.debug(
            "%s %s: %s in %.3f s (attempt %d, request %s)",
            *(entry.method, entry.path, error or status, seconds, self.attempt + 1, request_id),
        )
        if self._settings.log is not None:
            self._settings.log(entry)


def is_transient(error: CandorError) -> bool:
    """Returns True if the failure is temporary, so that a retry may succeed."""
    if not isinstance(error, ApiError):
        return isinstance(error, ApiConnectionError)
    advice = error.headers.get("candor-should-retry")
    return advice == "true" or (advice != "false" and error.status in RETRIED_STATUSES)


def query(spec: Spec) -> list[tuple[str, str]]:
    """Returns the query: `filter[name]` for each member of `filter`, a repeated name for several values."""
    pairs: list[tuple[str, str]] = []

    def add(name: str, value: Any) -> None:
        if isinstance(value, list | tuple | set | frozenset):
            for entry in cast("Iterable[Any]", value):
                add(name, entry)
        elif value is not None:
            pairs.append((name, str(value).lower() if isinstance(value, bool) else str(value)))

    for name, value in spec.query.items():
        if name in spec.joined and not isinstance(value, str):
            add(name, ",".join(value))
        elif name != "filter" or not isinstance(value, Mapping):
            add(name, value)
        else:
            conditions = cast("Mapping[str, Any]", value)
            for member, condition in conditions.items():
                if not isinstance(condition, Mapping):
                    add(f"filter[{member}]", condition)
                    continue
                parts = cast("Mapping[str, Any]", condition)
                for key, part in parts.items():
                    is_keyed = member in KEYED_FILTERS
                    add(f"filter[{member}.{key}]" if is_keyed else f"filter[{member}][{key}]", part)
    return pairs


class Core:
    """The part of a client that sends requests."""

    def __init__(self, settings: Settings, http: httpx2.Client | None) -> None:
        self._settings = settings
        self._http = http or httpx2.Client()
        # Closes the connection of a client that is dropped without a call of `close`.
        self._finalizer = None if http else weakref.finalize(self, self._http.close)

    def send(self, spec: Spec) -> Any:
        """Sends a request until it has an answer that a retry would not change."""
        call = _Call(self._settings, spec)
        while True:
            call.begin()
            try:
                try:
                    response = self._http.request(**call.request)
                except httpx2.TransportError as cause:
                    raise call.failed(cause) from cause
                return call.read(response)
            except CandorError as error:
                time.sleep(call.pause(error))

    def lines(self, spec: Spec) -> Iterator[dict[str, Any]]:
        """Yields the lines of one answer as they arrive. Sends the request once."""
        call = _Call(self._settings, spec)
        call.begin()
        try:
            with self._http.stream(**call.request) as response:
                if not response.is_success:
                    response.read()
                    call.read(response)
                call.opened(response)
                rest = ""
                for text in response.iter_text():
                    # Only at line feeds: `iter_lines` would also divide texts that contain a separator of Unicode.
                    *lines, rest = (rest + text).split("\n")
                    for line in lines:
                        yield cast("dict[str, Any]", json.loads(line))
        except httpx2.TransportError as cause:
            raise call.failed(cause) from cause

    def close(self) -> None:
        """Closes the connections, unless they are those of the caller's HTTP client."""
        if self._finalizer:
            self._finalizer()


class AsyncCore:
    """The part of an asynchronous client that sends requests."""

    def __init__(self, settings: Settings, http: httpx2.AsyncClient | None) -> None:
        self._settings = settings
        self._http = http or httpx2.AsyncClient()
        self._is_own = http is None

    async def send(self, spec: Spec) -> Any:
        """Sends a request until it has an answer that a retry would not change."""
        call = _Call(self._settings, spec)
        while True:
            call.begin()
            try:
                try:
                    response = await self._http.request(**call.request)
                except httpx2.TransportError as cause:
                    raise call.failed(cause) from cause
                return call.read(response)
            except CandorError as error:
                await asyncio.sleep(call.pause(error))

    async def lines(self, spec: Spec) -> AsyncIterator[dict[str, Any]]:
        """Yields the lines of one answer as they arrive. Sends the request once."""
        call = _Call(self._settings, spec)
        call.begin()
        try:
            async with self._http.stream(**call.request) as response:
                if not response.is_success:
                    await response.aread()
                    call.read(response)
                call.opened(response)
                rest = ""
                async for text in response.aiter_text():
                    *lines, rest = (rest + text).split("\n")
                    for line in lines:
                        yield cast("dict[str, Any]", json.loads(line))
        except httpx2.TransportError as cause:
            raise call.failed(cause) from cause

    async def aclose(self) -> None:
        """Closes the connections, unless they are those of the caller's HTTP client."""
        if self._is_own:
            await self._http.aclose()
