"""Client of the Candor performance-feedback API."""

from . import resources, types, webhooks
from ._changes import ChangeBatch, Removal
from ._client import AsyncCandor, Candor
from ._employees import AsyncEmployeeImport, EmployeeImport
from ._errors import ApiConnectionError, ApiError, ApiTimeoutError, CandorError, NotModifiedError
from ._events import AsyncEventFeed, EventFeed
from ._generated.errors import (
    AuthenticationRequiredError,
    BadRequestError,
    ConflictError,
    IdempotencyConflictError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    ServerError,
    ServiceTimeoutError,
    UnavailableError,
    UnprocessableError,
    UpstreamError,
    ValidationError,
)
from ._pages import AsyncPages, Page, Pages
from ._request import UNSET, LogEntry, Unset
from ._response import ApiResponse, RateLimitState, ResponseInfo
from ._version import VERSION
from .webhooks import WebhookVerificationError

__all__ = [
    "UNSET",
    "VERSION",
    "ApiConnectionError",
    "ApiTimeoutError",
    "ApiError",
    "ApiResponse",
    "AsyncCandor",
    "AsyncEmployeeImport",
    "AsyncEventFeed",
    "AsyncPages",
    "AuthenticationRequiredError",
    "BadRequestError",
    "Candor",
    "CandorError",
    "ChangeBatch",
    "ConflictError",
    "EmployeeImport",
    "EventFeed",
    "IdempotencyConflictError",
    "LogEntry",
    "NotFoundError",
    "NotModifiedError",
    "Page",
    "Pages",
    "PermissionDeniedError",
    "RateLimitState",
    "RateLimitedError",
    "Removal",
    "ResponseInfo",
    "ServerError",
    "ServiceTimeoutError",
    "UnavailableError",
    "UnprocessableError",
    "Unset",
    "UpstreamError",
    "ValidationError",
    "WebhookVerificationError",
    "resources",
    "types",
    "webhooks",
]

for _name in __all__:
    # Tracebacks and logs show the name by which a program imports an error.
    if isinstance(globals()[_name], type) and issubclass(globals()[_name], CandorError):
        globals()[_name].__module__ = __name__
