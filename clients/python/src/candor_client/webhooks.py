"""Webhooks: verifies a delivery by the signature of Standard Webhooks, and reads its event."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from . import types
from ._errors import CandorError, digits

if TYPE_CHECKING:
    # Part of type checkers, which need it for Python before 3.13. It is not imported at run time.
    from typing_extensions import TypeIs

TOLERANCE = 300.0
"""Largest difference in seconds between the time of a signature and this clock."""


Delivered: TypeAlias = types.FeedEvent | types.ThinEvent
"""An event in the payload form of its subscription: with the resource, or only its id, type and URL.

An event whose data was erased before it was sent again is an `ErasedEvent`.
"""


class WebhookVerificationError(CandorError):
    """A request without a valid signature of the service, or with one that is too old. Answer it with 400."""


def unwrap(
    raw_body: bytes | str,
    headers: Mapping[str, str],
    secrets: str | Iterable[str],
    *,
    tolerance: float = TOLERANCE,
) -> Delivered:
    """Verifies a delivery and returns its event.

    `raw_body` is the body as it was received, before it is parsed. `secrets` is the secret of the subscription, or
    the old and the new one during a rotation.
    """
    body = raw_body.encode() if isinstance(raw_body, str) else raw_body
    lower = {name.lower(): value for name, value in headers.items()}
    delivery, at, signatures = (
        _header(lower, name) for name in ("webhook-id", "webhook-timestamp", "webhook-signature")
    )
    seconds = digits(at)
    if seconds is None or abs(time.time() - seconds) > tolerance:
        raise WebhookVerificationError(
            "The header webhook-timestamp is malformed, or too far from this machine's clock: check the clock."
        )
    signed = f"{delivery}.{at}.".encode() + body
    given = [entry[3:].encode() for entry in signatures.split(" ") if entry.startswith("v1,")]
    # Each secret is checked, so that a missing one is not noticed only after the rotation.
    for key in [_key(secret) for secret in ([secrets] if isinstance(secrets, str) else secrets)]:
        digest = hmac.new(key, signed, hashlib.sha256).digest()
        expected = base64.b64encode(digest)
        if any(hmac.compare_digest(expected, signature) for signature in given):
            event: Delivered = json.loads(body)
            return event
    raise WebhookVerificationError("No signature of the delivery was made with one of the secrets.")


def is_thin(event: Delivered) -> TypeIs[types.ThinEvent]:
    """Returns True if an event has only id, type and URL of its resource. A test event is never thin."""
    return event.get("payload") == "thin"


def is_full(event: Delivered) -> TypeIs[types.Event]:
    """Returns True if an event has the whole resource, or is a test event."""
    return not is_thin(event) and not types.is_erased_event(event)


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if not value:
        raise WebhookVerificationError(f"The request has no header {name}.")
    return value


def _key(secret: str) -> bytes:
    message = "A webhook secret is not valid: pass it as the service showed it, `whsec_…`."
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error as cause:
        raise CandorError(message) from cause
    # Every sender can sign with an empty key.
    if not key:
        raise CandorError(message)
    return key
