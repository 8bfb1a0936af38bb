from collections.abc import Mapping
from typing import Any, cast

from candor_client import Candor


def copy(candor: Candor, rows: dict[str, dict[str, Any]]) -> str:
    """Copies all resources of the organization; returns the position from which their changes follow."""
    position = ""
    for line in candor.export():
        members = cast("Mapping[str, Any]", line)
        position = members.get("events_cursor", position)
        if "data" in members:
            rows[members["data"]["id"]] = members["data"]
    return position


def follow(candor: Candor, rows: dict[str, dict[str, Any]], position: str) -> str:
    """Waits for the next changes and applies them, removals of erased people included. Returns their position."""
    batch = next(candor.events.changes(cursor=position))
    batch.apply_to(rows)
    return batch.cursor or position
