"""The proxy of `tests/faults`, which breaks answers: reset, 503, 429, truncated, slow."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from typing import Any

BINARY = os.environ.get("CANDOR_FAULT_PROXY", "candor-fault-proxy")


class FaultProxy:
    """A proxy in front of `target`, whose plan names the treatment of each request in turn.

    The plan `mixed` is that of the tests with 200 creates.
    """

    def __init__(self, target: str, *plan: str) -> None:
        self.process = subprocess.Popen(
            [BINARY, target.removeprefix("http://"), *plan],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout
        self.url = self.process.stdout.readline().strip()

    @property
    def counts(self) -> dict[str, int]:
        """Number of requests by treatment."""
        counts: dict[str, int] = self._report()["counts"]
        return counts

    @property
    def keys(self) -> list[str]:
        """Idempotency keys of the requests, in order."""
        keys: list[str] = self._report()["keys"]
        return keys

    def _report(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.url}/faults") as answer:
            report: dict[str, Any] = json.load(answer)
            return report

    def __enter__(self) -> FaultProxy:
        return self

    def __exit__(self, *_: object) -> None:
        # The proxy ends with its input.
        self.process.communicate()
