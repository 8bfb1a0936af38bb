"""Checks deliveries with the package and the example of docs/webhooks.md, which check.py prepends to this file."""

import json
import sys

from standardwebhooks import Webhook, WebhookVerificationError
from standardwebhooks.webhooks import EmptyWebhookSecretError


def passes(secret, headers, body):
    try:
        Webhook(secret).verify(body, headers)
    except (WebhookVerificationError, EmptyWebhookSecretError):
        return False
    return True


for secret, headers, text, *now in json.load(sys.stdin.buffer):
    body = text.encode()
    authentic = is_authentic(secret, headers["x-service-signature"], body, *now)
    print(json.dumps([authentic, passes(secret, headers, body)]))
