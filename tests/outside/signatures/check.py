"""Checks deliveries of the service as receivers do: with the examples of docs/webhooks.md in Python and Node, and with the
packages of Standard Webhooks. The example in Rust is tried by the tests of the binary."""

import http.server
import json
import os
import queue
import re
import subprocess
import sys
import threading

from api import send

PAGE = "docs/webhooks.md"
FOLDER = "tests/outside/signatures"
ARRIVES_WITHIN_SECONDS = 20
# Secrets without key material, with the `v1` that each gives to the body `{}` at SIGNED_AT (Unix seconds).
SIGNED_AT = 1772352930
EMPTY_SECRETS = {
    "": "618a7f770be189bd086269ac17af38faeb8cb986168a3c1fcd3513b4a6f220e2",
    "whsec_": "cef3bc5f328af614589d74ed62bb1766aca10b2901a5664ec5fe4874a5cf97e1",
}

arrivals = queue.Queue()


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        self.send_response(204)
        self.end_headers()
        arrivals.put(({name.lower(): value for name, value in self.headers.items()}, body))

    def log_message(self, *_):
        pass


def arrival():
    return arrivals.get(timeout=ARRIVES_WITHIN_SECONDS)


def deliveries():
    """Yields [secret, headers, body] of deliveries before and after a rotation, with the expected verdict."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    webhook = send("POST", "webhooks", {"url": f"http://127.0.0.1:{server.server_port}/", "event_types": ["*"]})
    path, first = f"webhooks/{webhook['id']}", webhook["secret"]
    send("POST", f"{path}/test", {})
    test = arrival()
    # Signatures must also hold for bodies with characters beyond ASCII.
    send("POST", "employees", {"email": "cagla@example.com", "first_name": "Çağla", "last_name": "O’Brien 🙂"})
    before = arrival()
    second = send("PATCH", path, {"rotate_secret": True})["secret"]
    send("POST", f"{path}/test", {})
    during = arrival()
    for (headers, body), secret, authentic in [
        (test, first, True),
        (test, second, False),
        (before, first, True),
        (before, second, False),
        (during, first, True),
        (during, second, True),
    ]:
        yield [secret, headers, body], authentic
        yield [secret, headers, body.replace("{", "{ ", 1)], False


def example(name):
    """Returns the code block of the documentation page after the mark with this name."""
    with open(PAGE, encoding="utf-8") as page:
        found = re.search(rf"<!-- example: {name} -->\n```[^\n]*\n(.*?)\n```", page.read(), re.DOTALL)
    return found[1] if found else sys.exit(f"{PAGE} has no example {name}")


def put_to(command, name, calls, folder):
    """Verifies all cases with the example and the package of one language. Exits if a verdict differs."""
    with open(f"{FOLDER}/{calls}", encoding="utf-8") as file:
        program = f"{example(name)}\n\n{file.read()}"
    asked = json.dumps([case for case, _ in cases])
    done = subprocess.run([*command, program], input=asked, stdout=subprocess.PIPE, text=True, cwd=folder, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    wanted = [[authentic, authentic] for _, authentic in cases]
    if answers != wanted:
        sys.exit(f"{name}: [example, package] answered {answers} instead of {wanted} about {asked}")


cases = list(deliveries())
for secret, signature in EMPTY_SECRETS.items():
    headers = {"x-service-signature": f"t={SIGNED_AT},v1={signature}"}
    cases.append(([secret, headers, "{}", SIGNED_AT], False))
put_to([sys.executable, "-c"], "python", "verify.py", ".")
put_to(["node", "-e"], "node", "verify.js", os.environ["NODE"])
print(f"{len(cases)} checks, each with two examples and two packages")
