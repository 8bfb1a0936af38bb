"""A proxy that spoils answers in turn: reset, 503, 429, truncated, slow."""

from __future__ import annotations

import http.client
import json
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

SKIPPED = {"connection", "transfer-encoding", "date", "server"}


class FaultProxy:
    """A proxy in front of `target`; `fault` names the treatment of each request by its number.

    Treatments that end in `_after` let the service act first.
    """

    def __init__(self, target: str, fault: Callable[[int], str]) -> None:
        self.counts: Counter[str] = Counter()
        self.keys: list[str] = []
        self.stopping = threading.Event()
        numbers = count()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None:
                """Keeps the output of the tests free of requests."""

            def handle_one_request(self) -> None:
                try:
                    super().handle_one_request()
                except ConnectionError:
                    self.close_connection = True

            def reset(self) -> None:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True

            def refuse(self, status: int, code: str, headers: dict[str, str]) -> None:
                error = {"code": code, "message": "spoiled", "request_id": "req_0"}
                self.answer(status, headers, json.dumps({"error": error}).encode())

            def answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
                self.send_response_only(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def pass_on(self) -> None:
                treatment = fault(next(numbers))
                proxy.counts[treatment] += 1
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                if key := self.headers.get("idempotency-key"):
                    proxy.keys.append(key)
                if treatment == "reset":
                    return self.reset()
                if treatment == "unavailable":
                    return self.refuse(503, "unavailable", {})
                if treatment == "limited":
                    return self.refuse(429, "rate_limited", {"retry-after": "1"})
                upstream = http.client.HTTPConnection(target.removeprefix("http://"))
                try:
                    upstream.request(self.command, self.path, body or None, dict(self.headers.items()))
                    reply = upstream.getresponse()
                    content = reply.read()
                finally:
                    upstream.close()
                if treatment == "reset_after":
                    return self.reset()
                if treatment == "slow_after":
                    # A slow answer never comes: the client's timeout ends the attempt.
                    proxy.stopping.wait()
                    return self.reset()
                headers = {
                    name: value
                    for name, value in reply.getheaders()
                    if name.lower() not in SKIPPED | {"content-length"}
                }
                if treatment != "truncated_after":
                    return self.answer(reply.status, headers, content)
                self.send_response_only(reply.status)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: len(content) // 2])
                self.close_connection = True

            do_GET = do_POST = do_PATCH = do_DELETE = pass_on

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self) -> FaultProxy:
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self.server.shutdown()
        self.server.server_close()
