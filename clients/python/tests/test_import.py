from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
from candor_client import AsyncCandor, Candor, CandorError
from candor_client._csv import MAX_BYTES, MAX_ROWS, joined, split
from service import Service

TABLE: dict[str, Any] = json.loads((Path(__file__).parents[2] / "csv.json").read_text())
FILE = (
    "email,first_name,last_name,manager_email,role\n"
    "di@example.com,Di,Roy,bo@example.com,\n"
    "cy@example.com,Cy,Ode,bo@example.com,boss\n"
    "bo@example.com,Bo,Lind,ada@example.com,\n"
    "ada@example.com,Ada,,,\n"
    "ed@example.com,Ed,Kay,,\n"
)


def test_files_are_divided_by_the_rules_of_the_table() -> None:
    assert len(TABLE["splits"]) >= 5
    for case in TABLE["splits"]:
        parts, duplicates = split(case["file"], case["rows"], case.get("bytes", MAX_BYTES))
        found = [{"text": part.text, "numbers": part.numbers, "managers": part.managers} for part in parts]
        assert (found, duplicates) == (case["parts"], case["duplicates"]), case["name"]


def test_report_has_the_row_numbers_of_the_whole_file() -> None:
    report = TABLE["report"]
    parts, duplicates = split(report["file"], report["rows"])
    assert joined(zip(parts, report["answers"], strict=True), duplicates) == report["joined"]


def test_file_that_cannot_be_divided_is_sent_as_it_is() -> None:
    rows = "x\n" * 3
    for file in (f'email\n"a{rows}', f"name\n{rows}", f"email\nb\rc\n{rows}", f"email\n{',' * 500}\n{rows}"):
        parts, duplicates = split(file, 2)
        assert ([part.text for part in parts], duplicates) == ([file], 0)


def divided(text: str) -> Any:
    """Divides a file into parts of two rows."""
    return split(text, 2)


def test_import_in_parts_has_one_report(monkeypatch: pytest.MonkeyPatch, service: Service, client: Candor) -> None:
    monkeypatch.setattr("candor_client._employees.split", divided)
    report = client.employees.import_csv(io.StringIO(FILE))
    assert (report["data"]["created"], report["data"]["skipped"]) == (1, 0)
    errors = report["data"]["errors"]
    assert [(error["row_number"], error.get("caused_by_row")) for error in errors] == [
        (2, 5),
        (3, None),
        (4, 5),
        (5, None),
    ]
    told = "is in row 4, which was not imported because of row 5: correct that row first"
    assert told in errors[0]["message"] and told in str(errors[1]["problems"])
    assert "is in row 5, which was not imported: correct" in errors[2]["message"]
    assert [person["email"] for person in client.employees.list()] == ["ed@example.com"]

    async def again() -> Any:
        async with AsyncCandor(api_key=service.key(), base_url=service.url) as other:
            return await other.dry_run(other.employees.import_csv, FILE.replace("boss", "").encode())

    plan = asyncio.run(again())["plan"]
    assert [row["row_number"] for row in plan] == [2, 3, 4, 5, 6]


def test_each_part_has_an_idempotency_key_of_its_own() -> None:
    keys: list[str] = []
    sizes: list[int] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        keys.append(request.headers["idempotency-key"])
        sizes.append(request.content.count(b"\n") - 1)
        data = {"created": sizes[-1], "updated": 0, "deactivated": 0, "skipped": 0, "errors": []}
        return httpx2.Response(200, json={"data": data})

    http = httpx2.Client(transport=httpx2.MockTransport(handle))
    with Candor(api_key="cdr_live_x", base_url="http://localhost", http=http) as client:
        file = "email\n" + "".join(f"p{number}@example.com\n" for number in range(MAX_ROWS + 1))
        report = client.employees.import_csv(file, idempotency_key="k")
        client.employees.import_csv("email\na@example.com\n", idempotency_key="k")
        with pytest.raises(CandorError, match="UTF-8"):
            client.employees.import_csv(b"\xff")
    assert (report["data"]["created"], sizes, keys) == (MAX_ROWS + 1, [MAX_ROWS, 1, 1], ["k-1", "k-2", "k"])
