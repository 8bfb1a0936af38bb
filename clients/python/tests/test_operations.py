from __future__ import annotations

import asyncio
import inspect
import io
import json
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest
from candor_client import AsyncCandor, Candor, CandorError, ConflictError, LogEntry, NotModifiedError, Page
from service import Service

FILE = Path(os.environ.get("CANDOR_TEST_OPERATIONS") or Path(__file__).parents[2] / "operations.json")
WAIT = 20.0
WITHOUT_DRY_RUN = {
    "employees.invite",
    "identity_providers.check",
    "invitations.accept",
    "portal_links.exchange",
    "sign_in.begin",
    "sign_in.end",
    "test_data.reset",
    "webhooks.redeliver",
    "webhooks.replay_events",
    "webhooks.test",
}
"""Writes that have no dry run."""


def filled(value: Any, known: dict[str, Any]) -> Any:
    """The value with each `$name.member` replaced by what an earlier step answered."""
    if isinstance(value, str) and value.startswith("$"):
        name, *members = value[1:].split(".")
        found = known[name]
        for member in members:
            found = found[int(member)] if member.isdigit() else found[member]
        # The token of an invitation and the code of a portal link are the end of their links.
        return re.split("[=/#]", found)[-1] if value.endswith(("accept_url", "$link.url")) else found
    if isinstance(value, list):
        return [filled(entry, known) for entry in value]
    if isinstance(value, dict):
        return {name: filled(entry, known) for name, entry in value.items()}
    return value


def operations(client: object) -> set[str]:
    """Every method of every resource, as `resource.method`."""

    def methods(of: object) -> set[str]:
        members = inspect.getmembers(of, callable)
        others = ("follow", "changes", "import_csv")
        return {name for name, _ in members if not name.startswith("_") and name not in others}

    # `export` has tests of its own.
    others = {"with_response", "dry_run", "request", "close", "aclose", "export"}
    found = methods(client) - others
    for name, resource in vars(client).items():
        if not name.startswith("_"):
            found |= {f"{name}.{method}" for method in methods(resource)}
    return found


def bound(client: object, call: str) -> Any:
    *path, name = call.split(".")
    target: Any = getattr(client, path[0]) if path else client
    return getattr(target, "return_" if name == "return" else name)


def arguments(step: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    csv = [step["csv"]] if "csv" in step else []
    return [*step.get("path", []), *csv], {**step.get("body", {}), **step.get("query", {})}


def test_every_operation_is_called(service: Service, client: Candor) -> None:
    steps: list[dict[str, Any]] = json.loads(FILE.read_text())
    known: dict[str, Any] = {}
    for raw in steps:
        step = filled(raw, known)
        used = Candor(api_key=step["key"], base_url=service.url) if "key" in step else client
        values, named = arguments(step)
        begun = time.monotonic()
        while True:
            try:
                answer = bound(used, step["call"])(*values, **named)
                answer = answer.first().data if hasattr(answer, "first") else answer
                assert "fails" not in step, step
            except CandorError as error:
                if getattr(error, "status", None) == step.get("fails", 0):
                    answer = None
                    break
                raise AssertionError(f"{step}: {error}") from error
            if answer or not step.get("wait") or time.monotonic() - begun > WAIT:
                break
        if answer is not None and "count" in step:
            assert len(answer) == step["count"], step
        if "as" in step:
            known[step["as"]] = answer
    called = {step["call"].replace("return", "return_") for step in steps}
    assert operations(client) == called


def newest(client: Candor, key: str) -> list[str]:
    """The id of the last write of a key, by the audit log."""
    return [entry["id"] for entry in client.audit_log.list(filter={"actor_id": key}, limit=1).first().data]


def test_dry_run_of_every_write_changes_nothing(service: Service) -> None:
    key = service.key()
    steps: list[dict[str, Any]] = json.loads(FILE.read_text())
    known: dict[str, Any] = {}
    without: set[str] = set()
    states: set[str] = set()
    entries: list[LogEntry] = []
    with Candor(api_key=key, base_url=service.url, log=entries.append) as client:
        own = client.me.get()["key_id"]
        for raw in steps:
            step = filled(raw, known)
            used = client
            if "key" in step:
                used = Candor(api_key=step["key"], base_url=service.url, log=entries.append)
            values, named = arguments(step)
            method = bound(used, step["call"])
            before = newest(client, own)
            states.update(before)
            is_refused = False
            try:
                client.dry_run(method, *values, **named)
            except CandorError as error:
                # A list makes its requests when it is read.
                is_refused = any(text in str(error) for text in ("no dry run", "made no request"))
                assert is_refused or getattr(error, "status", None) == step.get("fails"), (step, error)
            assert newest(client, own) == before, step
            try:
                answer = method(*values, **named)
                answer = answer.first().data if hasattr(answer, "first") else answer
                while step.get("wait") and not answer:
                    answer = method(*values, **named).first().data
            except CandorError as error:
                assert getattr(error, "status", None) == step.get("fails"), (step, error)
                answer = None
            if is_refused and entries[-1].method != "GET":
                without.add(step["call"])
            assert is_refused or entries[-1].method != "GET", step
            if "as" in step:
                known[step["as"]] = answer
    assert without == WITHOUT_DRY_RUN
    assert len(states) > 60, "the log has the real writes"


def test_every_operation_is_called_asynchronously(service: Service) -> None:
    async def run() -> None:
        steps: list[dict[str, Any]] = json.loads(FILE.read_text())
        known: dict[str, Any] = {}
        async with AsyncCandor(api_key=service.key(), base_url=service.url) as client:
            for raw in steps:
                step = filled(raw, known)
                values, named = arguments(step)
                if "key" in step:
                    async with AsyncCandor(api_key=step["key"], base_url=service.url) as other:
                        await bound(other, step["call"])(*values, **named)
                    continue
                if "fails" in step:
                    with pytest.raises(CandorError) as refused:
                        await bound(client, step["call"])(*values, **named)
                    assert getattr(refused.value, "status", None) == step["fails"], step
                    continue
                begun = time.monotonic()
                while True:
                    answer = bound(client, step["call"])(*values, **named)
                    answer = (await answer.first()).data if hasattr(answer, "first") else await answer
                    if answer or not step.get("wait") or time.monotonic() - begun > WAIT:
                        break
                assert len(answer) == step["count"] if "count" in step else True, step
                if "as" in step:
                    known[step["as"]] = answer
            assert operations(client) == {step["call"].replace("return", "return_") for step in steps}

    asyncio.run(run())


def test_every_page_of_a_list_is_read(client: Candor) -> None:
    for number in range(7):
        client.departments.create(name=f"D{number}")
    listed = client.departments.list(limit=3, sort="name")
    assert [department["name"] for department in listed] == [f"D{number}" for number in range(7)]
    first: Page[Any] = listed.first()
    assert (len(first.data), first.has_more) == (3, True)
    assert first.response and (first.response.request_id or "").startswith("req_")
    rest = client.departments.list(limit=10, sort="name", cursor=first.next_cursor or "").first()
    assert (len(rest.data), rest.has_more) == (4, False)


def test_dry_run_has_the_effects_of_a_call_and_changes_nothing(client: Candor) -> None:
    effects = client.dry_run(
        client.employees.create, email="dry@example.com", first_name="Dry", last_name="Run"
    )
    data = effects["data"] or {}
    assert (effects["status"], data["id"], data["email"]) == (201, None, "dry@example.com")
    assert effects["events"] == ["employee.created"]
    created = client.employees.create(email="dry@example.com", first_name="Dry", last_name="Run")
    update = client.dry_run(client.employees.update, created["id"], first_name="Wet")
    assert update["changes"]["first_name"] == {"from": "Dry", "to": "Wet"}
    assert client.employees.get(created["id"])["first_name"] == "Dry"
    with pytest.raises(ConflictError):
        client.dry_run(client.employees.create, email="dry@example.com", first_name="Dry", last_name="Run")


def test_response_has_request_id_quota_and_version(client: Candor) -> None:
    created = client.with_response(client.departments.create, name="Sales", idempotency_key="k")
    assert (created.status, created.data["name"], created.replayed) == (201, "Sales", False)
    assert created.rate_limit and created.rate_limit.limit > created.rate_limit.remaining
    again = client.with_response(client.departments.create, name="Sales", idempotency_key="k")
    assert (again.replayed, again.data["id"]) == (True, created.data["id"])
    with pytest.raises(NotModifiedError):
        client.departments.get(created.data["id"], if_none_match=created.etag)
    with pytest.raises(ConflictError) as refused:
        client.departments.update(created.data["id"], name="S", if_match='"0"')
    assert refused.value.status == 412


def test_left_out_member_and_none_are_different(client: Candor) -> None:
    person = client.employees.create(
        email="a@example.com", first_name="A", last_name="B", job_title="Engineer"
    )
    assert client.employees.update(person["id"], first_name="C")["job_title"] == "Engineer"
    assert client.employees.update(person["id"], job_title=None)["job_title"] is None


def test_settings_are_checked_and_addresses_completed(service: Service) -> None:
    key = service.key()
    for url in (service.url, f"{service.url}/", f"{service.url}/v1", f"{service.url}/v1/"):
        entries: list[LogEntry] = []
        with Candor(api_key=key, base_url=url, environment="live", log=entries.append) as client:
            assert client.me.get()["environment"] == "live"
        assert len(entries) == 1 and key not in repr(entries)
    with pytest.raises(CandorError, match="not a test key"):
        Candor(api_key=key, base_url=service.url, environment="test")


def test_dropped_client_closes_its_connections(service: Service) -> None:
    key = service.key()
    for _ in range(20):
        # Warnings of sockets that stay open are errors in this suite.
        Candor(api_key=key, base_url=service.url).me.get()


def test_dry_run_of_a_file_changes_nothing_and_reads_have_none(client: Candor) -> None:
    file = b"email,first_name,last_name\nada@example.com,Ada,Moreau\n"
    for method in (client.employees.upsert, client.employees.import_csv):
        report = client.dry_run(method, io.BytesIO(file))
        assert (report["data"]["created"], report["plan"][0]["action"]) == (1, "create")
    assert list(client.employees.list()) == []
    with pytest.raises(CandorError, match="no dry run"):
        client.dry_run(client.me.get)
