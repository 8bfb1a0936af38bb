from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
from candor_client import AsyncCandor, Candor, ChangeBatch
from candor_client.types import ExportLine, is_erased_event, is_export_row
from proxy import FaultProxy
from service import Service

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

from export_replica import copy, follow  # noqa: E402


def hire(client: Candor, number: int) -> str:
    created = client.employees.create(email=f"p{number}@example.com", first_name="P", last_name=str(number))
    return created["id"]


def described(line: ExportLine) -> str:
    """What a line is about. Each comparison tells the type checkers which members the line has."""
    if line["type"] == "header":
        return line["events_cursor"]
    if line["type"] == "checkpoint":
        return line["cursor"]
    if line["type"] == "end":
        return str(line["counts"])
    if line["type"] == "employee":
        return line["data"]["email"]
    if line["type"] == "message":
        return line["data"]["body"]
    return line["type"]


def test_type_of_a_line_tells_its_members(client: Candor) -> None:
    hire(client, 1)
    client.departments.create(name="Sales")
    lines = list(client.export(resources=["employees", "departments"]))
    texts = [described(line) for line in lines]
    assert texts[1:] == ["p1@example.com", "department", "{'employees': 1, 'departments': 1}"]
    rows = [line["data"]["id"] for line in lines if is_export_row(line)]
    assert [row[:4] for row in rows] == ["emp_", "dep_"]
    changed = [row["data"]["email"] for row in next(client.events.changes()).upserts if row["type"] == "employee"]
    assert changed == ["p1@example.com"]


def test_rows_of_later_versions_are_kept_and_other_lines_skipped() -> None:
    lines = [
        {"type": "header", "events_cursor": "c", "started_at": "", "resources": [], "api_version": "v1"},
        {"type": "progress", "percent": 50},
        {"type": "badge", "data": {"id": "bdg_1", "colour": "red"}},
        {"type": "end", "counts": {}},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    http = httpx2.Client(transport=httpx2.MockTransport(lambda _: httpx2.Response(200, text=text)))
    with Candor(api_key="cdr_live_x", base_url="http://localhost", http=http) as client:
        shown = list(client.export())
    assert [line["type"] for line in shown] == ["header", "badge", "end"]
    assert [line["data"] for line in shown if is_export_row(line)] == [{"id": "bdg_1", "colour": "red"}]


def test_changes_apply_to_rows_of_a_database() -> None:
    events = [{"event": "employee.erased", "created_at": "2", "data": {"id": "emp_1", "first_name": "Former"}}]
    rows: dict[str, Mapping[str, Any]] = {
        "obs_1": {"id": "obs_1", "employee_id": "emp_1"},
        "emp_1": {"id": "emp_1", "first_name": "Ada"},
        "cnv_1": {"id": "cnv_1", "title": "Ada's case", "about": {"type": "observation", "id": "obs_1"}},
    }
    ChangeBatch.of_events(events, None).apply_to(rows)
    talk = {"id": "cnv_1", "title": "[erased]", "about": None}
    assert rows == {"emp_1": {"id": "emp_1", "first_name": "Former"}, "cnv_1": talk}


def test_export_through_faults_yields_every_row_once(service: Service) -> None:
    key = service.key()
    with (
        FaultProxy(service.url, "truncated_after", "unavailable", "reset_after", "none") as proxy,
        Candor(api_key=key, base_url=proxy.url) as reader,
        Candor(api_key=key, base_url=service.url) as writer,
    ):
        hired = [hire(writer, number) for number in range(5)]
        lines: list[Any] = list(reader.export(resources=["employees"]))
        assert [line["type"] for line in lines] == ["header", *["employee"] * 5, "end"]
        assert [line["data"]["id"] for line in lines[1:-1]] == sorted(hired)
        assert proxy.counts["truncated_after"] == 1

    async def types() -> list[str]:
        async with AsyncCandor(api_key=key, base_url=service.url) as client:
            return [line["type"] async for line in client.export(resources=["employees"])]

    assert asyncio.run(types()) == [line["type"] for line in lines]


def test_export_keeps_line_separators_in_texts(client: Candor) -> None:
    name = "a\u2028b\u0085c"
    client.employees.create(email="p@example.com", first_name="P", last_name=name)
    lines: list[Any] = list(client.export(resources=["employees"]))
    assert [line["data"]["last_name"] for line in lines if "data" in line] == [name]


def test_replica_of_an_export_equals_the_data(client: Candor) -> None:
    first = hire(client, 1)
    rows: dict[str, Mapping[str, Any]] = {}
    position = copy(client, rows)
    client.employees.update(first, job_title="Engineer")
    second = hire(client, 2)
    follow(client, rows, position)
    assert rows[first] == client.employees.get(first)
    assert rows[second] == client.employees.get(second)


def test_replica_keeps_nothing_of_an_erased_person(service: Service) -> None:
    key = service.key()
    rows: dict[str, Mapping[str, Any]] = {}
    with Candor(api_key=key, base_url=service.url) as client:
        person = hire(client, 1)
        position = copy(client, rows)
        client.observations.create(employee_id=person, type="strength", observation="SECRET of the person")
        while "SECRET" not in str(rows):
            position = follow(client, rows, position)
        client.employees.deactivate(person)
        client.employees.erase(person)
        while "SECRET" in str(rows):
            position = follow(client, rows, position)
        next(iter(client.events.follow(filter={"event": "erasure.completed"})))
        erased = [event["data"]["id"] for event in client.events.list() if is_erased_event(event)]
        assert person in erased
    assert rows[person]["first_name"] == "Former"

    async def followed() -> dict[str, Mapping[str, Any]]:
        """Follows the whole feed up to the erasure."""
        copied: dict[str, Mapping[str, Any]] = {}
        async with AsyncCandor(api_key=key, base_url=service.url) as reader:
            async for batch in reader.events.changes():
                batch.apply_to(copied)
                if person in copied and copied[person]["first_name"] == "Former":
                    return copied
        raise AssertionError("the feed ended")

    assert asyncio.run(followed())[person] == rows[person]
