"""Reads the files of `candor export` with DuckDB and PyArrow, compares the numbers of rows with the manifest, and executes
the statements of the guide for data teams."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

from api import send

GUIDE = Path("docs/guides/data-teams.md")
OBSERVATIONS = 50
# Texts that formats of lines and cells must quote.
TEXTS = ["Helps.", "One, two;\nand \"three\".", "=SUM(A1)", "日本語 \u2028 line"]


def fill():
    """Creates people, a department, and observations with texts that must be quoted. Archives some."""
    department = send("POST", "departments", {"name": "Product"})["id"]
    people = []
    for name in ["Ada", "Grace", "Mary"]:
        body = {"email": f"{name}@example.com", "first_name": name, "last_name": "Example", "department_id": department}
        people.append(send("POST", "employees", body)["id"])
    for at in range(OBSERVATIONS):
        body = {"employee_id": people[at % 3], "type": "strength", "observation": TEXTS[at % len(TEXTS)]}
        made = send("POST", "observations", body)["id"]
        if at % 10 == 0:
            send("POST", f"observations/{made}/archive", {})


def export(folder, form):
    """Exports all resources into a folder. Returns the manifest."""
    candor = os.path.join(os.environ["TARGET"], "debug", "candor")
    url = os.environ["CANDOR_URL"]
    subprocess.run([candor, "export", "--url", url, "--out", folder, "--format", form], check=True)
    return json.loads((folder / "manifest.json").read_text())


def is_compared(folder, name, rows):
    """Compares the rows that both readers see in a file with the manifest. A file without rows has no columns."""
    path = str(folder / name)
    if rows == 0:
        return True
    if name.endswith(".csv"):
        options = pyarrow.csv.ParseOptions(newlines_in_values=True)
        arrow = pyarrow.csv.read_csv(path, parse_options=options).num_rows
        [[duck]] = duckdb.sql(f"SELECT count(*) FROM read_csv('{path}', header = true, all_varchar = true)").fetchall()
    else:
        arrow = pyarrow.json.read_json(path).num_rows
        [[duck]] = duckdb.sql(f"SELECT count(*) FROM read_ndjson_auto('{path}')").fetchall()
    if arrow != rows or duck != rows:
        print(f"{name}: the manifest has {rows} rows, PyArrow {arrow}, DuckDB {duck}", file=sys.stderr)
    return arrow == rows and duck == rows


def compare(folder, form):
    """Exports to files of a form and compares them. Returns the rows of each resource."""
    files = export(folder, form)["files"]
    if not all([is_compared(folder, file["file"], file["rows"]) for file in files.values()]):
        sys.exit(1)
    return {resource: file["rows"] for resource, file in files.items()}


def execute_guide(scratch, rows):
    """Executes the statements of the guide beside the folder `copy`, and counts the rows of its Parquet file."""
    os.chdir(scratch)
    statements = re.findall(r"```sql\n(.*?)```", TEXT, flags=re.DOTALL)
    for statement in statements:
        duckdb.sql(statement)
    parquet = pyarrow.parquet.read_table("observations.parquet")
    if parquet.num_rows != rows:
        sys.exit(f"observations.parquet has {parquet.num_rows} rows instead of {rows}")
    print(f"{len(statements)} statements of the guide, {rows} rows of Parquet")


TEXT = GUIDE.read_text()
scratch = Path(os.environ["SCRATCH"])
fill()
rows = compare(scratch / "copy", "ndjson")
compare(scratch / "cells", "csv")
execute_guide(scratch, rows["observations"])
