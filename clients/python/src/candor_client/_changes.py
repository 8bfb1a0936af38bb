"""Changes: the feed of events as rows to store and rows to remove."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping, Set
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, cast

from . import types
from ._generated.tables import ROW_TYPES

ERASED: Final = "[erased]"
"""Text that replaces what an erased person wrote, and the titles of conversations about erased data."""


@dataclass(frozen=True, slots=True)
class Removal:
    """Rows that the service removed.

    Either the rows with `ids`, with the messages of removed conversations, or the rows about the erased `person`.
    Messages of the person, and conversations about the person or a removed row, stay without their texts. A program
    that applies removals row by row calls `apply_to_dependent` for the rows that are left.
    """

    removed_at: str
    ids: frozenset[str] = frozenset()
    person: str | None = None

    def apply_to(self, row: Mapping[str, Any]) -> dict[str, Any] | None:
        """Returns a stored row as it is after the removal, or None if the row was removed."""
        if any(row.get(member) in self.ids for member in ("id", "conversation_id", "objective_id")):
            return None
        if self.person is None:
            return dict(row)
        if row.get("conversation_id") and row.get("author_id") == self.person:
            return {**row, "body": ERASED}
        if _subject(row) == self.person:
            return {**row, "title": ERASED, "about": None}
        return None if self.person in (row.get("employee_id"), row.get("owner_id")) else dict(row)

    def apply_to_dependent(self, row: Mapping[str, Any], removed: Set[str]) -> dict[str, Any] | None:
        """Returns a row as it is after this removal has removed the rows with these ids, or None if it goes with them.

        Check-ins go with their objective, and a conversation about erased data loses its title.
        """
        if row.get("objective_id") in removed:
            return None
        if self.person is not None and _subject(row) in removed:
            return {**row, "title": ERASED, "about": None}
        return dict(row)


@dataclass(slots=True)
class ChangeBatch:
    """The changes of one page of the feed.

    Store `upserts`, apply `removals` to all stored rows, and store `cursor`, in one transaction.
    """

    upserts: list[types.ExportRow] = field(default_factory=list["types.ExportRow"])
    """The last state of each changed resource, as a row of an export."""
    removals: list[Removal] = field(default_factory=list[Removal])
    cursor: str | None = None
    """Position behind these changes: pass it as `cursor` after a restart."""

    @classmethod
    def of_events(cls, events: Iterable[Mapping[str, Any]], cursor: str | None) -> ChangeBatch:
        """Reads the changes of events."""
        removals: list[Removal] = []
        rows: dict[str, types.ExportRow] = {}
        for event in events:
            data = cast("Mapping[str, Any]", event["data"])
            removals += _removals(event["event"], event["created_at"], data)
            # The texts of an earlier event about an erased person were removed. The removal follows.
            if data.get("erased") is True:
                continue
            # A check-in comes with its objective.
            resources = [data]
            if event["event"] == "objective.checked_in":
                resources = [{name: value for name, value in data.items() if name != "check_in"}, data["check_in"]]
            for resource in resources:
                kind = _row_type(resource)
                if kind is not None:
                    identifier = str(resource["id"])
                    rows.pop(identifier, None)
                    rows[identifier] = cast("types.ExportRow", {"type": kind, "data": resource})
        return cls(list(rows.values()), removals, cursor)

    def apply_to(self, rows: MutableMapping[str, Mapping[str, Any]]) -> None:
        """Applies the changes to rows by their ids. A row that is newer than its change stays."""
        for change in self.upserts:
            row: Mapping[str, Any] = change["data"]
            stored = rows.get(row["id"])
            if stored is None or _changed_at(stored) <= _changed_at(row):
                rows[row["id"]] = row
        for removal in self.removals:
            removed = _replace(rows, removal.apply_to)
            _replace(rows, partial(removal.apply_to_dependent, removed=removed))


def _replace(
    rows: MutableMapping[str, Mapping[str, Any]], apply: Callable[[Mapping[str, Any]], dict[str, Any] | None]
) -> set[str]:
    """Replaces each row by what is left of it, and returns the ids of the rows of which nothing is."""
    removed: set[str] = set()
    for identifier, row in list(rows.items()):
        kept = apply(row)
        if kept is None:
            del rows[identifier]
            removed.add(identifier)
        elif kept != row:
            rows[identifier] = kept
    return removed


def _subject(row: Mapping[str, Any]) -> str | None:
    """Returns the id of what a conversation is about."""
    about = row.get("about")
    return cast("Mapping[str, Any]", about).get("id") if isinstance(about, Mapping) else None


def _removals(event: str, at: str, data: Mapping[str, Any]) -> list[Removal]:
    if event == "retention.removed":
        return [Removal(at, ids=frozenset(data["ids"]))]
    person = {"employee.erased": data.get("id"), "erasure.completed": data.get("employee_id")}.get(event)
    return [Removal(at, person=person)] if person else []


def _row_type(data: Mapping[str, Any]) -> str | None:
    """Returns the type of the exported row, or None if exports do not have the resource."""
    prefix = str(data.get("id")).split("_")[0]
    if prefix == "obj":
        return "employee_objective" if data.get("scope") == "employee" else "manager_objective"
    return ROW_TYPES.get(prefix)


def _changed_at(row: Mapping[str, Any]) -> str:
    """Returns the time of the last change of a row. Messages and check-ins never change."""
    return str(row.get("updated_at") or row.get("created_at") or "")
