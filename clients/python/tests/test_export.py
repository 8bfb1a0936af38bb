from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from candor_client import AsyncCandor, Candor
from proxy import FaultProxy
from service import Service

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

from export_replica import copy, follow  # noqa: E402


def hire(client: Candor, number: int) -> str:
    created = client.employees.create(email=f"p{number}@example.com", first_name="P", last_name=str(number))
    return created["id"]


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
    rows: dict[str, dict[str, Any]] = {}
    position = copy(client, rows)
    client.employees.update(first, job_title="Engineer")
    second = hire(client, 2)
    follow(client, rows, position)
    assert rows[first] == client.employees.get(first)
    assert rows[second] == client.employees.get(second)


def test_replica_keeps_nothing_of_an_erased_person(service: Service) -> None:
    key = service.key()
    rows: dict[str, dict[str, Any]] = {}
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
    assert rows[person]["first_name"] == "Former"

    async def followed() -> dict[str, dict[str, Any]]:
        """Follows the whole feed up to the erasure."""
        copied: dict[str, dict[str, Any]] = {}
        async with AsyncCandor(api_key=key, base_url=service.url) as reader:
            async for batch in reader.events.changes():
                batch.apply_to(copied)
                if person in copied and copied[person]["first_name"] == "Former":
                    return copied
        raise AssertionError("the feed ended")

    assert asyncio.run(followed())[person] == rows[person]
