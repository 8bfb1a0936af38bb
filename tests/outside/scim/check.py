"""Runs two published test suites of SCIM servers against a new connector: `scim2 test` and `scim-sanity probe`.

The suites know nothing about the service. They read /Schemas and test every attribute that it describes."""

import collections
import json
import os
import re
import subprocess
import sys

from api import URL, send

BASE = f"{URL}/scim/v2"
TOOLS = os.environ["PYTHON"]
# The suites delete all people that they create. The usual brake would pause the connector.
BRAKE = {"percent": 100, "at_least": 10_000}
# Checks of `scim2 test` that are skipped, with the reason.
EXCLUDED = {
    # RFC 7644 §3.4.3 lets clients use `/.search`; §3.12 has 501 for operations that a service does not support. The
    # suite skips the check after a 501, and then ends with status 1.
    "search_with_attributes": "POST /.search is a 501",
}
# The suites end early without an error if discovery fails. These are the checks of a complete run.
SCIM2_CHECKS = 89
SANITY_CHECKS = 18


def run(name, *arguments, **variables):
    """Runs a tool. Returns its exit status and its output."""
    command = [f"{TOOLS}/{name}", *arguments]
    done = subprocess.run(command, env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout


def judge_scim2(token):
    """Returns the problems that `scim2 test` finds. Its exit status is 1 after a skipped check, so the lines count."""
    secrets = {"SCIM_CLI_URL": BASE, "SCIM_CLI_HEADERS": f"Authorization: Bearer {token}"}
    status, output = run("scim2", "test", "--verbose", **secrets)
    checks = re.findall(r"^([A-Z]+) (\w+)\n((?:  .*\n?)*)", output, re.MULTILINE)
    problems = [f"{kind} {check}\n{reason}" for kind, check, reason in checks if not is_good(kind, check)]
    passed = sum(kind == "SUCCESS" for kind, _, _ in checks)
    if passed < SCIM2_CHECKS:
        problems.append(f"{passed} instead of {SCIM2_CHECKS} checks passed, status {status}:\n{output[-2000:]}")
    skipped = [f"{check} ({EXCLUDED[check]})" for kind, check, _ in checks if kind == "SKIPPED" and check in EXCLUDED]
    print(f"scim2 test: {passed} passed, skipped: {', '.join(skipped) or 'none'}")
    return problems


def is_good(kind, check):
    return kind == "SUCCESS" or (kind == "SKIPPED" and check in EXCLUDED)


def judge_sanity(token, *options):
    """Returns the problems that `scim-sanity probe` finds in its strict mode, warnings included."""
    consent = ["--strict", "--i-accept-side-effects", "--user-domain", "example.com", "--json-output"]
    status, output = run("scim-sanity", "probe", BASE, "--token", token, *consent, *options)
    if not output.startswith("{"):
        return [f"scim-sanity probe ended with status {status}: {output}"]
    results = json.loads(output)["results"]
    counts = collections.Counter(result["status"] for result in results)
    bad = [result for result in results if result["status"] not in ("pass", "skip")]
    problems = [json.dumps(result, ensure_ascii=False) for result in bad]
    if status != 0 or counts["pass"] < SANITY_CHECKS:
        problems.append(f"status {status}, {counts['pass']} instead of {SANITY_CHECKS} checks passed")
    skipped = [f"{result['name']} ({result['message']})" for result in results if result["status"] == "skip"]
    print(f"{' '.join(['scim-sanity probe', *options])}: {counts['pass']} passed, skipped: {', '.join(skipped)}")
    return problems


connector = send("POST", "connectors", {"type": "scim", "hris_source": "suites", "brake": BRAKE})["id"]
token = send("POST", "api-keys", {"name": "Suites", "scopes": ["scim"], "connector_id": connector})["key"]
problems = judge_scim2(token) + judge_sanity(token) + judge_sanity(token, "--profile", "entra")
if problems:
    sys.exit("\n".join(problems))
