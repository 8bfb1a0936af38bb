from collections.abc import Mapping
from typing import Any

from candor_client import Candor
from candor_client.types import is_export_row


def copy(candor: Candor, rows: dict[str, Mapping[str, Any]]) -> str:
    """Copies all resources of the organization; returns the position from which their changes follow."""
    position = ""
    for line in candor.export():
        if line["type"] == "header":
            position = line["events_cursor"]
        elif is_export_row(line):
            rows[line["data"]["id"]] = line["data"]
    return position


def follow(candor: Candor, rows: dict[str, Mapping[str, Any]], position: str) -> str:
    """Waits for the next changes and applies them, removals of erased people included. Returns their position."""
    batch = next(candor.events.changes(cursor=position))
    batch.apply_to(rows)
    return batch.cursor or position
