"""Files of people above the limits of the service: divided as `candor import` divides them, with one report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, cast

from . import types

MAX_ROWS: Final = 10_000
MAX_BYTES: Final = 5 * 1024 * 1024
MAX_COLUMNS: Final = 500
CELL: Final = re.compile(r'(?:"([^"]*(?:""[^"]*)*)"|([^,\r\n"]*))(,|\r\n|\n|\Z)')
"""A cell with the comma or line end behind it (RFC 4180)."""
QUOTED: Final = r'"(?:[^"\\]|\\.)*"'
ROWS: Final = re.compile(QUOTED + r"|\brows? \d+(?:, \d+)*")
"""A quoted value, or numbers of rows, in a message."""


@dataclass(frozen=True, slots=True)
class Part:
    """A file within the limits."""

    text: str
    numbers: list[int] | None = None
    """Number of each row in the whole file; None for the whole file as it is."""
    managers: list[int | None] = field(default_factory=list["int | None"])
    """Number in the whole file of the row of each row's manager, if the file has one."""

    def number(self, here: int) -> int:
        """Converts the number of a row in this part to its number in the whole file."""
        rows = self.numbers or []
        return rows[here - 2] if 2 <= here < len(rows) + 2 else here

    def manager(self, here: int) -> int | None:
        """Returns the number in the whole file of the row of a row's manager."""
        return self.managers[here - 2] if 2 <= here < len(self.managers) + 2 else None

    def renumbered(self, message: str) -> str:
        """Converts the row numbers in a message. Values of cells, which are quoted, stay."""

        def replaced(found: re.Match[str]) -> str:
            if found.group().startswith('"'):
                return found.group()
            return re.sub(r"\d+", lambda digits: str(self.number(int(digits.group()))), found.group())

        return ROWS.sub(replaced, message)


@dataclass(slots=True)
class _Row:
    number: int
    raw: str
    email: str
    manager: str
    manager_row: int | None = None


def split(text: str, most_rows: int = MAX_ROWS, most_bytes: int = MAX_BYTES) -> tuple[list[Part], int]:
    """Divides a file into parts within the limits. A manager is in an earlier part than a report, or in the same.

    Also returns the number of rows that were dropped because a later row has the same address. A file that the
    service cannot read is one part: the service tells what is wrong with it.
    """
    is_long = len(text.encode()) > most_bytes
    if not is_long and text.count("\n") <= most_rows:
        return [Part(text)], 0
    read = _read(text.lstrip("\ufeff"))
    if read is None or (not is_long and len(read[1]) <= most_rows):
        return [Part(text)], 0
    header, rows = read
    last = {row.email: row.number for row in rows}
    kept = [row for row in rows if not row.email or last[row.email] == row.number]
    return _packed(header, _managers_first(kept), most_rows, most_bytes), len(rows) - len(kept)


def _records(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yields the text and the cells of each record; raises ValueError for broken quotes or line ends."""
    at = 0
    while at < len(text):
        begin = at
        cells: list[str] = []
        end = ","
        while end == ",":
            found = CELL.match(text, at)
            if found is None:
                raise ValueError(at)
            quoted, plain, end = found.groups()
            cells.append(plain if quoted is None else quoted.replace('""', '"'))
            at = found.end()
        yield text[begin:at], cells


def _read(text: str) -> tuple[str, list[_Row]] | None:
    """Returns the header and the rows, or None if the file is not one of people."""
    header = ""
    rows: list[_Row] = []
    email, manager = 0, None
    try:
        for number, (raw, cells) in enumerate(_records(text), 1):
            if len(cells) > MAX_COLUMNS:
                return None
            if not any(cells) or (not header and raw.rstrip("\r\n ").lower() == "sep=,"):
                continue
            if not header:
                names = [_normalized(cell.strip("\ufeff \t")) for cell in cells]
                found = next((name for name in ("email", "e_mail") if name in names), None)
                if found is None:
                    return None
                header, email = raw, names.index(found)
                manager = names.index("manager_email") if "manager_email" in names else None
                continue
            above = cells[manager] if manager is not None and manager < len(cells) else ""
            address = cells[email] if email < len(cells) else ""
            rows.append(_Row(number, raw, address.strip().lower(), above.strip().lower()))
    except ValueError:
        return None
    return (header, rows) if header else None


def _normalized(name: str) -> str:
    return "_".join(word for word in re.split(r"[\s_-]+", name) if word).lower()


def _managers_first(rows: list[_Row]) -> list[_Row]:
    """Sorts managers before their reports. People on a cycle come last."""
    place = {row.email: at for at, row in enumerate(rows)}
    above = [place.get(row.manager) if row.manager else None for row in rows]
    depths: list[float | None] = [None] * len(rows)
    for start, row in enumerate(rows):
        manager = above[start]
        row.manager_row = None if manager is None else rows[manager].number
        path: list[int] = []
        at: int | None = start
        depth = 0.0
        while at is not None:
            known = depths[at]
            if known is not None:
                depth = known + 1
                break
            path.append(at)
            depths[at] = float("inf")
            at = above[at]
        for at in reversed(path):
            depths[at] = depth
            depth += 1
    order = sorted(range(len(rows)), key=lambda at: (depths[at] or 0.0, rows[at].number))
    return [rows[at] for at in order]


def _packed(header: str, rows: list[_Row], most_rows: int, most_bytes: int) -> list[Part]:
    parts: list[list[_Row]] = []
    begin = len(header.encode())
    size = begin
    for row in rows:
        own = len(row.raw.encode())
        if not parts or len(parts[-1]) == most_rows or size + own + 2 > most_bytes:
            parts.append([])
            size = begin
        parts[-1].append(row)
        size += own + (not row.raw.endswith("\n"))
    return [
        Part(
            header + "".join(row.raw if row.raw.endswith("\n") else row.raw + "\n" for row in part),
            [row.number for row in part],
            [row.manager_row for row in part],
        )
        for part in parts
    ]


def joined(answers: Iterable[tuple[Part, types.CsvReport]], duplicates: int) -> types.CsvReport:
    """Returns the report about the whole file, with its row numbers."""
    counts = {"created": 0, "updated": 0, "deactivated": 0, "skipped": duplicates}
    errors: list[dict[str, Any]] = []
    plan: list[dict[str, Any]] = []
    warnings: list[dict[str, Any]] = []
    failed: dict[int, int] = {}
    has_plan = has_more = False
    for part, answer in answers:
        data = cast("dict[str, Any]", answer["data"])
        for name in counts:
            counts[name] += data[name]
        for error in data["errors"]:
            renewed = _converted(part, error, failed)
            # Managers come first in a part.
            failed[renewed["row_number"]] = renewed.get("caused_by_row") or renewed["row_number"]
            errors.append(renewed)
        has_plan |= "plan" in answer
        has_more |= answer.get("plan_has_more", False)
        for row in cast("list[dict[str, Any]]", answer.get("plan") or []):
            plan.append({**row, "row_number": part.number(row["row_number"])})
        for warning in cast("list[dict[str, Any]]", answer.get("warnings") or []):
            renewed = {**warning, "message": part.renumbered(warning["message"])}
            if renewed not in warnings:
                warnings.append(renewed)
    report: dict[str, Any] = {"data": {**counts, "errors": sorted(errors, key=_row_number)}}
    if warnings:
        report["warnings"] = warnings
    if has_plan:
        report["plan"] = sorted(plan, key=_row_number)
    if has_more:
        report["plan_has_more"] = True
    return cast("types.CsvReport", report)


def _row_number(row: dict[str, Any]) -> int:
    return int(row["row_number"])


def _converted(part: Part, error: dict[str, Any], failed: dict[int, int]) -> dict[str, Any]:
    """Converts a failed row to the whole file. One whose manager failed, also in an earlier part, names that row."""
    here: int = error["row_number"]
    message = part.renumbered(error["message"])
    manager = part.manager(here)
    problems: list[dict[str, Any]] = []
    for problem in error["problems"]:
        text = part.renumbered(problem["message"])
        cause = problem.get("caused_by_row")
        is_unknown = (problem["field"], problem["code"]) == ("manager_email", "not_found_in_organization")
        if is_unknown and manager is not None and manager in failed:
            cause = failed[manager]
            reason = "" if cause == manager else f" because of row {cause}"
            address = re.match(QUOTED, text)
            told = f"is in row {manager}, which was not imported{reason}: correct that row first"
            renewed = f"{address.group() if address else ''} {told}"
            message = message.replace(text, renewed, 1)
            text = renewed
        elif cause is not None:
            cause = part.number(cause)
        caused = {} if cause is None else {"caused_by_row": cause}
        problems.append({**problem, "message": text, **caused})
    causes = {problem.get("caused_by_row") for problem in problems}
    cause = causes.pop() if len(causes) == 1 else None
    own = error.get("caused_by_row")
    if cause is None and own is not None:
        cause = part.number(own)
    caused = {} if cause is None else {"caused_by_row": cause}
    return {**error, "row_number": part.number(here), "message": message, "problems": problems, **caused}
