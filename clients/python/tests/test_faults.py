from __future__ import annotations

import asyncio
import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import httpx2
import pytest
from candor_client import (
    ApiConnectionError,
    ApiError,
    ApiTimeoutError,
    AsyncCandor,
    Candor,
    CandorError,
    NotFoundError,
    RateLimitedError,
    ValidationError,
)
from proxy import FaultProxy
from service import Service

TREATMENTS = {"none", "reset", "reset_after", "unavailable", "limited", "truncated_after", "slow_after"}


def check(proxy: FaultProxy, ids: list[str], key: str, service: Service) -> None:
    assert len(set(ids)) == 200
    with Candor(api_key=key, base_url=service.url) as client:
        assert sum(1 for _ in client.employees.list(limit=100)) == 200
    assert set(proxy.counts) == TREATMENTS
    assert len(set(proxy.keys)) == 200, "each call has one key for all of its attempts"


def test_200_creates_through_faults_make_200_rows(service: Service) -> None:
    key = service.key()
    with (
        FaultProxy(service.url, "mixed") as proxy,
        Candor(api_key=key, base_url=proxy.url, timeout=2.0, max_retries=10) as client,
        ThreadPoolExecutor(20) as pool,
    ):

        def create(number: int) -> str:
            created = client.employees.create(
                email=f"p{number}@example.com", first_name="P", last_name=str(number)
            )
            return created["id"]

        check(proxy, list(pool.map(create, range(200))), key, service)


def test_200_asynchronous_creates_make_200_rows(service: Service) -> None:
    key = service.key()

    async def run(url: str) -> list[str]:
        limit = asyncio.Semaphore(20)
        async with AsyncCandor(api_key=key, base_url=url, timeout=2.0, max_retries=10) as client:

            async def create(number: int) -> str:
                async with limit:
                    created = await client.employees.create(
                        email=f"p{number}@example.com", first_name="P", last_name=str(number)
                    )
                    return created["id"]

            return await asyncio.gather(*(create(number) for number in range(200)))

    with FaultProxy(service.url, "mixed") as proxy:
        check(proxy, asyncio.run(run(proxy.url)), key, service)


def test_retries_end_after_the_given_number(service: Service) -> None:
    with (
        FaultProxy(service.url, "reset") as proxy,
        Candor(api_key=service.key(), base_url=proxy.url, max_retries=1) as client,
    ):
        with pytest.raises(ApiConnectionError):
            client.me.get()
        with pytest.raises(ApiConnectionError):
            client.departments.create(name="Sales", max_retries=0)
        assert (proxy.counts["reset"], len(proxy.keys)) == (3, 1), "also a call without retries has a key"


def test_attempt_without_an_answer_in_time_is_a_timeout(service: Service) -> None:
    with (
        FaultProxy(service.url, "slow_after") as proxy,
        Candor(api_key=service.key(), base_url=proxy.url, max_retries=0, timeout=0.2) as client,
        pytest.raises(ApiTimeoutError),
    ):
        client.me.get()


def answering(status: int, body: object, headers: dict[str, str] | None = None) -> tuple[Candor, list[int]]:
    """A client whose every request gets this answer, and the requests that were sent."""
    sent: list[int] = []

    def handle(_: httpx2.Request) -> httpx2.Response:
        sent.append(status)
        return httpx2.Response(status, json=body, headers=headers)

    http = httpx2.Client(transport=httpx2.MockTransport(handle))
    return Candor(api_key="cdr_live_x", base_url="http://localhost", http=http, max_retries=2), sent


def error(code: str) -> object:
    return {"error": {"code": code, "message": "m", "request_id": "r", "colour": "red"}}


def test_advice_of_the_service_overrides_the_status() -> None:
    for status, advice, attempts in [(409, "true", 3), (503, "false", 1)]:
        client, sent = answering(status, error("conflict"), {"candor-should-retry": advice})
        with pytest.raises(ApiError):
            client.me.get()
        assert len(sent) == attempts


def test_url_of_a_service_is_checked_at_once() -> None:
    for url in ("127.0.0.1:8080", "ftp://localhost", "http://", "http://exa mple"):
        with pytest.raises(CandorError, match="no URL of a service"):
            Candor(api_key="cdr_live_x", base_url=url)
    with pytest.raises(CandorError, match="a user or a password") as refusal:
        Candor(api_key="cdr_live_x", base_url="https://ada:secret@localhost")
    assert "secret" not in str(refusal.value)


def test_used_up_quota_is_waited_for_within_its_window(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    client, sent = answering(429, error("rate_limited"), {"retry-after": "52"})
    with pytest.raises(RateLimitedError) as refused:
        client.me.get()
    assert (refused.value.retry_after, len(sent), len(pauses)) == (52.0, 3, 2)
    assert all(pause >= 52 for pause in pauses)


@pytest.mark.parametrize("text", ["9" * 5000, "1e3", "Mon, 01 Jan 2024 00:00:00 -0000", "soon"])
def test_unreadable_wait_is_none(text: str) -> None:
    client, _ = answering(429, error("rate_limited"), {"retry-after": text})
    with pytest.raises(RateLimitedError) as refused:
        client.request("GET", "/me", max_retries=0)
    assert refused.value.retry_after in (None, 0.0)


def test_wait_beyond_the_longest_one_is_not_begun() -> None:
    for retry_after, status, max_wait in [("66", 429, None), ("31", 503, None), ("8", 429, 5.0)]:
        client, sent = answering(status, error("rate_limited"), {"retry-after": retry_after})
        with pytest.raises(ApiError):
            client.request("GET", "/me", max_wait=max_wait)
        assert len(sent) == 1, (retry_after, status)


def test_text_of_an_error_has_its_problems_and_its_request() -> None:
    cases = json.loads((Path(__file__).parents[2] / "errors.json").read_text())
    assert len(cases) == 6
    for case in cases:
        client, _ = answering(case["status"], case["body"], case.get("headers"))
        with pytest.raises(ApiError) as refused:
            client.request("GET", "/me", max_retries=0)
        assert str(refused.value) == case["text"], case["name"]
        copied = pickle.loads(pickle.dumps(refused.value))
        assert (type(copied), str(copied), copied.status) == (type(refused.value), case["text"], case["status"])
    assert NotFoundError.__module__ == "candor_client"


def test_url_without_a_scheme_or_host_is_refused() -> None:
    for url in ["localhost:8080", "ftp://example.com", "https://", "http:///v1"]:
        with pytest.raises(CandorError, match="http:// or https://"):
            Candor(api_key="cdr_live_x", base_url=url)


def test_headers_of_client_and_call_are_sent() -> None:
    seen: list[httpx2.Headers] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.headers)
        return httpx2.Response(200, json={"data": 1})

    http = httpx2.Client(transport=httpx2.MockTransport(handle))
    own = {"X-Trace": "client", "X-Gate": "a", "Authorization": "none"}
    client = Candor(api_key="cdr_live_x", base_url="http://localhost", http=http, headers=own)
    assert client.request("PUT", "/v1/things", body={}, extra_headers={"x-trace": "call"}) == {"data": 1}
    assert (seen[0]["x-trace"], seen[0]["x-gate"]) == ("call", "a")
    assert seen[0]["authorization"] == "Bearer cdr_live_x", "the key is that of the client"


def test_dates_are_sent_as_the_service_reads_them() -> None:
    bodies: list[bytes] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        bodies.append(request.content)
        return httpx2.Response(200, json={})

    http = httpx2.Client(transport=httpx2.MockTransport(handle))
    client = Candor(api_key="cdr_live_x", base_url="http://localhost", http=http)
    at = datetime(2026, 3, 1, 13, 0, 0, 1500, tzinfo=timezone(timedelta(hours=1)))
    client.request("POST", "/things", body={"day": date(2026, 3, 1), "at": at})
    assert bodies == [b'{"day":"2026-03-01","at":"2026-03-01T12:00:00.001Z"}']
    with pytest.raises(CandorError, match="time zone"):
        client.request("POST", "/things", body={"at": datetime(2026, 3, 1)})


def test_errors_have_the_class_of_their_code(client: Candor) -> None:
    with pytest.raises(NotFoundError) as missing:
        client.employees.get("emp_01KJPWD6M24DF9HWRAYHFSFV52")
    assert (missing.value.status, missing.value.code) == (404, "not_found")
    assert (missing.value.request_id or "").startswith("req_")
    with pytest.raises(ValidationError) as invalid:
        client.employees.create(email="x", first_name="", last_name="B")
    assert sorted(detail["field"] for detail in invalid.value.details) == ["email", "first_name"]


def test_unknown_codes_words_and_members_are_kept() -> None:
    failing, _ = answering(418, error("on_fire"))
    with pytest.raises(ApiError) as refused:
        failing.me.get()
    assert type(refused.value) is ApiError and refused.value.code == "on_fire"
    body = {"id": "obs_1", "type": "epiphany", "mood": {"new": True}}
    growing, _ = answering(200, body)
    observation = growing.observations.get("obs_1")
    assert observation["type"] == "epiphany" and dict(observation) == body
