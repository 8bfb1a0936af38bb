"""Checks deliveries with the example of the page, which stands before this text, and with the package."""

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
