"""The built binary on a SQLite database of its own."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

BINARY = os.environ.get("CANDOR_BIN", "candor")
START_LIMIT = 60.0


def free_port() -> int:
    """A port of this machine that nothing listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class Service:
    """A service for as long as `stop` is not called."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="candor-python-"))
        self.url = f"http://127.0.0.1:{free_port()}"
        own = {name: value for name, value in os.environ.items() if not name.startswith("CANDOR_")}
        self.environment = {
            **own,
            "CANDOR_LISTEN": self.url.removeprefix("http://"),
            "CANDOR_WEBHOOKS_TRUSTED_TARGETS": "127.0.0.0/8",
        }
        with (self.folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [BINARY, "dev"], cwd=self.folder, env=self.environment, stdout=log, stderr=log
            )
        begun = time.monotonic()
        while not self._is_ready():
            if time.monotonic() - begun > START_LIMIT or self.process.poll() is not None:
                raise AssertionError((self.folder / "log").read_text())
            time.sleep(0.02)

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/readyz") as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, ConnectionError):
            return False

    def stop(self) -> None:
        """Ends the service and removes its data."""
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder)

    def key(self) -> str:
        """An admin key of a new organization."""
        organization = self._ask("org", "create", "--name", "Tests")["organization_id"]
        create = ["key", "create", "--org", organization, "--name", "tests", "--scopes", "*", "--admin"]
        limits = ["--reads-per-minute", "1000000", "--writes-per-minute", "1000000"]
        key: str = self._ask(*create, *limits)["key"]
        return key

    def _ask(self, *command: str) -> Any:
        arguments = [BINARY, *command, "--json"]
        done = subprocess.run(arguments, cwd=self.folder, env=self.environment, check=True, capture_output=True)
        return json.loads(done.stdout)
