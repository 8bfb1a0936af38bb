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
    """A request that got no complete answer, after its retries: no connection, a broken one, or a timeout."""


class ApiTimeoutError(ApiConnectionError):
    """A request whose answer took longer than the timeout."""


class NotModifiedError(CandorError):
    """The answer 304: the resource still has the version of `if_none_match`."""


class ApiError(CandorError):
    """An answer that is not a success.

    Subclasses stand for known codes; a code of a later version of the service is this class.
    """

    code: str
    """Stable code: branch on it, or on the class."""
    details: list[Any]
    """One entry for each issue; empty where the service has nothing to add."""

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
    """The error of an answer's body; empty where the body has another form."""
    error: Any = cast("dict[str, Any]", body).get("error") if isinstance(body, dict) else None
    return cast("dict[str, Any]", error) if isinstance(error, dict) else {}


def retry_after(text: str | None) -> float | None:
    """Seconds of `Retry-After`, in either of its forms."""
    if not text:
        return None
    if text.isdigit():
        return float(text)
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (at - datetime.now(UTC)).total_seconds())
