"""Errors: one base class, one subclass for each code of the service, and one for requests without an answer."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from ._answer import AnswerInfo


class CandorError(Exception):
    """Base class of every error that this library raises for a request."""


class ApiConnectionError(CandorError):
    """No attempt of a request got a complete answer: the connection failed or broke, or the timeout ended it."""


class ApiTimeoutError(ApiConnectionError):
    """The answer took longer than the timeout."""


class NotModifiedError(CandorError):
    """The answer 304: the resource still has the version of `if_none_match`."""


class ApiError(CandorError):
    """An error response.

    Each known code has a subclass; codes of later versions of the service have this class.
    """

    code: str
    """Stable code: branch on it, or on the class."""
    details: list[Any]
    """One entry for each problem; empty if the service gives no details."""

    def __init__(self, answer: AnswerInfo, body: Any) -> None:
        error = envelope(body)
        super().__init__(error.get("message") or f"The service answered {answer.status}.")
        self.code = error.get("code") or "unknown"
        self.details = error.get("details") or []
        self.status = answer.status
        self.headers = answer.headers
        self.request_id: str | None = error.get("request_id") or answer.request_id
        self.retry_after = retry_after(answer.headers.get("retry-after"))


def envelope(body: Any) -> dict[str, Any]:
    """Returns the member `error` of a body; empty if the body has another form."""
    error: Any = cast("dict[str, Any]", body).get("error") if isinstance(body, dict) else None
    return cast("dict[str, Any]", error) if isinstance(error, dict) else {}


def retry_after(text: str | None) -> float | None:
    """Returns the seconds of `Retry-After`, which is a number or a date."""
    if not text:
        return None
    if text.isdigit():
        return float(text)
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (at - datetime.now(UTC)).total_seconds())
