"""Measures the library against bare `httpx2` with a time limit, and `events.follow` against a feed that is full. Prints JSON.

Usage: CANDOR_URL=… CANDOR_API_KEY=… python bench.py; the key needs high quotas.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable

import httpx2
from candor_client import Candor

ROUNDS = 100
REQUESTS = 10
PEOPLE = 10_000


def timed(request: Callable[[], object]) -> float:
    begun = time.perf_counter()
    for _ in range(REQUESTS):
        request()
    return time.perf_counter() - begun


def main() -> None:
    candor, http = Candor(), httpx2.Client(timeout=30.0)
    url = f"{os.environ['CANDOR_URL']}/v1/organization"
    headers = {"authorization": f"Bearer {os.environ['CANDOR_API_KEY']}"}

    def bare() -> object:
        return http.get(url, headers=headers).json()

    library = candor.organization.get
    timed(bare)
    timed(library)
    bare_times: list[float] = []
    library_times: list[float] = []
    for number in range(ROUNDS):
        order = [(bare, bare_times), (library, library_times)]
        for request, times in reversed(order) if number % 2 else order:
            times.append(timed(request))
    ratio = statistics.median(own / plain for own, plain in zip(library_times, bare_times, strict=True))
    bare_micros, library_micros = (
        1e6 * statistics.median(times) / REQUESTS for times in (bare_times, library_times)
    )

    position = candor.events.list(since="now").first().next_cursor or ""
    stamp = time.time_ns()
    rows = "".join(f"t{stamp}-{row}@example.com,P,{row}\n" for row in range(PEOPLE))
    candor.employees.upsert(f"email,first_name,last_name\n{rows}", timeout=300.0)
    begun = time.perf_counter()
    for count, _ in enumerate(candor.events.follow(cursor=position), 1):
        if count == PEOPLE:
            break
    figures = {
        "bare_micros": bare_micros,
        "library_micros": library_micros,
        "ratio": ratio,
        "events_per_second": PEOPLE / (time.perf_counter() - begun),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
