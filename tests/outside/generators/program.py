"""Uses the client that openapi-python-client generates. Must pass mypy, and run against the service."""

import sys

from candor_client import AuthenticatedClient
from candor_client.api.employees import create_employee, list_employees, update_employee
from candor_client.api.history import list_events
from candor_client.api.observations import create_observation, list_observations
from candor_client.models import (
    Employee,
    EmployeeCreate,
    EmployeeEvent,
    EmployeeList,
    EmployeeUpdate,
    ErrorResponse,
    EventFeed,
    EventType,
    FieldProblem,
    ListEmployeesFilter,
    ObservationCreate,
    ObservationExpand,
    ObservationList,
    ObservationType,
    OtherEvent,
    Role,
)
from candor_client.types import UNSET, Unset

base, key = sys.argv[1:]
client = AuthenticatedClient(base_url=f"{base}/v1", token=key)


def created(email: str, manager: str | None = None) -> Employee:
    body = EmployeeCreate(email=email, first_name="Noor", last_name="Haddad", manager_id=manager)
    # The type of the answer is the resource, or else an error.
    answer: Employee | ErrorResponse | None = create_employee.sync(client=client, body=body)
    assert answer and not isinstance(answer, ErrorResponse), answer
    return answer


manager = created("noor@example.com")
report = created("tariq@example.com", manager.id)
for text in ("Listened.", "Followed up."):
    observation = ObservationCreate(employee_id=report.id, type_=ObservationType.STRENGTH, observation=text)
    create_observation.sync(client=client, body=observation)

texts: list[str] = []
cursor: str | None | Unset = UNSET
while cursor is not None:
    page = list_observations.sync(
        client=client,
        limit=1,
        filtermanager_id=manager.id,
        expand=[ObservationExpand.EMPLOYEE, ObservationExpand.ATTRIBUTES],
        cursor=cursor,
    )
    assert isinstance(page, ObservationList), page
    for it in page.data:
        assert isinstance(it.employee, Employee) and it.employee.email == "tariq@example.com"
        texts.append(it.observation)
    cursor = page.next_cursor
assert sorted(texts) == ["Followed up.", "Listened."], texts

city = EmployeeUpdate.from_dict({"custom_fields": {"city": "Bergen"}})
changed = update_employee.sync(id=report.id, client=client, body=city)
assert isinstance(changed, Employee) and changed.role is Role.EMPLOYEE, changed
# This generator sends the members of `filter` without the prefix, so the member has the name of the parameter.
field = ListEmployeesFilter.from_dict({"filter[custom_fields.city]": "Bergen"})
people = list_employees.sync(client=client, filter_=field)
assert isinstance(people, EmployeeList) and [it.email for it in people.data] == ["tariq@example.com"], people

refused = create_employee.sync(client=client, body=EmployeeCreate(email="x@example.com", first_name="", last_name="X"))
assert isinstance(refused, ErrorResponse), refused
details = refused.error.details
assert isinstance(details, list) and isinstance(details[0], FieldProblem) and details[0].field == "first_name"

feed = list_events.sync(client=client, filterevent=[EventType.EMPLOYEE_CREATED])
assert isinstance(feed, EventFeed), feed
event = feed.data[-1]
assert isinstance(event, EmployeeEvent) and event.data.email == "tariq@example.com", event

# The client must accept event types, roles and error codes that are newer than its generated code.
goal = {**event.to_dict(), "event": "goal.created", "data": {"id": "1"}}
later = EventFeed.from_dict({**feed.to_dict(), "data": [goal]})
assert isinstance(later.data[0], OtherEvent) and later.data[0].event == "goal.created", later
assert Employee.from_dict({**report.to_dict(), "role": "guest"}).role == "guest"
code = ErrorResponse.from_dict({"error": {**refused.error.to_dict(), "code": "upstream_busy"}}).error.code
assert code == "upstream_busy", code
print("openapi-python-client: passed")
