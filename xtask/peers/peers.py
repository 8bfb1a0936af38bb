"""Sends the same requests to Candor and to other servers in turns, and writes their figures to a file.

`cargo xtask peers` builds the programs, installs the packages and starts this.
"""

import argparse
import json
import os
import platform
import random
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import report
from servers import Candor, FastApi, PocketBase, stop_all

PEOPLE = 300
CLIENTS = 32
# Divides the number of rows, so that each row is created once.
FILLERS = 20
TEXT_CHARS = 400
MEASURES = ["get", "list", "person", "create"]
# More creates than a turn can send.
CREATES_PER_SECOND = 12_000
TICKS = os.sysconf("SC_CLK_TCK")


def processes(server):
    """Returns the ids of the processes of a server: the first one and all below it."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    chosen = {server.process.pid}
    while below := {pid for pid, parent in parents.items() if parent in chosen} - chosen:
        chosen |= below
    return chosen


def processor_seconds(server):
    """Returns the processor time of the processes of a server so far, with that of their ended children."""
    fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in processes(server)]
    return sum(int(tick) for each in fields for tick in each[11:15]) / TICKS


def memory(server):
    """Returns the megabytes of memory of a server. A page that processes share counts once."""
    lines = [Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines() for pid in processes(server)]
    return sum(int(line.split()[1]) for each in lines for line in each if line.startswith("Pss:")) * 1024 / 1e6


def text_from(draw, words):
    """Returns a text of about 400 characters. Few of its words are frequent, as in a language."""
    text = ""
    while len(text) < TEXT_CHARS:
        text += words[min(int(draw.paretovariate(0.7)), len(words)) - 1] + " "
    return text.strip()


def words_from(draw):
    syllables = [first + second for first in "bdfgklmnprst" for second in "aeiou"]
    return ["".join(draw.choices(syllables, k=draw.randint(1, 4))) for _ in range(5_000)]


class Load:
    """Sends prepared requests with the load generator of the bench."""

    def __init__(self, options, folder):
        self.options, self.file = options, folder / "requests"
        self.draw = random.Random(52)
        self.words = words_from(self.draw)

    def send(self, server, requests, clients, seconds):
        """Sends requests in order for some seconds, or each once within 0 seconds. Returns the figures."""
        self.file.write_bytes(b"\0".join(requests))
        command = [self.options.release / "candor-test-load", server.address, self.file, str(clients), str(seconds)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{server.name}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)

    def bodies(self, server, count):
        draw, people = self.draw, server.people
        texts = [text_from(draw, self.words) for _ in range(500)]
        kinds = ["strength", "opportunity"]
        return [
            server.observation(draw.choice(people), draw.choice(people), draw.choice(kinds), draw.choice(texts))
            for _ in range(count)
        ]

    def fill(self, server):
        """Creates people and observations, and reads the ids of the observations."""
        server.people = [server.add_person(number) for number in range(PEOPLE)]
        bodies = self.bodies(server, self.options.rows)
        server.fill(bodies, lambda requests: self.send(server, requests, FILLERS, 0))
        server.observations = server.ids()
        if len(server.observations) != self.options.rows:
            sys.exit(f"{server.name} has {len(server.observations)} rows, not {self.options.rows}")

    def requests(self, server, measure, seconds):
        paths = {
            "get": lambda: f"/{self.draw.choice(server.observations)}",
            "list": lambda: server.list_of(None),
            "person": lambda: server.list_of(self.draw.choice(server.people)),
        }
        if measure == "create":
            return [server.create(body) for body in self.bodies(server, int(CREATES_PER_SECOND * seconds))]
        return [server.get(paths[measure]()) for _ in range(5_000)]

    def turn(self, server, measure):
        """Returns the figures of one turn. Its first third does not count, because it fills caches."""
        seconds = self.options.turn
        requests = self.requests(server, measure, seconds)
        warmed = self.send(server, requests, CLIENTS, seconds / 3)["sent"]
        # Creates go on where the first third ended.
        rest = requests[warmed:] if measure == "create" else requests
        before = processor_seconds(server)
        figures = self.send(server, rest, CLIENTS, seconds * 2 / 3)
        if measure == "create" and figures["sent"] > len(rest):
            sys.exit(f"{server.name} created more rows than were prepared: increase CREATES_PER_SECOND")
        micros = (processor_seconds(server) - before) * 1e6 / figures["sent"]
        return {"rate": figures["rate"], "p50_ms": figures["p50_ms"], "p99_ms": figures["p99_ms"], "micros": micros}


def compare(load, servers, options):
    """Returns the figures of each measure for each server: medians of the rounds, and medians of their ratios."""
    rows, peaks = {}, {server.name: 0 for server in servers}
    for measure in options.only or MEASURES:
        rounds = {server.name: [] for server in servers}
        for _ in range(options.rounds):
            for server in servers:
                rounds[server.name].append(load.turn(server, measure))
                peaks[server.name] = max(peaks[server.name], memory(server))
        own = rounds[servers[0].name]
        rows[measure] = {}
        for name, turns in rounds.items():
            figures = {key: round(median(turn[key] for turn in turns), 3) for key in turns[0]}
            ratio = median(turn["micros"] / first["micros"] for turn, first in zip(turns, own))
            rows[measure][name] = figures | {"times": round(ratio, 2)}
            print(f"{measure:8} {name:24} {json.dumps(rows[measure][name])}", flush=True)
    return rows, {name: round(peak) for name, peak in peaks.items()}


def machine():
    """Describes the machine, without its name."""
    models = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    memory_kb = next(line.split()[1] for line in open("/proc/meminfo") if line.startswith("MemTotal"))
    return f"{len(models)} cores ({models[0]}), {memory_kb} kB of memory, {platform.system()} {platform.release()}"


def parse():
    parser = argparse.ArgumentParser(prog="cargo xtask peers", description=__doc__.splitlines()[0])
    parser.add_argument("--release", type=Path, required=True, help="folder of programs; cargo xtask peers sets it")
    parser.add_argument("--rows", type=int, default=30_000, help="observations of each server; a multiple of 20")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each server for each kind of request")
    parser.add_argument("--turn", type=float, default=6, help="seconds of a turn")
    parser.add_argument("--only", action="append", choices=MEASURES, help="measure only these requests")
    return parser.parse_args()


def main():
    options = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        stack.callback(stop_all)
        folder = Path(name)
        own = Candor(folder / "candor", options.release / "candor")
        servers = [own, PocketBase(folder / "pocketbase"), FastApi(folder / "fastapi")]
        load = Load(options, folder)
        for server in servers:
            load.fill(server)
            print(f"{server.name} {server.version} has its {options.rows} rows", flush=True)
        load_before = os.getloadavg()[0]
        rows, peaks = compare(load, servers, options)
    print("peak of memory in MB:", json.dumps(peaks))
    commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], check=True, capture_output=True, text=True)
    described = {
        server.name: {
            "version": server.version, "flushes": server.flushes, "leaves_out": server.leaves_out,
            "memory_mb": peaks[server.name],
        }
        for server in servers
    }
    figures = {
        "commit": commit.stdout.strip(), "date": datetime.now(UTC).date().isoformat(), "machine": machine(),
        "load": round(load_before, 1), "rows": options.rows, "clients": CLIENTS, "rounds": options.rounds,
        "turn": options.turn, "servers": described, "measures": rows,
    }
    if options.only is None:
        report.FIGURES.write_text(json.dumps(figures, indent=1) + "\n")
        report.write(figures)


if __name__ == "__main__":
    main()
