"""Errors: one base class, one subclass for each code of the service, and one for requests without an answer."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._response import ResponseInfo


class CandorError(Exception):
    """Base class of every error that this library raises for a request."""


class ApiConnectionError(CandorError):
    """No attempt of a request got a complete answer: the connection failed or broke, or the timeout ended it."""


class ApiTimeoutError(ApiConnectionError):
    """The answer took longer than the timeout."""


class NotModifiedError(CandorError):
    """The answer 304: the resource still has the version of `if_none_match`."""


class ApiError(CandorError):
    """An error response. Its text has the message, each problem, the status, the code and the request id.

    Each known code has a subclass; codes of later versions of the service have this class.
    """

    code: str
    """Stable code: branch on it, or on the class."""
    message: str
    """Explanation for people, without the details."""
    details: list[Any]
    """One entry for each problem; empty if the service gives no details."""

    def __init__(self, response: ResponseInfo, body: Any) -> None:
        error = envelope(body)
        self.code = str(error.get("code") or "unknown")
        self.message = str(error.get("message") or f"The service answered {response.status}.")
        details = error.get("details")
        self.details = details if isinstance(details, list) else []
        self.status = response.status
        self.headers = response.headers
        self.request_id: str | None = error.get("request_id") or response.request_id
        self.retry_after = retry_after(response.headers.get("retry-after"))
        super().__init__(self._sentence())
        self._source = (response, body)

    def __reduce__(self) -> tuple[Any, ...]:
        response, body = self._source
        return (_restored, (type(self), response.status, dict(response.headers), response.retries, body))

    @property
    def window(self) -> float | None:
        """Seconds of the window of the quota that a 429 names."""
        for detail in self.details:
            seconds = cast("dict[str, Any]", detail).get("window_seconds") if isinstance(detail, dict) else None
            if isinstance(seconds, int | float):
                return float(seconds)
        return None

    def _sentence(self) -> str:
        parts = [self.message.removesuffix(" See `details`.").rstrip(".")]
        for detail in self.details:
            problem = cast("dict[str, Any]", detail) if isinstance(detail, dict) else {}
            if "field" in problem and "message" in problem:
                parts.append(f"{problem['field']} {str(problem['message']).rstrip('.')}")
        if self.status == 429 and self.retry_after is not None:
            parts.append(f"send it again after {self.retry_after:.0f} s")
        request = f", request {self.request_id}" if self.request_id else ""
        return f"{'; '.join(parts)} ({self.status} {self.code}{request})"


def _restored(
    kind: type[ApiError], status: int, headers: Mapping[str, str], retries: int, body: Any
) -> ApiError:
    """Creates an error again that another process has pickled."""
    from ._response import ResponseInfo

    return kind(ResponseInfo(status, headers, retries), body)


def envelope(body: Any) -> dict[str, Any]:
    """Returns the member `error` of a body; empty if the body has another form."""
    error: Any = cast("dict[str, Any]", body).get("error") if isinstance(body, dict) else None
    return cast("dict[str, Any]", error) if isinstance(error, dict) else {}


def retry_after(text: str | None) -> float | None:
    """Returns the seconds of `Retry-After`, which is a number or a date."""
    if not text:
        return None
    seconds = digits(text)
    if seconds is not None:
        return float(seconds)
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    in_utc = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (in_utc - datetime.now(UTC)).total_seconds())


def digits(text: str) -> int | None:
    """Returns the number of a text of at most 15 ASCII digits, and None for every other text."""
    return int(text) if re.fullmatch("[0-9]{1,15}", text) else None
