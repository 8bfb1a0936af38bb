from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import Queue
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import django
import httpx2
import pytest
import uvicorn
from candor_client import (
    AsyncCandor,
    AuthenticationRequiredError,
    Candor,
    CandorError,
    WebhookVerificationError,
    webhooks,
)
from candor_client.types import (
    Employee,
    Event,
    ListEventsFilter,
    is_employee_event,
    is_erased_event,
    is_test_event,
)
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from proxy import FaultProxy
from service import Service, free_port
from standardwebhooks.webhooks import Webhook as StandardWebhook

PACKAGE = Path(__file__).parents[1]
sys.path.insert(0, str(PACKAGE / "examples"))

import django_receiver  # noqa: E402
import fastapi_receiver  # noqa: E402
from replica import replicate  # noqa: E402

ARRIVES_WITHIN = 20.0
SECRETS: list[str] = []
"""The secrets of the receiver under test; Django's settings are those of the process."""


def delivered(event: webhooks.Delivered) -> str:
    """What a delivery is about, or the URL of its resource."""
    if webhooks.is_thin(event):
        return event["data"]["url"]
    if is_erased_event(event):
        return event["data"]["id"]
    return described(event)


def described(event: Event) -> str:
    """What an event is about."""
    if is_employee_event(event):
        return event["data"]["email"]
    if is_test_event(event):
        return event["data"]["message"]
    return event["event"]


def hire(client: Candor, number: int) -> str:
    created = client.employees.create(email=f"p{number}@example.com", first_name="P", last_name=str(number))
    return created["email"]


def test_follow_yields_every_event_once_in_order(service: Service) -> None:
    key = service.key()
    expected: list[str] = []
    cursors: list[tuple[int, str]] = []
    with (
        FaultProxy(service.url, "none", "reset_after", "none") as proxy,
        Candor(api_key=key, base_url=proxy.url) as follower,
        Candor(api_key=key, base_url=service.url) as writer,
    ):
        writing = threading.Thread(target=lambda: expected.extend(hire(writer, n) for n in range(130)))
        writing.start()
        seen: list[str] = []

        def store(cursor: str) -> None:
            cursors.append((len(seen), cursor))

        for event in follower.events.follow(filter={"event": "employee.created"}, on_cursor=store):
            seen.append(described(event))
            if len(seen) == 130:
                break
        writing.join()
        assert seen == expected and proxy.counts["reset_after"] > 0
        count, cursor = next(position for position in cursors if position[0] > 0)
        rest: list[str] = []
        for event in writer.events.follow(filter={"event": ["employee.created"]}, cursor=cursor):
            rest.append(described(event))
            if rest[-1] == expected[-1]:
                break
        assert rest == expected[count:], "it goes on behind the stored cursor"


@pytest.mark.parametrize("method", ["follow", "changes"])
def test_iteration_ends_when_another_thread_stops_it(service: Service, method: str) -> None:
    stop, is_waiting = threading.Event(), threading.Event()
    with Candor(api_key=service.key(), base_url=service.url) as client:
        hire(client, 1)

        def consume() -> None:
            for _ in getattr(client.events, method)(stop=stop):
                is_waiting.set()

        consuming = threading.Thread(target=consume, daemon=True)
        consuming.start()
        assert is_waiting.wait(ARRIVES_WITHIN)
        stop.set()
        consuming.join(ARRIVES_WITHIN)
        assert not consuming.is_alive()


def test_stopped_iteration_leaves_the_rest_of_its_batch(service: Service) -> None:
    stop, cursors = threading.Event(), list[str]()
    with Candor(api_key=service.key(), base_url=service.url) as client:
        expected = [hire(client, number) for number in range(3)]
        filter: ListEventsFilter = {"event": "employee.created"}
        seen: list[str] = []
        for event in client.events.follow(filter=filter, stop=stop, on_cursor=cursors.append):
            seen.append(described(event))
            stop.set()
        assert (seen, cursors) == (expected[:1], [])
        assert list(client.events.follow(stop=stop)) == []


def test_follow_ends_with_errors_that_do_not_go_away(service: Service) -> None:
    with (
        Candor(api_key="cdr_live_unknown", base_url=service.url) as client,
        pytest.raises(AuthenticationRequiredError),
    ):
        next(iter(client.events.follow()))


def test_replica_of_the_readme_has_every_change(service: Service) -> None:
    async def run() -> None:
        async with AsyncCandor(api_key=service.key(), base_url=service.url) as client:

            async def hired(number: int) -> Employee:
                email = f"p{number}@example.com"
                return await client.employees.create(email=email, first_name="P", last_name="Q")

            people: dict[str, Employee] = {}

            async def until(condition: Callable[[], bool]) -> None:
                async with asyncio.timeout(ARRIVES_WITHIN):
                    while not condition():
                        await asyncio.sleep(0.01)

            first = await hired(1)
            running = asyncio.create_task(replicate(client, people))
            await until(lambda: len(people) == 1)
            await hired(2)
            await client.employees.update(first["id"], job_title="Engineer")
            await until(lambda: len(people) == 2 and people[first["id"]]["job_title"] == "Engineer")
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running

    asyncio.run(run())


class QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Keeps the output of the tests free of requests."""


class ThreadingServer(ThreadingMixIn, WSGIServer):
    daemon_threads = True


EVENTS: Queue[webhooks.Delivered] = Queue()


@contextmanager
def served_by_django() -> Iterator[str]:
    if not settings.configured:
        settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], SECRET_KEY="tests")
        django.setup()
    application = get_wsgi_application()
    with make_server("127.0.0.1", 0, application, ThreadingServer, QuietHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/hooks/candor"
        server.shutdown()


urlpatterns = [django_receiver.receiver(SECRETS, EVENTS.put)]


@contextmanager
def served_by_fastapi() -> Iterator[str]:
    app = fastapi_receiver.receiver(SECRETS, EVENTS.put)
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + ARRIVES_WITHIN
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{port}/hooks/candor"
    server.should_exit = True
    thread.join()


@pytest.mark.parametrize("served", [served_by_django, served_by_fastapi])
def test_receiver_takes_real_deliveries_and_no_forged_ones(served: Any, client: Candor) -> None:
    SECRETS.clear()
    with served() as url:
        webhook = client.webhooks.create(url=url, event_types=["*"])
        SECRETS.append(webhook["secret"])
        client.webhooks.test(webhook["id"])
        email = hire(client, 1)
        received = {delivered(EVENTS.get(timeout=ARRIVES_WITHIN)) for _ in range(2)}
        assert email in received and len(received) == 2
        # During a rotation either secret verifies.
        rotated = client.webhooks.update(webhook["id"], rotate_secret=True)
        SECRETS[:] = [rotated.get("secret") or ""]
        client.webhooks.test(webhook["id"])
        assert EVENTS.get(timeout=ARRIVES_WITHIN)["event"] == "test.ping"
        now = str(int(time.time()))
        headers = {"webhook-id": "evt_1", "webhook-timestamp": now, "webhook-signature": "v1,AAAA"}
        assert httpx2.post(url, headers=headers, content=b"{}").status_code == 400
        client.webhooks.delete(webhook["id"])


def test_signatures_are_those_of_standard_webhooks() -> None:
    secret = "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="
    body = json.dumps({"id": "evt_1", "event": "employee.promoted", "data": {"level": 3}})

    def signed(at: datetime) -> dict[str, str]:
        signature = StandardWebhook(secret).sign("evt_1", at, body)
        return {
            "Webhook-Id": "evt_1",
            "Webhook-Timestamp": str(int(at.timestamp())),
            "Webhook-Signature": signature,
        }

    now = datetime.now(UTC)
    event = webhooks.unwrap(body, signed(now), ["whsec_AAAA", secret])
    assert webhooks.is_full(event)
    assert (dict(event), described(event)) == (json.loads(body), "employee.promoted")
    for text, headers, key in [
        (body.replace("3", "4"), signed(now), secret),
        (body, signed(now - timedelta(seconds=301)), secret),
        (body, signed(now), "whsec_AAAA"),
        (body, {}, secret),
        *[(body, {**signed(now), "Webhook-Timestamp": at}, secret) for at in ("²", "٣", "9" * 5000, "-1", "1e3", "")],
    ]:
        with pytest.raises(WebhookVerificationError):
            webhooks.unwrap(text, headers, key)
    for empty in ("", "whsec_", [secret.replace("B", "C"), ""]):
        with pytest.raises(CandorError, match="not valid"):
            webhooks.unwrap(body, signed(now), empty)


def test_thin_delivery_has_only_a_reference_to_its_resource() -> None:
    secret = "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="
    url = "https://feedback.example.com/v1/employees/emp_1"
    data = {"id": "emp_1", "type": "employee", "url": url}
    body = json.dumps({"id": "evt_1", "event": "employee.created", "data": data, "payload": "thin"})
    now = datetime.now(UTC)
    headers = {
        "webhook-id": "evt_1",
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": StandardWebhook(secret).sign("evt_1", now, body),
    }
    event = webhooks.unwrap(body, headers, secret)
    assert (webhooks.is_thin(event), webhooks.is_full(event), delivered(event)) == (True, False, url)


def test_delivery_whose_data_was_erased_is_no_full_one() -> None:
    secret = "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="
    data = {"id": "emp_1", "erased": True}
    body = json.dumps({"id": "evt_1", "event": "employee.created", "data": data})
    now = datetime.now(UTC)
    headers = {
        "webhook-id": "evt_1",
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": StandardWebhook(secret).sign("evt_1", now, body),
    }
    event = webhooks.unwrap(body, headers, secret)
    assert (is_erased_event(event), webhooks.is_full(event), delivered(event)) == (True, False, "emp_1")


def test_examples_of_the_readme_are_those_that_run(service: Service) -> None:
    readme = (PACKAGE / "README.md").read_text()
    for name in ("quickstart", "replica", "export_replica", "fastapi_receiver", "django_receiver"):
        example = (PACKAGE / "examples" / f"{name}.py").read_text()
        assert f"```python\n{example}```" in readme, f"README.md differs from examples/{name}.py"
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE / "src"), "CANDOR_API_KEY": service.key(), "CANDOR_URL": service.url}
    command = [sys.executable, str(PACKAGE / "examples" / "quickstart.py")]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert done.stdout == "Ada Explained the outage to the customer calmly.\n"
