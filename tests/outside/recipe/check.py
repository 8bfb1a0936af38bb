"""Compares the copy of docs/examples/keep_a_copy.py with the lists of the service: after a run beside writes,
and after changes of every kind. A change that fires no event is found by `--check`."""

import os
import subprocess
import sys
import threading

from api import send

PROGRAM = "docs/examples/keep_a_copy.py"
# People who are created and changed while the program reads the lists for the first time.
PEOPLE_MEANWHILE = 60


def keep(*arguments):
    """Runs the program. Returns its error output if it fails, and None if it succeeds."""
    copy = os.path.join(os.environ["SCRATCH"], "copy.db")
    done = subprocess.run(["python3", PROGRAM, copy, *arguments], stderr=subprocess.PIPE, text=True, check=False)
    return f"{PROGRAM} {arguments}: {done.stderr}" if done.returncode else None


def expect_in_step(after):
    problem = keep() or keep("--check")
    if problem:
        sys.exit(f"after {after}: {problem}")


def create(path, **body):
    return send("POST", path, body)["id"]


def act(path):
    send("POST", path, {})


def person(name):
    return create("employees", email=f"{name}@example.com", first_name=name, last_name="Example")


def observation(about):
    return create("observations", employee_id=about, type="strength", observation="Helps.")


def objective(owner):
    period = {"period_start": "2026-01-01", "period_end": "2026-12-31"}
    return create("employee-objectives", owner_id=owner, title="Ship", **period)


# The first run copies resources of every kind, including archived ones and a person who has left.
ada, ben, cem = person("ada"), person("ben"), person("cem")
act(f"employees/{cem}/deactivate")
kept_objective, kept_observation = objective(ada), observation(ada)
act(f"employee-objectives/{objective(ada)}/archive")
act(f"observations/{observation(ada)}/archive")
included = {"included_objective_ids": [kept_objective], "included_observation_ids": [kept_observation]}
summary = create("summaries", employee_id=ada, title="2026", body="Well.", **included)
conversation = create("conversations", title="Plans", participant_ids=[ada, ben])
assignment = create("assignments", employee_id=ada, title="Feedback", reviewer_ids=[ben])
department = create("departments", name="Care")
attribute = create("attributes", name="Pace", category="Work", tone="neutral")

problems = []


def write_people():
    try:
        for number in range(PEOPLE_MEANWHILE):
            send("PATCH", f"employees/{person(f'new{number}')}", {"last_name": "Changed"})
    except Exception as problem:  # Reported by the main thread, which then fails.
        problems.append(problem)


writes = threading.Thread(target=write_people)
writes.start()
problems.append(keep())
writes.join()
if any(problems):
    sys.exit(f"a first run beside writes: {problems}")
expect_in_step("a first run beside writes")

# The next run must find changes of resources, and members that these changes affect in other resources.
send("PATCH", f"employees/{ada}", {"job_title": "Nurse"})
send("PATCH", f"summaries/{summary}", {"included_objective_ids": [objective(ada)]})
act(f"observations/{kept_observation}/archive")
act(f"employee-objectives/{kept_objective}/archive")
send("POST", f"conversations/{conversation}/messages", {"author_id": ada, "body": "When?"})
send("PATCH", f"conversations/{conversation}", {"title": "Dates"})
act(f"assignments/{assignment}/cancel")
send("PATCH", f"departments/{department}", {"name": "Wards"})
act(f"attributes/{attribute}/archive")
expect_in_step("changes of every kind")

send("PATCH", f"departments/{department}", {"name": "Unseen"})
problem = keep("--check")
if problem is None or department not in problem:
    sys.exit(f"--check does not name a department that has changed since: {problem}")
