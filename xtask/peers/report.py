"""Writes the figures of `cargo xtask peers` into docs/performance.md and README.md. With `--check`, compares them."""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FIGURES = Path(__file__).with_name("figures.json")
# Last section of the page. `cargo xtask bench` writes what stands before, and keeps this.
HEADING = "## Beside other servers\n"
# Beginning of the paragraph in the README.
OPENING = "Per request on "
TITLES = {
    "get": "GET one observation",
    "list": "List of the newest 50",
    "person": "List of the newest 50 about one person",
    "create": "Create",
}
# Least multiple of Candor's processor time that the other server needs.
GOALS = {"get": 8.0, "list": 8.0, "person": 8.0, "create": 3.5, "memory": 4.0}
# Load of the machine below which it counts as quiet.
QUIET = 4
OWN, OTHER = "Candor", "PocketBase"
# The reason for each goal that is missed.
REASONS = {
    "get": "most of the time is that of the kernel and of HTTP, which every server has.",
    "list": "most of the time is that of 50 rows as JSON: they are read, written and sent.",
    "person": "its rows are stored far apart, as explained below.",
    "create": "Candor flushes each commit, and writes an event, an audit entry, an answer for retries and the words for the\n"
    "  search with the row.",
    "memory": "each of Candor's connections has a page cache of up to 16 MiB, which the rows of this measurement fill.",
}


def times(figures, name, measure):
    """Returns the multiple of Candor's cost: of its processor time or memory."""
    if measure == "memory":
        servers = figures["servers"]
        return servers[name]["memory_mb"] / servers[OWN]["memory_mb"]
    return figures["measures"][measure][name]["times"]


def cell(figures, name, measure):
    if measure == "memory":
        text = f"{figures['servers'][name]['memory_mb']} MB"
    else:
        turn = figures["measures"][measure][name]
        text = f"{turn['micros']:,.0f} µs, {turn['rate']:,.0f}/s, p99 {turn['p99_ms']:.1f} ms"
    return text if name == OWN else f"{text}: **{times(figures, name, measure):.1f} ×**"


def table(rows):
    lines = [f"| {' | '.join(row)} |\n" for row in rows]
    return "".join([lines[0], "|---" * len(rows[0]) + "|\n", *lines[1:]])


def missed(figures):
    """Returns a line for each goal that is missed, with its reason."""
    for measure, goal in GOALS.items():
        ratio = times(figures, OTHER, measure)
        if ratio < goal:
            title = TITLES.get(measure, "Memory")
            yield f"- {title}: {ratio:.1f} × instead of {goal:g} ×: {REASONS[measure]}\n"


def conditions(figures):
    """Describes the machine, and warns about figures of a busy one."""
    text = f"The machine has {figures['machine']}.\n"
    if figures["load"] < QUIET:
        return text
    return (
        f"{text}\n**The machine was busy**, with a load of {figures['load']}. The rates are therefore low, and the multiples uncertain: repeat\n"
        "the measurement on a quiet machine before you quote them.\n"
    )


def section(figures):
    """Returns the section of docs/performance.md."""
    servers, measures = figures["servers"], figures["measures"]
    heads = ["Request", *(f"{name} {server['version']}" for name, server in servers.items())]
    rows = [[TITLES[measure], *(cell(figures, name, measure) for name in servers)] for measure in measures]
    rows.append(["Memory, peak", *(cell(figures, name, "memory") for name in servers)])
    contents = [[name, each["flushes"], each["leaves_out"] or "–"] for name, each in servers.items()]
    missed_goals = "".join(missed(figures))
    goals = f"These are missed:\n\n{missed_goals}" if missed_goals else "All are met.\n"
    return f"""{HEADING}
Written by `cargo xtask peers` at commit `{figures['commit']}` on {figures['date']}.
{conditions(figures)}
The first figure is the processor time of a request in all processes of the server. Other programs on the machine change it
less than the rate and the latency. The multiple compares it with Candor's.

{table([heads, *rows])}
{table([["Server", "What a create flushes", "What requests leave out"], *contents])}
The goals are 8 × {OTHER} for reads, 3.5 × for creates, and a quarter of its memory. {goals}
- Each server has {figures['rows']:,} observations: the same distribution of people, authors, types, and texts of 400 characters.
- {figures['clients']} clients wait for their answers on kept-alive connections. The servers take turns of {figures['turn']:g} seconds in
  {figures['rounds']} rounds. The first third of a turn does not count. Figures are medians over the rounds, and multiples the
  medians of the rounds' multiples.
- Load generator, servers and their SQLite files share the machine. The servers log requests as they do by default.
- Lists are the first page in the order of an index. {OTHER} skips the total number of rows, which it counts by default.
- The rows of one person are stored far apart, so its list costs more than the plain list: SQLite descends its tree for each
  row, through pages that are not in the caches of the processor. Stored beside each other, they cost as much as the plain list.
- Memory is the peak of the proportional set size of all processes.
- The program with FastAPI and SQLAlchemy is `xtask/peers/program.py`. Two processes of uvicorn run it, with uvloop and httptools.
- Directus is not among them. Version 12.4.1 needs a package that npm does not have, and 12.4.0 a newer Node.js than the checks and
  a compiler of C++ for its more than 1,000 packages.
"""


def paragraph(figures):
    """Returns the two lines of the README."""
    ratios = [times(figures, OTHER, measure) for measure in ["get", "list", "create", "memory"]]
    get, page, create, memory = (f"{ratio:.1f}" for ratio in ratios)
    place = "one machine" if figures["load"] < QUIET else "a busy machine"
    return (
        f"Per request on {place}, PocketBase needs {get} × the processor time of Candor for a GET, {page} × for a list\n"
        f"and {create} × for a create, with {memory} × the memory: [all figures](docs/performance.md#beside-other-servers).\n"
    )


def documents(figures):
    """Returns the path of each document, its text, and the text that it must have."""
    page, readme = ROOT / "docs/performance.md", ROOT / "README.md"
    text = page.read_text()
    yield page, text, text.split(HEADING)[0] + section(figures)
    text = readme.read_text()
    expected, count = re.subn(f"^{OPENING}.*?\n(?=\n)", lambda _: paragraph(figures), text, flags=re.M | re.S)
    if count != 1:
        sys.exit(f"README.md has {count} paragraphs that begin with {OPENING!r}, write one")
    yield readme, text, expected


def write(figures):
    for path, _, expected in documents(figures):
        path.write_text(expected)


if __name__ == "__main__":
    different = [path for path, text, expected in documents(json.loads(FIGURES.read_text())) if text != expected]
    if "--check" in sys.argv and different:
        names = ", ".join(str(path.relative_to(ROOT)) for path in different)
        sys.exit(f"{names} do not state the figures of {FIGURES.relative_to(ROOT)}, run xtask/peers/report.py")
    write(json.loads(FIGURES.read_text()))
