"""Employees: imports of files of any size, beside the operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import IO, Any, TypedDict

from . import types
from ._csv import Part, joined, split
from ._errors import CandorError
from ._request import UNSET, Unset
from .resources import AsyncEmployees, Employees


class _Options(TypedDict):
    empty: types.CsvEmptyCell | Unset
    connector_id: str | Unset
    ignore_columns: str | Sequence[str] | Unset
    timeout: float | None
    max_retries: int | None
    max_wait: float | None
    extra_headers: Mapping[str, str] | None


def _divided(csv: str | bytes | IO[Any]) -> tuple[list[Part], int]:
    """Reads and divides a file."""
    content: str | bytes = csv if isinstance(csv, str | bytes) else csv.read()
    if isinstance(content, str):
        return split(content)
    try:
        return split(content.decode())
    except UnicodeDecodeError as cause:
        raise CandorError("The file is not in UTF-8: save it as CSV UTF-8.") from cause


def _key(idempotency_key: str | None, number: int, parts: list[Part]) -> str | None:
    """Returns the key of a part: a key stands for one request."""
    return f"{idempotency_key}-{number}" if idempotency_key and len(parts) > 1 else idempotency_key


class EmployeeImport(Employees):
    """Operations below `/employees`, and `import_csv`."""

    def import_csv(
        self,
        csv: str | bytes | IO[Any],
        /,
        *,
        empty: types.CsvEmptyCell | Unset = UNSET,
        connector_id: str | Unset = UNSET,
        ignore_columns: str | Sequence[str] | Unset = UNSET,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        max_wait: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.CsvReport:
        """Creates and updates people from a CSV file of any size, as `candor import` does.

        `csv` is a text, bytes in UTF-8, or an open file. A file above the limits of `upsert` is sent in parts, managers
        first, and waits for the quota of files. The report is that of the whole file, with its row numbers. If a part
        fails with an error, the rows of earlier parts stay: import the same file again. In a dry run a later part does
        not see new managers of an earlier one.
        """
        parts, duplicates = _divided(csv)
        options: _Options = {
            "empty": empty,
            "connector_id": connector_id,
            "ignore_columns": ignore_columns,
            "timeout": timeout,
            "max_retries": max_retries,
            "max_wait": max_wait,
            "extra_headers": extra_headers,
        }
        answers: list[tuple[Part, types.CsvReport]] = []
        for number, part in enumerate(parts, 1):
            key = _key(idempotency_key, number, parts)
            answers.append((part, self.upsert(part.text, idempotency_key=key, **options)))
        return joined(answers, duplicates)


class AsyncEmployeeImport(AsyncEmployees):
    """Operations below `/employees`, and `import_csv`."""

    async def import_csv(
        self,
        csv: str | bytes | IO[Any],
        /,
        *,
        empty: types.CsvEmptyCell | Unset = UNSET,
        connector_id: str | Unset = UNSET,
        ignore_columns: str | Sequence[str] | Unset = UNSET,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        max_wait: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.CsvReport:
        """Creates and updates people from a CSV file of any size, as `candor import` does.

        `csv` is a text, bytes in UTF-8, or an open file. A file above the limits of `upsert` is sent in parts, managers
        first, and waits for the quota of files. The report is that of the whole file, with its row numbers. If a part
        fails with an error, the rows of earlier parts stay: import the same file again. In a dry run a later part does
        not see new managers of an earlier one.
        """
        parts, duplicates = _divided(csv)
        options: _Options = {
            "empty": empty,
            "connector_id": connector_id,
            "ignore_columns": ignore_columns,
            "timeout": timeout,
            "max_retries": max_retries,
            "max_wait": max_wait,
            "extra_headers": extra_headers,
        }
        answers: list[tuple[Part, types.CsvReport]] = []
        for number, part in enumerate(parts, 1):
            key = _key(idempotency_key, number, parts)
            answers.append((part, await self.upsert(part.text, idempotency_key=key, **options)))
        return joined(answers, duplicates)
