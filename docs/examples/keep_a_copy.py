#!/usr/bin/env python3
"""Keeps a copy of a data set in an SQLite file current. Requires only Python 3.8 or newer.

    export CANDOR_URL=https://feedback.example.com CANDOR_API_KEY=cdr_live_...
    python3 keep_a_copy.py copy.db            # reads everything the first time, later only the changes
    python3 keep_a_copy.py copy.db --check    # reads everything, and lists the differences from the copy

The key needs all read scopes, and must be a key of the organization that acts for no person. Run the program at
intervals to update the copy. It can be killed at any time: a cursor is saved together with the changes before it.
"""

import json
import os
import sqlite3
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

# The lists, each with the filter that includes archived resources and people who have left.
LISTS = {
    "employees": "filter[status]=all",
    "observations": "filter[archived]=all",
    "employee-objectives": "filter[status]=all",
    "manager-objectives": "filter[status]=all",
    "summaries": "filter[status]=all",
    "assignments": "filter[status]=all",
    "conversations": "filter[archived]=all",
    "departments": "filter[archived]=all",
    "attributes": "filter[archived]=all",
}
# The feed has the events of the last 30 days. A copy that was not updated for longer has missed changes and starts
# again.
FEED_SECONDS = 29 * 24 * 60 * 60
# List of a resource by the prefix of its id. The list of an objective depends on its scope.
LIST_OF_PREFIX = {
    "emp": "employees",
    "obs": "observations",
    "sum": "summaries",
    "asg": "assignments",
    "cnv": "conversations",
    "dep": "departments",
    "attr": "attributes",
}


class Service:
    """Reads the API and retries failed requests."""

    def __init__(self, url, key):
        self.base, self.key = url.rstrip("/") + "/v1", key

    def get(self, path):
        """Returns the response to a GET request. Retries up to four times after temporary failures."""
        request = urllib.request.Request(
            self.base + urllib.parse.quote(path, safe="/?&=%"), headers={"Authorization": "Bearer " + self.key}
        )
        for attempt in range(5):
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                if error.code not in (429, 502, 503, 504) or attempt == 4:
                    raise SystemExit(f"GET {path}: {error.code} {error.read().decode()}")
                pause = float(error.headers.get("Retry-After") or 0.25 * 2**attempt)
            except urllib.error.URLError as error:
                if attempt == 4:
                    raise SystemExit(f"GET {path}: {error.reason}")
                pause = 0.25 * 2**attempt
            time.sleep(pause)

    def every(self, path):
        """Yields the entries of a list, page after page."""
        page = self.get(path + ("&" if "?" in path else "?") + "limit=100")
        while True:
            yield from page["data"]
            if not page["has_more"]:
                return
            cursor = urllib.parse.quote(page["next_cursor"], safe="")
            page = self.get(f"{path}{'&' if '?' in path else '?'}limit=100&cursor={cursor}")


class Copy:
    """The copy: resources by id, the cursor of the feed, and the time of the last read of the feed."""

    def __init__(self, file):
        self.db = sqlite3.connect(file)
        self.db.execute("CREATE TABLE IF NOT EXISTS resources (id TEXT PRIMARY KEY, list TEXT, body TEXT)")
        self.db.execute("CREATE TABLE IF NOT EXISTS positions (name TEXT PRIMARY KEY, value TEXT)")

    def position(self, name):
        row = self.db.execute("SELECT value FROM positions WHERE name = ?", (name,)).fetchone()
        return row and row[0]

    def set_position(self, name, value):
        self.db.execute("INSERT OR REPLACE INTO positions VALUES (?, ?)", (name, value))

    def get(self, id):
        row = self.db.execute("SELECT body FROM resources WHERE id = ?", (id,)).fetchone()
        return row and json.loads(row[0])

    def put(self, name, resource):
        """Stores a resource, unless the copy has a later state."""
        known = self.get(resource["id"])
        if not known or changed_at(known) <= changed_at(resource):
            row = (resource["id"], name, json.dumps(resource))
            self.db.execute("INSERT OR REPLACE INTO resources VALUES (?, ?, ?)", row)

    def remove(self, ids):
        """Removes resources, the messages of removed conversations, and the check-ins of removed objectives."""
        for resource in list(self.all().values()):
            if any(resource.get(member) in ids for member in ("id", "conversation_id", "objective_id")):
                self.db.execute("DELETE FROM resources WHERE id = ?", (resource["id"],))

    def erase(self, person):
        """Removes the resources about an erased person, and blanks the person's messages and the conversations about them."""
        about = [resource["id"] for resource in self.all().values() if resource.get("owner_id") == person]
        self.remove(about)
        for resource in list(self.all().values()):
            if resource.get("author_id") == person and "conversation_id" in resource:
                self.put("messages", {**resource, "body": "[erased]"})
            elif (resource.get("about") or {}).get("id") == person:
                self.put("conversations", {**resource, "title": "[erased]", "about": None})
            elif person in (resource.get("employee_id"), resource.get("owner_id")):
                self.db.execute("DELETE FROM resources WHERE id = ?", (resource["id"],))

    def is_too_old(self):
        followed = self.position("followed_at")
        return followed is None or time.time() - float(followed) > FEED_SECONDS

    def all(self):
        return {id: json.loads(body) for id, body in self.db.execute("SELECT id, body FROM resources")}


def changed_at(resource):
    # Messages and check-ins never change.
    return resource.get("updated_at") or resource["created_at"]


def list_of(resource):
    prefix = resource["id"].split("_")[0]
    if prefix == "obj":
        return "employee-objectives" if resource["scope"] == "employee" else "manager-objectives"
    return LIST_OF_PREFIX.get(prefix)


def read_everything(service):
    """Yields every resource with the name of its list, the messages of conversations and the check-ins of objectives."""
    for name, everything in LISTS.items():
        for resource in service.every(f"/{name}?{everything}"):
            yield name, resource
            if name == "conversations":
                for message in service.every(f"/conversations/{resource['id']}/messages"):
                    yield "messages", message
            if resource.get("last_check_in_at"):
                for check_in in service.every(f"/{name}/{resource['id']}/check-ins"):
                    yield "check-ins", check_in


def begin(service, copy):
    """Reads the position in the feed first, then the lists. The feed has all changes in between."""
    begun = time.time()
    cursor = service.get("/events?since=now")["next_cursor"]
    copy.db.execute("DELETE FROM resources")
    copy.db.execute("DELETE FROM positions")
    for name, resource in read_everything(service):
        copy.put(name, resource)
    copy.set_position("cursor", cursor)
    copy.set_position("followed_at", str(begun))
    copy.db.commit()


def follow(service, copy):
    """Applies the events after the saved cursor, page by page."""
    while True:
        begun = time.time()
        cursor = urllib.parse.quote(copy.position("cursor"), safe="")
        page = service.get(f"/events?limit=100&cursor={cursor}")
        for event in page["data"]:
            apply(service, copy, event["event"], event["data"])
        copy.set_position("cursor", page["next_cursor"])
        copy.set_position("followed_at", str(begun))
        copy.db.commit()
        if not page["has_more"]:
            return


def apply(service, copy, event, resource):
    """Stores the resource of an event. Also reads resources with members that the change affects without an event."""
    if event == "retention.removed":
        copy.remove(resource["ids"])
        return
    if event == "erasure.completed":
        copy.erase(resource["employee_id"])
        return
    if resource.get("erased"):
        return  # The data of this event was erased. `employee.erased` or `erasure.completed` follows.
    if event == "employee.erased":
        copy.erase(resource["id"])
    if event == "conversation.message.created":
        copy.put("messages", resource)
        # Changes the conversation's `last_message_at`.
        copy.put("conversations", service.get(f"/conversations/{resource['conversation_id']}"))
        return
    if event == "objective.checked_in":
        resource = dict(resource)
        copy.put("check-ins", resource.pop("check_in"))
    name = list_of(resource)
    if name is None:
        return  # An event about a resource that this program does not copy.
    if name == "conversations":
        # Another client may have written a message at the same time. Only GET has its `last_message_at` for certain.
        resource = service.get(f"/conversations/{resource['id']}")
    before = copy.get(resource["id"])
    copy.put(name, resource)
    if name == "summaries":
        # Changes `linked_summary_ids` of the objectives that the summary includes now or included before.
        included = set(resource["included_objective_ids"]) | set((before or resource)["included_objective_ids"])
        for objective in included:
            known = copy.get(objective)
            if known:
                copy.put(list_of(known), service.get(f"/{list_of(known)}/{objective}"))
    if event in ("observation.archived", "observation.restored"):
        # Drafts omit archived observations from their `included_observation_ids`.
        for summary in service.every(f"/summaries?filter[included_observation_id]={resource['id']}&filter[status]=all"):
            copy.put("summaries", summary)


def differences(service, copy):
    """Returns the ids that only the service or only the copy has, or that have different states."""
    theirs = {resource["id"]: resource for _, resource in read_everything(service)}
    ours = copy.all()
    return sorted(id for id in theirs.keys() | ours.keys() if theirs.get(id) != ours.get(id))


def main():
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--check"]):
        raise SystemExit(__doc__)
    service = Service(os.environ["CANDOR_URL"], os.environ["CANDOR_API_KEY"])
    copy = Copy(sys.argv[1])
    if sys.argv[2:] == ["--check"]:
        found = differences(service, copy)
        if found:
            raise SystemExit("the copy differs in " + ", ".join(found))
        return
    if copy.is_too_old():
        begin(service, copy)
    follow(service, copy)
    print(f"{len(copy.all())} resources are in step")


if __name__ == "__main__":
    main()
