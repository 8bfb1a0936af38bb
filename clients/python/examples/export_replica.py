from collections.abc import Mapping
from typing import Any, cast

from candor_client import Candor


def copy(candor: Candor, rows: dict[str, object]) -> str:
    """Copies all resources of the organization; returns the position from which their changes follow."""
    position = ""
    for line in candor.export():
        members = cast("Mapping[str, Any]", line)
        position = members.get("events_cursor", position)
        if "data" in members:
            rows[members["data"]["id"]] = members["data"]
    return position


def follow(candor: Candor, rows: dict[str, object], position: str, count: int) -> None:
    """Applies the next events to the copy."""
    for _, event in zip(range(count), candor.events.follow(cursor=position), strict=False):
        data = cast("Mapping[str, Any]", event["data"])
        if event["event"] == "retention.removed":
            for removed in data["ids"]:
                rows.pop(removed, None)
        elif not data.get("erased"):
            rows[data["id"]] = data
