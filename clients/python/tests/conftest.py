from __future__ import annotations

from collections.abc import Iterator

import pytest
from candor_client import Candor
from service import Service


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    """The built binary, for all tests."""
    started = Service()
    yield started
    started.stop()


@pytest.fixture
def client(service: Service) -> Iterator[Candor]:
    """A client of a new organization."""
    with Candor(api_key=service.key(), base_url=service.url) as client:
        yield client
