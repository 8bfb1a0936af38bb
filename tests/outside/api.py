"""Requests to the service under test, for the checks in Python."""

import json
import os
import urllib.request

URL, KEY = os.environ["CANDOR_URL"], os.environ["CANDOR_API_KEY"]


def send(method, path, body):
    """Sends a JSON object and returns the JSON object of the answer. Any status but 2xx raises an exception."""
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    data = json.dumps(body).encode()
    request = urllib.request.Request(f"{URL}/v1/{path}", data, headers, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())
