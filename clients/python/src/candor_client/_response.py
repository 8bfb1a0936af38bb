"""Responses: status, headers, request id and quota beside the typed body."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RateLimitState:
    """State of the quota that a request counted against."""

    limit: int
    remaining: int
    reset: datetime
    """Time at which the window is empty again."""


class ResponseInfo:
    """A response without its body."""

    def __init__(self, status: int, headers: Mapping[str, str], retries: int) -> None:
        self.status = status
        self.headers = headers
        self.retries = retries
        """Number of earlier attempts of this call."""

    @property
    def request_id(self) -> str | None:
        """Id of the request, for questions to the operator."""
        return self.headers.get("x-request-id")

    @property
    def etag(self) -> str | None:
        """Version of the resource, for `if_match` and `if_none_match`."""
        return self.headers.get("etag")

    @property
    def replayed(self) -> bool:
        """True if this is a replay: the response to an earlier request with the same idempotency key."""
        return self.headers.get("idempotent-replayed") == "true"

    @property
    def rate_limit(self) -> RateLimitState | None:
        """State of the quota that the request counted against."""
        limit = self.headers.get("x-ratelimit-limit")
        if limit is None:
            return None
        reset = datetime.fromtimestamp(int(self.headers["x-ratelimit-reset"]), UTC)
        return RateLimitState(int(limit), int(self.headers["x-ratelimit-remaining"]), reset)


class ApiResponse(ResponseInfo, Generic[T]):
    """A response with its body."""

    def __init__(self, data: T, info: ResponseInfo) -> None:
        super().__init__(info.status, info.headers, info.retries)
        self.data = data


last_response: ContextVar[ResponseInfo | None] = ContextVar("candor_last_response", default=None)
"""The last response that this thread or task received."""
