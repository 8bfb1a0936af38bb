"""Checks deliveries with the example of the page, which stands before this text, and with the package."""

import json
import sys

from standardwebhooks import Webhook, WebhookVerificationError


def passes(secret, headers, body):
    try:
        Webhook(secret).verify(body, headers)
    except WebhookVerificationError:
        return False
    return True


for secret, headers, text in json.load(sys.stdin.buffer):
    body = text.encode()
    print(json.dumps([is_authentic(secret, headers["x-service-signature"], body), passes(secret, headers, body)]))
